// SPDX-License-Identifier: Apache-2.0
//! Broadcasting of single values to packs (2.4).

use crate::ast::{Expr, ExprKind};
use crate::diagnostics::codes::{PACK_TOO_LONG, UNEXPECTED_VALUE};
use crate::eval::conditions::aside;
use crate::eval::evaluator::{Evaluator, TypeName};
use crate::eval::pack::{ItemType, Pack};
use crate::eval::series::{Series, refused};
use crate::eval::stop::{EvalResult, Stop, stop};
use crate::eval::value::{Atom, Value};
use crate::source::Span;

/// A pack of `length` items; a single value is repeated.
pub(crate) fn spread(
    evaluator: &mut Evaluator,
    value: Value,
    length: usize,
    span: Span,
) -> EvalResult<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Atom(atom) => repeat(evaluator, atom, length, span),
        Value::Pack(pack) if pack.len() == length => Ok(Value::Pack(pack)),
        Value::Pack(pack) => evaluator.lengths(length, pack.len(), span),
    }
}

pub(crate) fn repeat(evaluator: &Evaluator, atom: Atom, length: usize, span: Span) -> EvalResult<Value> {
    if let Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_) = atom {
        return refused("it cannot replace a pack of static length", span);
    }
    check_length(evaluator, length, span)?;
    Ok(Value::Pack(Pack::repeated(atom, length)))
}

pub(crate) fn check_length(evaluator: &Evaluator, length: usize, span: Span) -> EvalResult<()> {
    if length > evaluator.limits.pack_length {
        let message = format!(
            "a pack of {length} items is longer than {} (limit `pack_length`)",
            evaluator.limits.pack_length
        );
        return stop(&PACK_TOO_LONG, span, message);
    }
    Ok(())
}

/// Repeats an item; the length is an int or a dynamic extent.
pub(crate) fn repeat_by(
    evaluator: &Evaluator,
    atom: Atom,
    length: Value,
    span: Span,
) -> EvalResult<Option<Value>> {
    if let Value::Atom(Atom::Runtime(length)) = &length {
        let item = atom.to_expr();
        return Ok(item.map(|item| Series::uniform(item, (**length).clone()).into_value()));
    }
    match Evaluator::int_of(length, span)? {
        Some(length) => repeat(evaluator, atom, evaluator.length(length, span)?, span).map(Some),
        None => Ok(None),
    }
}

/// The result of an operation of which only one operand is evaluated. If the value is single but the other operand is a
/// pack, the value is repeated to the length of that pack.
pub(super) fn beside(evaluator: &mut Evaluator, taken: Value, other: &Expr, span: Span) -> EvalResult<Value> {
    let atom = match &taken {
        Value::Atom(atom) if !is_single(other) => atom.clone(),
        _ => return Ok(taken),
    };
    if let Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_) | Atom::Poison = atom {
        return Ok(taken);
    }
    let length = match aside(evaluator, |this| this.eval(other)) {
        Ok(Value::Null) => null_length(evaluator, other),
        Ok(value) => value.item_count(),
        Err(_) => None,
    };
    let spread = match length {
        Some(length) => repeat_by(evaluator, atom, length, span)?,
        None => None,
    };
    Ok(spread.unwrap_or(taken))
}

/// `value ?? fallback` for a known value.
pub(super) fn given_or(
    evaluator: &mut Evaluator,
    given: Value,
    value: &Expr,
    fallback: &Expr,
    span: Span,
) -> EvalResult<Value> {
    let (taken, other) = match given {
        Value::Null => (evaluator.eval(fallback)?, value),
        given => (given, fallback),
    };
    beside(evaluator, taken, other, span)
}

/// The number of items that a null expression would have, if names in it determine it.
fn null_length(evaluator: &Evaluator, expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Name(name) => evaluator.scope.null_length(&name.name).cloned(),
        ExprKind::Unary { operand: only, .. }
        | ExprKind::Cast { value: only, .. }
        | ExprKind::Builtin { argument: only, .. } => null_length(evaluator, only),
        ExprKind::Binary { left, right, .. } => {
            null_length(evaluator, left).or_else(|| null_length(evaluator, right))
        }
        _ => None,
    }
}

/// Rejects a single value where a pack is required. In checked documents, such a value replaces a pack of unknown
/// length, as in `op ?? 1`.
pub(crate) fn stands_for_a_pack<T>(atom: &Atom, span: Span) -> EvalResult<T> {
    if let Atom::Poison = atom {
        return Err(Stop::Poison);
    }
    let (text, kind) = (atom.text(), atom.describe());
    let message = format!(
        "expected a pack, found a single {kind} in place of a pack of unknown length; write a list, `[{text}]`, or \
             name the length of the null pack, `..(n)`"
    );
    stop(&UNEXPECTED_VALUE, span, message)
}

/// Whether the syntax of an expression shows that it is not a pack.
fn is_single(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Default(_)
        | ExprKind::NullTest(_) => true,
        ExprKind::Fold { cumulative, .. } => !cumulative,
        ExprKind::Unary { operand: only, .. }
        | ExprKind::Cast { value: only, .. }
        | ExprKind::Builtin { argument: only, .. } => is_single(only),
        ExprKind::Binary { left, right, .. } => is_single(left) && is_single(right),
        _ => false,
    }
}

/// Sets the item type of an empty pack to the deduced type of its expression; other values are returned unchanged.
pub(crate) fn typed(evaluator: &Evaluator, value: Value, expr: &Expr) -> Value {
    match value {
        Value::Pack(pack) if pack.is_empty() && pack.kind().is_none() => {
            let item_type = match evaluator.language.type_of(expr, evaluator.types) {
                Some(TypeName::Scalar(kind)) => Some(ItemType::Scalar(kind)),
                _ => None,
            };
            Value::Pack(pack.with_type(item_type))
        }
        value => value,
    }
}
