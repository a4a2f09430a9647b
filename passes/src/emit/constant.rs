//! Constant tensors.

use super::EmitError;
use super::scope::Scope;
use crate::mlir::{Builder, attributes};
use skript_frontend::model::{ConstantData, ValueId};

pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    data: &ConstantData,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let tensor = scope.tensor(id)?;
    let volume: i64 = scope.extents(id)?.iter().product();
    let count = match data {
        ConstantData::Splat(_) => volume,
        ConstantData::Bool(values) => i64::try_from(values.len()).unwrap_or(-1),
        ConstantData::Int(values) => i64::try_from(values.len()).unwrap_or(-1),
        ConstantData::Real(values) => i64::try_from(values.len()).unwrap_or(-1),
    };
    if count != volume || data.kind() != tensor.kind {
        return Err(EmitError::Malformed(
            "a constant's elements do not fit its type",
        ));
    }
    let r#type = scope.r#type(id)?;
    let value = at.dense(
        attributes::elements(scope.emitter.context, data, r#type),
        r#type,
    )?;
    scope.set(id, value);
    Ok(())
}
