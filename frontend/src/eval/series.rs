// SPDX-License-Identifier: Apache-2.0
//! Packs of scalars of dynamic length (2.4, 2.6): the extents `..t` of such a pack of tensors, and values
//! computed from them.

mod concatenation;
mod elementwise;
pub(crate) mod fold;
mod items;
mod zip;

use std::rc::Rc;

use skript_semantics::{ScalarKind, ScalarOp};

use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::eval::runtime;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Value};
use crate::model::{Expr, Node};
use crate::program::Edition;
use crate::source::Span;

/// The index that represents the position; no formula has so many.
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

    /// A pack of items that differ in their position only.
    pub(crate) fn uniform(item: Expr, length: Expr) -> Self {
        Series { length, item }
    }

    pub(crate) fn kind(&self) -> ScalarKind {
        self.item.kind
    }

    /// Whether items are elements of tensors, or computed from some.
    pub(crate) fn reads(&self) -> bool {
        runtime::reads(&self.item)
    }

    /// The item, if it is the same at all positions.
    pub(crate) fn shared(&self) -> Option<&Expr> {
        (degree(&self.item) == Some(0)).then_some(&self.item)
    }

    pub(crate) fn at(&self, position: &Expr) -> Expr {
        at(&self.item, position)
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
    pub(crate) fn of(length: Expr, item: impl FnOnce(&Expr) -> Option<Expr>) -> Option<Self> {
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
            (ScalarKind::Int, ScalarKind::Real) => Series::of(self.length.clone(), |i| {
                runtime::operation(ScalarOp::ToReal, vec![self.at(i)], Edition::Draft6)
            }),
            (from, to) => (from == to).then(|| self.clone()),
        }
    }

    /// The same pack with its expressions replaced.
    pub(crate) fn map(&self, mut expr: impl FnMut(&Expr) -> Expr) -> Self {
        Series { length: expr(&self.length), item: expr(&self.item) }
    }

    /// The items of this pack, then those of another.
    pub(in crate::eval) fn followed_by(&self, next: &Series, span: Span) -> EvalResult<Rc<Series>> {
        let joined = || {
            let length = binary(ScalarOp::Add, self.length.clone(), next.length.clone())?;
            Series::of(length, |i| {
                let own = runtime::compare(ScalarOp::Lt, i.clone(), self.length.clone());
                let after = next.at(&binary(ScalarOp::Sub, i.clone(), self.length.clone())?);
                let fits = self.kind() == next.kind();
                fits.then(|| runtime::select(own, self.at(i), after))
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
            let largest = degrees.iter().copied().max().unwrap_or(0);
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

fn at(expr: &Expr, position: &Expr) -> Expr {
    with_leaves(expr, &|leaf| (leaf.node == Node::Index(POSITION)).then(|| position.clone()))
}

/// The expression with some of its indices and locals replaced, folded again.
pub(crate) fn with_leaves(expr: &Expr, replaced: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    let of = |expr: &Expr| with_leaves(expr, replaced);
    let all = |exprs: &[Expr]| exprs.iter().map(of).collect::<Vec<_>>();
    let node = match &expr.node {
        Node::Apply { op, operands } => {
            let operands = all(operands);
            match runtime::operation(*op, operands.clone(), Edition::Draft6) {
                Some(expr) => return expr,
                None => Node::Apply { op: *op, operands },
            }
        }
        Node::Select { condition, then, otherwise } => {
            return runtime::select(of(condition), of(then), of(otherwise));
        }
        Node::Table { items, index } => Node::Table { items: items.clone(), index: Box::new(of(index)) },
        Node::Access { tensor, subscripts } => Node::Access { tensor: *tensor, subscripts: all(subscripts) },
        Node::Literal(_) | Node::Index(_) | Node::Local(_) | Node::Extent(_) => {
            return replaced(expr).unwrap_or_else(|| expr.clone());
        }
    };
    Expr { kind: expr.kind, node }
}

/// Rejects operations that packs of dynamic length do not support.
pub(in crate::eval) fn refused<T>(what: &str, span: Span) -> EvalResult<T> {
    stop(&UNEXPECTED_VALUE, span, format!("the length of this pack is known at run time only: {what}"))
}

/// The pack of dynamic length that a value is.
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
    fn s2_4_items_are_what_their_expression_says() {
        // 3·i + 5, of 4 items.
        let series = Series::of(Expr::int(4), |i| {
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
    fn products_of_positions_are_no_line() {
        let squares = Series::of(Expr::int(4), |i| binary(ScalarOp::Mul, i.clone(), i.clone()));
        assert_eq!(squares.unwrap().line(), None);
        let mixed =
            Series::of(Expr::int(4), |i| binary(ScalarOp::Mod, sum(i.clone(), Expr::int(1)), Expr::int(2)));
        assert_eq!(mixed.unwrap().line(), None);
    }

    /// An operator over `xs: real[..t]..(n)` of the main graph, with this helper.
    fn helper(line: &str) -> String {
        format!(
            "operator f {{ @input {{ xs: real[..t]..(n); }} @output {{ y: int[1]; }} @using {{ h = {line}; }} @lower {{ y[i,] = n, i < 1; }} }} \
             graph G {{ @input {{ xs: real[3]..(s|4); }} @output {{ y: int[1]; }} @compose {{ y = f(xs); }} }}"
        )
    }

    #[test]
    fn what_has_no_closed_form_is_refused() {
        use crate::compose::testing::{assert_composes, assert_fires};
        use crate::diagnostics::codes::PACK_LENGTHS_DIFFER;
        for line in ["t[[0, 1]] <- [1, 2]", "[(t, [true])..]"] {
            assert_fires(&UNEXPECTED_VALUE, &helper(line));
        }
        assert_fires(&PACK_LENGTHS_DIFFER, &helper("t + [t.., 1]"));
        for line in [
            "t * t",
            "t * [1, 2]",
            "[(t, t + ..., 1)..]",
            "[2 ..(n)]",
            "t[0] <- 2",
            "t[1:] <- t[:-1] + t[1:]",
            "t[::-2] <- [5 ..(n \\ 2)]",
            "(t + ...) + ..",
            "[1, t..]",
            "t[1:] + t[:-1]",
            "t[[0, 1]]",
            "[t.., 1, t[::-1].., 2][n + 1]",
            "t[::2] + t[::2]",
            "t[::-2]",
            "t[-1:0:-1]",
            "6 in (t + ...)",
            "(t + ...) < ..",
            "[t.., (t + ...)..] + ..",
            "(t + ...) * ..",
            "[1, t.., 2] != ..",
            "([1, t.., 2] := ..) ?? 3",
        ] {
            assert_composes(&helper(line));
        }
    }
}
