// SPDX-License-Identifier: Apache-2.0
//! Tensor accesses in formulas (2.12).

use crate::ast::Subscript;
use crate::diagnostics::codes::{PACK_LENGTHS_DIFFER, RANK_MISMATCH, UNEXPECTED_VALUE};
use crate::diagnostics::counted;
use crate::eval::evaluator::Evaluator;
use crate::eval::ranges::extent_expr;
use crate::eval::runtime;
use crate::eval::scope::Accessed;
use crate::eval::selection::selected_element;
use crate::eval::series::Series;
use crate::eval::series::zip::side_by_side;
use crate::eval::stop::{EvalResult, Stop, stop, stop_with_help};
use crate::eval::value::{Atom, Guarded, TensorRef, Value, count, describe};
use crate::model::{self, Extent, Node};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::rc::Rc;

/// An index of an access.
enum Index {
    One(Atom),
    /// A pack without `..`: the access yields a pack as well.
    Each(Vec<Atom>),
    /// A pack that is not expanded, with a dynamic number of positions.
    Series(Rc<Series>),
    /// `:`.
    All(Span),
}

/// An index of one dimension on the left side of a formula.
pub(crate) enum TargetIndex {
    One(Atom),
    /// A pack: its positions are written as one step.
    Each(Vec<Atom>),
    /// A pack of dynamic length: its positions are written as one step.
    Series(Rc<Series>),
    /// `:`.
    All,
}

impl TargetIndex {
    /// Whether it covers all positions of a dimension in order.
    pub(crate) fn covers(&self, extent: &Extent) -> bool {
        match (self, extent) {
            (TargetIndex::All, _) => true,
            (TargetIndex::Each(items), Extent::Fixed(n)) => {
                u64::try_from(items.len()) == Ok(*n) && in_order(items)
            }
            (TargetIndex::Series(series), extent) => {
                let line = series.line();
                series.length == extent_expr(extent)
                    && line == Some((model::Expr::int(0), model::Expr::int(1)))
            }
            _ => false,
        }
    }
}

/// Whether these are the first positions of a dimension, each once.
fn in_order(items: &[Atom]) -> bool {
    let mut positions = items.iter().enumerate();
    positions.all(|(position, item)| *item == Atom::Int(count(position)))
}

impl Index {
    fn single(self) -> Option<Atom> {
        match self {
            Index::One(atom) => Some(atom),
            Index::Each(_) | Index::Series(_) | Index::All(_) => None,
        }
    }
}

