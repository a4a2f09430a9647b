// SPDX-License-Identifier: Apache-2.0
//! Folds of packs of dynamic length (2.4), in closed form if one exists.

use crate::ast::{Expr as Text, ExprKind, FoldOp};
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::eval::broadcast::{given_or, typed};
use crate::eval::conditions::where_holds;
use crate::eval::demand::Demand;
use crate::eval::evaluator::Evaluator;
use crate::eval::fold::{accumulation, comparison};
use crate::eval::ranges::{decided, upper_bound};
use crate::eval::runtime;
use crate::eval::runtime::literal_bool;
use crate::eval::series::items::{disjoint, found_among, unrolled};
use crate::eval::series::{Series, binary, refused, series_of};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Value};
use crate::model::Expr;
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};

/// The maximum number of operations of a fold that is combined from parts.
const MAX_JOINED_OPERATIONS: usize = 1 << 10;

/// Combines the conditions of a pack of dynamic length to one condition, which holds if all of them hold. Other values
/// are returned unchanged.
pub(crate) fn together(evaluator: &mut Evaluator, conditions: Value, span: Span) -> EvalResult<Value> {
    match &conditions {
        Value::Atom(Atom::Series(series)) if series.kind() == ScalarKind::Bool => {
            fold_series(evaluator, series, FoldOp::And, false, span)
        }
        _ => Ok(conditions),
    }
}

/// Evaluates a pack with all its items, inside a packed assignment that processes one item.
pub(crate) fn whole_pack(evaluator: &mut Evaluator, pack: &Text) -> EvalResult<Value> {
    let every = evaluator.formula.as_mut().and_then(|f| f.every.take());
    let value = evaluator.eval(pack);
    if let Some(formula) = &mut evaluator.formula {
        formula.every = every;
    }
    Ok(typed(evaluator, value?, pack))
}

/// `pack << .. ?? fallback` for a pack that may be empty at run time; `None` for other expressions.
pub(in crate::eval) fn extremum_or(
    evaluator: &mut Evaluator,
    value: &Text,
    fallback: &Text,
    span: Span,
) -> EvalResult<Option<Value>> {
    let ExprKind::Fold { pack, op: op @ (FoldOp::Min | FoldOp::Max), cumulative: false } = &value.kind else {
        return Ok(None);
    };
    if evaluator.refuses_empty_folds() {
        return Ok(None);
    }
    let pack = whole_pack(evaluator, pack)?;
    let folded = evaluator.fold(&pack, *op, false, value.span)?;
    let length = match series_of(&pack) {
        // The shared extent exists even if there are no tensors.
        Some(series) if series.shared().is_none() => series.length.clone(),
        _ => return given_or(evaluator, folded, value, fallback, span).map(Some),
    };
    let none = runtime::compare(ScalarOp::Le, length, Expr::int(0));
    if decided(&none) == Some(false) {
        return Ok(Some(folded));
    }
    let fallback = where_holds(evaluator, &none, true, |this| this.eval(fallback))?;
    let chosen = evaluator.elementwise(&fallback, &folded, span, |this, fallback, folded| {
        this.choose(&none, fallback, folded, span)
    });
    chosen.map(Some)
}

pub(in crate::eval) fn fold_series(
    evaluator: &mut Evaluator,
    series: &Series,
    op: FoldOp,
    cumulative: bool,
    span: Span,
) -> EvalResult<Value> {
    if op == FoldOp::Uniform {
        // 2.4: values that cannot be derived at compile time are null.
        return Ok(series.shared().cloned().map_or(Value::Null, |item| Value::Atom(Atom::from_expr(item))));
    }
    let max_operations = evaluator.limits.extent_operations;
    if cumulative {
        let folded = Series::from_items(series.length.clone(), |i| cumulated(series, op, i, max_operations));
        return match folded {
            Some(folded) => Ok(folded.into_value()),
            None => too_long(evaluator, series, "this cumulative fold", span),
        };
    }
    if matches!(op, FoldOp::Min | FoldOp::Max) {
        evaluator.require_items(op, &series.length, span)?;
    }
    match folded(series, op, max_operations) {
        Some(folded) => Ok(Value::Atom(evaluator.of_bounded_size(folded, span)?)),
        None => too_long(evaluator, series, "this fold", span),
    }
}

