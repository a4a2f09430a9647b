// SPDX-License-Identifier: Apache-2.0
//! `skript-write-outputs`: turns the tensor results of the entry into memref arguments that it writes.
//!
//! This establishes the calling convention before bufferization. The argument of a result is a row-major memref that does not
//! alias other arguments. If the result has dynamic extents, it is an array of bytes for the largest tensor that the upper
//! bounds allow. Additional arguments for the extents follow, first of the dynamic arguments, then of the dynamic results.
//!
//! Requires: an entry of one block, with upper bounds (`skript.bounds`) for results with dynamic extents. Guarantees:
//! the entry returns nothing, or its `i32` status.

use super::arguments::extents_from_caller;
use super::loop_carried::{copied, destination, origins, separate_branches, written};
use crate::error::CodegenError;
use crate::extents::size;
use crate::ir;
use crate::ir::attribute_names::{self, NOALIAS};
use crate::ir::bufferization::{ToBuffer, ToTensor, tensor_of, write_to};
use crate::ir::ops;
use crate::ir::{Builder, attributes, typed, types};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass};

/// The pass `skript-write-outputs`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-write-outputs",
    summary: "turn results of the entry into arguments that it writes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization],
    run: |root, _, _| Ok(write_outputs(root)?),
    ..Pass::NONE
};

