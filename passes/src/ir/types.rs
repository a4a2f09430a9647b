// SPDX-License-Identifier: Apache-2.0
//! Element and tensor types.

pub use super::context::of_type as context_of;
use melior::Context;
use melior::ir::r#type::{IntegerType, MemRefType, RankedTensorType};
use melior::ir::{Attribute, ShapedTypeLike, Type, TypeLike};
use skript_semantics::{Numbers, RealType, Scalar, ScalarKind};

/// A dynamic extent, offset, size or bound: MLIR's `ShapedType::kDynamic`.
pub const DYNAMIC: i64 = i64::MIN;

/// The storage type of the elements of a tensor. `numbers` has the types of ints and reals.
pub fn element(context: &Context, kind: ScalarKind, numbers: Numbers) -> Type<'_> {
    match kind {
        ScalarKind::Bool => flag(context),
        ScalarKind::Int => IntegerType::new(context, numbers.int.bits()).into(),
        ScalarKind::Real => real(context, numbers.real),
    }
}

/// The float type of a real type.
pub fn real(context: &Context, kind: RealType) -> Type<'_> {
    match kind {
        RealType::F16 => Type::float16(context),
        RealType::BF16 => Type::bfloat16(context),
        RealType::F32 => Type::float32(context),
        RealType::F64 => Type::float64(context),
    }
}

/// The compute type of a scalar in a formula; integers are `index`.
pub fn scalar(context: &Context, kind: ScalarKind, numbers: Numbers) -> Type<'_> {
    match kind {
        ScalarKind::Int => Type::index(context),
        other => element(context, other, numbers.work()),
    }
}

