// SPDX-License-Identifier: Apache-2.0
//! Folds of packs of dynamic length (2.4), in closed form where there is one.

use skript_semantics::{ScalarKind, ScalarOp};

use super::items::{disjoint, found_among, unrolled};
use super::{Series, binary, refused, series_of};
use crate::ast::{Expr as Text, ExprKind, FoldOp};
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::eval::demand::Demand;
use crate::eval::evaluator::{EvalResult, Evaluator, literal_bool, stop};
use crate::eval::fold::{accumulation, comparison};
use crate::eval::ranges::{decided, upper_bound};
use crate::eval::runtime;
use crate::eval::value::{Atom, Value};
use crate::model::Expr;
use crate::source::Span;

/// Operations of a fold that is joined of parts, at most.
const JOINED_OPERATIONS: usize = 1 << 10;

impl Evaluator<'_> {
    /// Conditions, where those of a pack of dynamic length are one: that all of them hold.
    pub(crate) fn together(&mut self, conditions: Value, span: Span) -> EvalResult<Value> {
        match &conditions {
            Value::Atom(Atom::Series(series)) if series.kind() == ScalarKind::Bool => {
                self.fold_series(series, FoldOp::And, false, span)
            }
            _ => Ok(conditions),
        }
    }

    /// All items of a pack, where a packed assignment is at one of them.
    pub(crate) fn whole_pack(&mut self, pack: &Text) -> EvalResult<Value> {
        let every = self.formula.as_mut().and_then(|f| f.every.take());
        let value = self.eval(pack);
        if let Some(formula) = &mut self.formula {
            formula.every = every;
        }
        Ok(self.typed(value?, pack))
    }

    /// `pack << .. ?? fallback` of a pack that may be empty at run time; `None` for anything else.
    pub(in crate::eval) fn extremum_or(
        &mut self,
        value: &Text,
        fallback: &Text,
        span: Span,
    ) -> EvalResult<Option<Value>> {
        let ExprKind::Fold {
            pack,
            op: op @ (FoldOp::Min | FoldOp::Max),
            cumulative: false,
        } = &value.kind
        else {
            return Ok(None);
        };
        if self.refuses_empty_folds() {
            return Ok(None);
        }
        let pack = self.whole_pack(pack)?;
        let folded = self.fold(&pack, *op, false, value.span)?;
        let length = match series_of(&pack) {
            // The one extent of no tensors is there all the same.
            Some(series) if series.shared().is_none() => series.length.clone(),
            _ => return self.given_or(folded, value, fallback, span).map(Some),
        };
        let none = runtime::compare(ScalarOp::Le, length, Expr::int(0));
        if decided(&none) == Some(false) {
            return Ok(Some(folded));
        }
        let fallback = self.where_holds(&none, true, |this| this.eval(fallback))?;
        let chosen = self.elementwise(&fallback, &folded, span, |this, fallback, folded| {
            this.choose(&none, fallback, folded, span)
        });
        chosen.map(Some)
    }

    pub(in crate::eval) fn fold_series(
        &mut self,
        series: &Series,
        op: FoldOp,
        cumulative: bool,
        span: Span,
    ) -> EvalResult<Value> {
        if op == FoldOp::Uniform {
            // What cannot be derived while compiling is null, says 2.4.
            let shared = series.shared().cloned();
            return Ok(shared.map_or(Value::Null, |item| Value::Atom(Atom::from_expr(item))));
        }
        let most = self.limits.extent_operations;
        if cumulative {
            let folded = Series::of(series.length.clone(), |i| cumulated(series, op, i, most));
            return match folded {
                Some(folded) => Ok(folded.into_value()),
                None => self.too_long(series, "this cumulative fold", span),
            };
        }
        if matches!(op, FoldOp::Min | FoldOp::Max) {
            self.require_items(op, &series.length, span)?;
        }
        match folded(series, op, most) {
            Some(folded) => Ok(Value::Atom(self.of_bounded_size(folded, span)?)),
            None => self.too_long(series, "this fold", span),
        }
    }

    /// What has no closed form is written out for as many items as there may be.
    fn too_long<T>(&self, series: &Series, what: &str, span: Span) -> EvalResult<T> {
        let Some(items) = upper_bound(&series.length) else {
            return refused(&format!("{what} has no closed form"), span);
        };
        stop(
            &LIMIT_EXCEEDED,
            span,
            format!(
                "the length of this pack is known at run time only, and {what} has no closed form: unrolled for up to {items} items, it has more than {} operations (limit `extent_operations`); lower the \
                 bound of the length, or raise the limit",
                self.limits.extent_operations
            ),
        )
    }

    /// `item in pack`.
    pub(in crate::eval) fn in_series(
        &mut self,
        item: &Atom,
        series: &Series,
        span: Span,
    ) -> EvalResult<Atom> {
        let most = self.limits.extent_operations;
        match item.to_expr().and_then(|item| among(&item, series, most)) {
            Some(found) => Ok(Atom::from_expr(found)),
            None => self.too_long(series, "a search in it", span),
        }
    }
}

