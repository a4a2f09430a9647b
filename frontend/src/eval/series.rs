// SPDX-License-Identifier: Apache-2.0
//! Packs of scalars of dynamic length (2.4, 2.6): the extents `..t` of such a pack of tensors, and values
//! computed from them.

mod elementwise;
pub(crate) mod fold;
mod items;
pub(super) mod zip;

use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::eval::runtime;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Value};
use crate::model::{Expr, Node};
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};
use std::rc::Rc;

/// The index that represents the position; the indices of formulas are smaller.
const POSITION: usize = usize::MAX;

/// Item i of the pack is `item` at i, for all i below `length`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// The length: an int over dynamic extents.
    pub length: Expr,
    item: Expr,
}

impl Series {
    /// The representation of the position in an item.
    pub(in crate::eval) fn position() -> Expr {
        Expr::index(POSITION)
    }

    /// A pack of equal items.
    pub(crate) fn uniform(item: Expr, length: Expr) -> Self {
        Series { length, item }
    }

    pub(crate) fn kind(&self) -> ScalarKind {
        self.item.kind
    }

    /// Whether items are elements of tensors, or computed from elements.
    pub(crate) fn reads(&self) -> bool {
        runtime::reads(&self.item)
    }

    /// The item, if it is the same at all positions.
    pub(crate) fn shared(&self) -> Option<&Expr> {
        (degree(&self.item) == Some(0)).then_some(&self.item)
    }

    pub(crate) fn at(&self, position: &Expr) -> Expr {
        at_position(&self.item, position)
    }

    /// The item in terms of the position.
    pub(in crate::eval) fn item(&self) -> &Expr {
        &self.item
    }

    /// Another item in terms of the position.
    pub(in crate::eval) fn with_item(&self, item: Expr) -> Self {
        Series { length: self.length.clone(), item }
    }

    /// The pack whose item i is `item(i)`.
    pub(crate) fn from_items(length: Expr, item: impl FnOnce(&Expr) -> Option<Expr>) -> Option<Self> {
        let item = item(&Series::position())?;
        Some(Series { length, item })
    }

    /// The first item and the difference of neighbours, if that is constant.
    pub(crate) fn line(&self) -> Option<(Expr, Expr)> {
        if degree(&self.item)? > 1 {
            return None;
        }
        let first = self.at(&Expr::int(0));
        let step = binary(ScalarOp::Sub, self.at(&Expr::int(1)), first.clone())?;
        Some((first, step))
    }

    /// The pack in another type: unchanged, or ints converted to reals.
    pub(crate) fn converted(&self, kind: ScalarKind) -> Option<Self> {
        match (self.kind(), kind) {
            (ScalarKind::Int, ScalarKind::Real) => Series::from_items(self.length.clone(), |i| {
                runtime::operation(ScalarOp::ToReal, vec![self.at(i)], Edition::Draft6)
            }),
            (from, to) => (from == to).then(|| self.clone()),
        }
    }

    /// The same pack with its expressions replaced.
    pub(crate) fn map(&self, mut expr: impl FnMut(&Expr) -> Expr) -> Self {
        Series { length: expr(&self.length), item: expr(&self.item) }
    }

    /// The items of this pack, then the items of `next`.
    pub(in crate::eval) fn followed_by(&self, next: &Series, span: Span) -> EvalResult<Rc<Series>> {
        let joined = || {
            let length = binary(ScalarOp::Add, self.length.clone(), next.length.clone())?;
            Series::from_items(length, |i| {
                let is_inside = runtime::compare(ScalarOp::Lt, i.clone(), self.length.clone());
                let after = next.at(&binary(ScalarOp::Sub, i.clone(), self.length.clone())?);
                let fits = self.kind() == next.kind();
                fits.then(|| runtime::select(is_inside, self.at(i), after))
            })
        };
        match joined() {
            Some(joined) => Ok(Rc::new(joined)),
            None => refused("packs in one list must have the same type", span),
        }
    }

