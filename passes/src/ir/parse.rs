//! Types, attributes and operations from text of the compiler itself.

use super::builder::operations;
use super::function::body;
use super::run::collecting;
use crate::error::CodegenError;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, Location, Module, Operation, Type, Value, ValueLike};
use melior::{Context, ContextRef};

/// Parses a type; the text is the compiler's own.
pub fn parse_type<'c>(context: ContextRef<'c>, text: &str) -> Result<Type<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Type::parse(context, text).ok_or_else(|| CodegenError::Module(format!("no type: {text}")))
}

/// Parses an attribute; the text is the compiler's own.
pub fn parse_attribute<'c>(
    context: ContextRef<'c>,
    text: &str,
) -> Result<Attribute<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Attribute::parse(context, text)
        .ok_or_else(|| CodegenError::Module(format!("no attribute: {text}")))
}

/// Creates an op from text over operands `%0`, `%1`, … of the given types, to be inserted by the caller. The last op of
/// `text` is used; its operands must be among these.
pub fn template<'c>(
    context: &'c Context,
    operands: &[Value<'c, '_>],
    text: &str,
    location: Location<'c>,
) -> Result<Operation<'c>, CodegenError> {
    let arguments: Vec<String> = operands
        .iter()
        .enumerate()
        .map(|(n, v)| format!("%{n}: {}", v.r#type()))
        .collect();
    let source = format!(
        "func.func private @t({}) {{ {text}\n return }}",
        arguments.join(", ")
    );
    let (parsed, messages) = collecting(context, || Module::parse(context, &source));
    let parsed = parsed.ok_or_else(|| {
        CodegenError::Module(format!("template does not parse: {}", messages.join("; ")))
    })?;
    let missing = || CodegenError::Module("template has no op".to_owned());
    let function = operations(parsed.body())
        .first()
        .copied()
        .ok_or_else(missing)?;
    let block = body(function)?;
    let op = operations(block)
        .into_iter()
        .rev()
        .nth(1)
        .ok_or_else(missing)?;
    let mut copy = Operation::clone(&op);
    for n in 0..copy.operand_count() {
        let used = copy
            .operand(n)
            .map_err(|e| CodegenError::Module(e.to_string()))?;
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