/// All items folded, in closed form where there is one; `None` if it takes more than so many operations otherwise.
fn folded(series: &Series, op: FoldOp, most: usize) -> Option<Expr> {
    let whole = prefix(series, op, &series.length);
    whole
        .or_else(|| compared(series, op))
        .or_else(|| in_parts(series, op, most).filter(is_small))
        .or_else(|| unrolled(series, op, &series.length, most))
}

/// Whether a choice between folds is small enough to stand in others: what may be empty is looked at twice.
fn is_small(folded: &Expr) -> bool {
    folded.size() <= JOINED_OPERATIONS
}

/// The items before a place folded, and those behind it.
fn in_parts(series: &Series, op: FoldOp, most: usize) -> Option<Expr> {
    let (before, behind) = series.parts()?;
    let (first, second) = (folded(&before, op, most)?, folded(&behind, op, most)?);
    let empty = |part: &Series| runtime::compare(ScalarOp::Le, part.length.clone(), Expr::int(0));
    match comparison(op) {
        None => {
            let both = joined(op, first.clone(), second.clone())?;
            // Of no items the one extent stands for all.
            Some(match op {
                FoldOp::Min | FoldOp::Max => {
                    let second_counts = runtime::select(empty(&behind), first, both);
                    runtime::select(empty(&before), second, second_counts)
                }
                _ => both,
            })
        }
        // Whether all differ, neighbours do not tell.
        Some(ScalarOp::Ne) => {
            let differ = binary(ScalarOp::And, first, second)?;
            binary(ScalarOp::And, differ, disjoint(&before, &behind, most)?)
        }
        Some(scalar) => {
            let last = before.at(&runtime::plus(&before.length, -1));
            let follows = binary(scalar, last, behind.at(&Expr::int(0)))?;
            let alone = binary(ScalarOp::Or, empty(&before), empty(&behind))?;
            let follows = binary(ScalarOp::Or, alone, follows)?;
            binary(
                ScalarOp::And,
                binary(ScalarOp::And, first, second)?,
                follows,
            )
        }
    }
}

/// Two folds as that of all their items.
fn joined(op: FoldOp, first: Expr, second: Expr) -> Option<Expr> {
    binary(accumulation(op)?, first, second)
}

/// The items up to this position folded.
fn cumulated(series: &Series, op: FoldOp, position: &Expr, most: usize) -> Option<Expr> {
    let count = runtime::plus(position, 1);
    let in_parts = || {
        let (before, behind) = series.parts()?;
        let inside = runtime::compare(ScalarOp::Lt, position.clone(), before.length.clone());
        let place = binary(ScalarOp::Sub, position.clone(), before.length.clone())?;
        let own = cumulated(&before, op, position, most)?;
        let further = cumulated(&behind, op, &place, most)?;
        let both = joined(op, folded(&before, op, most)?, further.clone())?;
        let both = match op {
            FoldOp::Min | FoldOp::Max => {
                let none = runtime::compare(ScalarOp::Le, before.length.clone(), Expr::int(0));
                runtime::select(none, further, both)
            }
            _ => both,
        };
        Some(runtime::select(inside, own, both)).filter(is_small)
    };
    prefix(series, op, &count)
        .or_else(in_parts)
        .or_else(|| unrolled(series, op, &count, most))
}

