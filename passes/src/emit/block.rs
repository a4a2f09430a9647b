// SPDX-License-Identifier: Apache-2.0
//! Blocks of a composition: invocations, constants, control flow.

use super::scope::Scope;
use super::{EmitError, branch, constant, repeat, scalars, signature};
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::{Block, Invoke, Operation};

pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    block: &Block,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    for operation in &block.operations {
        match operation {
            Operation::Invoke(invoke) => emit_invoke(scope, invoke, at)?,
            Operation::Constant { value, data } => constant::emit(scope, *value, data, at)?,
            Operation::If { arms, otherwise, outputs, span } => {
                let location = scope.emitter.location(&scope.function.name, *span);
                branch::emit(scope, arms, otherwise, outputs, &at.with_location(location))?;
            }
            Operation::Loop(l) => {
                let location = scope.emitter.location(&scope.function.name, l.span);
                repeat::emit(scope, l, &at.with_location(location))?;
            }
            Operation::Cut { whole, count, dimension, output, span } => {
                let location = scope.emitter.location(&scope.function.name, *span);
                let count = scalars::element(scope.get(*count)?, at)?;
                scope.cut(*whole, count, *dimension, *output, &at.with_location(location))?;
            }
        }
    }
    Ok(())
}

fn emit_invoke<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    invoke: &Invoke,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let emitter = scope.emitter;
    let context = emitter.context;
    let callee = emitter.model.function(invoke.callee).ok_or(EmitError::Malformed("no such function"))?;
    // The callee's element types may differ, such as compute types where the caller has storage types.
    let mut arguments = scope.all(&invoke.inputs)?;
    arguments.extend(scope.all(&invoke.captures)?);
    for (argument, id) in arguments.iter_mut().zip(signature::arguments(callee)) {
        *argument = with_element(*argument, emitter.element(callee, id)?, at)?;
    }
    for extent in &invoke.extents {
        arguments.push(scope.extent_value(extent, at)?);
    }
    let outputs: Vec<_> = invoke.outputs.iter().chain(&invoke.updates).copied().collect();
    let mut results = scope.types(&outputs)?;
    for (result, id) in results.iter_mut().zip(signature::results(emitter.model, callee, false)) {
        *result = types::of_element(*result, emitter.element(callee, id)?);
    }
    let values: Vec<_> = callee
        .attributes
        .iter()
        .map(|(name, value)| (name.as_str(), attributes::attribute(context, value)))
        .collect();
    let location = emitter.location(&callee.name, invoke.span);
    let symbol = FlatSymbolRefAttribute::new(context, emitter.symbol(invoke.callee));
    let op = at.with_location(location).create(
        ops::skript::INVOKE,
        &arguments,
        &[
            ("callee", symbol.into()),
            ("operator_name", attributes::string(context, &callee.name)),
            ("operator_attributes", attributes::dictionary(context, &values)),
        ],
        &results,
        Vec::new(),
    )?;
    for (id, value) in outputs.iter().zip(op.results()) {
        scope.set(*id, with_element(value.into(), scope.element(*id)?, at)?);
        scope.learn(*id, at)?;
    }
    Ok(())
}

/// Casts a tensor to an element type.
fn with_element<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    element: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let result = types::of_element(tensor.r#type(), element);
    if tensor.r#type() == result {
        return Ok(tensor);
    }
    Ok(at.value(ops::skript::CAST, &[tensor], &[], result)?)
}
