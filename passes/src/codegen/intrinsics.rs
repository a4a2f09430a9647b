// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-intrinsics`: lowers intrinsics to calls of one C function.
//!
//! Each becomes a call of `skript_intrinsic` with a constant that describes it, an array on the stack with address,
//! extents and strides of each operand, and the context, an argument of the entry. A run-time check of the status
//! follows.
//!
//! Requires: a bufferized entry, with every `skript.intrinsic` on memrefs. Guarantees: no `skript.intrinsic` is left.

use super::checks::context_argument;
use super::memory::ancestor_of;
use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::func::symbol;
use crate::ir::ops;
use crate::ir::skript::Intrinsic;
use crate::ir::{Builder, attributes, types};
use melior::Context;
use melior::ir::attribute::{FlatSymbolRefAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{FunctionType, IntegerType, MemRefType};
use melior::ir::{Module, Operation, Region, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_intrinsics::compiled::SYMBOL;
use skript_intrinsics::description::{Array, Description, element};
use std::collections::HashMap;

/// Symbols of descriptions begin so.
const CALL: &str = "skript.call.";
/// The code of a failed run.
const FAILED: &str = "SK9201";

/// The pass `skript-lower-intrinsics`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-intrinsics",
    summary: "lower intrinsics to calls of the runtime's kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| {
        let found = ir::nested(root).into_iter();
        let found: Vec<_> = found.filter_map(Intrinsic::cast).collect();
        if found.is_empty() {
            return Ok(());
        }
        let context = rewriter.context();
        let entry = ir::entry(root)?;
        let mut calls = Vec::new();
        for op in found {
            if !ancestor_of(entry, op.op()) {
                return Err(PassError::at(op.op(), "is outside of the entry"));
            }
            if op.op().has_attribute(attribute_names::FILLED) {
                return Err(PassError::at(op.op(), "has padded tensors, which kernels do not support"));
            }
            calls.push((op.op(), describe(op)?));
        }
        let values = context_argument(entry)?;
        let words = calls.iter().map(|(_, d)| words_of(d)).max().unwrap_or(0);
        let words = i64::try_from(words).map_err(|_| "too many arrays")?;
        let first = ir::blocks(entry).first().copied();
        let first = first.and_then(|b| ir::operations(b).first().copied());
        let first = first.ok_or_else(|| PassError::at(entry, "is empty"))?;
        let word = IntegerType::new(context, 64).into();
        let stack = Builder::before(context, first)?.value(
            ops::memref::ALLOCA,
            &[],
            &[("operandSegmentSizes", attributes::i32s(context, &[0, 0]))],
            types::memref(&[words], word),
        )?;
        let mut symbols = HashMap::new();
        for (op, description) in calls {
            let bytes = description.to_bytes();
            let next = symbols.len();
            let (symbol, length) = match symbols.get(&bytes) {
                Some(known) => *known,
                None => {
                    let known = (next, bytes.len());
                    add_global(root, context, next, &bytes)?;
                    symbols.insert(bytes, known);
                    known
                }
            };
            let at = Builder::before(context, op)?;
            let call = call_address(symbol, length, &at)?;
            lower(op, &description, call, stack, values, &at)?;
        }
        declare(root, context)?;
        Ok(())
    },
    ..Pass::NONE
};

fn words_of(description: &Description) -> usize {
    let arrays = description.inputs.iter().chain(&description.outputs);
    arrays.map(|a| 1 + 2 * a.rank).sum()
}

