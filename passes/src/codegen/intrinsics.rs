// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-intrinsics`: lowers intrinsics to calls of one C function.
//!
//! Each intrinsic becomes a call of `skript_intrinsic`. Its arguments are a constant that describes the intrinsic, an array on
//! the stack with the address, extents and strides of each operand, and the context, which is an argument of the entry. A
//! run-time check of the status follows.
//!
//! Requires: a bufferized entry, with every `skript.intrinsic` on memrefs. Guarantees: no `skript.intrinsic` is left.

use super::checks::context_argument;
use super::memory::ancestor_of;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::builder::arith::Integers;
use crate::ir::ops;
use crate::ir::skript::Intrinsic;
use crate::ir::{Builder, attributes, types};
use melior::Context;
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_intrinsics::compiled::SYMBOL;
use skript_intrinsics::description::{Array, Description, element};
use std::collections::HashMap;

/// The prefix of the symbols of descriptions.
const CALL: &str = "skript.call.";
/// The diagnostic of a failed run.
const FAILED: &str = "SK9201";

/// The pass `skript-lower-intrinsics`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-intrinsics",
    summary: "lower intrinsics to calls of the runtime's kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| {
        let intrinsics: Vec<_> = ir::nested(root).into_iter().filter_map(Intrinsic::cast).collect();
        if intrinsics.is_empty() {
            return Ok(());
        }
        let context = rewriter.context();
        let entry = ir::entry(root)?;
        let mut calls = Vec::new();
        for op in intrinsics {
            if !ancestor_of(entry, op.op()) {
                return Err(PassError::at(op.op(), "is outside of the entry"));
            }
            if op.op().has_attribute(attribute_names::FILLED) {
                return Err(PassError::at(op.op(), "has padded tensors, which kernels do not support"));
            }
            calls.push((op.op(), describe(op)?));
        }
        let values = context_argument(entry)?;
        let words = calls.iter().map(|(_, d)| words_of(d)).fold(0, usize::max);
        let first = ir::first_block(entry).and_then(|b| ir::operations(b).first().copied());
        let first = first.ok_or_else(|| PassError::at(entry, "is empty"))?;
        let stack = Builder::at(first).words(ir::signed(words));
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
            let at = Builder::at(op);
            let call = call_address(symbol, length, &at);
            lower(op, &description, call, stack, values, &at)?;
        }
        let index = Type::index(context);
        ir::func::declare(root, SYMBOL, &[index; 4], &[types::int(context, 32)])?;
        Ok(())
    },
    ..Pass::NONE
};

/// The number of words that describe the arrays of a call.
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

/// Adds a description to the module as a constant.
fn add_global(module: OperationRef, context: &Context, number: usize, bytes: &[u8]) -> Result<(), PassError> {
    let count = ir::signed(bytes.len());
    let byte = types::int(context, 8);
    let value = ir::dense::of_bytes(types::tensor(&[count], byte), bytes);
    let body = ir::first_block(module).ok_or("a module without a body")?;
    let entries = [
        ("sym_name", attributes::string(context, &format!("{CALL}{number}"))),
        ("sym_visibility", attributes::string(context, "private")),
        ("type", TypeAttribute::new(types::memref(&[count], byte)).into()),
        ("initial_value", value),
        ("constant", attributes::unit(context)),
    ];
    let at = Builder::at_end(context, body, module.location());
    at.op(ops::memref::GLOBAL, &[], &entries, &[], Vec::new());
    Ok(())
}

/// Computes the address and the length of a description.
fn call_address<'c: 'a, 'a>(number: usize, length: usize, at: &Builder<'c, 'a>) -> [Value<'c, 'a>; 2] {
    let length = ir::signed(length);
    let name = FlatSymbolRefAttribute::new(at.context, &format!("{CALL}{number}"));
    let r#type = types::memref(&[length], types::int(at.context, 8));
    let bytes = at.make(ops::memref::GET_GLOBAL, &[], &[("name", name.into())], r#type);
    [at.aligned_pointer(bytes), at.idx(length)]
}

fn lower<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    description: &Description,
    [call, length]: [Value<'c, 'a>; 2],
    stack: Value<'c, 'a>,
    values: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let mut position = 0;
    for operand in op.operands() {
        for part in parts(operand, at)? {
            let part = at.index_cast(part, types::word(at.context));
            at.store(part, stack, &[at.idx(position)]);
            position += 1;
        }
    }
    let number = types::int(at.context, 32);
    let operands = [call, length, at.aligned_pointer(stack), at.aligned_pointer(values)];
    let status = at.result(at.call_with(SYMBOL, &operands, &[number]), 0);
    let succeeded = at.cmpi(Integers::Equal, status, at.zero(number));
    let message = format!("operator {}: {{text}}", description.operator);
    at.check(succeeded, FAILED, &message, &[])?;
    ir::erase(op);
    Ok(())
}

/// Computes the address, extents and strides of an array.
fn parts<'c: 'a, 'a>(memref: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let size = crate::extents::size::element_bytes(types::element_or_self(memref.r#type()));
    let size = size.and_then(|s| i64::try_from(s).ok()).ok_or("an element has no size")?;
    let mut parts = at.metadata(memref);
    let offset = at.muli(parts[0], at.idx(size));
    parts[0] = at.addi(at.aligned_pointer(memref), offset);
    Ok(parts)
}
