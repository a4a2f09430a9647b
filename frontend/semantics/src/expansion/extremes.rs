// SPDX-License-Identifier: Apache-2.0
//! Minimum and maximum in comparisons and selections that compile to the instructions of processors: these yield the
//! second operand if one is NaN, or if both are zeros.

use super::Value;

/// The lesser of two numbers; -0 is less than +0, and with a NaN the result is unspecified.
pub fn lesser<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    let (first, second) = (a.less(b).select(a, b), b.less(a).select(b, a));
    let bits = first.bits(a.class().bits()).or(second.bits(a.class().bits()));
    bits.bits(a.class())
}

/// The greater of two numbers; +0 is greater than -0, and with a NaN the result is unspecified.
pub fn greater<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    let (first, second) = (a.greater(b).select(a, b), b.greater(a).select(b, a));
    let bits = first.bits(a.class().bits()).and(second.bits(a.class().bits()));
    bits.bits(a.class())
}

/// The lesser of two numbers; NaN if an operand is NaN.
pub fn minimum<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.unordered(b).select(f64::NAN, lesser(a, b))
}

/// The greater of two numbers; NaN if an operand is NaN.
pub fn maximum<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.unordered(b).select(f64::NAN, greater(a, b))
}
