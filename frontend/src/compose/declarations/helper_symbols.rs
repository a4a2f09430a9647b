// SPDX-License-Identifier: Apache-2.0
//! Helper symbols and assertions, interleaved (2.8, 2.9).

use crate::ast::{Assertion, Expr, ExprKind, Ident, Item, StringLiteral, StringPiece, Target};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::constant_elements::name_value;
use crate::compose::declarations::types::hinted;
use crate::compose::invocations::builder::Builder;
use crate::compose::packs::destructuring::{PACK, dealt, shares, split_series};
use crate::compose::shapes::affine_extent::{collect_names, unknown_names};
use crate::compose::shapes::checks::{Verdict, composed_text, keep, not_bool, parts, settle, text, verdict};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ASSERTION_FAILED, PACK_LENGTHS_DIFFER};
use crate::eval::broadcast::{stands_for_a_pack, typed};
use crate::eval::series::fold::together;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Atom, Value};
use crate::model::check::{is_shape_scalar, limit_values};
use crate::model::{Check, CheckKind, MessagePart};
use crate::source::Span;

/// Evaluates `@using` in order, and each assertion as soon as its names are known.
pub(crate) fn symbols<'p>(context: &mut Context<'p, '_>, builder: &mut Builder<'p>) -> Composed<()> {
    let definition = builder.operator.definition;
    let mut open: Vec<&Assertion> = definition.asserts.iter().collect();
    let mut failed = false;
    for using in &definition.usings {
        failed |= assertions(context, builder, &mut open, false).is_err();
        if failed {
            // The next symbol may be defined only under the violated condition.
            return Err(Reported);
        }
        let value = symbol_value(context, builder, &using.value);
        let value = value.map_err(|s| context.failed(s))?;
        settle(context, builder)?;
        let parts = parts_of(context, builder, &using.target, value, using.value.span);
        for (name, value) in parts.map_err(|s| context.failed(s))? {
            name_value(context, builder, &name.name, value, using.value.span)?;
        }
        settle(context, builder)?;
    }
    let tensors = [&definition.constants, &definition.variables, &definition.outputs];
    let is_later = |name: String| {
        let mut tensors = tensors.iter().copied().flatten();
        tensors.any(|t| t.name.name == name)
    };
    let (later, now) = open.into_iter().partition(|assertion| {
        let unknown = unknown_names(builder, &assertion.condition);
        !unknown.is_empty() && unknown.into_iter().all(is_later)
    });
    builder.later_assertions = later;
    open = now;
    assertions(context, builder, &mut open, true)
}

/// Checks assertions on tensors that are declared after the helpers. With `all`, also those with names that have no
/// value, because none will be bound later.
pub(crate) fn later_assertions<'p>(
    context: &mut Context<'p, '_>,
    builder: &mut Builder<'p>,
    all: bool,
) -> Composed<()> {
    let mut open = std::mem::take(&mut builder.later_assertions);
    let result = assertions(context, builder, &mut open, all);
    builder.later_assertions = open;
    result
}

fn symbol_value(context: &Context, builder: &Builder, expr: &Expr) -> EvalResult<Value> {
    let mut evaluator = builder.evaluator(context.limits);
    let value = evaluator.eval(expr)?;
    Ok(typed(&evaluator, value, expr))
}

/// Checks the assertions whose names all have values; all violated assertions are reported.
fn assertions<'p>(
    context: &mut Context<'p, '_>,
    builder: &mut Builder<'p>,
    open: &mut Vec<&'p Assertion>,
    all: bool,
) -> Composed<()> {
    let mut result = Ok(());
    let mut kept = Vec::new();
    for assertion in std::mem::take(open) {
        if !all && !unknown_names(builder, &assertion.condition).is_empty() {
            kept.push(assertion);
            continue;
        }
        if let Err(reported) = check_assertion(context, builder, assertion) {
            result = Err(reported);
        }
    }
    *open = kept;
    result
}

