// SPDX-License-Identifier: Apache-2.0
//! Converts bodies on tensors of rank 0 to computations on scalars.

use super::constant;
use super::operation::{SourceOp, Tensor};
use crate::import::element::Element;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, RegionLike, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir;
use skript_passes::ir::ValueKey;
use skript_passes::ir::attribute_names;
use skript_passes::ir::ops;
use skript_passes::ir::splice::{Lines, splice};
use std::collections::HashMap;

/// Emits a placeholder for the body of region `region`, applied to these scalars.
pub(crate) fn placeholder(
    lines: &mut Lines,
    region: usize,
    operands: &[String],
    elements: &[Element],
    results: &[Element],
) -> Vec<String> {
    let types = |list: &[Element]| {
        let texts: Vec<String> = list.iter().map(|e| e.text()).collect();
        texts.join(", ")
    };
    let text = format!(
        "builtin.unrealized_conversion_cast {} : {} to {} {{{payload} = {region} : i64}}",
        operands.join(", "),
        types(elements),
        types(results),
        payload = attribute_names::PAYLOAD
    );
    lines.values(results.len(), text)
}

/// Replaces all placeholders in `operations` by the bodies of `source`.
pub(super) fn fill<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    operations: &[OperationRef<'c, 'a>],
) -> Result<(), PassError> {
    for operation in operations {
        let marked = |op: OperationRef| op.has_attribute(attribute_names::PAYLOAD);
        for position in op::collect(operation, marked) {
            let number = IntegerAttribute::try_from(position.attribute(attribute_names::PAYLOAD)?)?.value();
            let region = source.op.region(number.unsigned_abs() as usize)?;
            let block = region.first_block().ok_or("has no body")?;
            let scalars: Vec<Value> = position.operands().collect();
            let values = scalars_of(block, &scalars, position)?;
            for (result, value) in position.results().zip(values) {
                ir::replace_uses(result.into(), value);
            }
            ir::erase(position);
        }
    }
    Ok(())
}

/// Clones the operations of the block for these arguments before `at`; returns the values that the block returns.
fn scalars_of<'c: 'a, 'a>(
    block: BlockRef<'c, 'a>,
    arguments: &[Value<'c, 'a>],
    at: OperationRef<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let mut known: HashMap<ValueKey, Value<'c, 'a>> = HashMap::new();
    if block.argument_count() != arguments.len() {
        return Err("has a body with another number of arguments".into());
    }
    for (n, argument) in arguments.iter().enumerate() {
        let tensor = Value::from(block.argument(n)?);
        known.insert(ValueKey::of(tensor), *argument);
    }
    for inner in ir::operations(block) {
        let mut operands = Vec::new();
        for value in inner.operands() {
            operands.push(match known.get(&ValueKey::of(value)) {
                Some(scalar) => *scalar,
                None => outside(value, at)?,
            });
        }
        let name = op::name(&inner);
        if name == ops::stablehlo::RETURN {
            return Ok(operands);
        }
        let results = inner.results().map(|r| Tensor::from_type(r.r#type()).filter(|t| t.rank() == 0));
        let results: Option<Vec<Tensor>> = results.collect();
        let refuse = || {
            PassError::from(format!("has a body with `{name}`, which is not an operation on single elements"))
        };
        let results = results.ok_or_else(refuse)?;
        let result = results.first().ok_or_else(refuse)?;
        let one = (String::from("%r"), result.element.text());
        let position = |text: String| splice(at, &operands, &text, std::slice::from_ref(&one));
        let e = result.element.text();
        let values = match name.as_str() {
            ops::stablehlo::CONSTANT => constant::scalar(inner, result.element, at)?,
            ops::stablehlo::SELECT => position(format!("%r = arith.select %0, %1, %2 : {e}"))?.values,
            ops::stablehlo::CLAMP => {
                position(format!("%m = stablehlo.maximum %0, %1 : {e}\n%r = stablehlo.minimum %m, %2 : {e}"))?
                    .values
            }
            ops::stablehlo::RESHAPE | ops::stablehlo::BROADCAST_IN_DIM | ops::stablehlo::TRANSPOSE => {
                operands
            }
            _ if op::has_elementwise_trait(&inner) => {
                let owner = at.block().ok_or("a body in no block")?;
                let types: Vec<Type> = inner
                    .results()
                    .filter_map(|r| skript_passes::ir::types::element_of(r.r#type()))
                    .collect();
                let copy = op::clone_with(&inner, &operands, &types);
                let copy = owner.insert_operation_before(at, copy);
                copy.results().map(Value::from).collect()
            }
            _ => return Err(refuse()),
        };
        for (result, value) in inner.results().zip(values) {
            known.insert(ValueKey::of(Value::from(result)), value);
        }
    }
    Err("has a body that returns nothing".into())
}

/// Extracts the element of a captured tensor of rank 0.
fn outside<'c: 'a, 'a>(value: Value<'c, 'a>, at: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    let tensor = Tensor::from_type(value.r#type()).filter(|t| t.extents.is_empty());
    let tensor = tensor.ok_or("has a body that captures a tensor whose rank is not 0")?;
    let text = format!("%r = tensor.extract %0[] : {}", tensor.text());
    let spliced = splice(at, &[value], &text, &[("%r".to_owned(), tensor.element.text())])?;
    spliced.values.first().copied().ok_or_else(|| "lost a value".into())
}
