// SPDX-License-Identifier: Apache-2.0
//! Scalar values: elements of tensors, comparisons, clamps.

use super::EmitError;
use crate::ir::ops;
use crate::ir::{Builder, types};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::ScalarOp;

/// The element of a tensor of volume 1.
pub(super) fn element<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let r#type = tensor.r#type();
    let rank = types::extents(r#type).ok_or(EmitError::Malformed("a condition is not a tensor"))?.len();
    let element = types::element_of(r#type).ok_or(EmitError::Malformed("a condition is not a tensor"))?;
    let mut operands = vec![tensor];
    if rank > 0 {
        operands.resize(rank + 1, at.index(0)?);
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

/// The value clamped to zero and a bound.
pub(super) fn within<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    bound: u64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let index = Type::index(at.context);
    let bound = i64::try_from(bound).map_err(|_| EmitError::Malformed("a huge extent"))?;
    let value = at.value(ops::arith::MAXSI, &[value, at.index(0)?], &[], index)?;
    Ok(at.value(ops::arith::MINSI, &[value, at.index(bound)?], &[], index)?)
}
