// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length whose declarations state the length (2.6, 2.10.1).

use crate::ast::{Component, Declaration, Expr, ExprKind, PackSpec, Target, TargetItem};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::{declared_tensors, upper_extents};
use crate::compose::declarations::types::declared_length;
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::shapes::affine_extent::{Bound, unify, unknown_names};
use crate::compose::shapes::block_checks::test_result;
use crate::compose::shapes::checks::{Verdict, equality, parts, text};
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::compose::shapes::size::check_size;
use crate::compose::synthesized_functions::items_of;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ATTRIBUTE_LENGTH, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::ranges::{decided, extent_expr, upper_bound};
use crate::eval::value::count;
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{self, Check, CheckKind, Extent, Port, ShapeExpr, TensorType};
use crate::source::Span;
use std::sync::Arc;

/// The maximum number of items of the pack of each target on the left side; `None` if unknown.
pub(crate) fn capacities(context: &Context, builder: &Builder, component: &Component) -> Vec<Option<u64>> {
    let outputs = &builder.operator.definition.outputs;
    let capacity = |target: &Target| match target {
        Target::Item(TargetItem::Name { name, pack, .. }) => {
            let declared = outputs.iter().find(|o| o.name.name == name.name);
            let declared = declared.and_then(|o| o.type_spec.pack.as_ref());
            let written = pack.as_ref().and_then(|p| max_length(context, builder, p));
            written.or_else(|| declared.and_then(|p| max_length(context, builder, p)))
        }
        Target::Item(_) => None,
        Target::List { items, .. } => items.iter().try_fold(0u64, |sum, item| {
            let max_items = match item {
                TargetItem::Omitted(_) | TargetItem::Name { pack: None, .. } => 1,
                TargetItem::Name { pack: Some(pack), .. } => max_length(context, builder, pack)?,
                TargetItem::Zip { .. } => return None,
            };
            sum.checked_add(max_items)
        }),
    };
    component.targets.iter().map(capacity).collect()
}

fn max_length(context: &Context, builder: &Builder, pack: &PackSpec) -> Option<u64> {
    let mut evaluator = builder.evaluator(context.limits);
    [&pack.length, &pack.bound].into_iter().flatten().find_map(|expr| match evaluator.eval(expr).ok()? {
        Value::Atom(Atom::Int(n)) => u64::try_from(n).ok(),
        Value::Atom(Atom::Runtime(expr)) => upper_bound(&expr),
        _ => None,
    })
}

/// Applies a written length to a pack of dynamic length: a static length makes it a pack of tensors, a dynamic length
/// must equal the actual length, and a new name with a bound denotes the actual length.
pub(crate) fn with_written_length(
    context: &mut Context,
    builder: &mut Builder,
    pack: &PackSpec,
    stack: TensorRef,
    span: Span,
) -> Composed<Value> {
    let Some(actual) = stack.tensor.shape.first().cloned() else {
        return Err(Reported);
    };
    if let Some(bound) = &pack.bound {
        let limits = context.evaluated(builder, |e| upper_extents(e, bound, None))?;
        if let Some(limit) = limits.first() {
            let holds = limit.holds(extent_expr(&actual));
            if decided(&holds) != Some(true) {
                agree(context, builder, holds, (&limit.value, &actual), "at most ", span)?;
            }
        }
    }
    let Some(length) = &pack.length else {
        return Ok(Value::Atom(Atom::Stack(stack)));
    };
    if name_dynamic_length(context, builder, pack, &actual, span)? {
        return Ok(Value::Atom(Atom::Stack(stack)));
    }
    let atom = match context.value(builder, length)? {
        Value::Null => return Ok(Value::Atom(Atom::Stack(stack))),
        Value::Atom(Atom::Int(n)) => {
            let count = context.evaluated(builder, |e| e.length(n, length.span))?;
            if count == 0 && actual == Extent::Fixed(0) {
                return Ok(Value::Atom(Atom::Stack(stack)));
            }
            return items_of(context, builder, &stack, count, span);
        }
        Value::Atom(atom) => atom,
        Value::Pack(_) => return Err(Reported),
    };
    match equality(&atom, &Atom::from_expr(extent_expr(&actual))) {
        Verdict::Holds => {}
        Verdict::Open(holds) => {
            let Some(wanted) = atom.to_expr() else {
                return Err(Reported);
            };
            agree(context, builder, holds, (&wanted, &actual), "", span)?;
        }
        Verdict::Fails => {
            let message = format!(
                "the pack is written with {} items, it has {}",
                atom.text(),
                match &actual {
                    Extent::Fixed(n) => n.to_string(),
                    Extent::Dynamic { expr, bound } => format!("{expr}, at most {bound}, known at run time"),
                }
            );
            return Err(context.error(&RESULTS_MISMATCH, span, message));
        }
    }
    Ok(Value::Atom(Atom::Stack(stack)))
}

