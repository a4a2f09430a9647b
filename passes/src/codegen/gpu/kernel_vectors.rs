// SPDX-License-Identifier: Apache-2.0
//! Vectors of kernels in SPIR-V: pointers to several elements exist in the memory of the device alone.

use crate::ir::{self, Builder, ops, typed};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, Value, ValueLike};
use skript_dialect::PassError;

/// The array of an access, and the position.
fn accessed<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(Value<'c, 'a>, Vec<Value<'c, 'a>>), PassError> {
    let first = usize::from(ir::name(op) == ops::vector::STORE);
    let array = op.operand(first)?;
    Ok((array, op.operands().skip(first + 1).collect()))
}

/// The number of elements of a vector, and their type.
fn shape<'c>(vector: Type<'c>) -> Result<(i64, Type<'c>), PassError> {
    match ir::vector::extents(vector).as_deref() {
        Some([count]) => Ok((*count, ir::vector::element_or_self(vector))),
        _ => Err(PassError::from("a vector that is no line of elements")),
    }
}

/// Replaces accesses of several elements of arrays that are not in the memory of the device by ones of each.
pub(super) fn split_shared(function: OperationRef) -> Result<(), PassError> {
    let names = [ops::vector::LOAD, ops::vector::STORE];
    for op in ir::nested(function) {
        let name = ir::name(op);
        if !names.contains(&name.as_str()) {
            continue;
        }
        let (array, position) = accessed(op)?;
        let is_shared = array.r#type().to_string().contains("workgroup");
        let (Some((last, outer)), true) = (position.split_last(), is_shared) else {
            continue;
        };
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?;
        let index = Type::index(context);
        let is_store = name == ops::vector::STORE;
        let all: Value = if is_store { op.operand(0)? } else { op.result(0)?.into() };
        let (count, element) = shape(all.r#type())?;
        let mut elements = Vec::new();
        for n in 0..count {
            let place = match n {
                0 => *last,
                n => at.value(ops::arith::ADDI, &[*last, at.index(n)?], &[], index)?,
            };
            if !is_store {
                let operands = [&[array], outer, &[place]].concat();
                elements.push(at.value(ops::memref::LOAD, &operands, &[], element)?);
                continue;
            }
            let lane = ir::attributes::i64s(context, &[n]);
            let lane = [("static_position", lane)];
            let value = at.value(ops::vector::EXTRACT, &[all], &lane, element)?;
            let operands = [&[value, array], outer, &[place]].concat();
            at.create(ops::memref::STORE, &operands, &[], &[], Vec::new())?;
        }
        if !is_store {
            let made = at.value(ops::vector::FROM_ELEMENTS, &elements, &[], all.r#type())?;
            ir::replace_uses(all, made);
        }
        ir::erase(op);
    }
    Ok(())
}

/// Vectors are composites: their elements are extracted, and they are constructed from elements.
pub(super) fn lower_elements(function: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(function, ops::vector::EXTRACT) {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?;
        let source = ir::operand(op)?;
        let lanes = typed::i64s(op, "static_position");
        let [lane] = lanes.as_slice() else {
            return Err(PassError::at(op, "extracts no element"));
        };
        let made = ir::definition(source).map(|(made, _)| made);
        let made = made.filter(|made| ir::name(*made) == ops::vector::FROM_ELEMENTS);
        let known = made.and_then(|made| made.operand(usize::try_from(*lane).ok()?).ok());
        let value = match known {
            Some(known) => known,
            None => {
                let number = IntegerType::new(context, 32).into();
                let lane: Attribute = IntegerAttribute::new(number, *lane).into();
                let indices = ArrayAttribute::new(context, &[lane]).into();
                let attributes = [("indices", indices)];
                let kind = op.result(0)?;
                let kind = Value::from(kind).r#type();
                at.value(ops::spirv::COMPOSITE_EXTRACT, &[source], &attributes, kind)?
            }
        };
        ir::replace_uses(op.result(0)?.into(), value);
        ir::erase(op);
    }
    for op in ir::walk::named(function, ops::vector::FROM_ELEMENTS) {
        let result: Value = op.result(0)?.into();
        if skript_dialect::op::is_used(result) {
            let at = Builder::before(ir::context::of(op), op)?;
            let elements: Vec<Value> = op.operands().collect();
            let name = ops::spirv::COMPOSITE_CONSTRUCT;
            let made = at.value(name, &elements, &[], result.r#type())?;
            ir::replace_uses(result, made);
        }
        ir::erase(op);
    }
    Ok(())
}
