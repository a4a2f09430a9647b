// SPDX-License-Identifier: Apache-2.0
//! Lowers vectors in SPIR-V kernels: SPIR-V has vector accesses only in device memory.

use crate::ir::{self, Builder, ops, typed};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;

/// Returns the array and the indices of a load or a store.
fn accessed<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(Value<'c, 'a>, Vec<Value<'c, 'a>>), PassError> {
    let first = usize::from(ir::name(op) == ops::vector::STORE);
    let array = op.operand(first)?;
    Ok((array, op.operands().skip(first + 1).collect()))
}

/// Returns the number of elements of a vector.
fn lanes(vector: Type) -> Result<i64, PassError> {
    match ir::vector::extents(vector).as_deref() {
        Some([count]) => Ok(*count),
        _ => Err(PassError::from("a vector of several dimensions, or a scalable one")),
    }
}

/// Replaces vector accesses in workgroup memory by scalar accesses.
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
        let at = Builder::at(op);
        let is_store = name == ops::vector::STORE;
        let vector: Value = if is_store { op.operand(0)? } else { op.result(0)?.into() };
        let positions = (0..lanes(vector.r#type())?).map(|n| {
            let index = if n == 0 { *last } else { at.addi(*last, at.idx(n)) };
            (n, [outer, &[index]].concat())
        });
        if is_store {
            positions.for_each(|(n, position)| at.store(at.extract(vector, n), array, &position));
        } else {
            let elements: Vec<Value> = positions.map(|(_, position)| at.load(array, &position)).collect();
            ir::replace_uses(vector, at.vector_of_elements(&elements, vector.r#type()));
        }
        ir::erase(op);
    }
    Ok(())
}

/// Lowers extractions and constructions of vectors, which are composites in SPIR-V.
pub(super) fn lower_elements(function: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(function, ops::vector::EXTRACT) {
        let at = Builder::at(op);
        let source = ir::operand(op)?;
        let lanes = typed::i64s(op, "static_position");
        let [lane] = lanes.as_slice() else {
            return Err(PassError::at(op, "does not extract one element"));
        };
        let construction = ir::defined_by(source, ops::vector::FROM_ELEMENTS);
        let element = construction.and_then(|op| op.operand(usize::try_from(*lane).ok()?).ok());
        let value = match element {
            Some(element) => element,
            None => {
                let indices = ArrayAttribute::new(at.context, &[at.i32_attribute(*lane)]).into();
                let kind = Value::from(op.result(0)?).r#type();
                at.make(ops::spirv::COMPOSITE_EXTRACT, &[source], &[("indices", indices)], kind)
            }
        };
        ir::replace_uses(op.result(0)?.into(), value);
        ir::erase(op);
    }
    for op in ir::walk::named(function, ops::vector::FROM_ELEMENTS) {
        let result: Value = op.result(0)?.into();
        if skript_dialect::op::is_used(result) {
            let elements: Vec<Value> = op.operands().collect();
            let name = ops::spirv::COMPOSITE_CONSTRUCT;
            ir::replace_uses(result, Builder::at(op).make(name, &elements, &[], result.r#type()));
        }
        ir::erase(op);
    }
    Ok(())
}