fn check_assertion(context: &mut Context, builder: &mut Builder, assertion: &Assertion) -> Composed<()> {
    let span = assertion.condition.span;
    let value = holds(context, builder, &assertion.condition);
    let value = value.map_err(|s| context.failed(s))?;
    settle(context, builder)?;
    match verdict(&value) {
        Ok(Verdict::Holds) => Ok(()),
        Ok(Verdict::Fails) => Err(violated(context, builder, assertion)),
        Ok(Verdict::Open(condition)) => {
            let message = assertion_message(context, builder, assertion);
            let check = Check { kind: CheckKind::Assertion, condition, message, span };
            keep(&mut builder.function.checks, check);
            Ok(())
        }
        Err(atom) => Err(not_bool(context, "an assertion", &atom, span)),
    }
}

fn holds(context: &Context, builder: &Builder, condition: &Expr) -> EvalResult<Value> {
    let mut evaluator = builder.evaluator(context.limits);
    let conditions = evaluator.eval(condition)?;
    together(&mut evaluator, conditions, condition.span)
}

fn violated(context: &mut Context, builder: &mut Builder, assertion: &Assertion) -> Reported {
    let message = assertion_message(context, builder, assertion);
    let message = composed_text(&message);
    let span = assertion.condition.span;
    context.report(Diagnostic::error(&ASSERTION_FAILED, span, message))
}

/// Handles arguments that cannot be bound: if assertions whose names have values (attributes, the rank) are
/// violated, these replace the diagnostics reported since the first `reported` ones.
pub(crate) fn report_violations(context: &mut Context, builder: &mut Builder, reported: usize) {
    let mut reasons = Vec::new();
    for assertion in &builder.operator.definition.asserts {
        let condition = &assertion.condition;
        if unknown_names(builder, condition).is_empty()
            && let Ok(value) = holds(context, builder, condition)
            && let Ok(Verdict::Fails) = verdict(&value)
        {
            reasons.push(assertion);
        }
    }
    if reasons.is_empty() {
        return;
    }
    context.calls.sink.take_back(reported);
    for assertion in reasons {
        violated(context, builder, assertion);
    }
}

/// 2.8: the message, then each value with its label or its source text.
fn assertion_message(
    context: &mut Context,
    builder: &mut Builder,
    assertion: &Assertion,
) -> Vec<MessagePart> {
    let depth = builder.scope.depth();
    builder.scope.push();
    later_symbols(context, builder);
    let message = written_message(context, builder, assertion);
    builder.scope.truncate(depth);
    // A message adds no conditions.
    builder.demands.take();
    limit_values(message)
}

/// Binds helper symbols that are not evaluated yet: a message may contain names that are declared after those of the
/// condition.
fn later_symbols(context: &mut Context, builder: &mut Builder) {
    for using in &builder.operator.definition.usings {
        let first = using.target.names().next();
        if first.is_none_or(|name| builder.scope.get(&name.name).is_some()) {
            continue;
        }
        // Values that the violated condition should have guarded may be undefined.
        let value = symbol_value(context, builder, &using.value);
        let parts =
            value.and_then(|value| parts_of(context, builder, &using.target, value, using.value.span));
        for (name, value) in parts.into_iter().flatten() {
            builder.scope.set(name.name.clone(), value);
        }
    }
}

fn written_message(context: &mut Context, builder: &Builder, assertion: &Assertion) -> Vec<MessagePart> {
    let mut message = Vec::new();
    match &assertion.message {
        Some(literal) => formatted(context, builder, literal, &mut message),
        None => {
            let source = context.source_text(assertion.condition.span);
            text(&format!("`{source}` does not hold"), &mut message);
        }
    }
    let mut before = "; ";
    let is_null = |value: &Expr| {
        let value = builder.evaluator(context.limits).eval(value);
        matches!(value, Ok(Value::Null))
    };
    // Attributes without a value are not printed.
    let values = assertion.values.iter().filter(|p| !is_null(&p.value));
    for printed in values {
        text(before, &mut message);
        match &printed.label {
            Some(label) => formatted(context, builder, label, &mut message),
            None => text(&context.source_text(printed.value.span), &mut message),
        }
        text(" = ", &mut message);
        print_value(context, builder, &printed.value, &mut message);
        before = ", ";
    }
    if assertion.message.is_none() && assertion.values.is_empty() {
        // Without a text of the author, show what the condition depends on.
        let mut names = Vec::new();
        collect_names(&assertion.condition, &mut names);
        for name in names {
            if let Some(value) = builder.scope.get(&name) {
                text(&format!("{before}{name} = "), &mut message);
                parts(value, &mut message);
                before = ", ";
            }
        }
    }
    message
}