/// Folds without a closed form are unrolled to the upper bound of the length.
fn too_long<T>(evaluator: &Evaluator, series: &Series, what: &str, span: Span) -> EvalResult<T> {
    let Some(items) = upper_bound(&series.length) else {
        return refused(&format!("{what} has no closed form"), span);
    };
    let message = format!(
        "the length of this pack is known at run time only, and {what} has no closed form: unrolled for up to {items} items, it has more than {} operations (limit `extent_operations`); lower the \
             bound of the length, or raise the limit",
        evaluator.limits.extent_operations
    );
    stop(&LIMIT_EXCEEDED, span, message)
}

/// `item in pack`.
pub(in crate::eval) fn in_series(
    evaluator: &mut Evaluator,
    item: &Atom,
    series: &Series,
    span: Span,
) -> EvalResult<Atom> {
    let max_operations = evaluator.limits.extent_operations;
    match item.to_expr().and_then(|item| among(&item, series, max_operations)) {
        Some(found) => Ok(Atom::from_expr(found)),
        None => too_long(evaluator, series, "a search in it", span),
    }
}

/// Folds all items, in closed form if one exists; otherwise `None` if the fold takes more than `max_operations` operations.
fn folded(series: &Series, op: FoldOp, max_operations: usize) -> Option<Expr> {
    let whole = prefix(series, op, &series.length);
    whole
        .or_else(|| compared(series, op))
        .or_else(|| in_parts(series, op, max_operations).filter(is_small))
        .or_else(|| unrolled(series, op, &series.length, max_operations))
}

/// Whether a select between folds is small enough as an operand: a pack that may be empty is evaluated twice.
fn is_small(folded: &Expr) -> bool {
    folded.size() <= MAX_JOINED_OPERATIONS
}

/// Combines the fold of the items before a position and the fold of the items after it.
fn in_parts(series: &Series, op: FoldOp, max_operations: usize) -> Option<Expr> {
    let (before, after) = series.parts()?;
    let (first, second) = (folded(&before, op, max_operations)?, folded(&after, op, max_operations)?);
    let empty = |part: &Series| runtime::compare(ScalarOp::Le, part.length.clone(), Expr::int(0));
    match comparison(op) {
        None => {
            let both = joined(op, first.clone(), second.clone())?;
            // The fold of an empty part is its shared extent, which must not affect the result.
            Some(match op {
                FoldOp::Min | FoldOp::Max => {
                    let second_counts = runtime::select(empty(&after), first, both);
                    runtime::select(empty(&before), second, second_counts)
                }
                _ => both,
            })
        }
        // Comparing neighbours does not decide whether all differ.
        Some(ScalarOp::Ne) => {
            let differ = binary(ScalarOp::And, first, second)?;
            binary(ScalarOp::And, differ, disjoint(&before, &after, max_operations)?)
        }
        Some(scalar) => {
            let last = before.at(&runtime::plus(&before.length, -1));
            let follows = binary(scalar, last, after.at(&Expr::int(0)))?;
            let alone = binary(ScalarOp::Or, empty(&before), empty(&after))?;
            let follows = binary(ScalarOp::Or, alone, follows)?;
            binary(ScalarOp::And, binary(ScalarOp::And, first, second)?, follows)
        }
    }
}

/// Combines two folds to the fold of all their items.
fn joined(op: FoldOp, first: Expr, second: Expr) -> Option<Expr> {
    binary(accumulation(op)?, first, second)
}

/// The fold of the items up to this position.
fn cumulated(series: &Series, op: FoldOp, position: &Expr, max_operations: usize) -> Option<Expr> {
    let count = runtime::plus(position, 1);
    let in_parts = || {
        let (before, after) = series.parts()?;
        let inside = runtime::compare(ScalarOp::Lt, position.clone(), before.length.clone());
        let location = binary(ScalarOp::Sub, position.clone(), before.length.clone())?;
        let within_before = cumulated(&before, op, position, max_operations)?;
        let further = cumulated(&after, op, &location, max_operations)?;
        let both = joined(op, folded(&before, op, max_operations)?, further.clone())?;
        let both = match op {
            FoldOp::Min | FoldOp::Max => {
                let none = runtime::compare(ScalarOp::Le, before.length.clone(), Expr::int(0));
                runtime::select(none, further, both)
            }
            _ => both,
        };
        Some(runtime::select(inside, within_before, both)).filter(is_small)
    };
    prefix(series, op, &count).or_else(in_parts).or_else(|| unrolled(series, op, &count, max_operations))
}

