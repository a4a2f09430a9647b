// SPDX-License-Identifier: Apache-2.0
//! Types of scalars, and casts of integers to wider types.

use crate::ir::{Builder, ops, types};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::RealType;

/// Whether a type is `i8`.
pub(super) fn is_byte(kind: Type) -> bool {
    types::as_integer(kind).is_some_and(|integer| integer.width() == 8)
}

/// Whether a type is `i32` or `i64`, which can represent sums of products of bytes.
pub(super) fn is_wide_integer(kind: Type) -> bool {
    types::as_integer(kind).is_some_and(|integer| matches!(integer.width(), 32 | 64))
}

/// Whether a type is `f32` or `f64`, which can represent limits of bytes.
pub(super) fn is_wide_float(kind: Type) -> bool {
    matches!(types::reals(kind), Some(RealType::F32 | RealType::F64))
}

/// The minimum and maximum of an integer type or `index`; `None` for bools and other types.
pub(super) fn interval(kind: Type) -> Option<[i64; 2]> {
    let width = match types::as_integer(kind) {
        Some(integer) => integer.width(),
        None => kind.is_index().then_some(64)?,
    };
    let min = types::min_integer(width);
    (2..=64).contains(&width).then_some([min, !min])
}

/// Extends a byte to a wider integer.
pub(super) fn extended<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    byte: Value<'c, 'a>,
    is_signed: bool,
    to: Type<'c>,
) -> Value<'c, 'a> {
    let extension = if is_signed { ops::arith::EXTSI } else { ops::arith::EXTUI };
    body.convert(extension, byte, to)
}

/// Sign-extends an integer to a type that is at least as wide.
pub(super) fn sign_extended<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    to: Type<'c>,
) -> Value<'c, 'a> {
    if value.r#type() == to { value } else { body.convert(ops::arith::EXTSI, value, to) }
}
