// SPDX-License-Identifier: Apache-2.0
//! `|e <> a : b|` (2.12): `a` and `b` must be in bounds. A bound that is always outside is rejected; one that depends on
//! dynamic extents is checked at run time.

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
    let (least, most) = loops.exact(index)?;
    let mut demands = Vec::new();
    for (side, replacement) in replacements {
        // The distance of the index from the bounds: at least one, at most this.
        let outside = match side {
            Side::Below => Sum::constant(-1).sub(&Sum::from(&least)),
            Side::Beyond => Sum::from(&most).sub(&Sum::from(&size)),
        };
        let mut facts = loops.facts.to_vec();
        facts.push(outside.clone());
        facts.extend(loops.indices.iter().map(|index| {
            let extent = Sum::from(&extent_expr(&index.extent));
            extent.plus(-1)
        }));
        let known = Known::new((&[], &[]), &facts, loops.work);
        // The values of the index there: from the end of its loops to the border of the tensor.
        let (first, last) = match side {
            Side::Below if known.interval(&most).low >= -1 => (least.clone(), Expr::int(-1)),
            Side::Below => (least.clone(), int(ScalarOp::Min, &most, &Expr::int(-1))),
            Side::Beyond if !known.may_reach(&least, extent) => (size.clone(), most.clone()),
            Side::Beyond => (int(ScalarOp::Max, &least, &size), most.clone()),
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
        Some((term, own)) => {
            let of_index = index.coefficient(term);
            let whole = own.checked_rem(of_index) == Some(0);
            whole.then(|| own / of_index)?
        }
    };
    let rest = replacement.add_scaled(&index, factor.checked_neg()?);
    if !rest.terms().all(|(term, _)| is_shape_scalar(term)) {
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
        let sum = rest.clone().add_scaled(&Sum::from(position), factor);
        sum.into()
    };
    Some(if factor < 0 { (at(last), at(first)) } else { (at(first), at(last)) })
}

fn int(op: ScalarOp, a: &Expr, b: &Expr) -> Expr {
    Expr::apply(ScalarKind::Int, op, vec![a.clone(), b.clone()])
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, composed};
    use crate::diagnostics::codes::ACCESS_OUT_OF_RANGE;

    fn document(subscript: &str, shape: &str) -> String {
        format!(
            "operator f {{ @input {{ x: real[n]; }} @output {{ y: real[n + 4]; }} @lower {{ y[i,] = x[{subscript},], i < n + 4; }} }} \
             graph G {{ @input {{ x: real[{shape}]; }} @output {{ y: real[~]; }} @compose {{ y = f(x); }} }}"
        )
    }

    #[test]
    fn s2_12_replacements_that_leave_the_tensor_are_refused() {
        for inside in [
            "|i - 2 <> 0 : n - 1|",
            "|i - 2 <> 2 - i : 2 * n - i|",
            "|i - 2 <> 1 - i : 2 * n - i + 1|",
            // Neither end is attained.
            "|i / 2 <> n : 0|",
            "|i / 2 <> -1 : 0|",
            // Every other index: -4, -2, 0, 2, …
            "|2 * i - 4 <> 2 * i + 2 : 0|",
        ] {
            assert_composes(&document(inside, "5"));
        }
        for outside in [
            "|i - 2 <> n : 0|",
            "|i - 2 <> 0 : n|",
            "|i - 2 <> -1 : 0|",
            "|i - 2 <> 0 : i|",
            "|i - 2 <> 2 - i : 2 * n - i + 2|",
            "|i - 2 <> i - 2 : 0|",
        ] {
            assert_fires(&ACCESS_OUT_OF_RANGE, &document(outside, "5"));
        }
        // Mirrored at a distance larger than the tensor.
        assert_fires(&ACCESS_OUT_OF_RANGE, &document("|i - 2 <> 2 - i : 2 * n - i|", "2"));
    }

    #[test]
    fn s2_12_replacements_are_tested_by_runs() {
        let checks = |subscript: &str| {
            let model = composed(&document(subscript, "s|9")).unwrap();
            let functions = model.functions.iter().map(|f| f.checks.len());
            functions.sum::<usize>()
        };
        // A tensor without elements has neither a first nor a last one.
        assert_eq!(checks("|i - 2 <> 0 : n - 1|"), 2);
        assert_eq!(checks("|i - 2 <> 2 - i : 2 * n - i|"), 2);
        assert_eq!(checks("|i - 2 <> 2 : 0|"), 2);
    }
}
