// SPDX-License-Identifier: Apache-2.0
//! The lesser and the greater of two numbers, in the operations of processors: these yield the second operand where one is NaN, or both
//! are zeros.

use super::Class;
use super::builder::Value;

/// The lesser of two numbers, -0 if either is; where one is NaN, any value.
pub(super) fn lesser<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    let (first, second) = (a.less(b).select(a, b), b.less(a).select(b, a));
    let bits = first.bits(integer_of(a)).or(second.bits(integer_of(a)));
    bits.bits(a.class())
}

/// The greater of two numbers, +0 if either is; where one is NaN, any value.
pub(super) fn greater<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    let (first, second) = (a.greater(b).select(a, b), b.greater(a).select(b, a));
    let bits = first.bits(integer_of(a)).and(second.bits(integer_of(a)));
    bits.bits(a.class())
}

/// NaN if either is.
pub(super) fn minimum<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.unordered(b).select(f64::NAN, lesser(a, b))
}

/// NaN if either is.
pub(super) fn maximum<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.unordered(b).select(f64::NAN, greater(a, b))
}

/// The class of the bits of a real.
fn integer_of(real: Value) -> Class {
    match real.class() {
        Class::F64 => Class::I64,
        _ => Class::I32,
    }
}