/// The fold of the first `count` items; `None` if there is no closed form.
fn prefix(series: &Series, op: FoldOp, count: &Expr) -> Option<Expr> {
    let none = || runtime::compare(ScalarOp::Le, count.clone(), Expr::int(0));
    let some = || runtime::compare(ScalarOp::Gt, count.clone(), Expr::int(0));
    let as_kind = |kind, count: Expr| match kind {
        ScalarKind::Real => {
            runtime::operation(ScalarOp::ToReal, vec![count], crate::program::Edition::Draft6)
        }
        _ => Some(count),
    };
    if op == FoldOp::Add && series.kind() == ScalarKind::Int {
        // count·first + count·(count − 1) / 2·step
        let (first, step) = series.line()?;
        let less = binary(ScalarOp::Sub, count.clone(), Expr::int(1))?;
        let pairs = binary(ScalarOp::Mul, count.clone(), less)?;
        let pairs = binary(ScalarOp::Div, pairs, Expr::int(2))?;
        let sum = binary(ScalarOp::Mul, first, count.clone())?;
        return match step.node {
            crate::model::Node::Literal(skript_semantics::Scalar::Int(0)) => Some(sum),
            _ => binary(ScalarOp::Add, sum, binary(ScalarOp::Mul, step, pairs)?),
        };
    }
    let Some(shared) = series.shared().cloned() else {
        let extremum = matches!(op, FoldOp::Min | FoldOp::Max) && series.kind() == ScalarKind::Int;
        // For ints in arithmetic sequence, the minimum and maximum are the first and last.
        let (first, _) = series.line().filter(|_| extremum)?;
        return joined(op, first, series.at(&runtime::plus(count, -1)));
    };
    match op {
        FoldOp::Add => binary(ScalarOp::Mul, shared.clone(), as_kind(shared.kind, count.clone())?),
        FoldOp::Mul => binary(ScalarOp::Pow, shared.clone(), as_kind(shared.kind, count.clone())?),
        // Without items, `&&` is true and `||` is false.
        FoldOp::And => Some(runtime::select(none(), literal_bool(true), shared)),
        FoldOp::Or => Some(runtime::and(some(), shared)),
        FoldOp::Min | FoldOp::Max => Some(shared),
        _ => None,
    }
}

/// Whether the pack contains the item, in closed form if one exists; otherwise `None` if the search takes more than
/// `max_operations` operations.
pub(in crate::eval) fn among(item: &Expr, series: &Series, max_operations: usize) -> Option<Expr> {
    if let Some(shared) = series.shared() {
        let some = runtime::compare(ScalarOp::Gt, series.length.clone(), Expr::int(0));
        let equal = binary(ScalarOp::Eq, item.clone(), shared.clone())?;
        return binary(ScalarOp::And, some, equal);
    }
    if let Some((before, after)) = series.parts() {
        let before = among(item, &before, max_operations)?;
        return binary(ScalarOp::Or, before, among(item, &after, max_operations)?);
    }
    among_line(item, series).or_else(|| found_among(item, series, max_operations))
}

/// Whether the pack, an arithmetic sequence of ints, contains the item.
fn among_line(item: &Expr, series: &Series) -> Option<Expr> {
    if series.kind() != ScalarKind::Int || item.kind != ScalarKind::Int {
        return None;
    }
    let (first, step) = series.line()?;
    let distance = binary(ScalarOp::Sub, item.clone(), first)?;
    // Division by zero gives zero, the position of the first item; then all items are equal.
    let location = binary(ScalarOp::Div, distance, step)?;
    let inside = Demand::within(&location, &location, &series.length);
    let there = runtime::compare(ScalarOp::Eq, series.at(&location), item.clone());
    Some(runtime::and(inside, there))
}

/// Compares all neighbours, and for `!=` all pairs.
fn compared(series: &Series, op: FoldOp) -> Option<Expr> {
    let scalar = comparison(op)?;
    let alone = runtime::compare(ScalarOp::Lt, series.length.clone(), Expr::int(2));
    let holds = match (series.shared(), scalar) {
        // A real may be a NaN.
        (Some(shared), _) if shared.kind == ScalarKind::Real => {
            binary(scalar, shared.clone(), shared.clone())?
        }
        (Some(_), ScalarOp::Le | ScalarOp::Ge | ScalarOp::Eq) => literal_bool(true),
        (Some(_), _) => literal_bool(false),
        // Each item compares with its neighbour as the step compares with zero.
        (None, _) if series.kind() == ScalarKind::Int => {
            runtime::compare(scalar, Expr::int(0), series.line()?.1)
        }
        (None, _) => return None,
    };
    binary(ScalarOp::Or, alone, holds)
}
