// SPDX-License-Identifier: Apache-2.0
//! Functions that the composer synthesizes: they compute tensors for control flow and from dynamic extents.

use crate::ast;
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::generic_types::coerce_scalar;
use crate::compose::packs::concatenation::{concatenated, item_at};
use crate::compose::shapes::checks::text;
use crate::compose::shapes::dynamic_extent::{Canonical, extent_of};
use crate::compose::shapes::size::check_size;
use crate::diagnostics::codes::{INDEX_OUT_OF_RANGE, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::ranges::{extent_expr, signed};
use crate::eval::{Atom, TensorRef, Value, runtime, value};
use crate::model::check::is_shape_scalar;
use crate::model::{
    self, Body, Check, CheckKind, ConstantData, Expr, Extent, Formula, FormulaIndex, Function, FunctionRole,
    Init, MessagePart, Node, Port, PortTensors, Target, TensorType, ValueId,
};
use crate::source::Span;
use skript_semantics::{Numbers, ScalarKind, ScalarOp};

/// Converts an expression over tensors; items of packs of dynamic length become separate tensors.
pub(super) fn tensors(context: &mut Context, builder: &mut Builder, expr: &ast::Expr) -> Composed<Value> {
    let value = context.value(builder, expr)?;
    let is_computed = |atom: &Atom| matches!(atom, Atom::Item(_) | Atom::DynamicPack(_));
    if !value.any_of_kind(is_computed) {
        return Ok(value);
    }
    let mut atoms = Vec::with_capacity(value.atoms().len());
    for atom in value.atoms() {
        atoms.push(match atom {
            Atom::Item(item) => item_of(context, builder, &item.0, &item.1, expr.span)?,
            Atom::DynamicPack(row) => concatenated(context, builder, &row, expr.span)?,
            other => other,
        });
    }
    Ok(match (value, atoms.as_slice()) {
        (Value::Atom(_), [single]) => Value::Atom(single.clone()),
        _ => Value::pack(atoms),
    })
}

/// `xs[-1]` of a pack of dynamic length, with a run-time check that the item exists.
pub(crate) fn item_of(
    context: &mut Context,
    builder: &mut Builder,
    stack: &TensorRef,
    index: &Atom,
    span: Span,
) -> Composed<Atom> {
    if let Atom::Runtime(position) = index {
        return item_at(context, builder, stack, position, span);
    }
    let Atom::Int(index) = *index else {
        let message = "outside of formulas, an item of a pack of dynamic length is selected by a single int";
        return Err(context.error(&UNEXPECTED_VALUE, span, message));
    };
    let max_items = stack.tensor.shape.first().map_or(0, Extent::bound);
    let needed = match u64::try_from(index) {
        Ok(index) => index.saturating_add(1),
        Err(_) => index.unsigned_abs(),
    };
    if needed > max_items {
        let message = format!("index {index} is out of range: the pack has at most {max_items} items");
        return Err(context.error(&INDEX_OUT_OF_RANGE, span, message));
    }
    let position = |length: &Expr| {
        if index < 0 {
            Expr::apply(ScalarKind::Int, ScalarOp::Add, vec![length.clone(), Expr::int(index)])
        } else {
            Expr::int(index)
        }
    };
    let needed = Expr::int(signed(needed));
    let check = |length: Expr| {
        let there = runtime::compare(ScalarOp::Ge, length, needed);
        (format!("item {index} of a pack is out of range, because its length is "), there)
    };
    let items = picked(context, builder, stack, &[position], check, span)?;
    items.first().cloned().ok_or(Reported)
}

/// The items of a pack of dynamic length as separate tensors, with a run-time check of their number.
pub(crate) fn items_of(
    context: &mut Context,
    builder: &mut Builder,
    stack: &TensorRef,
    count: usize,
    span: Span,
) -> Composed<Value> {
    let length = stack.tensor.shape.first().cloned();
    let max_items = length.as_ref().map_or(0, Extent::bound);
    if u64::try_from(count).map_or(true, |n| n > max_items) {
        let message = format!("there are {count} items written here, the pack has at most {max_items}");
        return Err(context.error(&RESULTS_MISMATCH, span, message));
    }
    let number = |position: usize| Expr::int(value::count(position));
    let positions: Vec<_> = (0..count).map(|p| move |_: &Expr| number(p)).collect();
    let check = |length: Expr| {
        let all = runtime::compare(ScalarOp::Eq, length, number(count));
        (format!("the pack must have {count} items, it has "), all)
    };
    picked(context, builder, stack, &positions, check, span).map(Value::pack)
}

/// Selected items of a pack of dynamic length. `positions` map the length to the position of each item; `check` maps it to
/// the condition to check, with the beginning of the message.
fn picked(
    context: &mut Context,
    builder: &mut Builder,
    stack: &TensorRef,
    positions: &[impl Fn(&Expr) -> Expr],
    check: impl FnOnce(Expr) -> (String, Expr),
    span: Span,
) -> Composed<Vec<Atom>> {
    let count = positions.len();
    let mut canonical = Canonical::default();
    let whole = canonical.tensor(&stack.tensor);
    let mut function = empty_function("items", span);
    let mut new = |tensor: TensorType| new_value(&mut function, tensor, false);
    let input = new(whole.clone());
    let item = whole.item();
    let outputs: Vec<ValueId> = (0..count).map(|_| new(item.clone())).collect();
    let indices = FormulaIndex::over(&item.shape);
    let locations: Vec<Expr> = (0..indices.len()).map(Expr::index).collect();
    let length = whole.shape.first().map_or(Expr::int(0), extent_expr);
    let formulas = positions.iter().zip(&outputs).map(|(position, output)| {
        let mut subscripts = vec![position(&length)];
        subscripts.extend(locations.iter().cloned());
        let node = Node::Access { tensor: input, subscripts };
        let target = Target {
            output: *output,
            subscripts: locations.clone(),
            value: Expr { kind: item.kind, node },
            init: Init::Fill(item.kind.default_value()),
        };
        Formula::assignment(indices.clone(), target, span)
    });
    function.body = Body::Formulas(formulas.collect());
    if let Node::Extent(_) = length.node {
        let (what, condition) = check(length.clone());
        let mut message = Vec::new();
        text(&what, &mut message);
        message.push(MessagePart::Value(length));
        function.checks.push(Check { kind: CheckKind::Extent, condition, message, span });
    }
    function.inputs.push(Port { name: "pack".into(), tensors: PortTensors::Stack(input), span });
    function.outputs.push(Port { name: "items".into(), tensors: PortTensors::Pack(outputs), span });
    let callee = context.add_synthesized(function)?;
    let item = stack.tensor.item();
    let items: Vec<TensorRef> = (0..count).map(|_| builder.value(None, item.clone(), span)).collect();
    builder.invoke(callee, (vec![stack.id], Vec::new()), items.iter().map(|t| t.id).collect(), span);
    Ok(items.into_iter().map(Atom::Tensor).collect())
}

/// A scalar over dynamic extents as a tensor of rank 0.
pub(crate) fn scalar_of(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    span: Span,
) -> Composed<TensorRef> {
    let tensor = TensorType { kind: expr.kind, shape: Vec::new() };
    filled(context, builder, expr, tensor, span)
}

/// A tensor filled with an expression over dynamic extents.
pub(super) fn filled(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    tensor: TensorType,
    span: Span,
) -> Composed<TensorRef> {
    let result = builder.value(None, tensor, span);
    written_into(context, builder, expr, (result, false), PortTensors::Single, span)
}

/// The dynamic range `[0:n]` as a pack of tensors of `kind`; other values are unchanged.
pub(crate) fn given_tensors(
    context: &mut Context,
    builder: &mut Builder,
    value: Value,
    kind: Option<ScalarKind>,
    span: Span,
) -> Composed<Value> {
    let Value::Atom(Atom::Series(series)) = &value else {
        return Ok(value);
    };
    let given = series.converted(kind.unwrap_or(series.kind()));
    let Some(given) = given.filter(|given| !given.reads()) else {
        return Ok(value);
    };
    let Some(length) = extent_of(&given.length) else {
        return Ok(value);
    };
    let tensor = TensorType { kind: given.kind(), shape: vec![length] };
    check_size(context, &tensor, span)?;
    let result = builder.value(None, tensor, span);
    let item = given.at(&Expr::index(0));
    written_into(context, builder, &item, (result, false), PortTensors::Stack, span)
        .map(|stack| Value::Atom(Atom::Stack(stack)))
}

/// An int over dynamic extents as a 64-bit number of iterations.
pub(crate) fn count_of(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    span: Span,
) -> Composed<TensorRef> {
    let result = builder.wide_int(None, span);
    written_into(context, builder, expr, (result, true), PortTensors::Single, span)
}

fn written_into(
    context: &mut Context,
    builder: &mut Builder,
    expr: &Expr,
    (result, wide): (TensorRef, bool),
    port: fn(ValueId) -> PortTensors,
    span: Span,
) -> Composed<TensorRef> {
    let mut canonical = Canonical::default();
    let value = renamed(&mut canonical, expr.clone())?;
    let inner = canonical.tensor(&result.tensor);
    let indices = FormulaIndex::over(&inner.shape);
    let subscripts = (0..inner.shape.len()).map(Expr::index).collect();
    let (names, extents): (Vec<String>, Vec<Extent>) = canonical.parameters().into_iter().unzip();
    let mut function = empty_function("scalar", span);
    function.extents = names;
    let output = new_value(&mut function, inner, wide);
    let target = Target { output, subscripts, value, init: Init::Fill(expr.kind.default_value()) };
    function.body = Body::Formulas(vec![Formula::assignment(indices, target, span)]);
    function.outputs.push(Port { name: "value".into(), tensors: port(output), span });
    let callee = context.add_synthesized(function)?;
    builder.invoke(callee, (Vec::new(), extents), vec![result.id], span);
    Ok(result)
}

/// Translates an expression over dynamic extents to the terms of a callee.
pub(super) fn renamed(canonical: &mut Canonical, expr: Expr) -> Composed<Expr> {
    let renamed = canonical.attribute(&Value::Atom(Atom::from_expr(expr)));
    let single = renamed.atoms().next();
    single.and_then(|atom| atom.to_expr()).ok_or(Reported)
}

/// Translates a check to the terms of a callee.
pub(crate) fn renamed_check(canonical: &mut Canonical, check: Check) -> Composed<Check> {
    let message = renamed_message(canonical, check.message)?;
    Ok(Check { condition: renamed(canonical, check.condition)?, message, ..check })
}

fn renamed_message(canonical: &mut Canonical, message: Vec<MessagePart>) -> Composed<Vec<MessagePart>> {
    let parts = message.into_iter().map(|part| {
        Ok(match part {
            MessagePart::Value(expr) => MessagePart::Value(renamed(canonical, expr)?),
            MessagePart::Choice { condition, then, otherwise } => MessagePart::Choice {
                condition: renamed(canonical, condition)?,
                then: renamed_message(canonical, then)?,
                otherwise: renamed_message(canonical, otherwise)?,
            },
            text @ MessagePart::Text(_) => text,
        })
    });
    parts.collect()
}

/// A new tensor of the function; a wide int always has 64 bits.
pub(super) fn new_value(function: &mut Function, tensor: TensorType, wide: bool) -> ValueId {
    let id = ValueId(u32::try_from(function.values.len()).unwrap_or(u32::MAX));
    let span = function.span;
    function.values.push(model::Value { name: None, tensor, wide, storage: None, span });
    id
}

pub(crate) fn empty_function(name: &str, span: Span) -> Function {
    Function {
        name: name.into(),
        role: FunctionRole::Operator,
        attributes: Vec::new(),
        types: Vec::new(),
        values: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        items_of_none: Vec::new(),
        captures: Vec::new(),
        updates: Vec::new(),
        capture_variables: Vec::new(),
        extents: Vec::new(),
        checks: Vec::new(),
        result_checks: Vec::new(),
        constants: Vec::new(),
        body: Body::Intrinsic,
        numbers: Numbers::default(),
        span,
    }
}

/// Converts a scalar over dynamic extents to another kind: int to real (errata 15).
pub(crate) fn as_kind(expr: &Expr, kind: ScalarKind) -> Option<Expr> {
    match (expr.kind, kind) {
        (from, to) if from == to => Some(expr.clone()),
        (ScalarKind::Int, ScalarKind::Real) => Some(Expr::apply(kind, ScalarOp::ToReal, vec![expr.clone()])),
        _ => None,
    }
}

/// The tensor of an item; a scalar becomes a rank-0 constant of `kind`.
pub(crate) fn tensor_of(
    context: &mut Context,
    builder: &mut Builder,
    atom: &Atom,
    kind: ScalarKind,
    span: Span,
) -> Composed<TensorRef> {
    match atom {
        Atom::Tensor(tensor) | Atom::Stack(tensor) => Ok(tensor.clone()),
        Atom::Poison => Err(Reported),
        other => match other.scalar().and_then(|s| coerce_scalar(s, kind)) {
            Some(scalar) => Ok(builder.constant(
                TensorType { kind, shape: Vec::new() },
                ConstantData::Splat(scalar),
                span,
            )),
            None => match other.to_expr().and_then(|expr| as_kind(&expr, kind)) {
                Some(expr) if is_shape_scalar(&expr) => scalar_of(context, builder, &expr, span),
                _ => Err(context.error(
                    &UNEXPECTED_VALUE,
                    span,
                    format!("a {} tensor is needed, this is {}", kind.name(), other.text()),
                )),
            },
        },
    }
}

/// All tensors of a value, scalars as constants of `kind`.
pub(crate) fn materialize(
    context: &mut Context,
    builder: &mut Builder,
    value: &Value,
    kind: ScalarKind,
    span: Span,
) -> Composed<Vec<TensorRef>> {
    let mut tensors = Vec::with_capacity(value.atoms().len());
    for atom in value.atoms() {
        tensors.push(tensor_of(context, builder, &atom, kind, span)?);
    }
    Ok(tensors)
}
