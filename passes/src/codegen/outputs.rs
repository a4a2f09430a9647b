// SPDX-License-Identifier: Apache-2.0
//! `skript-write-outputs`: turns the tensor results of the entry into memref arguments that it writes.
//!
//! This is the calling convention on tensors. The argument of a result is a row-major memref that aliases no other
//! argument, or bytes for the largest tensor that the upper bounds allow. Extents of dynamic arguments and results
//! follow in further arguments, those of arguments first.
//!
//! Requires: an entry of one block, with upper bounds (`skript.bounds`) for results with dynamic extents. Guarantees:
//! the entry returns nothing, or its `i32` status.

use super::arguments::extents_from_caller;
use super::loop_carried::{separate_branches, written};
use crate::error::CodegenError;
use crate::extents::size;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::bufferization::{ToBuffer, ToTensor};
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DenseI64ArrayAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
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
///
/// # Errors
/// [`CodegenError::Module`] if there is no entry, or a result whose size has no bound.
pub(crate) fn write_outputs(module: OperationRef) -> Result<(), CodegenError> {
    let entry = ir::uncalled_entry(module)?;
    let body = ir::body(entry)?;
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let terminator = ir::operations(body)
        .last()
        .copied()
        .filter(|op| ir::name(*op) == ops::func::RETURN)
        .ok_or_else(|| CodegenError::Module("the entry does not end with a return".to_owned()))?;
    let context = ir::context::of(entry);
    let passed = extents_from_caller(entry);
    let inputs = (0..body.argument_count()).filter(|n| {
        let argument = body.argument(*n);
        let is_open = |t: Type| t.is_ranked_tensor() && is_dynamic(t);
        argument.is_ok_and(|a| is_open(a.r#type())) && !passed.contains(n)
    });
    let inputs: Vec<usize> = inputs.collect();
    let mut kept = Vec::new();
    let mut kept_types = Vec::new();
    let mut dynamic = Vec::new();
    for (number, value) in terminator.operands().collect::<Vec<_>>().into_iter().enumerate() {
        let r#type = value.r#type();
        let text = r#type.to_string();
        if !r#type.is_ranked_tensor() {
            kept.push(value);
            kept_types.push(r#type);
            continue;
        }
        // The argument of a result is written after all results are computed: other readers may not have its buffer
        // before.
        separate_branches(value, value, body)?;
        if is_dynamic(r#type) {
            let bytes = byte_bound(entry, number, r#type).ok_or_else(|| {
                CodegenError::Module(format!(
                    "result {number} of type {text} has a dynamic extent without an upper bound"
                ))
            })?;
            let slot = types::memref(&[bytes.max(1)], IntegerType::new(context, 8).into());
            dynamic.push((value, ir::append_argument(entry, slot, "{llvm.noalias}")?));
            continue;
        }
        let memref = ir::parse_type(entry.context(), &text.replacen("tensor<", "memref<", 1))?;
        let argument = ir::append_argument(entry, memref, "{llvm.noalias}")?;
        let (value, argument) = in_own_shape(value, argument, body).map_err(wrong)?;
        separate_branches(value, value, body)?;
        let (text, memref) = (value.r#type().to_string(), argument.r#type());
        begin_in_place(value, argument, context).map_err(wrong)?;
        if let Some(own) = own_buffer(value).filter(|own| own.r#type() == argument.r#type()) {
            ir::replace_uses(own, argument);
            if let Some((allocation, _)) = ir::definition(own) {
                ir::erase(allocation);
            }
        }
        let write = ir::template(
            context,
            &[value, argument],
            &format!(
                "bufferization.materialize_in_destination %0 in restrict writable %1 : ({text}, {memref}) -> ()"
            ),
            terminator.location(),
        )?;
        body.insert_operation_before(terminator, write);
    }
    for number in inputs {
        let rank = body.argument(number).ok().and_then(|a| types::extents(a.r#type()));
        let marked = format!("{{{} = {number} : i64}}", attribute_names::EXTENTS);
        ir::append_argument(entry, words(context, rank.map_or(0, |r| r.len()))?, &marked)?;
    }
    let at = Builder::before(context, terminator).map_err(wrong)?;
    for (value, slot) in dynamic {
        write_dynamic(entry, value, slot, &at)?;
    }
    ir::set_operands(terminator, &kept);
    ir::set_signature(entry, Some(&kept_types))?;
    // Results of the new type have no attributes.
    ir::mutation::remove(entry, "res_attrs");
    Ok(())
}

/// The tensor that a result is with other extents, and the argument as an array of its extents: so its elements are
/// written to the argument at once. A reshape of the argument would be a buffer of its own, and a copy.
fn in_own_shape<'c: 'a, 'a>(
    mut value: Value<'c, 'a>,
    mut place: Value<'c, 'a>,
    body: BlockRef<'c, 'a>,
) -> Result<(Value<'c, 'a>, Value<'c, 'a>), melior::Error> {
    let first = ir::operations(body).first().copied();
    while let (Some((op, _)), Some(first)) = (ir::definition(value), first) {
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
        let own = types::extents(value.r#type()).unwrap_or_default();
        let is_scalar = extents.is_empty() || own.is_empty();
        if is_scalar || is_dynamic(kind) || is_dynamic(value.r#type()) {
            break;
        }
        let at = Builder::before(ir::context::of(op), first)?.with_location(op.location());
        let mut attributes = vec![("reassociation", op.attribute("reassociation")?)];
        if view == ops::memref::EXPAND_SHAPE {
            let shape = attributes::i64s(at.context, &extents);
            attributes.push(("static_output_shape", shape));
        }
        place = at.value(view, &[place], &attributes, types::memref(&extents, element))?;
        value = source;
    }
    Ok((value, place))
}

/// Begins a cut chain of writes, whose first state is an empty tensor, with the argument of the result. Upstream does
/// so too, but not through the buffers at a cut.
fn begin_in_place<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    place: Value<'c, 'a>,
    context: &'c Context,
) -> Result<(), melior::Error> {
    let Some(empty) = beginning_of_cut(value).filter(|empty| empty.r#type() == value.r#type()) else {
        return Ok(());
    };
    let (op, _) = ir::definition(empty).ok_or(melior::Error::OperationBuild)?;
    let at = Builder::before(context, op)?;
    let unit = attributes::unit(context);
    let alone = [("restrict", unit), ("writable", unit)];
    let begin = at.value(ops::bufferization::TO_TENSOR, &[place], &alone, value.r#type())?;
    ir::replace_uses(empty, begin);
    Ok(())
}

/// The buffer of a result that loops fill: allocated for it, so that it may be in the memory of the caller instead.
fn own_buffer<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    let is_alone = op.has_attribute("restrict") && op.has_attribute("writable");
    let buffer = ToTensor::cast(op).filter(|_| is_alone)?.buffer().ok()?;
    let (maker, _) = ir::definition(buffer)?;
    (ir::name(maker) == ops::memref::ALLOC).then_some(buffer)
}

/// The empty tensor without other users at the beginning of a chain that `separate_inits` cut.
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

/// The array of a tensor's extents.
fn words(context: &Context, rank: usize) -> Result<Type<'_>, CodegenError> {
    let rank = i64::try_from(rank).map_err(|e| CodegenError::Module(e.to_string()))?;
    Ok(types::memref(&[rank], IntegerType::new(context, 64).into()))
}

/// Bytes of the largest tensor that a result can be, by its `skript.bounds`.
fn byte_bound(entry: OperationRef, number: usize, r#type: Type) -> Option<i64> {
    let results = ArrayAttribute::try_from(entry.attribute("res_attrs").ok()?).ok()?;
    let bounds = attributes::entry(results.element(number).ok()?, attribute_names::BOUNDS)?;
    let bounds = DenseI64ArrayAttribute::try_from(bounds).ok()?;
    let element = size::element_bytes(&types::element_of(r#type)?.to_string())?;
    let mut bytes = i64::try_from(element).ok()?;
    for (dimension, extent) in types::extents(r#type)?.into_iter().enumerate() {
        let bound = match extent {
            types::DYNAMIC => bounds.element(dimension).ok()?,
            fixed => fixed,
        };
        bytes = bytes.checked_mul(bound)?;
    }
    Some(bytes)
}

/// Writes the elements to the slot, contiguous by the actual extents, and the extents to another argument.
fn write_dynamic<'c: 'a, 'a>(
    entry: OperationRef<'c, 'a>,
    value: Value<'c, 'a>,
    slot: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let shape = types::extents(value.r#type()).unwrap_or_default();
    let marked = format!("{{llvm.noalias, {}}}", attribute_names::RESULT_EXTENTS);
    let array = ir::append_argument(entry, words(at.context, shape.len())?, &marked)?;
    let open = at.dynamic_extents(value).map_err(wrong)?;
    let mut next = open.iter();
    let word = IntegerType::new(at.context, 64).into();
    for (dimension, extent) in (0i64..).zip(&shape) {
        let extent = match (extent, next.len()) {
            (&types::DYNAMIC, 1..) => *next.next().unwrap_or(&value),
            _ => at.index(*extent).map_err(wrong)?,
        };
        let place = at.index(dimension).map_err(wrong)?;
        let extent = at.value(ops::arith::INDEX_CAST, &[extent], &[], word).map_err(wrong)?;
        at.create(ops::memref::STORE, &[extent, array, place], &[], &[], Vec::new()).map_err(wrong)?;
    }
    let element = types::element_of(value.r#type())
        .ok_or_else(|| CodegenError::Module("a result without elements".to_owned()))?;
    let mut operands = vec![slot, at.index(0).map_err(wrong)?];
    operands.extend(open);
    let view = at.value(ops::memref::VIEW, &operands, &[], types::memref(&shape, element)).map_err(wrong)?;
    let write = ir::template(
        at.context,
        &[value, view],
        &format!(
            "bufferization.materialize_in_destination %0 in restrict writable %1 : ({}, {}) -> ()",
            value.r#type(),
            view.r#type()
        ),
        at.location,
    )?;
    at.insert(write);
    Ok(())
}
