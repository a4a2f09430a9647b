//! Vector types, which melior makes but does not read.

use melior::ir::{Type, TypeLike};

/// The element type of a vector; any other type itself.
pub fn element_or_self(r#type: Type<'_>) -> Type<'_> {
    if !r#type.is_vector() {
        return r#type;
    }
    // SAFETY: a vector is a shaped type.
    unsafe { Type::from_raw(mlir_sys::mlirShapedTypeGetElementType(r#type.to_raw())) }
}

/// A type of this element: a vector of the shape of `model` if that is one, else the element.
pub fn shaped_like<'c>(model: Type<'c>, element: Type<'c>) -> Type<'c> {
    if !model.is_vector() {
        return element;
    }
    let raw = model.to_raw();
    // SAFETY: a vector is a ranked shaped type; positions are below its rank.
    let sizes: Vec<u64> = unsafe {
        (0..mlir_sys::mlirShapedTypeGetRank(raw))
            .map(|d| mlir_sys::mlirShapedTypeGetDimSize(raw, d as isize).cast_unsigned())
            .collect()
    };
    Type::vector(&sizes, element)
}
