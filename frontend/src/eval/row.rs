//! Packs of run-time length that are made of others: `xs[1:]`, `[x, xs.., z]` (2.4). They become tensors where tensors are
//! expected.

use std::rc::Rc;

use skript_semantics::{ScalarKind, ScalarOp};

use super::demand::Demand;
use super::evaluator::{EvalResult, Evaluator};
use super::series::{binary, refused};
use super::value::{Atom, TensorRef, Value};
use crate::ast::{Expr as Text, Subscript};
use crate::model::Expr;
use crate::source::Span;

/// Parts that stand one after another, and what every run must test of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub parts: Vec<RowPart>,
    pub demands: Vec<Demand>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RowPart {
    /// A tensor, or an item of a pack of run-time length.
    One(Atom),
    Pack(TensorRef, Places),
}

/// Positions of a pack of run-time length: `from`, `from + step` and so on, so many.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    pub from: Expr,
    pub step: i64,
    pub length: Expr,
}

impl Places {
    pub fn at(&self, index: &Expr) -> Option<Expr> {
        let steps = binary(ScalarOp::Mul, Expr::int(self.step), index.clone())?;
        binary(ScalarOp::Add, self.from.clone(), steps)
    }
}

impl RowPart {
    /// The items of a list in which packs of run-time length stand; `None` for what is no tensor.
    fn of(atom: &Atom, span: Span, evaluator: &Evaluator) -> EvalResult<Option<Row>> {
        let part = match atom {
            Atom::Tensor(_) | Atom::Item(_) => RowPart::One(atom.clone()),
            Atom::Row(row) => return Ok(Some((**row).clone())),
            Atom::Stack(stack) => {
                let length = match stack.tensor.shape.first() {
                    Some(length) => evaluator.extent_atom(length, span)?.to_expr(),
                    None => None,
                };
                let Some(length) = length else {
                    return Ok(None);
                };
                let places = Places {
                    from: Expr::int(0),
                    step: 1,
                    length,
                };
                RowPart::Pack(stack.clone(), places)
            }
            _ => return Ok(None),
        };
        Ok(Some(Row {
            parts: vec![part],
            demands: Vec::new(),
        }))
    }
}

impl Evaluator<'_> {
    /// `[x, xs.., z]`, if a pack of run-time length is among the items.
    pub(super) fn row(&mut self, atoms: &[Atom], span: Span) -> EvalResult<Option<Value>> {
        let is_long = |atom: &Atom| matches!(atom, Atom::Stack(_) | Atom::Row(_));
        if !atoms.iter().any(is_long) {
            return Ok(None);
        }
        if let [single] = atoms {
            return Ok(Some(Value::Atom(single.clone())));
        }
        if self.formula.is_some() {
            return refused("formulas make no list of it", span);
        }
        let mut row = Row::default();
        for atom in atoms {
            let Some(part) = RowPart::of(atom, span, self)? else {
                return refused("only tensors stand beside it in a list", span);
            };
            row.parts.extend(part.parts);
            row.demands.extend(part.demands);
        }
        Ok(Some(Value::Atom(Atom::Row(Rc::new(row)))))
    }

    /// `xs[1:]` of a pack of run-time length.
    pub(super) fn stack_range(
        &mut self,
        stack: &TensorRef,
        subscript: &Subscript,
        span: Span,
    ) -> EvalResult<Value> {
        let length = match stack.tensor.shape.first() {
            Some(length) => self.extent_atom(length, span)?.to_expr(),
            None => None,
        };
        let (Subscript::Range { .. }, None, Some(length)) = (subscript, &self.formula, length)
        else {
            return refused(
                "one item of it can be taken: by a number, in formulas by an index as well",
                span,
            );
        };
        let before = self.demands.len();
        let places = self.range_places(&length, subscript)?;
        let demands = self.demands.split_off(before);
        Ok(match places {
            Some(places) => Value::Atom(Atom::Row(Rc::new(Row {
                parts: vec![RowPart::Pack(stack.clone(), places)],
                demands,
            }))),
            None => Value::Null,
        })
    }

    /// The positions of a range of `length` items; `None` if one of its ends is null.
    pub(super) fn range_places(
        &mut self,
        length: &Expr,
        range: &Subscript,
    ) -> EvalResult<Option<Places>> {
        let Subscript::Range {
            begin,
            end,
            stride,
            span,
        } = range
        else {
            return Ok(None);
        };
        let step = match stride {
            Some(stride) => self.int(stride)?,
            None => Some(1),
        };
        match (step, begin, end) {
            (None, ..) => return Ok(None),
            (Some(1), ..) => {}
            (Some(-1), None, None) => {
                let from = binary(ScalarOp::Sub, length.clone(), Expr::int(1));
                return Ok(from.map(|from| Places {
                    from,
                    step: -1,
                    length: length.clone(),
                }));
            }
            _ => {
                return refused(
                    "its ranges have a stride of 1, or turn all of it around",
                    *span,
                );
            }
        }
        let from = self.range_end(begin.as_ref(), Expr::int(0), length, *span)?;
        let to = self.range_end(end.as_ref(), length.clone(), length, *span)?;
        let (Some(from), Some(to)) = (from, to) else {
            return Ok(None);
        };
        let rest = binary(ScalarOp::Sub, to, from.clone());
        let rest = rest.and_then(|rest| binary(ScalarOp::Max, rest, Expr::int(0)));
        Ok(rest.map(|length| Places {
            from,
            step: 1,
            length,
        }))
    }

    fn range_end(
        &mut self,
        end: Option<&Text>,
        other: Expr,
        length: &Expr,
        span: Span,
    ) -> EvalResult<Option<Expr>> {
        let Some(end) = end else {
            return Ok(Some(other));
        };
        let atom = match self.eval(end)? {
            Value::Null => return Ok(None),
            Value::Atom(atom) => atom,
            Value::Pack(_) => return refused("ends of a range are ints", span),
        };
        let Some(place) = self.counted_from_end(&atom, length, span)? else {
            return refused("ends of a range are ints", span);
        };
        let what = format!(
            "a range up to {} is out of bounds: the pack has ",
            atom.text()
        );
        let ends = binary(ScalarOp::Add, length.clone(), Expr::int(1));
        let ends = ends.unwrap_or_else(|| length.clone());
        self.needs_within(what, &place, &ends, length, span);
        Ok(Some(place))
    }

    /// The position of an item, where every run tests that a constant one is there; `None` if it is no int.
    pub fn item_position(
        &mut self,
        index: &Atom,
        length: &Expr,
        span: Span,
    ) -> EvalResult<Option<Expr>> {
        let position = self.counted_from_end(index, length, span)?;
        if let (Atom::Int(written), Some(position)) = (index, &position) {
            let what = format!("index {written} is out of range: the pack has ");
            self.needs_within(what, position, length, length, span);
        }
        Ok(position)
    }

    /// A position; constants below zero count from the end. `None` if it is no int.
    fn counted_from_end(
        &mut self,
        index: &Atom,
        length: &Expr,
        span: Span,
    ) -> EvalResult<Option<Expr>> {
        let position = match index {
            Atom::Int(n) if *n < 0 => {
                let length = Atom::from_expr(length.clone());
                self.operation(ScalarOp::Add, &[length, index.clone()], span)?
            }
            Atom::Int(_) | Atom::Run(_) => index.clone(),
            _ => return Ok(None),
        };
        Ok(position.to_expr().filter(|e| e.kind == ScalarKind::Int))
    }
}
