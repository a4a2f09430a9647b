// SPDX-License-Identifier: Apache-2.0
//! Constant tensors.

use super::EmitError;
use super::scalars::signed;
use super::scope::Scope;
use crate::ir::ops;
use crate::ir::{Builder, attributes};
use melior::ir::Value;
use skript_frontend::model::{ConstantData, ValueId};
use skript_semantics::Scalar;

pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    data: &ConstantData,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let tensor = scope.tensor(id)?;
    if let ConstantData::Splat(value) = data
        && tensor.fixed_shape().is_none()
    {
        let splat = splat(scope, id, *value, at)?;
        scope.set(id, splat);
        return Ok(());
    }
    let volume: i64 = scope.extents(id)?.iter().product();
    let count = match data {
        ConstantData::Splat(_) => volume,
        ConstantData::Bool(values) => signed(values.len())?,
        ConstantData::Int(values) => signed(values.len())?,
        ConstantData::Real(values) => signed(values.len())?,
    };
    if count != volume || data.kind() != tensor.kind {
        return Err(EmitError::Malformed("a constant's elements do not fit its type"));
    }
    let r#type = scope.r#type(id)?;
    let elements = attributes::elements(scope.emitter.context, data, r#type)
        .ok_or(EmitError::Malformed("a constant is not a tensor"))?;
    let value = at.dense(elements, r#type)?;
    scope.set(id, value);
    Ok(())
}

/// Emits a tensor of any shape filled with one value.
pub(super) fn splat<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    value: Scalar,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let element = scope.element(id)?;
    let mut operands = vec![at.constant(value, element)?];
    operands.extend(scope.open_extents(id, at)?);
    Ok(at.value(ops::tensor::SPLAT, &operands, &[], scope.r#type(id)?)?)
}