/// Adds a run-time check of the number of items.
fn agree(
    context: &mut Context,
    builder: &mut Builder,
    condition: model::Expr,
    (wanted, actual): (&model::Expr, &Extent),
    relation: &str,
    span: Span,
) -> Composed<()> {
    let part = |expr: model::Expr| Value::Atom(Atom::from_expr(expr));
    let mut message = Vec::new();
    text(&format!("the pack must have {relation}"), &mut message);
    parts(&part(wanted.clone()), &mut message);
    text(" items, it has ", &mut message);
    parts(&part(extent_expr(actual)), &mut message);
    let check = Check { kind: CheckKind::Extent, condition, message, span };
    test_result(context, builder, check)
}

/// The length of a pack among the inputs of the main graph; the passed tensors determine an undeclared length.
pub(crate) fn input_length(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
) -> Composed<Option<usize>> {
    let name = &input.name;
    if let (Some(pack), Some(given)) =
        (&input.type_spec.pack, context.options.pack_lengths.get(&name.name).copied())
    {
        let Some(length) = &pack.length else {
            return Ok(Some(given));
        };
        if !unknown_names(builder, length).is_empty() {
            let what = format!("the length of input `{}`", name.name);
            let given = Value::int(count(given));
            let bound = Bound { what: &what, location: name.span };
            unify(context, builder, length, &given, &bound)?;
        }
    }
    let length = input.type_spec.pack.as_ref().map(|pack| &pack.length);
    let is_open = length.is_some_and(|length| {
        let unknown = |length: &Expr| !unknown_names(builder, length).is_empty();
        length.as_ref().is_none_or(unknown)
    });
    if is_open {
        let message = format!("the length of the pack `{}` is unknown", name.name);
        let diagnostic = Diagnostic::error(&ATTRIBUTE_LENGTH, input.span, message);
        return Err(context.report(diagnostic.with_help(format!(
            "`skript run` counts the tensors of `--input {0}=…`; elsewhere pass `--input-shape {0}=…;…`, one shape for each, or \
             declare an upper bound for the length, `..({1}|8)`",
            name.name,
            length.into_iter().flatten().next().map_or_else(|| "n".to_string(), |l| context.source_text(l.span))
        ))));
    }
    declared_length(context, builder, input)
}

/// The length of a declared pack, if it is dynamic.
pub(crate) fn run_time_length(
    context: &mut Context,
    builder: &Builder,
    declaration: &Declaration,
) -> Composed<Option<Extent>> {
    let pack = declaration.type_spec.pack.as_ref();
    let Some(length) = pack.and_then(|p| p.length.as_ref()) else {
        return Ok(None);
    };
    match context.value(builder, length)? {
        Value::Atom(Atom::Runtime(expr)) => match extent_of(&expr) {
            Some(extent) => Ok(Some(extent)),
            None => {
                Err(context.error(&UNEXPECTED_VALUE, length.span, "this dynamic length has no upper bound"))
            }
        },
        _ => Ok(None),
    }
}

/// The length of a pack among the inputs of the main graph that is determined by each run: `..(s|5)`, and `..(s)`
/// beside it.
pub(crate) fn stacked_length(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
) -> Composed<Option<Extent>> {
    declare_length(context, builder, input)?;
    let length = input.type_spec.pack.as_ref().and_then(|p| p.length.as_ref());
    match length {
        // The passed tensors determine the length.
        Some(length) if !unknown_names(builder, length).is_empty() => Ok(None),
        _ => run_time_length(context, builder, input),
    }
}

/// `..(s|5)` with a new name s: a symbol of the function.
pub(crate) fn declare_length(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
) -> Composed<()> {
    if let Some(pack) = &input.type_spec.pack
        && let (Some(length), Some(bound)) = (&pack.length, &pack.bound)
        && let ExprKind::Name(name) = &length.kind
        && builder.scope.get(&name.name).is_none()
    {
        let limits = context.evaluated(builder, |e| upper_extents(e, bound, None))?;
        let Some(bound) = limits.first().map(|limit| limit.maximum) else {
            return Err(Reported);
        };
        let extent = Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(name.name.clone())), bound };
        let atom = context.evaluated(builder, |e| e.extent_atom(&extent, length.span))?;
        builder.scope.set(name.name.clone(), Value::Atom(atom));
    }
    Ok(())
}

