// SPDX-License-Identifier: Apache-2.0
//! Accessors of vector types, which melior lacks.

use super::types;
use melior::ir::{Type, TypeLike};

/// The element type of a vector; other types unchanged.
pub(crate) fn element_or_self(r#type: Type<'_>) -> Type<'_> {
    if !r#type.is_vector() {
        return r#type;
    }
    // SAFETY: a vector type is a shaped type.
    unsafe { Type::from_raw(mlir_sys::mlirShapedTypeGetElementType(r#type.to_raw())) }
}

/// The extents of a fixed-length vector type; `None` for scalable vectors and for other types.
pub(crate) fn extents(r#type: Type<'_>) -> Option<Vec<i64>> {
    if !r#type.is_vector() {
        return None;
    }
    let raw = r#type.to_raw();
    // SAFETY: a vector is a ranked shaped type; positions are below its rank.
    unsafe {
        (!mlir_sys::mlirVectorTypeIsScalable(raw)).then(|| {
            (0..mlir_sys::mlirShapedTypeGetRank(raw))
                .map(|d| mlir_sys::mlirShapedTypeGetDimSize(raw, d as isize))
                .collect()
        })
    }
}

/// A fixed-length vector type.
pub(crate) fn of<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    let sizes: Vec<u64> = extents.iter().map(|e| e.cast_unsigned()).collect();
    Type::vector(&sizes, element)
}

/// The number of integers or reals of 32 or 64 bits that a vector of this number of bytes has; `None` for other elements.
pub(crate) fn lanes(bytes: i64, element: Type) -> Option<i64> {
    let bits = match types::as_integer(element) {
        Some(integer) => i64::from(integer.width()),
        None if element.is_f32() => 32,
        None if element.is_f64() => 64,
        None => return None,
    };
    [32, 64].contains(&bits).then(|| 8 * bytes / bits)
}

/// All indices of an array with these extents, in row-major order; one empty index for rank 0.
pub(crate) fn all_indices(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![Vec::new()], |all_indices, extent| {
        let longer = |position: &Vec<i64>| {
            let position = position.clone();
            (0..*extent).map(move |last| [position.as_slice(), &[last]].concat())
        };
        all_indices.iter().flat_map(longer).collect()
    })
}

/// The vector type with the shape of `model`, fixed-length or scalable, or the tensor type with its shape, and this element type;
/// the element type itself if `model` is a scalar type.
pub fn shaped_like<'c>(model: Type<'c>, element: Type<'c>) -> Type<'c> {
    if model.is_ranked_tensor() {
        return types::of_element(model, element);
    }
    if !model.is_vector() {
        return element;
    }
    let raw = model.to_raw();
    // SAFETY: a vector is a ranked shaped type; positions are below its rank, which is the length of both arrays.
    unsafe {
        let rank = mlir_sys::mlirShapedTypeGetRank(raw);
        let sizes: Vec<i64> =
            (0..rank).map(|d| mlir_sys::mlirShapedTypeGetDimSize(raw, d as isize)).collect();
        let scalable: Vec<bool> =
            (0..rank).map(|d| mlir_sys::mlirVectorTypeIsDimScalable(raw, d as isize)).collect();
        Type::from_raw(mlir_sys::mlirVectorTypeGetScalable(
            rank as isize,
            sizes.as_ptr(),
            scalable.as_ptr(),
            element.to_raw(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_in_row_major_order() {
        assert_eq!(all_indices(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(all_indices(&[]), [[0i64; 0]]);
        assert!(all_indices(&[2, 0]).is_empty());
    }
}
