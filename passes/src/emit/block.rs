//! Blocks of a composition: invocations, constants, control flow.

use super::scope::{Scope, dictionary};
use super::{EmitError, branch, constant, repeat};
use crate::mlir::{Builder, attributes};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use skript_frontend::model::{Block, Body, Function, FunctionId, Invoke, Operation};

pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    block: &Block,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    for operation in &block.operations {
        match operation {
            Operation::Invoke(invoke) => emit_invoke(scope, invoke, at)?,
            Operation::Constant { value, data } => constant::emit(scope, *value, data, at)?,
            Operation::If {
                arms,
                otherwise,
                outputs,
                span,
            } => {
                let location = scope.emitter.location(&scope.function.name, *span);
                branch::emit(scope, arms, otherwise, outputs, &at.with_location(location))?;
            }
            Operation::Loop(l) => {
                let location = scope.emitter.location(&scope.function.name, l.span);
                repeat::emit(scope, l, &at.with_location(location))?;
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
    let callee = emitter
        .model
        .function(invoke.callee)
        .ok_or(EmitError::Malformed("no such function"))?;
    let mut arguments = scope.all(&invoke.inputs)?;
    arguments.extend(scope.all(&invoke.captures)?);
    for extent in &invoke.extents {
        arguments.push(scope.extent_value(extent, at)?);
    }
    let outputs: Vec<_> = invoke
        .outputs
        .iter()
        .chain(&invoke.updates)
        .copied()
        .collect();
    let results = scope.types(&outputs)?;
    let values: Vec<_> = callee
        .attributes
        .iter()
        .map(|(name, value)| (name.as_str(), attributes::attribute(context, value)))
        .collect();
    let location = emitter.location(&callee.name, invoke.span);
    let symbol = FlatSymbolRefAttribute::new(context, emitter.symbol(invoke.callee));
    let op = at.with_location(location).create(
        "skript.invoke",
        &arguments,
        &[
            ("callee", symbol.into()),
            ("operator_name", attributes::string(context, &callee.name)),
            ("operator_attributes", dictionary(context, &values)),
        ],
        &results,
        Vec::new(),
    )?;
    for (id, value) in outputs.iter().zip(op.results()) {
        scope.set(*id, value.into());
        scope.learn(*id, at)?;
    }
    Ok(())
}

/// The functions that a function invokes, in order, inner blocks included.
pub(super) fn callees(function: &Function) -> Vec<FunctionId> {
    let mut found = Vec::new();
    if let Body::Block(block) = &function.body {
        collect(block, &mut found);
    }
    found
}

fn collect(block: &Block, found: &mut Vec<FunctionId>) {
    for operation in &block.operations {
        match operation {
            Operation::Invoke(invoke) => found.push(invoke.callee),
            Operation::Constant { .. } => {}
            Operation::If {
                arms, otherwise, ..
            } => {
                for arm in arms {
                    collect(&arm.condition, found);
                    collect(&arm.consequent, found);
                }
                collect(otherwise, found);
            }
            Operation::Loop(l) => {
                for block in [l.before.as_ref(), Some(&l.body), l.after.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    collect(block, found);
                }
            }
        }
    }
}
