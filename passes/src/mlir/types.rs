//! Element and tensor types.

use melior::Context;
use melior::ir::r#type::{DimSize, IntegerType, MemRefType, RankedTensorType};
use melior::ir::{ShapedTypeLike, Type, TypeLike};
use skript_semantics::ScalarKind;

/// What stands for a dynamic extent in the C API.
pub const DYNAMIC: u64 = i64::MIN as u64;

/// The type of a tensor's elements: `i1`, `i64`, `f32`.
pub fn element(context: &Context, kind: ScalarKind) -> Type<'_> {
    match kind {
        ScalarKind::Bool => IntegerType::new(context, 1).into(),
        ScalarKind::Int => IntegerType::new(context, 64).into(),
        ScalarKind::Real => Type::float32(context),
    }
}

/// The type of a scalar inside a formula: integers are `index`.
pub fn scalar(context: &Context, kind: ScalarKind) -> Type<'_> {
    match kind {
        ScalarKind::Int => Type::index(context),
        other => element(context, other),
    }
}

/// A tensor of fixed extents.
pub fn tensor<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    RankedTensorType::new(&sizes(extents), element, None).into()
}

/// A contiguous memref of fixed extents.
pub fn memref<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    MemRefType::new(element, extents, None, None).into()
}

fn sizes(extents: &[i64]) -> Vec<u64> {
    extents.iter().map(|e| e.cast_unsigned()).collect()
}

/// Extents of a ranked tensor type; dynamic ones as `i64::MIN`. `None` for other types.
pub fn extents(r#type: Type<'_>) -> Option<Vec<i64>> {
    let tensor = RankedTensorType::try_from(r#type).ok()?;
    (0..tensor.rank())
        .map(|d| {
            let size = tensor.dim_size(d).ok()?;
            Some(match size {
                DimSize::Static(size) => i64::try_from(size).ok()?,
                DimSize::Dynamic => i64::MIN,
            })
        })
        .collect()
}

/// Element type of a ranked tensor type.
pub fn element_of(r#type: Type<'_>) -> Option<Type<'_>> {
    Some(RankedTensorType::try_from(r#type).ok()?.element())
}

/// The type of both parts of a complex type; `None` for other types.
pub fn complex_part(r#type: Type<'_>) -> Option<Type<'_>> {
    // SAFETY: asked of a complex type only.
    unsafe {
        mlir_sys::mlirTypeIsAComplex(r#type.to_raw())
            .then(|| Type::from_raw(mlir_sys::mlirComplexTypeGetElementType(r#type.to_raw())))
    }
}

/// The kind a scalar type stands for.
pub fn kind_of(r#type: Type<'_>) -> Option<ScalarKind> {
    if r#type.is_index() {
        return Some(ScalarKind::Int);
    }
    if let Ok(integer) = IntegerType::try_from(r#type) {
        return Some(if integer.width() == 1 {
            ScalarKind::Bool
        } else {
            ScalarKind::Int
        });
    }
    r#type.is_float().then_some(ScalarKind::Real)
}