/// The first `count` items folded; `None` if there is no closed form.
fn prefix(series: &Series, op: FoldOp, count: &Expr) -> Option<Expr> {
    let none = || runtime::compare(ScalarOp::Le, count.clone(), Expr::int(0));
    let some = || runtime::compare(ScalarOp::Gt, count.clone(), Expr::int(0));
    let as_kind = |kind, count: Expr| match kind {
        ScalarKind::Real => runtime::operation(
            ScalarOp::ToReal,
            vec![count],
            crate::program::Edition::Draft6,
        ),
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
        // Of ints that grow by equal steps, one of the ends.
        let (first, _) = series.line().filter(|_| extremum)?;
        return joined(op, first, series.at(&runtime::plus(count, -1)));
    };
    match op {
        FoldOp::Add => binary(
            ScalarOp::Mul,
            shared.clone(),
            as_kind(shared.kind, count.clone())?,
        ),
        FoldOp::Mul => binary(
            ScalarOp::Pow,
            shared.clone(),
            as_kind(shared.kind, count.clone())?,
        ),
        // Of no items all are true, and none is.
        FoldOp::And => Some(runtime::select(none(), literal_bool(true), shared)),
        FoldOp::Or => Some(runtime::and(some(), shared)),
        FoldOp::Min | FoldOp::Max => Some(shared),
        _ => None,
    }
}

/// Whether one of the items is this one, in closed form where there is one; `None` if it takes more than so many operations
/// otherwise.
pub(in crate::eval) fn among(item: &Expr, series: &Series, most: usize) -> Option<Expr> {
    if let Some(shared) = series.shared() {
        let some = runtime::compare(ScalarOp::Gt, series.length.clone(), Expr::int(0));
        let equal = binary(ScalarOp::Eq, item.clone(), shared.clone())?;
        return binary(ScalarOp::And, some, equal);
    }
    if let Some((before, behind)) = series.parts() {
        let before = among(item, &before, most)?;
        return binary(ScalarOp::Or, before, among(item, &behind, most)?);
    }
    among_line(item, series).or_else(|| found_among(item, series, most))
}

/// Whether one of the items, which are ints that grow by equal steps, is this one.
fn among_line(item: &Expr, series: &Series) -> Option<Expr> {
    if series.kind() != ScalarKind::Int || item.kind != ScalarKind::Int {
        return None;
    }
    let (first, step) = series.line()?;
    let distance = binary(ScalarOp::Sub, item.clone(), first)?;
    // Divided by zero this is zero, the place of the first item, which is then all of them.
    let place = binary(ScalarOp::Div, distance, step)?;
    let inside = Demand::within(&place, &place, &series.length);
    let there = runtime::compare(ScalarOp::Eq, series.at(&place), item.clone());
    Some(runtime::and(inside, there))
}

/// All neighbours compared, and by `!=` all pairs.
fn compared(series: &Series, op: FoldOp) -> Option<Expr> {
    let scalar = comparison(op)?;
    let alone = runtime::compare(ScalarOp::Lt, series.length.clone(), Expr::int(2));
    let holds = match (series.shared(), scalar) {
        // A real may be no number.
        (Some(shared), _) if shared.kind == ScalarKind::Real => {
            binary(scalar, shared.clone(), shared.clone())?
        }
        (Some(_), ScalarOp::Le | ScalarOp::Ge | ScalarOp::Eq) => literal_bool(true),
        (Some(_), _) => literal_bool(false),
        // Each item follows its neighbour as the step follows zero.
        (None, _) if series.kind() == ScalarKind::Int => {
            runtime::compare(scalar, Expr::int(0), series.line()?.1)
        }
        (None, _) => return None,
    };
    binary(ScalarOp::Or, alone, holds)
}
