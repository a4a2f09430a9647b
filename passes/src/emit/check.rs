// SPDX-License-Identifier: Apache-2.0
//! Run-time checks (2.6, 2.8): `skript.check`, which code generation lowers to an early return.
//!
//! The location of a check is its source position, with the enclosing operator calls as call sites.

use super::EmitError;
use super::scalars::{compare, element};
use super::scope::Scope;
use crate::ir::ops;
use crate::ir::{Builder, types};
use melior::ir::operation::OperationRef;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_frontend::model::check::MAX_VALUES;
use skript_frontend::model::{Check, CheckKind, Expr, Finding, Formula, MessagePart, Node};
use skript_frontend::source::Span;
use skript_semantics::{Numbers, ScalarKind, ScalarOp};

const _: () = assert!(MAX_VALUES == skript_intrinsics::compiled::STOP);

/// The diagnostic code of an out-of-bounds access.
const ACCESS: &str = "SK9205";

/// Emits all checks in order.
pub(super) fn emit<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    checks: &[Check],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    for check in checks {
        let condition = scalar(scope, &check.condition, &[], at)?;
        let (message, values) = format_message(scope, &check.message, &[], at)?;
        let code = match check.kind {
            CheckKind::Assertion => "SK9203",
            CheckKind::Extent => "SK9204",
            CheckKind::Access => ACCESS,
        };
        report(scope, condition, code, &message, &values, check.span, at)?;
    }
    Ok(())
}

/// Checks that no step of a formula has an out-of-bounds access.
pub(super) fn emit_findings<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    for finding in &formula.findings {
        let target = formula.targets.get(finding.target);
        let target = target.ok_or(EmitError::Malformed("a search has no target"))?;
        let number = element(scope.get(target.output)?, at)?;
        let index = Type::index(at.context);
        let number = at.index_cast(number, index);
        let holds = compare(ScalarOp::Eq, number, at.idx(Finding::NONE), at)?;
        let indices = step(scope, formula, number, at)?;
        let (message, values) = format_message(scope, &finding.message, &indices, at)?;
        report(scope, holds, ACCESS, &message, &values, finding.span, at)?;
    }
    Ok(())
}

/// Computes the indices of the step with this number.
fn step<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    number: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let mut quotient = number;
    let mut indices = Vec::with_capacity(formula.indices.len());
    // The indices are computed from the innermost to the outermost.
    for (position, variable) in formula.indices.iter().enumerate().rev() {
        if position == 0 {
            indices.push(quotient);
            continue;
        }
        let index = Type::index(at.context);
        let extent = scope.extent_value(&variable.extent, at)?;
        indices.push(at.scalar(ScalarOp::Mod, &[quotient, extent], index)?);
        quotient = at.scalar(ScalarOp::Div, &[quotient, extent], index)?;
    }
    indices.reverse();
    Ok(indices)
}

/// Returns the format string of a message, and the values that it prints; `indices` are the indices of the reported step.
fn format_message<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    parts: &[MessagePart],
    indices: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<(String, Vec<Value<'c, 'a>>), EmitError> {
    let mut message = String::new();
    let mut exprs: Vec<&Expr> = Vec::new();
    write(parts, &mut exprs, &mut message)?;
    let values = exprs.into_iter().map(|e| scalar(scope, e, indices, at));
    Ok((message, values.collect::<Result<_, _>>()?))
}

/// Writes the format string of a message, and lists its values in `printed`.
fn write<'m>(
    parts: &'m [MessagePart],
    printed: &mut Vec<&'m Expr>,
    message: &mut String,
) -> Result<(), EmitError> {
    for part in parts {
        match part {
            MessagePart::Text(text) => message.push_str(&text.replace('{', "{{")),
            MessagePart::Value(expr) => {
                let position = position(expr, printed)?;
                message.push_str(&match expr.kind {
                    ScalarKind::Bool => format!("{{{position}:bool}}"),
                    ScalarKind::Int => format!("{{{position}}}"),
                    ScalarKind::Real => format!("{{{position}:real}}"),
                });
            }
            MessagePart::Choice { condition, then, otherwise } => {
                message.push_str(&format!("{{{}?}}", position(condition, printed)?));
                write(then, printed, message)?;
                message.push_str("{|}");
                write(otherwise, printed, message)?;
                message.push_str("{/}");
            }
        }
    }
    Ok(())
}

