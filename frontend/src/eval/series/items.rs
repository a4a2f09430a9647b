// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length item by item (2.4): folds without closed form are unrolled to the upper bound of the length.

use crate::ast::FoldOp;
use crate::eval::fold::{accumulation, balanced, comparison};
use crate::eval::ranges::{decided, upper_bound};
use crate::eval::runtime;
use crate::eval::runtime::literal_bool;
use crate::eval::series::fold::among;
use crate::eval::series::{Series, binary};
use crate::eval::value::count;
use crate::model::{Accumulation, Expr, Node};
use crate::program::Edition;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The fold of the first `length` items of a pack; `None` if it takes more than `max_operations` operations.
pub(in crate::eval) fn unrolled(
    series: &Series,
    op: FoldOp,
    length: &Expr,
    max_operations: usize,
) -> Option<Expr> {
    let items = items(series, max_operations)?;
    let inside = |position| runtime::compare(ScalarOp::Lt, position, length.clone());
    let Some(scalar) = comparison(op) else {
        let neutral = neutral(op, series);
        let counted = items
            .into_iter()
            .map(|(position, item)| Some(runtime::select(inside(position), item, neutral.clone()?)));
        return joined(counted.collect(), accumulation(op)?, || neutral.clone());
    };
    let pairs: Vec<_> = match scalar {
        ScalarOp::Ne if items.len().saturating_mul(items.len()) > max_operations => return None,
        ScalarOp::Ne => {
            let after = |location: usize| items.iter().skip(location + 1);
            items.iter().enumerate().flat_map(|(location, a)| after(location).map(move |b| (a, b))).collect()
        }
        _ => items.iter().zip(items.iter().skip(1)).collect(),
    };
    let compared = pairs.into_iter().map(|((_, a), (position, b))| {
        let holds = binary(scalar, a.clone(), b.clone())?;
        Some(runtime::select(inside(position.clone()), holds, literal_bool(true)))
    });
    joined(compared.collect(), ScalarOp::And, || Some(literal_bool(true)))
}

/// Whether a pack contains an item; `None` if it takes more than `max_operations` operations.
pub(in crate::eval) fn found_among(item: &Expr, series: &Series, max_operations: usize) -> Option<Expr> {
    let matches = items(series, max_operations)?.into_iter().map(|(position, other)| {
        let equal = binary(ScalarOp::Eq, other, item.clone())?;
        let inside = runtime::compare(ScalarOp::Lt, position, series.length.clone());
        Some(runtime::select(inside, equal, literal_bool(false)))
    });
    joined(matches.collect(), ScalarOp::Or, || Some(literal_bool(false)))
}

/// Whether two packs have no common item; `None` if it takes more than `max_operations` operations.
pub(in crate::eval) fn disjoint(a: &Series, b: &Series, max_operations: usize) -> Option<Expr> {
    let few = |series: &Series| series.shared().map_or(upper_bound(&series.length), |_| Some(1));
    let (few, others) = if few(a)? <= few(b)? { (a, b) } else { (b, a) };
    let open = match few.shared() {
        Some(shared) => vec![(Expr::int(0), shared.clone())],
        None => items(few, max_operations)?,
    };
    let mut nodes = 0_usize;
    let apart = open.into_iter().map(|(position, item)| {
        let is_common = among(&item, others, max_operations)?;
        nodes = nodes.saturating_add(is_common.size());
        if nodes > max_operations {
            return None;
        }
        let apart = runtime::operation(ScalarOp::Not, vec![is_common], Edition::Draft6)?;
        let inside = runtime::compare(ScalarOp::Lt, position, few.length.clone());
        Some(runtime::select(inside, apart, literal_bool(true)))
    });
    joined(apart.collect(), ScalarOp::And, || Some(literal_bool(true)))
}

/// The items up to the upper bound of the length, with their positions.
fn items(series: &Series, max_operations: usize) -> Option<Vec<(Expr, Expr)>> {
    let bound = usize::try_from(upper_bound(&series.length)?).ok()?;
    if bound.saturating_mul(series.item().size()) > max_operations {
        return None;
    }
    let positions = (0..bound).map(|n| Expr::int(count(n)));
    Some(positions.map(|p| (p.clone(), series.at(&p))).collect())
}