/// The real type of a float type; `None` for other types.
pub fn reals(r#type: Type<'_>) -> Option<RealType> {
    let kinds = [
        (r#type.is_f16(), RealType::F16),
        (r#type.is_bf16(), RealType::BF16),
        (r#type.is_f32(), RealType::F32),
        (r#type.is_f64(), RealType::F64),
    ];
    kinds.into_iter().find_map(|(is_kind, kind)| is_kind.then_some(kind))
}

/// The integer type; `None` for other types. The conversion of melior prints other types for its error, which takes longer than
/// most work on an operation.
pub(crate) fn as_integer(r#type: Type<'_>) -> Option<IntegerType<'_>> {
    r#type.is_integer().then(|| IntegerType::try_from(r#type).ok()).flatten()
}

/// The memref type; `None` for other types, as [`as_integer`].
pub(crate) fn as_memref(r#type: Type<'_>) -> Option<MemRefType<'_>> {
    r#type.is_mem_ref().then(|| MemRefType::try_from(r#type).ok()).flatten()
}

/// Whether a type is `!llvm.ptr`.
pub(crate) fn is_pointer(r#type: Type<'_>) -> bool {
    // SAFETY: the type is valid.
    unsafe { mlir_sys::mlirTypeIsALLVMPointerType(r#type.to_raw()) }
}

/// The ranked tensor type; `None` for other types, as [`as_integer`].
fn as_tensor(r#type: Type<'_>) -> Option<RankedTensorType<'_>> {
    r#type.is_ranked_tensor().then(|| RankedTensorType::try_from(r#type).ok()).flatten()
}

/// `i1`.
pub fn flag(context: &Context) -> Type<'_> {
    IntegerType::new(context, 1).into()
}

/// `i64`.
pub fn word(context: &Context) -> Type<'_> {
    IntegerType::new(context, 64).into()
}

/// `i8`.
pub(crate) fn i8(context: &Context) -> Type<'_> {
    int(context, 8)
}

/// `i32`.
pub(crate) fn i32(context: &Context) -> Type<'_> {
    int(context, 32)
}

/// The integer type of a width.
pub fn int(context: &Context, width: u32) -> Type<'_> {
    IntegerType::new(context, width).into()
}

/// The width of a float or an integer in bits; 64 for `index`.
pub(crate) fn width(r#type: Type<'_>) -> i64 {
    bits(r#type).map_or(64, i64::from)
}

/// The element type of a shaped type; other types unchanged.
pub fn element_or_self(r#type: Type<'_>) -> Type<'_> {
    if !r#type.is_shaped() {
        return r#type;
    }
    // SAFETY: the type is shaped.
    unsafe { Type::from_raw(mlir_sys::mlirShapedTypeGetElementType(r#type.to_raw())) }
}

/// A tensor type; [`DYNAMIC`] stands for dynamic extents.
pub fn tensor<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    RankedTensorType::new(&sizes(extents), element, None).into()
}

/// A contiguous memref type; [`DYNAMIC`] stands for dynamic extents.
pub fn memref<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    MemRefType::new(element, extents, None, None).into()
}

fn sizes(extents: &[i64]) -> Vec<u64> {
    extents.iter().map(|e| e.cast_unsigned()).collect()
}

/// The extents of a ranked tensor type; dynamic ones are [`DYNAMIC`]. `None` for other types.
pub fn extents(r#type: Type<'_>) -> Option<Vec<i64>> {
    as_tensor(r#type).map(|_| shape(r#type))
}

/// The extents of a ranked shaped type; empty for other types.
pub fn shape(r#type: Type<'_>) -> Vec<i64> {
    let raw = r#type.to_raw();
    // SAFETY: only a ranked type is asked for its rank; positions are below it.
    unsafe {
        let is_ranked = mlir_sys::mlirTypeIsAShaped(raw) && mlir_sys::mlirShapedTypeHasRank(raw);
        let rank = if is_ranked { mlir_sys::mlirShapedTypeGetRank(raw) } else { 0 };
        (0..rank).map(|d| mlir_sys::mlirShapedTypeGetDimSize(raw, d as isize)).collect()
    }
}

/// The width of an integer or a float in bits; `None` for other types.
pub(crate) fn bits(r#type: Type<'_>) -> Option<u32> {
    // SAFETY: only a float type is asked for its width.
    let float = || r#type.is_float().then(|| unsafe { mlir_sys::mlirFloatTypeGetWidth(r#type.to_raw()) });
    as_integer(r#type).map(|integer| integer.width()).or_else(float)
}

/// The element type of a ranked tensor type.
pub fn element_of(r#type: Type<'_>) -> Option<Type<'_>> {
    Some(as_tensor(r#type)?.element())
}

/// The tensor type with another element type; other types unchanged.
pub fn of_element<'c>(r#type: Type<'c>, element: Type<'c>) -> Type<'c> {
    extents(r#type).map_or(r#type, |extents| {
        RankedTensorType::new(&sizes(&extents), element, encoding_of(r#type)).into()
    })
}

/// The tensor type with other extents; other types unchanged.
pub(crate) fn of_extents<'c>(r#type: Type<'c>, extents: &[i64]) -> Type<'c> {
    element_of(r#type)
        .map_or(r#type, |element| RankedTensorType::new(&sizes(extents), element, encoding_of(r#type)).into())
}

/// The encoding of a ranked tensor type.
pub fn encoding_of(r#type: Type<'_>) -> Option<Attribute<'_>> {
    as_tensor(r#type)?.encoding()
}

/// The type of the real and imaginary parts of a complex type; `None` for other types.
pub fn complex_part(r#type: Type<'_>) -> Option<Type<'_>> {
    // SAFETY: only a complex type is asked for its element type.
    unsafe {
        mlir_sys::mlirTypeIsAComplex(r#type.to_raw())
            .then(|| Type::from_raw(mlir_sys::mlirComplexTypeGetElementType(r#type.to_raw())))
    }
}

/// The complex type with parts of this type.
pub fn complex(part: Type<'_>) -> Type<'_> {
    // SAFETY: the type is a float type.
    unsafe { Type::from_raw(mlir_sys::mlirComplexTypeGet(part.to_raw())) }
}

/// The nearest value of the type. For example, the 64-bit maximum becomes the maximum of a narrow type, not −1 as by wrapping.
pub fn nearest(value: Scalar, r#type: Type<'_>) -> Scalar {
    match (value, as_integer(r#type)) {
        (Scalar::Int(value), Some(integer)) => {
            let min = min_integer(integer.width());
            Scalar::Int(value.clamp(min, !min))
        }
        _ => value,
    }
}

/// The minimum int of a width, `-2^(width-1)`.
pub fn min_integer(width: u32) -> i64 {
    i64::MIN >> (64 - width.clamp(1, 64))
}

/// The kind of a scalar type.
pub fn kind_of(r#type: Type<'_>) -> Option<ScalarKind> {
    if r#type.is_index() {
        return Some(ScalarKind::Int);
    }
    if let Some(integer) = as_integer(r#type) {
        return Some(if integer.width() == 1 { ScalarKind::Bool } else { ScalarKind::Int });
    }
    r#type.is_float().then_some(ScalarKind::Real)
}

/// The type with `i16` instead of f16 and bf16, at any depth. `None` for a type without 16-bit floats.
///
/// # Errors
/// The type is, or contains, a named struct.
pub(crate) fn narrow_as_integers(r#type: Type<'_>) -> Result<Option<Type<'_>>, ()> {
    // The C API provides neither the length of an LLVM array nor the parameters of all types.
    let Some(text) = replaced(&r#type.to_string()) else {
        return Ok(None);
    };
    let new = (!text.contains('"')).then(|| Type::parse(context_of(r#type), &text)).flatten();
    new.map(Some).ok_or(())
}

/// The text of a type with `i16` instead of 16-bit floats. `None` for a type without them.
fn replaced(text: &str) -> Option<String> {
    text.contains("f16").then(|| text.replace("bf16", "i16").replace("f16", "i16"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_reals_become_integers() {
        assert_eq!(replaced("f16").as_deref(), Some("i16"));
        assert_eq!(replaced("vector<4xbf16>").as_deref(), Some("vector<4xi16>"));
        assert_eq!(
            replaced("!llvm.func<f16 (ptr, vector<[2]xf16>, f32)>").as_deref(),
            Some("!llvm.func<i16 (ptr, vector<[2]xi16>, f32)>")
        );
        assert_eq!(replaced("vector<16xf32>"), None);
    }
}
