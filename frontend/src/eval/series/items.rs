// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length item by item (2.4): folds without closed form are unrolled to the upper bound of the length.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use super::{Series, binary};
use crate::ast::FoldOp;
use crate::eval::fold::{accumulation, balanced, comparison};
use crate::eval::ranges::upper_bound;
use crate::eval::runtime;
use crate::eval::runtime::literal_bool;
use crate::eval::series::fold::among;
use crate::eval::value::count;
use crate::model::{Accumulation, Expr};
use crate::program::Edition;

/// The fold of the first `length` items of a pack; `None` if it takes more than so many operations.
pub(in crate::eval) fn unrolled(series: &Series, op: FoldOp, length: &Expr, most: usize) -> Option<Expr> {
    let items = items(series, most)?;
    let inside = |position| runtime::compare(ScalarOp::Lt, position, length.clone());
    let Some(scalar) = comparison(op) else {
        let neutral = neutral(op, series);
        let counted = items
            .into_iter()
            .map(|(position, item)| Some(runtime::select(inside(position), item, neutral.clone()?)));
        return joined(counted.collect(), accumulation(op)?, || neutral.clone());
    };
    let pairs: Vec<_> = match scalar {
        ScalarOp::Ne if items.len().saturating_mul(items.len()) > most => return None,
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

/// Whether an item is among those of a pack; `None` if it takes more than so many operations.
pub(in crate::eval) fn found_among(item: &Expr, series: &Series, most: usize) -> Option<Expr> {
    let found = items(series, most)?.into_iter().map(|(position, own)| {
        let equal = binary(ScalarOp::Eq, own, item.clone())?;
        let inside = runtime::compare(ScalarOp::Lt, position, series.length.clone());
        Some(runtime::select(inside, equal, literal_bool(false)))
    });
    joined(found.collect(), ScalarOp::Or, || Some(literal_bool(false)))
}

/// Whether no item is in both packs; `None` if it takes more than so many operations.
pub(in crate::eval) fn disjoint(a: &Series, b: &Series, most: usize) -> Option<Expr> {
    let few = |series: &Series| series.shared().map_or(upper_bound(&series.length), |_| Some(1));
    let (few, others) = if few(a)? <= few(b)? { (a, b) } else { (b, a) };
    let open = match few.shared() {
        Some(shared) => vec![(Expr::int(0), shared.clone())],
        None => items(few, most)?,
    };
    let mut nodes = 0_usize;
    let apart = open.into_iter().map(|(position, item)| {
        let found = among(&item, others, most)?;
        nodes = nodes.saturating_add(found.size());
        if nodes > most {
            return None;
        }
        let apart = runtime::operation(ScalarOp::Not, vec![found], Edition::Draft6)?;
        let inside = runtime::compare(ScalarOp::Lt, position, few.length.clone());
        Some(runtime::select(inside, apart, literal_bool(true)))
    });
    joined(apart.collect(), ScalarOp::And, || Some(literal_bool(true)))
}

/// The items up to the upper bound of the length, with their positions.
fn items(series: &Series, most: usize) -> Option<Vec<(Expr, Expr)>> {
    let bound = usize::try_from(upper_bound(&series.length)?).ok()?;
    if bound.saturating_mul(series.item().size()) > most {
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
        // An extent should keep its upper bound; an element must not be read if there is none.
        FoldOp::Min | FoldOp::Max if !series.reads() => series.at(&Expr::int(0)),
        FoldOp::Min => Expr::literal(Accumulation::Min.identity(series.kind())),
        FoldOp::Max => Expr::literal(Accumulation::Max.identity(series.kind())),
        _ => return None,
    })
}

/// All of them combined, or the identity if there are none.
fn joined(items: Option<Vec<Expr>>, op: ScalarOp, none: impl FnOnce() -> Option<Expr>) -> Option<Expr> {
    match balanced(items?, &mut |a, b| binary(op, a, b).ok_or(())) {
        Some(joined) => joined.ok(),
        None => none(),
    }
}