/// Returns the position of a value in `printed`; appends the value if it is new.
fn position<'m>(expr: &'m Expr, printed: &mut Vec<&'m Expr>) -> Result<usize, EmitError> {
    match printed.iter().position(|known| *known == expr) {
        Some(known) => Ok(known),
        None if printed.len() == MAX_VALUES => Err(EmitError::Malformed("a check prints too many values")),
        None => {
            printed.push(expr);
            Ok(printed.len() - 1)
        }
    }
}

/// Emits a check of an existing condition.
pub(super) fn report<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    condition: Value<'c, 'a>,
    code: &str,
    message: &str,
    values: &[Value<'c, 'a>],
    span: Span,
    at: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, EmitError> {
    let context = at.context;
    let mut words = Vec::with_capacity(values.len());
    let word = types::word(context);
    for value in values {
        let r#type = value.r#type();
        words.push(if r#type.is_index() {
            at.index_cast(*value, word)
        } else if r#type == Type::float64(context) {
            at.value(ops::arith::BITCAST, &[*value], &[], word)?
        } else {
            at.value(ops::skript::CAST, &[*value], &[], word)?
        });
    }
    let location = scope.emitter.location(&scope.function.name, span);
    let at = at.with_location(location);
    Ok(at.check(condition, code, message, &words)?.op())
}

/// The type of a scalar: ints are `index`, reals f64, as in the compile-time evaluation of conditions over extents.
fn scalar_type(context: &melior::Context, kind: ScalarKind) -> Type<'_> {
    match kind {
        ScalarKind::Real => Type::float64(context),
        other => types::scalar(context, other, Numbers::default()),
    }
}

/// Emits the value of an expression over dynamic extents and the indices of a step.
fn scalar<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    expr: &Expr,
    indices: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let r#type = scalar_type(at.context, expr.kind);
    match &expr.node {
        Node::Literal(value) => Ok(at.constant(*value, r#type)?),
        Node::Extent(extent) => scope.known_extent(extent, at),
        Node::Apply { op, operands } => {
            let values =
                operands.iter().map(|o| scalar(scope, o, indices, at)).collect::<Result<Vec<_>, _>>()?;
            let is_cast = matches!(op, ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal);
            match values.as_slice() {
                [same] if is_cast && same.r#type() == r#type => Ok(*same),
                _ => Ok(at.scalar(*op, &values, r#type)?),
            }
        }
        Node::Select { condition, then, otherwise } => {
            let operands = [
                scalar(scope, condition, indices, at)?,
                scalar(scope, then, indices, at)?,
                scalar(scope, otherwise, indices, at)?,
            ];
            Ok(at.scalar(ScalarOp::Select, &operands, r#type)?)
        }
        Node::Table { items, index } => {
            let position = scalar(scope, index, indices, at)?;
            let mut selected = None;
            for (number, item) in (0i64..).zip(items) {
                let item = at.constant(*item, r#type)?;
                selected = Some(match selected {
                    None => item,
                    Some(others) => {
                        let here = compare(ScalarOp::Eq, position, at.idx(number), at)?;
                        at.scalar(ScalarOp::Select, &[here, item, others], r#type)?
                    }
                });
            }
            selected.ok_or(EmitError::Malformed("a table is empty"))
        }
        Node::Index(position) => {
            let index = indices.get(*position).copied();
            index.ok_or(EmitError::Malformed("a check depends on more than extents"))
        }
        Node::Local(_) | Node::Access { .. } => {
            Err(EmitError::Malformed("a check depends on more than extents"))
        }
    }
}
