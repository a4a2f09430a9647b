// SPDX-License-Identifier: Apache-2.0
//! Types, attributes and operations from text of the compiler itself.

use super::builder::operations;
use super::func::body;
use super::run::collecting;
use super::walk::first_block;
use crate::error::CodegenError;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, Location, Module, Operation, OperationRef, Type, Value, ValueLike};
use melior::{Context, ContextRef};
use std::collections::HashSet;

/// Parses a type; the text is the compiler's own.
///
/// # Errors
/// [`CodegenError::Module`] if MLIR cannot parse it.
pub fn parse_type<'c>(context: ContextRef<'c>, text: &str) -> Result<Type<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Type::parse(context, text).ok_or_else(|| CodegenError::Module(format!("no type: {text}")))
}

/// Parses an attribute; the text is the compiler's own.
pub(crate) fn parse_attribute<'c>(
    context: ContextRef<'c>,
    text: &str,
) -> Result<Attribute<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Attribute::parse(context, text).ok_or_else(|| CodegenError::Module(format!("no attribute: {text}")))
}

/// Creates an op from text over operands `%0`, `%1`, … of the given types, to be inserted by the caller. The last op of
/// `text` is used; its operands must be among these.
pub(crate) fn template<'c>(
    context: &'c Context,
    operands: &[Value<'c, '_>],
    text: &str,
    location: Location<'c>,
) -> Result<Operation<'c>, CodegenError> {
    let arguments: Vec<String> =
        operands.iter().enumerate().map(|(n, v)| format!("%{n}: {}", v.r#type())).collect();
    let source = format!("func.func private @t({}) {{ {text}\n return }}", arguments.join(", "));
    let (parsed, messages) = collecting(context, || Module::parse(context, &source));
    let parsed = parsed
        .ok_or_else(|| CodegenError::Module(format!("template does not parse: {}", messages.join("; "))))?;
    let missing = || CodegenError::Module("template has no op".to_owned());
    let function = operations(parsed.body()).first().copied().ok_or_else(missing)?;
    let block = body(function)?;
    let op = operations(block).into_iter().rev().nth(1).ok_or_else(missing)?;
    let mut copy = Operation::clone(&op);
    for n in 0..copy.operand_count() {
        let used = copy.operand(n).map_err(|e| CodegenError::Module(e.to_string()))?;
        for (position, operand) in operands.iter().enumerate() {
            let argument = block.argument(position).map_err(|_| missing())?;
            if Value::from(argument) == used {
                // SAFETY: the operand is alive in the module that receives the op.
                let operand = unsafe { Value::from_raw(operand.to_raw()) };
                copy.set_operand(n, operand);
            }
        }
    }
    copy.set_location(location);
    Ok(copy)
}

/// Parses functions and appends them to a module. The text declares the functions of the module that it calls; these
/// declarations are left out.
///
/// # Errors
/// [`CodegenError::Module`] if MLIR does not parse the text, or the module has another function of a defined one's name.
pub(crate) fn append_functions(module: OperationRef<'_, '_>, text: &str) -> Result<(), CodegenError> {
    let owner = module.context();
    // SAFETY: `owner` lives until the end of the function; parsed objects belong to the context.
    let context: &Context = unsafe { owner.to_ref() };
    let (parsed, messages) = collecting(context, || Module::parse(context, text));
    let parsed = parsed
        .ok_or_else(|| CodegenError::Module(format!("functions do not parse: {}", messages.join("; "))))?;
    let not_module = || CodegenError::Module("not a module".to_owned());
    let block = first_block(module).ok_or_else(not_module)?;
    let symbol = |op: &OperationRef| op.attribute("sym_name").map(|name| name.to_string()).ok();
    let present: HashSet<String> = operations(block).iter().filter_map(symbol).collect();
    for op in operations(parsed.body()) {
        let taken = symbol(&op).filter(|name| present.contains(name));
        let Some(name) = taken else {
            block.append_operation(Operation::clone(&op));
            continue;
        };
        if first_block(op).is_some() {
            return Err(CodegenError::Module(format!("the module has a function named {name} already")));
        }
    }
    Ok(())
}
