// SPDX-License-Identifier: Apache-2.0
//! Element and tensor types.

use melior::Context;
use melior::ir::r#type::{DimSize, IntegerType, MemRefType, RankedTensorType};
use melior::ir::{Attribute, ShapedTypeLike, Type, TypeLike};
use skript_semantics::{Numbers, RealType, Scalar, ScalarKind};

/// A dynamic extent, offset, size or bound: MLIR's `ShapedType::kDynamic`.
pub const DYNAMIC: i64 = i64::MIN;

/// The storage type of a tensor's elements, for these types of reals and ints.
pub fn element(context: &Context, kind: ScalarKind, numbers: Numbers) -> Type<'_> {
    match kind {
        ScalarKind::Bool => flag(context),
        ScalarKind::Int => IntegerType::new(context, numbers.int.bits()).into(),
        ScalarKind::Real => match numbers.real {
            RealType::F16 => Type::float16(context),
            RealType::BF16 => Type::bfloat16(context),
            RealType::F32 => Type::float32(context),
            RealType::F64 => Type::float64(context),
        },
    }
}

/// The compute type of a scalar in a formula; integers are `index`.
pub fn scalar(context: &Context, kind: ScalarKind, numbers: Numbers) -> Type<'_> {
    match kind {
        ScalarKind::Int => Type::index(context),
        other => element(context, other, numbers.work()),
    }
}

/// The storage type of reals for a type; `None` for other types.
pub fn reals(r#type: Type<'_>) -> Option<RealType> {
    match r#type.to_string().as_str() {
        "f16" => Some(RealType::F16),
        "bf16" => Some(RealType::BF16),
        "f32" => Some(RealType::F32),
        "f64" => Some(RealType::F64),
        _ => None,
    }
}

/// `i1`.
pub fn flag(context: &Context) -> Type<'_> {
    IntegerType::new(context, 1).into()
}

/// `i64`, independent of the storage type of ints.
pub fn word(context: &Context) -> Type<'_> {
    IntegerType::new(context, 64).into()
}

/// A tensor of static extents.
pub fn tensor<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    RankedTensorType::new(&sizes(extents), element, None).into()
}

/// A contiguous memref of static extents.
pub fn memref<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    MemRefType::new(element, extents, None, None).into()
}

fn sizes(extents: &[i64]) -> Vec<u64> {
    extents.iter().map(|e| e.cast_unsigned()).collect()
}

/// Extents of a ranked tensor type; dynamic ones are [`DYNAMIC`]. `None` for other types.
pub fn extents(r#type: Type<'_>) -> Option<Vec<i64>> {
    let tensor = RankedTensorType::try_from(r#type).ok()?;
    (0..tensor.rank())
        .map(|d| {
            let size = tensor.dim_size(d).ok()?;
            Some(match size {
                DimSize::Static(size) => i64::try_from(size).ok()?,
                DimSize::Dynamic => DYNAMIC,
            })
        })
        .collect()
}

/// Element type of a ranked tensor type.
pub fn element_of(r#type: Type<'_>) -> Option<Type<'_>> {
    Some(RankedTensorType::try_from(r#type).ok()?.element())
}

/// The tensor type with elements of this type; other types unchanged.
pub fn of_element<'c>(r#type: Type<'c>, element: Type<'c>) -> Type<'c> {
    extents(r#type).map_or(r#type, |extents| {
        RankedTensorType::new(&sizes(&extents), element, encoding_of(r#type)).into()
    })
}

/// The tensor type with other extents, as many as it has; other types unchanged.
pub(crate) fn of_extents<'c>(r#type: Type<'c>, extents: &[i64]) -> Type<'c> {
    element_of(r#type)
        .map_or(r#type, |element| RankedTensorType::new(&sizes(extents), element, encoding_of(r#type)).into())
}

/// The encoding of a ranked tensor type.
pub fn encoding_of(r#type: Type<'_>) -> Option<Attribute<'_>> {
    RankedTensorType::try_from(r#type).ok()?.encoding()
}

/// The type of both parts of a complex type; `None` for other types.
pub fn complex_part(r#type: Type<'_>) -> Option<Type<'_>> {
    // SAFETY: called for complex types only.
    unsafe {
        mlir_sys::mlirTypeIsAComplex(r#type.to_raw())
            .then(|| Type::from_raw(mlir_sys::mlirComplexTypeGetElementType(r#type.to_raw())))
    }
}

/// The nearest value of the type: the maximum of 64-bit ints becomes the maximum of a narrow type, where wrapping would
/// make it −1.
pub fn nearest(value: Scalar, r#type: Type<'_>) -> Scalar {
    match (value, IntegerType::try_from(r#type)) {
        (Scalar::Int(value), Ok(integer)) => {
            let least = least(integer.width());
            Scalar::Int(value.clamp(least, !least))
        }
        _ => value,
    }
}

/// The minimum int of a width, `-2^(width-1)`.
pub fn least(width: u32) -> i64 {
    i64::MIN >> (64 - width.clamp(1, 64))
}

/// The kind of a scalar type.
pub fn kind_of(r#type: Type<'_>) -> Option<ScalarKind> {
    if r#type.is_index() {
        return Some(ScalarKind::Int);
    }
    if let Ok(integer) = IntegerType::try_from(r#type) {
        return Some(if integer.width() == 1 { ScalarKind::Bool } else { ScalarKind::Int });
    }
    r#type.is_float().then_some(ScalarKind::Real)
}