/// The value of a missing item in a fold.
fn neutral(op: FoldOp, series: &Series) -> Option<Expr> {
    let number = |n: u8| match series.kind() {
        ScalarKind::Real => Expr::literal(Scalar::Real(f64::from(n))),
        _ => Expr::int(i64::from(n)),
    };
    Some(match op {
        FoldOp::Add => number(0),
        FoldOp::Mul => number(1),
        FoldOp::And => literal_bool(true),
        FoldOp::Or => literal_bool(false),
        // An extent should keep its upper bound; an element of an empty pack must not be read.
        FoldOp::Min | FoldOp::Max if !series.reads() => series.at(&Expr::int(0)),
        FoldOp::Min => Expr::literal(Accumulation::Min.identity(series.kind())),
        FoldOp::Max => Expr::literal(Accumulation::Max.identity(series.kind())),
        _ => return None,
    })
}

/// Combines all items; returns the identity if there are no items.
fn joined(items: Option<Vec<Expr>>, op: ScalarOp, none: impl FnOnce() -> Option<Expr>) -> Option<Expr> {
    match balanced(items?, &mut |a, b| binary(op, a, b).ok_or(())) {
        Some(joined) => joined.ok(),
        None => none(),
    }
}

impl Series {
    /// Splits the pack at a position, if the outermost operation selects by the position.
    pub(in crate::eval) fn parts(&self) -> Option<(Series, Series)> {
        let (condition, then, otherwise) = match &self.item().node {
            Node::Apply { op: ScalarOp::Select, operands } => match operands.as_slice() {
                [condition, then, otherwise] => (condition, then, otherwise),
                _ => return None,
            },
            Node::Select { condition, then, otherwise } => (&**condition, &**then, &**otherwise),
            _ => return None,
        };
        let (position, holds_before) = self.turn(condition)?;
        let position = self.within(position);
        let (before, after) = if holds_before { (then, otherwise) } else { (otherwise, then) };
        let remaining = binary(ScalarOp::Sub, self.length.clone(), position.clone())?;
        let before = self.with_item(before.clone());
        let after = self.with_item(after.clone());
        let after = Series::from_items(remaining, |i| {
            Some(after.at(&binary(ScalarOp::Add, i.clone(), position.clone())?))
        })?;
        Some((Series::from_items(position, |i| Some(before.at(i)))?, after))
    }

    /// The position at which a comparison changes its value, and the value before.
    fn turn(&self, condition: &Expr) -> Option<(Expr, bool)> {
        let Node::Apply { op, operands } = &condition.node else {
            return None;
        };
        let [a, b] = operands.as_slice() else {
            return None;
        };
        if a.kind != ScalarKind::Int {
            return None;
        }
        let difference = self.with_item(binary(ScalarOp::Sub, a.clone(), b.clone())?);
        let (first, step) = difference.line()?;
        let rises = match step.node {
            Node::Literal(Scalar::Int(1)) => true,
            Node::Literal(Scalar::Int(-1)) => false,
            _ => return None,
        };
        // first + i, or first - i, compared with zero.
        let zero = if rises { binary(ScalarOp::Sub, Expr::int(0), first)? } else { first };
        let (holds_before, beyond) = match (op, rises) {
            (ScalarOp::Lt, true) | (ScalarOp::Gt, false) => (true, 0),
            (ScalarOp::Le, true) | (ScalarOp::Ge, false) => (true, 1),
            (ScalarOp::Ge, true) | (ScalarOp::Le, false) => (false, 0),
            (ScalarOp::Gt, true) | (ScalarOp::Lt, false) => (false, 1),
            _ => return None,
        };
        Some((runtime::plus(&zero, beyond), holds_before))
    }

    /// A position clamped to this pack's range.
    fn within(&self, position: Expr) -> Expr {
        let holds = |op, position: &Expr, limit: &Expr| {
            decided(&runtime::compare(op, position.clone(), limit.clone())) == Some(true)
        };
        let mut position = position;
        for (op, limit, nearest) in
            [(ScalarOp::Le, self.length.clone(), ScalarOp::Min), (ScalarOp::Ge, Expr::int(0), ScalarOp::Max)]
        {
            if !holds(op, &position, &limit) {
                position = Expr::apply(ScalarKind::Int, nearest, vec![position, limit]);
            }
        }
        position
    }
}
