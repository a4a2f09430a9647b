//! Folds of packs whose length only the run knows (2.4): in closed form, where there is one.

use skript_semantics::{ScalarKind, ScalarOp};

use super::demand::Demand;
use super::evaluator::{EvalResult, Evaluator, literal_bool};
use super::fold::{accumulation, comparison};
use super::runtime;
use super::series::{Series, binary, refused};
use super::value::{Atom, Value};
use crate::ast::FoldOp;
use crate::model::Expr;
use crate::source::Span;

/// Operations of a fold that is joined of parts, at most.
const JOINED_OPERATIONS: usize = 1 << 10;

impl Series {
    /// Whether all items hold, of conditions that are one for all.
    pub fn all(&self) -> Option<Expr> {
        let all = prefix(self, FoldOp::And, &self.length)?;
        (all.kind == ScalarKind::Bool).then_some(all)
    }
}

impl Evaluator<'_> {
    pub(super) fn fold_series(
        &mut self,
        series: &Series,
        op: FoldOp,
        cumulative: bool,
        span: Span,
    ) -> EvalResult<Value> {
        if cumulative {
            let folded = Series::of(series.length.clone(), |i| cumulated(series, op, i));
            return match folded {
                Some(folded) => Ok(folded.into_value()),
                None => refused("this cumulative fold has no closed form", span),
            };
        }
        match folded(series, op) {
            Some(folded) => Ok(Value::Atom(self.of_bounded_size(folded, span)?)),
            None => refused("this fold has no closed form", span),
        }
    }

    /// `item in pack`.
    pub(super) fn in_series(
        &mut self,
        item: &Atom,
        series: &Series,
        span: Span,
    ) -> EvalResult<Atom> {
        let Some(shared) = series.shared() else {
            if let Some((before, behind)) = series.parts() {
                let before = self.in_series(item, &before, span)?;
                let behind = self.in_series(item, &behind, span)?;
                return self.operation(ScalarOp::Or, &[before, behind], span);
            }
            return match item.to_expr().and_then(|item| among_line(&item, series)) {
                Some(found) => Ok(Atom::from_expr(found)),
                None => refused("its items have no closed form to search in", span),
            };
        };
        let shared = Atom::from_expr(shared.clone());
        let equal = self.operation(ScalarOp::Eq, &[item.clone(), shared], span)?;
        let some = runtime::compare(ScalarOp::Gt, series.length.clone(), Expr::int(0));
        self.operation(ScalarOp::And, &[Atom::from_expr(some), equal], span)
    }
}

/// All items folded; `None` if there is no closed form.
fn folded(series: &Series, op: FoldOp) -> Option<Expr> {
    let whole = prefix(series, op, &series.length);
    whole
        .or_else(|| compared(series, op))
        .or_else(|| in_parts(series, op).filter(is_small))
}

/// Whether a choice between folds is small enough to stand in others: what may be empty is looked at twice.
fn is_small(folded: &Expr) -> bool {
    let mut open = vec![folded];
    let mut operations = 0;
    while let Some(expr) = open.pop() {
        operations += 1;
        if operations > JOINED_OPERATIONS {
            return false;
        }
        open.extend(expr.children());
    }
    true
}

/// The items before a place folded, and those behind it.
fn in_parts(series: &Series, op: FoldOp) -> Option<Expr> {
    let (before, behind) = series.parts()?;
    let (first, second) = (folded(&before, op)?, folded(&behind, op)?);
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
        Some(ScalarOp::Ne) => None,
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
fn cumulated(series: &Series, op: FoldOp, position: &Expr) -> Option<Expr> {
    let all = prefix(series, op, &runtime::plus(position, 1));
    all.or_else(|| {
        let (before, behind) = series.parts()?;
        let inside = runtime::compare(ScalarOp::Lt, position.clone(), before.length.clone());
        let place = binary(ScalarOp::Sub, position.clone(), before.length.clone())?;
        let own = cumulated(&before, op, position)?;
        let further = cumulated(&behind, op, &place)?;
        let both = joined(op, folded(&before, op)?, further.clone())?;
        let both = match op {
            FoldOp::Min | FoldOp::Max => {
                let none = runtime::compare(ScalarOp::Le, before.length.clone(), Expr::int(0));
                runtime::select(none, further, both)
            }
            _ => both,
        };
        Some(runtime::select(inside, own, both)).filter(is_small)
    })
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
        FoldOp::Min | FoldOp::Max | FoldOp::Uniform => Some(shared),
        _ => None,
    }
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
