// SPDX-License-Identifier: Apache-2.0
//! Tensors with one value in all elements.

use super::Builder;
use super::copy::operation_name;
use super::ops;
use melior::Error;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, AttributeLike, Value, ValueLike};

/// The value of all elements of a tensor, if its definition shows it.
///
/// # Errors
/// The builder's error.
pub fn value<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let Ok(result) = OperationResult::try_from(tensor) else {
        return Ok(None);
    };
    let op = result.owner();
    match operation_name(op).as_str() {
        ops::tensor::SPLAT | ops::linalg::FILL => Ok(Some(op.operand(0)?)),
        ops::arith::CONSTANT => {
            let Some(number) = element(op.attribute("value")?) else {
                return Ok(None);
            };
            let Some(r#type) = super::types::element_of(tensor.r#type()) else {
                return Ok(None);
            };
            Ok(Some(at.value(ops::arith::CONSTANT, &[], &[("value", number)], r#type)?))
        }
        _ => Ok(None),
    }
}

/// Whether the tensor's definition shows that all elements are equal.
pub fn is_one<'c: 'a, 'a>(tensor: Value<'c, 'a>) -> bool {
    let op = OperationResult::try_from(tensor).map(|result| result.owner());
    op.is_ok_and(|op| match operation_name(op).as_str() {
        ops::tensor::SPLAT => true,
        ops::arith::CONSTANT => op.attribute("value").is_ok_and(|v| element(v).is_some()),
        _ => false,
    })
}

/// The element of a constant that is the same everywhere.
pub fn element(value: Attribute<'_>) -> Option<Attribute<'_>> {
    let dense = DenseElementsAttribute::try_from(value).ok()?;
    (dense.is_dense_elements() && dense.is_splat()).then(|| dense.splat_value())
}
