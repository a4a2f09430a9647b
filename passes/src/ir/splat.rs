// SPDX-License-Identifier: Apache-2.0
//! Splats, which are tensors whose elements are all equal.

use super::copy::operation_name;
use super::{Builder, defining_op, ops};
use melior::Error;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, Value, ValueLike};

/// The value of all elements of a tensor whose definition is a splat, a fill or a constant.
///
/// # Errors
/// The builder's error.
pub fn value<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Error> {
    let Some(op) = defining_op(tensor) else {
        return Ok(None);
    };
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

/// Whether the definition of a tensor is a splat or a constant with equal elements.
pub fn is_one<'c: 'a, 'a>(tensor: Value<'c, 'a>) -> bool {
    defining_op(tensor).is_some_and(|op| match operation_name(op).as_str() {
        ops::tensor::SPLAT => true,
        ops::arith::CONSTANT => op.attribute("value").is_ok_and(|v| element(v).is_some()),
        _ => false,
    })
}

/// The element of a dense splat attribute.
pub fn element(value: Attribute<'_>) -> Option<Attribute<'_>> {
    let dense = DenseElementsAttribute::try_from(value).ok()?;
    (dense.is_dense_elements() && dense.is_splat()).then(|| dense.splat_value())
}