/// Whether the length of a pack among the inputs of the main graph is a name whose bound is declared elsewhere.
pub(crate) fn length_awaits_others(builder: &Builder, input: &Declaration) -> bool {
    let unbounded = input.type_spec.pack.as_ref().filter(|p| p.bound.is_none());
    let Some(length) = unbounded.and_then(|p| p.length.as_ref()) else {
        return false;
    };
    let unknown = unknown_names(builder, length);
    let inputs = &builder.operator.definition.inputs;
    let packs = inputs.iter().flat_map(|i| &i.type_spec.pack);
    let lengths = packs.filter(|p| p.bound.is_some()).map(|p| &p.length);
    let specs = inputs.iter().flat_map(|i| i.type_spec.shape.iter().flatten());
    let extents = specs.filter(|e| e.bound.is_some()).map(|e| &e.extent);
    let mut bounded = lengths.chain(extents).flatten();
    bounded.any(|expr| matches!(&expr.kind, ExprKind::Name(n) if unknown.contains(&n.name)))
}

/// A declared pack of dynamic length.
pub(crate) fn stack(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    length: Extent,
) -> Composed<Port> {
    one_shape(context, builder, declaration)?;
    let Some(mut tensor) = declared_tensors(context, builder, declaration, 1)?.pop() else {
        return Err(Reported);
    };
    tensor.shape.insert(0, length);
    check_size(context, &tensor, declaration.span)?;
    Ok(builder.declare(&declaration.name, Form::Stack, vec![tensor]))
}

/// Requires that extents `..t` of a pack of dynamic length are the same for all tensors.
pub(crate) fn one_shape(context: &mut Context, builder: &Builder, declaration: &Declaration) -> Composed<()> {
    let shape = declaration.type_spec.shape.iter().flatten();
    for spec in shape.filter(|extent| extent.per_item) {
        let shared = match &spec.extent {
            None => true,
            Some(expr) if !unknown_names(builder, expr).is_empty() => false,
            Some(expr) => match context.value(builder, expr)? {
                Value::Atom(Atom::Series(series)) => series.shared().is_some(),
                Value::Atom(_) | Value::Null => true,
                Value::Pack(_) => false,
            },
        };
        if !shared {
            let message = "tensors of a pack of dynamic length must have one shape";
            return Err(context.error(&UNEXPECTED_VALUE, spec.span, message));
        }
    }
    Ok(())
}

/// Binds the new name s of `..(s|5)` to the length of a pack of static length.
pub(crate) fn name_length(builder: &mut Builder, pack: &PackSpec, length: usize) {
    if let Some(name) = new_length_name(builder, pack) {
        builder.scope.set(name, Value::int(count(length)));
    }
}

/// Binds the new name s of `..(s|5)` to the length of a pack of dynamic length; returns whether s is a new name.
pub(crate) fn name_dynamic_length(
    context: &mut Context,
    builder: &mut Builder,
    pack: &PackSpec,
    length: &Extent,
    span: Span,
) -> Composed<bool> {
    let Some(name) = new_length_name(builder, pack) else {
        return Ok(false);
    };
    let atom = context.evaluated(builder, |e| e.extent_atom(length, span))?;
    builder.scope.set(name, Value::Atom(atom));
    Ok(true)
}

/// The type of the tensors of a declared empty pack; `None` if each tensor would have a different shape.
pub(crate) fn item_of_none(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
) -> Composed<Option<TensorType>> {
    let mut shape = declaration.type_spec.shape.iter().flatten();
    if shape.any(|extent| extent.per_item) {
        return Ok(None);
    }
    Ok(declared_tensors(context, builder, declaration, 1)?.pop())
}

/// The name of the length of a pack in `..(s|5)`, unless it has a value.
fn new_length_name(builder: &Builder, pack: &PackSpec) -> Option<String> {
    match (&pack.bound, &pack.length.as_ref()?.kind) {
        (Some(_), ExprKind::Name(name)) if builder.scope.get(&name.name).is_none() => Some(name.name.clone()),
        _ => None,
    }
}
