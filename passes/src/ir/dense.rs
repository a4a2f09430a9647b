// SPDX-License-Identifier: Apache-2.0
//! Converts dense attributes from and to bytes.

use super::Builder;
use super::ops;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, OperationRef, Type, TypeLike, Value};

/// The bytes of `count` elements with `element` bytes each, or of one element if the attribute is a splat. `None` if the
/// attribute is not dense, or too large for this machine.
pub fn bytes(value: Attribute<'_>, element: usize, count: usize) -> Option<Vec<u8>> {
    let raw = value.to_raw();
    // SAFETY: called for dense attributes only; the bytes belong to the context and are copied. Callers know the type.
    unsafe {
        if !mlir_sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        let count = if mlir_sys::mlirDenseElementsAttrIsSplat(raw) { 1 } else { count };
        let length = element.checked_mul(count)?;
        let data = mlir_sys::mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        Some(match length {
            0 => Vec::new(),
            _ => std::slice::from_raw_parts(data, length).to_vec(),
        })
    }
}

/// The first `count` elements of a dense attribute of bools, as one byte each; all elements if there are fewer.
pub fn bools(value: Attribute<'_>, count: usize) -> Vec<u8> {
    let raw = value.to_raw();
    // SAFETY: the length is queried first; callers know the type.
    let length = unsafe { mlir_sys::mlirElementsAttrGetNumElements(raw) };
    let length = isize::try_from(count).unwrap_or(isize::MAX).min(length as isize);
    // SAFETY: each position is below the length of the attribute.
    let bools = (0..length).map(|n| unsafe { mlir_sys::mlirDenseElementsAttrGetBoolValue(raw, n) });
    bools.map(u8::from).collect()
}

/// A dense attribute from the bytes of all elements, or of one element for a splat.
pub fn of_bytes<'c>(r#type: Type<'c>, bytes: &[u8]) -> Attribute<'c> {
    // SAFETY: callers pass bytes that match the element type; they are copied.
    unsafe {
        Attribute::from_raw(mlir_sys::mlirDenseElementsAttrRawBufferGet(
            r#type.to_raw(),
            bytes.len(),
            bytes.as_ptr().cast(),
        ))
    }
}

/// A dense attribute with the bytes of another attribute. Elements of both types have `element` bytes. `None` if the other
/// attribute is not dense.
pub(crate) fn with_type<'c>(value: Attribute<'_>, r#type: Type<'c>, element: usize) -> Option<Attribute<'c>> {
    let raw = value.to_raw();
    // SAFETY: dense attributes are elements attributes, whose length is queried.
    let count = unsafe {
        if !mlir_sys::mlirAttributeIsADenseElements(raw) {
            return None;
        }
        mlir_sys::mlirElementsAttrGetNumElements(raw)
    };
    let bytes = bytes(value, element, usize::try_from(count).ok()?)?;
    Some(of_bytes(r#type, &bytes))
}

/// Whether a dense attribute is a splat.
pub fn is_splat(value: Attribute<'_>) -> bool {
    let raw = value.to_raw();
    // SAFETY: the first query establishes the precondition of the second.
    unsafe { mlir_sys::mlirAttributeIsADenseElements(raw) && mlir_sys::mlirDenseElementsAttrIsSplat(raw) }
}

/// The type of an attribute.
pub fn type_of(value: Attribute<'_>) -> Type<'_> {
    // SAFETY: every attribute has a type, `none` if it needs none.
    unsafe { Type::from_raw(mlir_sys::mlirAttributeGetType(value.to_raw())) }
}

/// Inserts an `arith.constant` before `at`.
///
/// # Errors
/// The builder's error.
pub fn constant<'c: 'a, 'a>(value: Attribute<'c>, at: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let owner = at.context();
    // SAFETY: a context outlives its modules.
    let builder = Builder::before(unsafe { owner.to_ref() }, at)?;
    builder.value(ops::arith::CONSTANT, &[], &[("value", value)], type_of(value))
}