fn formatted(context: &Context, builder: &Builder, literal: &StringLiteral, message: &mut Vec<MessagePart>) {
    for piece in &literal.pieces {
        match piece {
            StringPiece::Text(piece) => text(piece, message),
            StringPiece::Format(expr) => print_value(context, builder, expr, message),
        }
    }
}

fn print_value(context: &Context, builder: &Builder, expr: &Expr, message: &mut Vec<MessagePart>) {
    match builder.evaluator(context.limits).eval(expr) {
        Ok(value) => parts(&value, message),
        Err(_) => printed_parts(context, builder, expr, message),
    }
}

/// Prints values that are unknown at compile time, because strings or packs of several lengths are selected at run time.
fn printed_parts(context: &Context, builder: &Builder, expr: &Expr, message: &mut Vec<MessagePart>) {
    let arm = |arm: &Expr| {
        let mut message = Vec::new();
        print_value(context, builder, arm, &mut message);
        message
    };
    match &expr.kind {
        ExprKind::Str(literal) => formatted(context, builder, literal, message),
        ExprKind::List(items) => {
            text("[", message);
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text(", ", message);
                }
                match item {
                    Item::Expr(item) => print_value(context, builder, item, message),
                    _ => text("…", message),
                }
            }
            text("]", message);
        }
        ExprKind::Select { condition, then, otherwise } => {
            let otherwise = || match otherwise {
                Some(otherwise) => arm(otherwise),
                None => vec![MessagePart::Text("null".to_string())],
            };
            match builder.evaluator(context.limits).eval(condition) {
                Ok(Value::Atom(Atom::Bool(true))) => message.extend(arm(then)),
                Ok(Value::Atom(Atom::Bool(false))) => message.extend(otherwise()),
                Ok(Value::Atom(Atom::Runtime(condition))) if is_shape_scalar(&condition) => {
                    message.push(MessagePart::Choice {
                        condition: (*condition).clone(),
                        then: arm(then),
                        otherwise: otherwise(),
                    });
                }
                _ => text("?", message),
            }
        }
        _ => text("?", message),
    }
}

/// The values that the names of a helper's left side receive.
fn parts_of<'t>(
    context: &Context,
    builder: &Builder,
    target: &'t Target,
    value: Value,
    span: Span,
) -> EvalResult<Vec<(&'t Ident, Value)>> {
    match (target, value) {
        (Target::Item(item), value) => {
            if let (Some(pack), Value::Pack(actual)) = (item.pack(), &value)
                && let Some(length) = hinted(context, builder, pack)?
                && length != actual.len()
            {
                let name = item.names().first().map_or("", |name| &name.name);
                let message = format!("`{name}` is announced with {length} items, it has {}", actual.len());
                return stop(&PACK_LENGTHS_DIFFER, item.span(), message);
            }
            Ok(item.names().first().map(|name| (name, value)).into_iter().collect())
        }
        (_, Value::Null) => Ok(target.names().map(|name| (name, Value::Null)).collect()),
        (Target::List { items, .. }, Value::Atom(Atom::Series(series))) => {
            split_series(context, builder, items, &series, span)
        }
        (_, Value::Atom(single)) => stands_for_a_pack(&single, span),
        (Target::List { items, .. }, Value::Pack(pack)) => {
            let parts = dealt(&shares(context, builder, items)?, &pack, &PACK, span)?;
            Ok(parts.into_iter().map(|(_, name, value)| (name, value)).collect())
        }
    }
}
