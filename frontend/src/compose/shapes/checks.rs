// SPDX-License-Identifier: Apache-2.0
//! Run-time checks: conditions over dynamic extents (2.6, 2.8, 3.1).

use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ACCESS_OUT_OF_RANGE, UNEXPECTED_VALUE};
use crate::eval::ranges::decided;
use crate::eval::{Atom, Demand, Value, runtime};
use crate::model::check::is_shape_scalar;
use crate::model::{Check, CheckKind, Expr, MessagePart};
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};

/// The value of a condition at compile time.
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// Unknown: it is checked at run time.
    Open(Expr),
}

/// The conjunction over all items of a condition.
pub(crate) fn verdict(value: &Value) -> Result<Verdict, Atom> {
    let mut open: Option<Expr> = None;
    for item in value.atoms() {
        match item {
            Atom::Bool(true) => {}
            Atom::Bool(false) => return Ok(Verdict::Fails),
            Atom::Runtime(expr) if expr.kind == ScalarKind::Bool => match decided(&expr) {
                Some(true) => {}
                Some(false) => return Ok(Verdict::Fails),
                None => {
                    let expr = (*expr).clone();
                    open = Some(match open {
                        Some(all) => runtime::and(all, expr),
                        None => expr,
                    });
                }
            },
            other => return Err(other.clone()),
        }
    }
    Ok(open.map_or(Verdict::Holds, Verdict::Open))
}

/// Whether two extents are equal.
pub(crate) fn equality(a: &Atom, b: &Atom) -> Verdict {
    let (Some(x), Some(y)) = (a.to_expr(), b.to_expr()) else {
        return if a == b { Verdict::Holds } else { Verdict::Fails };
    };
    if x == y {
        return Verdict::Holds;
    }
    let equal = runtime::compare(ScalarOp::Eq, x, y);
    match decided(&equal) {
        Some(true) => Verdict::Holds,
        Some(false) => Verdict::Fails,
        None => Verdict::Open(equal),
    }
}

/// A value as parts of a message, printed as by [`Value::text`].
pub(crate) fn parts(value: &Value, message: &mut Vec<MessagePart>) {
    match value {
        Value::Null => text("null", message),
        Value::Atom(atom) => atom_parts(atom, message),
        Value::Pack(pack) => {
            text("[", message);
            for (index, atom) in pack.iter().enumerate() {
                if index > 0 {
                    text(", ", message);
                }
                atom_parts(&atom, message);
            }
            text("]", message);
        }
    }
}

fn atom_parts(atom: &Atom, message: &mut Vec<MessagePart>) {
    match atom {
        Atom::Runtime(expr) if is_shape_scalar(expr) => {
            message.push(MessagePart::Value((**expr).clone()));
        }
        Atom::Series(series) => {
            text("[", message);
            atom_parts(&Atom::from_expr(series.at(&Expr::int(0))), message);
            text(", …] of ", message);
            atom_parts(&Atom::from_expr(series.length.clone()), message);
            text(" items", message);
        }
        other => text(&other.text(), message),
    }
}

pub(crate) fn text(piece: &str, message: &mut Vec<MessagePart>) {
    match message.last_mut() {
        Some(MessagePart::Text(last)) => last.push_str(piece),
        _ => message.push(MessagePart::Text(piece.to_string())),
    }
}

/// The message at compile time: dynamic values are printed as their extents.
pub(crate) fn composed_text(message: &[MessagePart]) -> String {
    let pieces = message.iter().map(|part| match part {
        MessagePart::Text(piece) => piece.clone(),
        MessagePart::Value(expr) => Atom::from_expr(expr.clone()).text(),
        MessagePart::Choice { then, otherwise, .. } => {
            format!("{} or {}", composed_text(then), composed_text(otherwise))
        }
    });
    pieces.collect()
}

/// Adds a run-time check once.
pub(crate) fn keep(checks: &mut Vec<Check>, check: Check) {
    if !checks.contains(&check) {
        checks.push(check);
    }
}

/// Adds a run-time check for declared and actual extents that composition cannot compare.
pub(crate) fn keep_extent_check(
    builder: &mut Builder,
    condition: Expr,
    message: Vec<MessagePart>,
    span: Span,
) {
    let check = Check { kind: CheckKind::Extent, condition, message, span };
    keep(&mut builder.function.checks, check);
}

/// Adds the checks that evaluated expressions require of positions, at the beginning of the function.
pub(crate) fn settle(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    let demands = builder.demands.take();
    keep_demands(context, builder, demands)
}

/// Adds run-time checks for positions that composition could not check.
pub(crate) fn keep_demands(
    context: &mut Context,
    builder: &mut Builder,
    demands: Vec<Demand>,
) -> Composed<()> {
    for demand in demands {
        let checks = &builder.function.checks;
        if let Some(check) = open_check(context, demand)?
            && !checks.iter().any(|c| c.condition == check.condition)
        {
            builder.function.checks.push(check);
        }
    }
    Ok(())
}

/// The run-time check of a condition; `None` if it always holds.
pub(crate) fn open_check(context: &mut Context, demand: Demand) -> Composed<Option<Check>> {
    match decided(&demand.condition) {
        Some(true) => Ok(None),
        Some(false) => {
            let message = composed_text(&demand.message);
            Err(context.error(demand.code, demand.span, message))
        }
        None => Ok(Some(Check {
            kind: if std::ptr::eq(demand.code, &ACCESS_OUT_OF_RANGE) {
                CheckKind::Access
            } else {
                CheckKind::Extent
            },
            condition: demand.condition,
            message: demand.message,
            span: demand.span,
        })),
    }
}

pub(crate) fn not_bool(context: &mut Context, what: &str, atom: &Atom, span: Span) -> Reported {
    let message = format!("{what} must be bool, this is {}", atom.describe());
    context.report(Diagnostic::error(&UNEXPECTED_VALUE, span, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_8_conditions_are_decided_as_far_as_they_can_be() {
        let holds = Value::pack(vec![Atom::Bool(true), Atom::Bool(true)]);
        assert!(matches!(verdict(&holds), Ok(Verdict::Holds)));
        let fails = Value::pack(vec![Atom::Bool(true), Atom::Bool(false)]);
        assert!(matches!(verdict(&fails), Ok(Verdict::Fails)));
        assert!(verdict(&Value::int(1)).is_err());
    }

    #[test]
    fn texts_that_follow_each_other_are_one() {
        let mut message = Vec::new();
        parts(&Value::ints([1, 2]), &mut message);
        assert_eq!(message, [MessagePart::Text("[1, 2]".into())]);
    }
}