/// Describes an intrinsic by its attributes and types.
fn describe(op: Intrinsic) -> Result<Description, PassError> {
    let malformed = |what: &str| PassError::at(op.op(), format!("has {what}"));
    let mut arrays = Vec::new();
    for operand in op.op().operands() {
        let memref = MemRefType::try_from(operand.r#type())
            .map_err(|_| malformed("operands that are not memrefs: bufferize first"))?;
        let name = memref.element().to_string();
        let name = if name == "i1" { "bool" } else { &name };
        arrays.push(Array {
            element: element(name).ok_or_else(|| malformed("elements of no known type"))?,
            rank: memref.rank(),
        });
    }
    let inputs = op.input_count().filter(|n| *n <= arrays.len()).ok_or_else(|| malformed("no segments"))?;
    let outputs = arrays.split_off(inputs);
    let positions = op.dynamic_outputs().into_iter().map(|n| u32::try_from(n).ok());
    let values = op.operator_attributes();
    Ok(Description {
        operator: op.operator(),
        random: op.is_random(),
        attributes: values.ok_or_else(|| malformed("attributes of no kind"))?,
        inputs: arrays,
        outputs,
        dynamic_outputs: positions.collect::<Option<_>>().ok_or_else(|| malformed("no such outputs"))?,
        given: op.dynamic_attributes(),
    })
}

/// A description as a constant of the module.
fn add_global(
    module: OperationRef,
    context: &Context,
    number: usize,
    bytes: &[u8],
) -> Result<(), CodegenError> {
    let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
    let text = format!(
        "memref.global \"private\" constant @{CALL}{number} : memref<{}xi8> = dense<\"0x{digits}\">",
        bytes.len()
    );
    let (parsed, messages) = ir::collecting(context, || Module::parse(context, &text));
    let parsed = parsed.ok_or_else(|| CodegenError::Module(messages.join("; ")))?;
    let global = ir::operations(parsed.body()).first().copied();
    let global = global.ok_or_else(|| CodegenError::Module("no constant was made".to_owned()))?;
    let body = ir::blocks(module).first().copied();
    let body = body.ok_or_else(|| CodegenError::Module("the module has no body".to_owned()))?;
    body.append_operation(Operation::clone(&global));
    Ok(())
}

/// Address and length of a description.
fn call_address<'c: 'a, 'a>(
    number: usize,
    length: usize,
    at: &Builder<'c, 'a>,
) -> Result<[Value<'c, 'a>; 2], PassError> {
    let length = i64::try_from(length).map_err(|_| "a description is too long")?;
    let byte = IntegerType::new(at.context, 8).into();
    let name = FlatSymbolRefAttribute::new(at.context, &format!("{CALL}{number}"));
    let r#type = types::memref(&[length], byte);
    let bytes = at.value(ops::memref::GET_GLOBAL, &[], &[("name", name.into())], r#type)?;
    Ok([address(bytes, at)?, at.index(length)?])
}

fn address<'c: 'a, 'a>(memref: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    let index = Type::index(at.context);
    Ok(at.value(ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX, &[memref], &[], index)?)
}

fn lower<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    description: &Description,
    [call, length]: [Value<'c, 'a>; 2],
    stack: Value<'c, 'a>,
    values: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let word = IntegerType::new(at.context, 64).into();
    let mut next = 0i64;
    for operand in op.operands() {
        for part in parts(operand, at)? {
            let part = at.value(ops::arith::INDEX_CAST, &[part], &[], word)?;
            let place = at.index(next)?;
            at.create(ops::memref::STORE, &[part, stack, place], &[], &[], Vec::new())?;
            next += 1;
        }
    }
    let number = IntegerType::new(at.context, 32).into();
    let callee = FlatSymbolRefAttribute::new(at.context, SYMBOL);
    let status = at.value(
        ops::func::CALL,
        &[call, length, address(stack, at)?, address(values, at)?],
        &[("callee", callee.into())],
        number,
    )?;
    let zero = IntegerAttribute::new(number, 0).into();
    let zero = at.value(ops::arith::CONSTANT, &[], &[("value", zero)], number)?;
    let fine = at.compare(0, status, zero)?;
    let message = format!("operator {}: {{text}}", description.operator);
    at.check(fine, FAILED, &message, &[])?;
    ir::erase(op);
    Ok(())
}

/// Address, extents and strides of an array.
fn parts<'c: 'a, 'a>(memref: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let index = Type::index(at.context);
    let r#type = MemRefType::try_from(memref.r#type())?;
    let mut results = vec![types::memref(&[], r#type.element())];
    results.resize(2 + 2 * r#type.rank(), index);
    let metadata = at.create(ops::memref::EXTRACT_STRIDED_METADATA, &[memref], &[], &results, Vec::new())?;
    let size = crate::extents::size::element_bytes(&r#type.element().to_string());
    let size = size.and_then(|s| i64::try_from(s).ok());
    let size = at.index(size.ok_or("an element has no size")?)?;
    let offset = metadata.result(1)?.into();
    let offset = at.value(ops::arith::MULI, &[offset, size], &[], index)?;
    let start = at.value(ops::arith::ADDI, &[address(memref, at)?, offset], &[], index)?;
    let mut parts = vec![start];
    parts.extend(metadata.results().skip(2).map(Value::from));
    Ok(parts)
}

/// Declares the C function.
fn declare(module: OperationRef, context: &Context) -> Result<(), PassError> {
    let index = Type::index(context);
    let status = IntegerType::new(context, 32).into();
    let r#type = FunctionType::new(context, &[index; 4], &[status]);
    let body = ir::blocks(module).first().copied();
    let body = body.ok_or("the module has no body")?;
    let declared = ir::operations(body).into_iter().filter_map(symbol).any(|name| name == SYMBOL);
    if declared {
        return Ok(());
    }
    let entries = [
        ("sym_name", attributes::string(context, SYMBOL)),
        ("sym_visibility", attributes::string(context, "private")),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    let at = Builder::at_end(context, body, module.location());
    at.create(ops::func::FUNC, &[], &entries, &[], vec![Region::new()])?;
    Ok(())
}