/// Rewrites the entry's results.
pub(super) fn write_outputs(module: OperationRef) -> Result<(), CodegenError> {
    let entry = ir::uncalled_entry(module)?;
    let body = ir::body(entry)?;
    let terminator = ir::operations(body)
        .last()
        .copied()
        .filter(|op| ir::name(*op) == ops::func::RETURN)
        .ok_or_else(|| CodegenError::Module("the entry does not end with a return".to_owned()))?;
    let context = ir::context::of(entry);
    let passed = extents_from_caller(entry);
    let dynamic_inputs: Vec<(usize, usize)> = ir::arguments(body)
        .iter()
        .enumerate()
        .filter(|(n, argument)| is_dynamic(argument.r#type()) && !passed.contains(n))
        .map(|(n, argument)| (n, types::shape(argument.r#type()).len()))
        .collect();
    separate_states(&terminator.operands().collect::<Vec<_>>());
    let mut kept = Vec::new();
    let mut dynamic = Vec::new();
    for (number, value) in terminator.operands().collect::<Vec<_>>().into_iter().enumerate() {
        let r#type = value.r#type();
        if !r#type.is_ranked_tensor() {
            kept.push(value);
            continue;
        }
        // Without this, upstream could compute all tensors that branches yield for the result in the buffer of the argument,
        // although they have other readers.
        separate_branches(value, value, body);
        if is_dynamic(r#type) {
            let bytes = byte_bound(entry, number, r#type).ok_or_else(|| {
                CodegenError::Module(format!(
                    "result {number} of type {} has a dynamic extent without an upper bound",
                    r#type
                ))
            })?;
            let slot = types::memref(&[bytes.max(1)], types::int(context, 8));
            dynamic.push((value, ir::append_argument(entry, slot, attributes::units(context, &[NOALIAS]))?));
        } else {
            write_static(entry, value, terminator)?;
        }
    }
    for (number, rank) in dynamic_inputs {
        let number = attributes::i64(context, ir::signed(number));
        let marked = attributes::dictionary(context, &[(attribute_names::EXTENTS, number)]);
        ir::append_argument(entry, words(context, rank), marked)?;
    }
    let at = Builder::at(terminator);
    for (value, slot) in dynamic {
        write_dynamic(entry, value, slot, &at)?;
    }
    ir::set_operands(terminator, &kept);
    let kept_types: Vec<Type> = kept.iter().map(|value| value.r#type()).collect();
    ir::set_signature(entry, Some(&kept_types))?;
    // The attributes of the removed results are erased.
    ir::mutation::remove(entry, "res_attrs");
    Ok(())
}

/// Copies a state of a result before an operation overwrites it, if another result is that state, a view of it, or also begins with it.
/// Upstream computes all states in the argument of one of the results, and does not compare the write to this argument with reads of the
/// other result, which follow it.
fn separate_states(results: &[Value]) {
    let is_tensor = |value: &&Value| value.r#type().is_ranked_tensor();
    let mut all: Vec<Vec<Value>> = results.iter().filter(is_tensor).map(|result| origins(*result)).collect();
    for (at, result) in results.iter().filter(is_tensor).enumerate() {
        let mut value = *result;
        while let Some((op, number)) = ir::definition(value) {
            let link = destination(op, number).and_then(|n| Some((n, ir::operand_at(op, n)?)));
            let Some((operand, before)) = link else { break };
            let parts = |other: &Vec<Value>| other.contains(&before) && !other.contains(&value);
            let is_shared = all.iter().enumerate().any(|(n, other)| n != at && parts(other));
            let is_computed = ir::defining_op(before).is_some_and(|op| ir::name(op) != ops::tensor::EMPTY);
            if is_shared && is_computed && written(op, number).is_some() {
                ir::use_instead(op, operand, copied(before, op));
                if let Some(states) = all.get_mut(at) {
                    *states = origins(*result);
                }
                break;
            }
            value = before;
        }
    }
}

/// Writes a result of static shape to a new argument.
fn write_static<'c: 'a, 'a>(
    entry: OperationRef<'c, 'a>,
    value: Value<'c, 'a>,
    terminator: OperationRef<'c, 'a>,
) -> Result<(), CodegenError> {
    let (context, body) = (ir::context::of(entry), ir::body(entry)?);
    let r#type = value.r#type();
    let memref = types::memref(&types::shape(r#type), types::element_or_self(r#type));
    let argument = ir::append_argument(entry, memref, attributes::units(context, &[NOALIAS]))?;
    let (value, argument) = without_reshapes(value, argument, body)?;
    separate_branches(value, value, body);
    begin_in_place(value, argument)?;
    if let Some(buffer) = exclusive_buffer(value).filter(|buffer| buffer.r#type() == argument.r#type()) {
        ir::replace_uses(buffer, argument);
        ir::defining_op(buffer).into_iter().for_each(ir::erase);
    }
    write_to(&Builder::at(terminator), value, argument);
    Ok(())
}

/// Strips the reshapes that compute a result. Returns the original tensor, and the argument viewed in its shape, so that the
/// tensor is written to the argument directly. A reshape of the result would require another buffer and a copy.
fn without_reshapes<'c: 'a, 'a>(
    mut value: Value<'c, 'a>,
    mut array: Value<'c, 'a>,
    body: BlockRef<'c, 'a>,
) -> Result<(Value<'c, 'a>, Value<'c, 'a>), melior::Error> {
    let first = ir::operations(body).first().copied();
    while let (Some(op), Some(first)) = (ir::defining_op(value), first) {
        let view = match ir::name(op).as_str() {
            ops::tensor::COLLAPSE_SHAPE => ops::memref::EXPAND_SHAPE,
            ops::tensor::EXPAND_SHAPE => ops::memref::COLLAPSE_SHAPE,
            _ => break,
        };
        let source = op.operand(0)?;
        let kind = source.r#type();
        let (Some(extents), Some(element)) = (types::extents(kind), types::element_of(kind)) else {
            break;
        };
        let is_scalar = extents.is_empty() || types::shape(value.r#type()).is_empty();
        if is_scalar || is_dynamic(kind) || is_dynamic(value.r#type()) {
            break;
        }
        let at = Builder::at(first).with_location(op.location());
        let mut attributes = vec![("reassociation", op.attribute("reassociation")?)];
        if view == ops::memref::EXPAND_SHAPE {
            let shape = attributes::i64s(at.context, &extents);
            attributes.push(("static_output_shape", shape));
        }
        array = at.value(view, &[array], &attributes, types::memref(&extents, element))?;
        value = source;
    }
    Ok((value, array))
}

/// Replaces the empty tensor at the beginning of the chain of writes that computes a result by the argument of the result, if
/// `skript-separate-inits` cut the chain. MLIR does the same for other chains, but not across the buffers at a cut.
fn begin_in_place<'c: 'a, 'a>(value: Value<'c, 'a>, array: Value<'c, 'a>) -> Result<(), melior::Error> {
    let Some(empty) = beginning_of_cut(value).filter(|empty| empty.r#type() == value.r#type()) else {
        return Ok(());
    };
    if let Some(op) = ir::defining_op(empty) {
        ir::replace_uses(empty, tensor_of(&Builder::at(op), array, value.r#type())?);
    }
    Ok(())
}

/// Returns the buffer that was allocated for a result that loops fill. The caller's memory can replace it.
fn exclusive_buffer<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let tensor = ToTensor::of(value)?;
    let is_exclusive = tensor.op().has_attribute("restrict") && tensor.op().has_attribute("writable");
    let buffer = tensor.buffer().ok().filter(|_| is_exclusive)?;
    ir::defined_by(buffer, ops::memref::ALLOC).map(|_| buffer)
}

/// Returns the empty tensor at the beginning of a chain that `skript-separate-inits` cut, if it has no other users.
fn beginning_of_cut<'c: 'a, 'a>(last: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (mut value, mut is_cut) = (last, false);
    loop {
        let (op, number) = ir::definition(value)?;
        value = match ir::name(op).as_str() {
            ops::tensor::EMPTY => {
                return (is_cut && ir::users(value).len() == 1).then_some(value);
            }
            ops::bufferization::TO_TENSOR if op.has_attribute("writable") => {
                is_cut = true;
                let buffer = ToTensor::cast(op)?.buffer().ok()?;
                ToBuffer::of(buffer)?.tensor().ok()?
            }
            _ => op.operand(written(op, number)?).ok()?,
        };
    }
}

fn is_dynamic(r#type: Type) -> bool {
    types::extents(r#type).is_some_and(|e| e.contains(&types::DYNAMIC))
}

/// The type of the array for a tensor's extents.
fn words(context: &Context, rank: usize) -> Type<'_> {
    types::memref(&[ir::signed(rank)], types::word(context))
}

/// Returns the maximum size of a result in bytes, computed from its `skript.bounds`.
fn byte_bound(entry: OperationRef, number: usize, r#type: Type) -> Option<i64> {
    let results = typed::array(entry, "res_attrs");
    let bounds = attributes::integers(attributes::entry(*results.get(number)?, attribute_names::BOUNDS)?)?;
    let element = size::element_bytes(types::element_of(r#type)?)?;
    let mut bytes = i64::try_from(element).ok()?;
    for (dimension, extent) in types::extents(r#type)?.into_iter().enumerate() {
        let bound = match extent {
            types::DYNAMIC => *bounds.get(dimension)?,
            fixed => fixed,
        };
        bytes = bytes.checked_mul(bound)?;
    }
    Some(bytes)
}

/// Writes the elements of a result to the slot, row-major in the actual extents and without gaps, and the extents to another
/// argument.
fn write_dynamic<'c: 'a, 'a>(
    entry: OperationRef<'c, 'a>,
    value: Value<'c, 'a>,
    slot: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), CodegenError> {
    let shape = types::shape(value.r#type());
    let marked = attributes::units(at.context, &[NOALIAS, attribute_names::RESULT_EXTENTS]);
    let array = ir::append_argument(entry, words(at.context, shape.len()), marked)?;
    let dynamic = at.dynamic_extents(value)?;
    let mut next = dynamic.iter().copied();
    let word = types::word(at.context);
    for (dimension, extent) in (0i64..).zip(&shape) {
        let extent = if *extent == types::DYNAMIC { next.next() } else { Some(at.idx(*extent)) };
        let extent = extent.ok_or(melior::Error::OperationBuild)?;
        let position = at.idx(dimension);
        at.store(at.index_cast(extent, word), array, &[position]);
    }
    let mut operands = vec![slot, at.idx(0)];
    operands.extend(dynamic);
    let r#type = types::memref(&shape, types::element_or_self(value.r#type()));
    write_to(at, value, at.value(ops::memref::VIEW, &operands, &[], r#type)?);
    Ok(())
}
