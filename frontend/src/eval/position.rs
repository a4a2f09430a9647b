// SPDX-License-Identifier: Apache-2.0
//! The position of an index in a pack (2.4), for static and dynamic lengths.
//!
//! An index below zero counts from the end. An index that depends on extents, or on indices of a formula that evaluates it
//! in every step, is checked at run time; an index that depends on data selects the nearest item.

use crate::eval::conditions::demand;
use crate::eval::demand::{Demand, Position, Subject};
use crate::eval::evaluator::Evaluator;
use crate::eval::ranges::{Interval, Known, Work, box_facts};
use crate::eval::runtime;
use crate::eval::series::binary;
use crate::eval::value::Atom;
use crate::model::Expr;
use crate::model::check::is_shape_scalar;
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};

/// The atom as an int expression; `None` if it is not an int.
pub(super) fn int_of(atom: &Atom) -> Option<Expr> {
    match atom {
        Atom::Int(_) | Atom::Runtime(_) => atom.to_expr().filter(|e| e.kind == ScalarKind::Int),
        _ => None,
    }
}

/// The position of an item; `None` if the index is not an int.
pub(crate) fn item_position(
    evaluator: &mut Evaluator,
    index: &Atom,
    length: &Expr,
    span: Span,
) -> Option<Expr> {
    let index = int_of(index)?;
    if is_shape_scalar(&index) {
        return Some(checked_position(evaluator, index, length, span));
    }
    if runtime::reads(&index) {
        return Some(nearest(evaluator, index, length));
    }
    let location = index_from_end(evaluator, &index, length);
    Some(position_of_step(evaluator, index, location, length, length, span))
}

/// The position of a tensor in a pack. An index that depends on formula indices or data is returned unchanged, because
/// the access checks it.
pub(crate) fn tensor_position(
    evaluator: &mut Evaluator,
    index: &Atom,
    length: &Expr,
    span: Span,
) -> Option<Expr> {
    let index = int_of(index)?;
    if is_shape_scalar(&index) { Some(checked_position(evaluator, index, length, span)) } else { Some(index) }
}

/// A position that depends on extents, with its run-time check.
fn checked_position(evaluator: &mut Evaluator, index: Expr, length: &Expr, span: Span) -> Expr {
    let location = index_from_end(evaluator, &index, length);
    demand(evaluator, Demand::index(&index, &location, length, span));
    location
}

/// The position for an index that differs in each step of a formula.
pub(super) fn position_of_step(
    evaluator: &mut Evaluator,
    index: Expr,
    location: Expr,
    locations: &Expr,
    length: &Expr,
    span: Span,
) -> Expr {
    let nearest = nearest(evaluator, location.clone(), locations);
    if let Some(formula) = evaluator.formula.as_mut().filter(|_| nearest != location) {
        formula.clamped = true;
        formula.positions.push(Position {
            from_end: location != index,
            index,
            locations: locations.clone(),
            length: length.clone(),
            unless: Vec::new(),
            subject: Subject::Item,
            span,
        });
    }
    nearest
}

/// The index; negative values count from the end.
pub(crate) fn index_from_end(evaluator: &Evaluator, index: &Expr, length: &Expr) -> Expr {
    let Interval { low, high } = with_known(evaluator, |known| known.interval(index));
    let shifted = binary(ScalarOp::Add, index.clone(), length.clone());
    let Some(shifted) = shifted.filter(|_| low < 0) else {
        return index.clone();
    };
    if high < 0 {
        return shifted;
    }
    // The index of the last item is negative only for an empty pack.
    if runtime::plus(length, -1) == *index {
        return index.clone();
    }
    let below = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(0));
    runtime::select(below, shifted, index.clone())
}

/// The maximum of the int and zero.
pub(super) fn not_negative(evaluator: &Evaluator, number: Expr) -> Expr {
    let low = with_known(evaluator, |known| known.interval(&number).low);
    if low < 0 { binary(ScalarOp::Max, number.clone(), Expr::int(0)).unwrap_or(number) } else { number }
}

/// The index if it is a valid position, else the nearest valid position.
pub(super) fn nearest(evaluator: &Evaluator, index: Expr, locations: &Expr) -> Expr {
    let last = runtime::plus(locations, -1);
    let slack = binary(ScalarOp::Sub, last.clone(), index.clone());
    let (low, above) = with_known(evaluator, |known| {
        let above = slack.is_none_or(|slack| known.interval(&slack).low < 0);
        (known.interval(&index).low, above)
    });
    let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
    let mut index = index;
    if above {
        index = int(ScalarOp::Min, index, last);
    }
    if low < 0 {
        index = not_negative(evaluator, index);
    }
    index
}

fn with_known<T>(evaluator: &Evaluator, query: impl FnOnce(&Known) -> T) -> T {
    let work = Work::default();
    match &evaluator.formula {
        Some(formula) => {
            let mut facts = box_facts(&formula.indices);
            facts.extend(formula.facts.iter().cloned());
            query(&Known::new((&formula.indices, &[]), &facts, &work))
        }
        None => query(&Known::new((&[], &[]), &[], &work)),
    }
}
