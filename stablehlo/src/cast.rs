// SPDX-License-Identifier: Apache-2.0
//! Casts between widths, to the nearest value of the narrower type, rounded once.

use super::scalar;
use super::tensors::Tensors;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{steps, types};
use skript_semantics::expansion::narrow;
use skript_semantics::{Class, Expansion, RealType, ScalarOp};

/// Converts a tensor of integers or floats to a wider or narrower element type of the same kind.
pub(crate) fn width<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    element: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let r#type = types::tensor(&at.extents(value), element);
    if value.r#type() == r#type {
        return value;
    }
    let expansion = match (steps::class_of(at.element(value)), steps::class_of(element)) {
        // Converts through f32 (rounded to odd), as XLA does for bf16.
        (Some(Class::F64), Some(to @ Class::Real(RealType::F16 | RealType::BF16))) => {
            Some(Expansion::record([Class::F64], |[x]| narrow::odd_f32_of_f64(x).to(to)))
        }
        (Some(from @ Class::Int(_)), Some(to)) => ScalarOp::ToInt.lowering(from, to),
        _ => None,
    };
    match expansion {
        Some(expansion) => scalar::emit(&expansion, &[value], at),
        None => at.op("convert", &[value], &[], r#type),
    }
}
