//! Packs of run-time length that are made of others: `xs[1:]`, `[x, xs.., z]` (2.4). They become tensors where tensors are
//! expected.

use std::rc::Rc;

use skript_semantics::ScalarOp;

use super::demand::Demand;
use super::evaluator::{EvalResult, Evaluator};
use super::position::int_of;
use super::runtime;
use super::series::{binary, refused};
use super::value::{Atom, TensorRef, Value};
use crate::ast::{Expr as Text, Subscript};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
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
        let before = self.mark();
        let places = self.range_places(&length, subscript)?;
        let demands = self.demands.since(before);
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
        let from = self.range_end(begin.as_ref(), "from", Expr::int(0), length, *span)?;
        let to = self.range_end(end.as_ref(), "up to", length.clone(), length, *span)?;
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
        which: &str,
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
        let Some(index) = int_of(&atom) else {
            return refused("ends of a range are ints", span);
        };
        let places = runtime::plus(length, 1);
        let place = self.from_end(&index, length);
        if !is_shape_scalar(&index) {
            return Ok(Some(
                self.place_of_step(index, place, &places, length, span),
            ));
        }
        let what = vec![
            MessagePart::Text(format!("a range {which} ")),
            MessagePart::Value(index),
            MessagePart::Text(" is out of bounds".to_string()),
        ];
        self.demand(Demand::place(what, &place, &places, length, span));
        Ok(Some(place))
    }
}
