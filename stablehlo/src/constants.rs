// SPDX-License-Identifier: Apache-2.0
//! Constant elements of tensors.

use super::typed::Constant;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationResult;
use melior::ir::{Attribute, Type, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::ir::{splat, types};
use skript_semantics::{Scalar, ScalarKind};

/// The neutral element of an accumulation. For sums it is −0, since x + −0 is x even if x is −0.
pub(crate) fn identity(kind: Accumulation, element: Type<'_>) -> Scalar {
    let scalar = types::kind_of(element).unwrap_or(ScalarKind::Real);
    let identity = match (kind, scalar) {
        (Accumulation::All, _) => Scalar::Bool(true),
        (Accumulation::Any, _) => Scalar::Bool(false),
        (Accumulation::Product, ScalarKind::Int) => Scalar::Int(1),
        (Accumulation::Product, _) => Scalar::Real(1.0),
        (Accumulation::Min, ScalarKind::Int) => Scalar::Int(i64::MAX),
        (Accumulation::Min, _) => Scalar::Real(f64::INFINITY),
        (Accumulation::Max, ScalarKind::Int) => Scalar::Int(i64::MIN),
        (Accumulation::Max, _) => Scalar::Real(f64::NEG_INFINITY),
        (_, ScalarKind::Bool) => Scalar::Bool(false),
        (_, ScalarKind::Int) => Scalar::Int(0),
        (_, ScalarKind::Real) => Scalar::Real(-0.0),
    };
    types::nearest(identity, element)
}

/// The value of elements that a formula does not write.
pub(crate) fn filler(element: Type<'_>) -> Scalar {
    let kind = types::kind_of(element).unwrap_or(ScalarKind::Real);
    kind.default_value()
}

/// The value of all elements of a tensor, if its definition determines it.
pub(crate) fn constant<'c: 'a, 'a>(tensor: Value<'c, 'a>) -> Option<Attribute<'c>> {
    let owner = OperationResult::try_from(tensor).ok()?.owner();
    match operation_name(owner).as_str() {
        ops::stablehlo::BROADCAST_IN_DIM | ops::stablehlo::RESHAPE | ops::stablehlo::TRANSPOSE => {
            constant(ir::operand(owner).ok()?)
        }
        ops::stablehlo::CONSTANT => splat::element(Constant::cast(owner)?.value().ok()?),
        _ => None,
    }
}

/// Whether a value is defined as a tensor of integer zeros.
pub(crate) fn is_zero(value: Value<'_, '_>) -> bool {
    let number = constant(value).and_then(|number| IntegerAttribute::try_from(number).ok());
    number.is_some_and(|number| number.value() == 0)
}
