// SPDX-License-Identifier: Apache-2.0
//! `|e <> a : b|` (2.12): the replacements `a` and `b` must be in bounds. A replacement that is always out of bounds is
//! rejected; a replacement that depends on dynamic extents is checked at run time.

use skript_semantics::{ScalarKind, ScalarOp};
use std::ops::Sub as _;

use super::index_range::Loops;
use crate::diagnostics::codes::ACCESS_OUT_OF_RANGE;
use crate::eval::ranges::{Known, extent_expr};
use crate::eval::sum::Sum;
use crate::eval::{Demand, runtime};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, Extent, MessagePart, Node};
use crate::source::Span;

/// The side on which an index is out of bounds.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Beyond,
}

/// The run-time checks of a guarded index with replacements that every step evaluates; `None` if it is not such an
/// index, or if extents do not determine the range of the replacements.
pub(super) fn remapped(
    loops: &Loops,
    subscript: &Expr,
    (extent, name): (&Extent, &str),
    span: Span,
) -> Option<Vec<Demand>> {
    let size = extent_expr(extent);
    let (index, replacements) = remaps(subscript, &size)?;
    let (lowest, highest) = loops.exact(index)?;
    let mut demands = Vec::new();
    for (side, replacement) in replacements {
        // The maximum distance of an out-of-bounds index from the bounds.
        let outside = match side {
            Side::Below => Sum::constant(-1).sub(&Sum::from(&lowest)),
            Side::Beyond => Sum::from(&highest).sub(&Sum::from(&size)),
        };
        let mut facts = loops.facts.to_vec();
        facts.push(outside.clone());
        facts.extend(loops.indices.iter().map(|index| {
            let extent = Sum::from(&extent_expr(&index.extent));
            extent.plus(-1)
        }));
        let known = Known::new((&[], &[]), &facts, loops.work);
        // The out-of-bounds values of the index: from the end of its loops to the border of the tensor.
        let (first, last) = match side {
            Side::Below if known.interval(&highest).low >= -1 => (lowest.clone(), Expr::int(-1)),
            Side::Below => (lowest.clone(), int(ScalarOp::Min, &highest, &Expr::int(-1))),
            Side::Beyond if !known.may_reach(&lowest, extent) => (size.clone(), highest.clone()),
            Side::Beyond => (int(ScalarOp::Max, &lowest, &size), highest.clone()),
        };
        let (low, high) = between(index, replacement, side, (&first, &last))?;
        if known.interval(&low).low >= 0 && !known.may_reach(&high, extent) {
            continue;
        }
        let never = runtime::compare(ScalarOp::Lt, outside.into(), Expr::int(0));
        let within = Demand::within(&low, &high, &size);
        let holds = runtime::simplified(ScalarOp::Or, ScalarKind::Bool, vec![never, within]);
        let side = match side {
            Side::Below => "below zero",
            Side::Beyond => "beyond the end",
        };
        let text = |text: &str| MessagePart::Text(text.to_string());
        let mut message = vec![text(&format!("an index of {name} {side} is replaced by "))];
        message.push(MessagePart::Value(low.clone()));
        if low != high {
            message.push(text(" to "));
            message.push(MessagePart::Value(high));
        }
        message.push(text(", the tensor's extent is "));
        message.push(MessagePart::Value(size.clone()));
        demands.push(Demand {
            condition: loops.in_some_step(holds),
            message,
            code: &ACCESS_OUT_OF_RANGE,
            span,
        });
    }
    Some(demands)
}

/// The index of a remap, and its replacements on either side.
fn remaps<'e>(subscript: &'e Expr, size: &Expr) -> Option<(&'e Expr, Vec<(Side, &'e Expr)>)> {
    let mut index = subscript;
    let mut choices = Vec::new();
    while let Some((condition, then, otherwise)) = choice(index) {
        choices.push((condition, then));
        index = otherwise;
    }
    let side = |condition: &Expr| match &condition.node {
        Node::Apply { op, operands } => match (op, operands.as_slice()) {
            (ScalarOp::Lt, [e, zero]) if e == index && *zero == Expr::int(0) => Some(Side::Below),
            (ScalarOp::Ge, [e, end]) if e == index && end == size => Some(Side::Beyond),
            _ => None,
        },
        _ => None,
    };
    let replaced = choices.into_iter().map(|(condition, replacement)| Some((side(condition)?, replacement)));
    let replaced: Vec<_> = replaced.collect::<Option<_>>()?;
    (!replaced.is_empty()).then_some((index, replaced))
}

fn choice(expr: &Expr) -> Option<(&Expr, &Expr, &Expr)> {
    match &expr.node {
        Node::Select { condition, then, otherwise } => Some((condition, then, otherwise)),
        Node::Apply { op: ScalarOp::Select, operands } => match operands.as_slice() {
            [condition, then, otherwise] => Some((condition, then, otherwise)),
            _ => None,
        },
        _ => None,
    }
}

/// The minimum and the maximum of a replacement that is a multiple of the index plus an extent, for an index from
/// `first` to `last`.
fn between(
    index: &Expr,
    replacement: &Expr,
    side: Side,
    (first, last): (&Expr, &Expr),
) -> Option<(Expr, Expr)> {
    let (index, replacement) = (Sum::from(index), Sum::from(replacement));
    let is_index = |term: &Expr| matches!(term.node, Node::Index(_));
    let factor = match replacement.terms().find(|(term, _)| is_index(term)) {
        None => 0,
        Some((term, coefficient)) => {
            let of_index = index.coefficient(term);
            let is_multiple = coefficient.checked_rem(of_index) == Some(0);
            is_multiple.then(|| coefficient / of_index)?
        }
    };
    let offset = replacement.add_scaled(&index, factor.checked_neg()?);
    if !offset.terms().all(|(term, _)| is_shape_scalar(term)) {
        return None;
    }
    // An index with larger steps may skip the border.
    let mut loops = index.terms().filter(|(term, _)| is_index(term));
    let dense = loops.all(|(_, step)| step.unsigned_abs() == 1);
    let (first, last) = match side {
        _ if dense => (first, last),
        Side::Below => (first, first),
        Side::Beyond => (last, last),
    };
    let at = |position: &Expr| {
        let sum = offset.clone().add_scaled(&Sum::from(position), factor);
        sum.into()
    };
    Some(if factor < 0 { (at(last), at(first)) } else { (at(first), at(last)) })
}

fn int(op: ScalarOp, a: &Expr, b: &Expr) -> Expr {
    Expr::apply(ScalarKind::Int, op, vec![a.clone(), b.clone()])
}