    pub(crate) fn text(&self) -> String {
        let text = |expr| Atom::from_expr(expr).text();
        let first = text(self.at(&Expr::int(0)));
        format!("[{first}, …] of {} items", text(self.length.clone()))
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Atom(Atom::Series(Rc::new(self)))
    }
}

/// An operation of two operands, with its meaning in models.
pub(in crate::eval) fn binary(op: ScalarOp, a: Expr, b: Expr) -> Option<Expr> {
    runtime::operation(op, vec![a, b], Edition::Draft6)
}

/// The degree in the position; `None` if it is not a polynomial.
fn degree(expr: &Expr) -> Option<usize> {
    match &expr.node {
        Node::Index(POSITION) => Some(1),
        Node::Apply { op, operands } => {
            let degrees: Option<Vec<usize>> = operands.iter().map(degree).collect();
            let degrees = degrees?;
            let largest = degrees.iter().copied().fold(0, usize::max);
            match op {
                _ if largest == 0 => Some(0),
                ScalarOp::Add | ScalarOp::Sub | ScalarOp::Neg => Some(largest),
                ScalarOp::Mul => Some(degrees.iter().sum()),
                _ => None,
            }
        }
        _ => {
            let constant = expr.children().into_iter().map(degree).all(|d| d == Some(0));
            constant.then_some(0)
        }
    }
}

fn at_position(expr: &Expr, position: &Expr) -> Expr {
    with_leaves(expr, &|leaf| (leaf.node == Node::Index(POSITION)).then(|| position.clone()))
}

/// The expression with some of its indices and locals replaced, folded again.
pub(crate) fn with_leaves(expr: &Expr, replaced: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    let of = |expr: &Expr| with_leaves(expr, replaced);
    let with_children = || expr.with_children(|child| Some(of(child))).unwrap_or_else(|| expr.clone());
    match &expr.node {
        Node::Apply { op, operands } => {
            let replaced = operands.iter().map(of).collect();
            runtime::operation(*op, replaced, Edition::Draft6).unwrap_or_else(with_children)
        }
        Node::Select { condition, then, otherwise } => {
            runtime::select(of(condition), of(then), of(otherwise))
        }
        Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_) => {
            replaced(expr).unwrap_or_else(|| expr.clone())
        }
        Node::Table { .. } | Node::Access { .. } => with_children(),
    }
}

/// Rejects operations that packs of dynamic length do not support.
pub(in crate::eval) fn refused<T>(what: &str, span: Span) -> EvalResult<T> {
    stop(&UNEXPECTED_VALUE, span, format!("the length of this pack is known at run time only: {what}"))
}

/// The value as a pack of scalars of dynamic length.
pub(crate) fn series_of(value: &Value) -> Option<&Rc<Series>> {
    match value {
        Value::Atom(Atom::Series(series)) => Some(series),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: Expr, b: Expr) -> Expr {
        binary(ScalarOp::Add, a, b).unwrap()
    }

    #[test]
    fn s2_4_items_follow_their_expression() {
        // 3·i + 5, of 4 items.
        let series = Series::from_items(Expr::int(4), |i| {
            let steps = binary(ScalarOp::Mul, Expr::int(3), i.clone())?;
            binary(ScalarOp::Add, steps, Expr::int(5))
        });
        let series = series.unwrap();
        assert_eq!(series.at(&Expr::int(2)), Expr::int(11));
        assert_eq!(series.line(), Some((Expr::int(5), Expr::int(3))));
        assert_eq!(series.shared(), None);
        let same = Series::uniform(Expr::index(0), Expr::int(4));
        assert_eq!(same.shared(), Some(&Expr::index(0)));
        assert_eq!(same.at(&Expr::int(7)), Expr::index(0));
    }

    #[test]
    fn products_of_positions_are_not_a_line() {
        let squares = Series::from_items(Expr::int(4), |i| binary(ScalarOp::Mul, i.clone(), i.clone()));
        assert_eq!(squares.unwrap().line(), None);
        let mixed = Series::from_items(Expr::int(4), |i| {
            binary(ScalarOp::Mod, sum(i.clone(), Expr::int(1)), Expr::int(2))
        });
        assert_eq!(mixed.unwrap().line(), None);
    }
}
