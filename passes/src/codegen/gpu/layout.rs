// SPDX-License-Identifier: Apache-2.0
//! Computes element addresses, and packs scalars into 64-bit words.

use crate::extents::size;
use crate::ir::{Builder, ops, types};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::PassError;

/// Computes the linear index of an element: `first` plus the index times the stride of each dimension.
pub(super) fn linear<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    first: Value<'c, 'a>,
    strides: &[Value<'c, 'a>],
    position: &[Value<'c, 'a>],
) -> Value<'c, 'a> {
    let parts = position.iter().zip(strides);
    parts.fold(first, |number, (position, stride)| at.addi(number, at.muli(*position, *stride)))
}

/// Returns the size of an element in bytes.
pub(super) fn bytes(element: Type) -> Result<i64, PassError> {
    let bytes = size::element_bytes(element);
    let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok());
    bytes.ok_or_else(|| PassError::from(format!("elements of {element} have no size")))
}

/// The integer type with the width of a scalar.
fn bits_of(r#type: Type<'_>) -> Type<'_> {
    if r#type.is_float() { types::int(types::context_of(r#type), r#type.float_width()) } else { r#type }
}

/// Zero-extends the bits of a scalar to `i64`.
pub(super) fn word<'c: 'a, 'a>(at: &Builder<'c, 'a>, mut value: Value<'c, 'a>) -> Value<'c, 'a> {
    let word = types::word(at.context);
    if value.r#type().is_index() {
        return at.index_cast(value, word);
    }
    if value.r#type().is_float() {
        value = at.bitcast(value, bits_of(value.r#type()));
    }
    if value.r#type() == word { value } else { at.convert(ops::arith::EXTUI, value, word) }
}

/// Reinterprets the low bits of an `i64` as a scalar.
pub(super) fn of_word<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    mut value: Value<'c, 'a>,
    r#type: Type<'c>,
) -> Value<'c, 'a> {
    if r#type.is_index() {
        return at.index_cast(value, r#type);
    }
    let bits = bits_of(r#type);
    if value.r#type() != bits {
        value = at.convert(ops::arith::TRUNCI, value, bits);
    }
    if bits == r#type { value } else { at.bitcast(value, r#type) }
}

/// A constant `i64`.
pub(super) fn constant<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: i64) -> Value<'c, 'a> {
    at.int(value, types::word(at.context))
}
