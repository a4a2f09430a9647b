// SPDX-License-Identifier: Apache-2.0
//! Scalar values: elements of tensors, comparisons, and clamps; and conversions to integer types for MLIR attributes.

use super::EmitError;
use crate::ir::ops;
use crate::ir::{self, Builder, types};
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::ScalarOp;

/// Extracts the element of a tensor of volume 1.
pub(super) fn element<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let r#type = tensor.r#type();
    let rank = types::extents(r#type).ok_or(EmitError::Malformed("a condition is not a tensor"))?.len();
    let element = types::element_of(r#type).ok_or(EmitError::Malformed("a condition is not a tensor"))?;
    let mut operands = vec![tensor];
    if rank > 0 {
        operands.resize(rank + 1, at.idx(0));
    }
    Ok(at.value(ops::tensor::EXTRACT, &operands, &[], element)?)
}

pub(super) fn compare<'c: 'a, 'a>(
    op: ScalarOp,
    x: Value<'c, 'a>,
    y: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    Ok(at.scalar(op, &[x, y], types::flag(at.context))?)
}

/// Clamps a value to the range from zero to `bound`.
pub(super) fn within<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    bound: u64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let bound = signed(bound)?;
    if let Some(constant) = ir::integer(value) {
        return Ok(at.idx(constant.clamp(0, bound)));
    }
    let value = at.maxsi(value, at.idx(0));
    Ok(at.minsi(value, at.idx(bound)))
}

/// Converts an extent, a count or a position to `i64`.
pub(super) fn signed(number: impl TryInto<i64>) -> Result<i64, EmitError> {
    number.try_into().map_err(|_| EmitError::Malformed("an extent or a count exceeds 64 bits"))
}

/// Converts the number of operands of a segment to `i32`.
pub(super) fn segment(count: usize) -> Result<i32, EmitError> {
    i32::try_from(count).map_err(|_| EmitError::Malformed("too many operands"))
}