impl Evaluator<'_> {
    /// An element of a tensor, or of each tensor of a pack.
    pub(super) fn access(&mut self, base: &Value, subscripts: &[Subscript], span: Span) -> EvalResult<Value> {
        if self.formula.is_none() {
            return stop(&UNEXPECTED_VALUE, span, "elements of tensors are accessible in formulas only");
        }
        let indices = self.indices(subscripts)?;
        if indices.iter().any(|i| !matches!(i, Index::One(_))) {
            let Value::Atom(base @ (Atom::Tensor(_) | Atom::Item(_))) = base else {
                let message = "a pack of tensors cannot be accessed at a pack of indices";
                return stop(&UNEXPECTED_VALUE, span, message);
            };
            return self.access_each(base, &indices, span);
        }
        let indices: Vec<Atom> = indices.into_iter().filter_map(Index::single).collect();
        self.map(base, |this, item| match item {
            Atom::Tensor(_) | Atom::Item(_) => this.element_of(&item, &indices, span),
            Atom::Selected(selected) => selected_element(this, &selected, &indices, span),
            Atom::Poison => Err(Stop::Poison),
            other => stop(&UNEXPECTED_VALUE, span, format!("{} has no elements", other.describe())),
        })
    }

    /// An element of a tensor, or of an item of a pack of dynamic length.
    fn element_of(&mut self, base: &Atom, indices: &[Atom], span: Span) -> EvalResult<Atom> {
        match base {
            Atom::Tensor(tensor) => self.element(tensor, indices, span),
            Atom::Item(item) => {
                let (stack, position) = &**item;
                let mut location = vec![position.clone()];
                location.extend(indices.iter().cloned());
                self.element(stack, &location, span)
            }
            other => stop(&UNEXPECTED_VALUE, span, format!("{} has no elements", other.describe())),
        }
    }

    fn element(&mut self, tensor: &TensorRef, indices: &[Atom], span: Span) -> EvalResult<Atom> {
        let subscripts = self.resolve(tensor, indices, span)?;
        if let Some(formula) = &mut self.formula {
            formula.accessed.push(Accessed { tensor: tensor.id, subscripts: subscripts.clone(), span });
        }
        Ok(Atom::Runtime(Rc::new(model::Expr {
            kind: tensor.tensor.kind,
            node: Node::Access { tensor: tensor.id, subscripts },
        })))
    }

    /// A pack of elements. Item k of each pack of indices without `..` and position k of each `:` address element k.
    fn access_each(&mut self, base: &Atom, indices: &[Index], span: Span) -> EvalResult<Value> {
        let shape = match base {
            Atom::Tensor(tensor) => tensor.tensor.shape.as_slice(),
            Atom::Item(item) => match item.0.tensor.shape.as_slice() {
                [_, shape @ ..] => shape,
                [] => &[],
            },
            _ => &[],
        };
        let mut lengths = Vec::new();
        for (index, extent) in indices.iter().zip(shape) {
            lengths.push(match index {
                Index::One(_) => continue,
                Index::Each(items) => model::Expr::int(count(items.len())),
                Index::Series(series) => series.length.clone(),
                Index::All(span) => int_expr(&self.extent_atom(extent, *span)?, *span)?,
            });
        }
        let known = |length: &model::Expr| match length.node {
            Node::Literal(Scalar::Int(n)) => Some(n),
            _ => None,
        };
        let of_known_length = lengths.iter().find_map(known);
        let Some(length) = (match of_known_length {
            Some(n) => Some(model::Expr::int(n)),
            None => lengths.first().cloned(),
        }) else {
            return Ok(Value::pack([]));
        };
        for other in &lengths {
            match (known(&length), known(other)) {
                (Some(n), Some(items)) if n != items => {
                    let message = format!("packs of indices have different lengths: {n} and {items}");
                    return stop(&PACK_LENGTHS_DIFFER, span, message);
                }
                _ => side_by_side(self, &length, other, span)?,
            }
        }
        let is_iterated = of_known_length.is_some_and(|n| self.goes_through(n, indices));
        let location = |position: &model::Expr| -> Vec<Atom> {
            let atom = |index: &Index| match index {
                Index::One(atom) => Some(atom.clone()),
                Index::Each(_) if is_iterated => Some(Atom::from_expr(position.clone())),
                Index::Each(items) => {
                    let position = usize::try_from(known(position)?).ok()?;
                    items.get(position).cloned()
                }
                Index::Series(series) => Some(Atom::from_expr(series.at(position))),
                Index::All(_) => Some(Atom::from_expr(position.clone())),
            };
            indices.iter().filter_map(atom).collect()
        };
        let Some(items) = of_known_length.filter(|_| !is_iterated) else {
            let element = self.element_of(base, &location(&Series::position()), span)?;
            return Ok(match element.to_expr() {
                Some(element) => Series::uniform(element, length).into_value(),
                None => Value::Atom(element),
            });
        };
        let mut elements = Vec::new();
        for position in 0..self.length(items, span)? {
            let location = location(&model::Expr::int(count(position)));
            elements.push(self.element_of(base, &location, span)?);
        }
        Ok(Value::pack(elements))
    }

    /// Whether a packed assignment iterates over this number of positions, and the indices cover them in order.
    fn goes_through(&self, positions: i64, indices: &[Index]) -> bool {
        let every = self.formula.as_ref().and_then(|f| f.every.as_ref());
        let length = every.map(|every| &every.length);
        matches!(length, Some(Extent::Fixed(n)) if i64::try_from(*n) == Ok(positions))
            && indices.iter().all(|index| match index {
                Index::Each(items) => in_order(items),
                Index::One(_) | Index::Series(_) | Index::All(_) => true,
            })
    }

    /// All indices of a target in order; a null index omits its dimension.
    pub(crate) fn target_indices(&mut self, subscripts: &[Subscript]) -> EvalResult<Vec<TargetIndex>> {
        let indices = self.indices(subscripts)?.into_iter().map(|index| match index {
            Index::One(atom) => TargetIndex::One(atom),
            Index::Each(items) => TargetIndex::Each(items),
            Index::Series(series) => TargetIndex::Series(series),
            Index::All(_) => TargetIndex::All,
        });
        Ok(indices.collect())
    }

    /// All indices in order; a null index omits its dimension.
    fn indices(&mut self, subscripts: &[Subscript]) -> EvalResult<Vec<Index>> {
        let mut indices = Vec::new();
        for subscript in subscripts {
            let (value, span) = match subscript {
                Subscript::Expr(expr) => (self.eval(expr)?, expr.span),
                Subscript::Expand { value, count, span } => {
                    (self.expand(value, count.as_ref(), *span)?, *span)
                }
                Subscript::Guard { index, remap, span, .. } => (self.guard(index, remap.as_ref())?, *span),
                Subscript::Range { begin: None, end: None, stride: None, span } => {
                    indices.push(Index::All(*span));
                    continue;
                }
                Subscript::Range { span, .. } => {
                    return stop(&UNEXPECTED_VALUE, *span, "a range is not allowed here");
                }
            };
            if let (Value::Atom(Atom::Series(series)), Subscript::Expr(_)) = (&value, subscript)
                && series.kind() == ScalarKind::Int
            {
                indices.push(Index::Series(Rc::clone(series)));
                continue;
            }
            if let Value::Atom(atom) = &value
                && !matches!(atom, Atom::Guarded(_))
                && atom.kind() != Some(ScalarKind::Int)
            {
                let message = format!("an index must be an int, this is {}", describe(&value));
                return stop(&UNEXPECTED_VALUE, span, message);
            }
            match (value, subscript) {
                (Value::Pack(pack), Subscript::Expr(_)) => {
                    indices.push(Index::Each(pack.iter().collect::<Vec<_>>()));
                }
                (value, _) => indices.extend(value.atoms().map(Index::One)),
            }
        }
        Ok(indices)
    }

    /// Subscripts for one tensor: guards become conditions, remaps become selects.
    pub(crate) fn resolve(
        &mut self,
        tensor: &TensorRef,
        indices: &[Atom],
        span: Span,
    ) -> EvalResult<Vec<model::Expr>> {
        let shape = &tensor.tensor.shape;
        if shape.len() != indices.len() {
            let given = match indices.len() {
                1 => "1 index is given".to_string(),
                n => format!("{n} indices are given"),
            };
            let message = format!("the tensor has {}, {given}", counted(shape.len(), "dimension"));
            return stop_with_help(
                &RANK_MISMATCH,
                span,
                message,
                "an access has one index per dimension; for any rank write a pack of indices, `x[i..]` with `i < s`",
            );
        }
        let mut subscripts = Vec::with_capacity(indices.len());
        for (index, extent) in indices.iter().zip(shape) {
            subscripts.push(match index {
                Atom::Guarded(guarded) => self.resolve_guard(guarded, extent, span)?,
                other => int_expr(other, span)?,
            });
        }
        Ok(subscripts)
    }

    fn resolve_guard(&mut self, guarded: &Guarded, extent: &Extent, span: Span) -> EvalResult<model::Expr> {
        let index = int_expr(&guarded.index, span)?;
        let extent = int_expr(&self.extent_atom(extent, span)?, span)?;
        let below = runtime::compare(ScalarOp::Lt, index.clone(), model::Expr::int(0));
        let beyond = runtime::compare(ScalarOp::Ge, index.clone(), extent.clone());
        match &guarded.remap {
            None => {
                self.require(runtime::compare(ScalarOp::Ge, index.clone(), model::Expr::int(0)));
                self.require(runtime::compare(ScalarOp::Lt, index.clone(), extent));
                Ok(index)
            }
            Some((low, high)) => {
                let low = int_expr(low, span)?;
                let high = int_expr(high, span)?;
                Ok(runtime::select(below, low, runtime::select(beyond, high, index)))
            }
        }
    }
}

fn int_expr(atom: &Atom, span: Span) -> EvalResult<model::Expr> {
    match atom.to_expr() {
        Some(expr) if expr.kind == ScalarKind::Int => Ok(expr),
        _ => stop(&UNEXPECTED_VALUE, span, format!("an index must be an int, this is {}", atom.describe())),
    }
}
