// SPDX-License-Identifier: Apache-2.0
//! Converts bodies on tensors of rank 0 to computations on scalars.

use super::constant;
use super::operation::{SourceOp, Tensor, Values};
use crate::tensors::Tensors;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, RegionLike, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir::{self, Builder, ValueKey, ops, types};
use std::collections::HashMap;

/// Clones the operations of the body of region `region` for scalar arguments; returns the values that the body returns.
pub(crate) fn apply<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    region: usize,
    arguments: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Values<'c, 'a> {
    let block = source.op.region(region)?.first_block().ok_or("has no body")?;
    if block.argument_count() != arguments.len() {
        return Err("has a body with another number of arguments".into());
    }
    let mut known: HashMap<ValueKey, Value<'c, 'a>> = HashMap::new();
    for (n, argument) in arguments.iter().enumerate() {
        known.insert(ValueKey::of(Value::from(block.argument(n)?)), *argument);
    }
    for inner in ir::operations(block) {
        let operands = inner.operands().map(|value| match known.get(&ValueKey::of(value)) {
            Some(scalar) => Ok(*scalar),
            None => outside(value, at),
        });
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        if op::is(&inner, ops::stablehlo::RETURN) {
            return Ok(operands);
        }
        let values = on_scalars(inner, operands, at)?;
        for (result, value) in inner.results().zip(values) {
            known.insert(ValueKey::of(Value::from(result)), value);
        }
    }
    Err("has a body that returns nothing".into())
}

/// One operation of a body, on scalars.
fn on_scalars<'c: 'a, 'a>(
    inner: OperationRef<'c, 'a>,
    operands: Vec<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Values<'c, 'a> {
    let name = op::name(&inner);
    let refuse =
        || PassError::from(format!("has a body with `{name}`, which is not an operation on single elements"));
    let results = inner.results().map(|r| Tensor::from_type(r.r#type()).filter(|t| t.rank() == 0));
    let results: Vec<Tensor> = results.collect::<Option<_>>().ok_or_else(refuse)?;
    let result = results.first().ok_or_else(refuse)?;
    Ok(match (name.as_str(), operands.as_slice()) {
        (ops::stablehlo::CONSTANT, _) => vec![constant::scalar(inner, result.element, at)?],
        (ops::stablehlo::SELECT, [condition, then, otherwise]) => {
            vec![at.select(*condition, *then, *otherwise)]
        }
        (ops::stablehlo::CLAMP, [low, value, high]) => {
            let tensors = Tensors { at: *at };
            vec![tensors.same("minimum", &[tensors.same("maximum", &[*low, *value]), *high])]
        }
        (ops::stablehlo::RESHAPE | ops::stablehlo::BROADCAST_IN_DIM | ops::stablehlo::TRANSPOSE, _) => {
            operands
        }
        _ if op::has_elementwise_trait(&inner) => {
            let types = inner.results().filter_map(|r| types::element_of(r.r#type()));
            let copy = op::clone_with(&inner, &operands, &types.collect::<Vec<Type>>());
            at.results(at.insert(copy))
        }
        _ => return Err(refuse()),
    })
}

/// Extracts the element of a captured tensor of rank 0.
fn outside<'c: 'a, 'a>(value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    let tensor = Tensor::from_type(value.r#type()).filter(|t| t.extents.is_empty());
    tensor.ok_or("has a body that captures a tensor whose rank is not 0")?;
    Ok(at.element(value, &[]))
}
