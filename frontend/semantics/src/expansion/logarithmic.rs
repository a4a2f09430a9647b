// SPDX-License-Identifier: Apache-2.0
//! The logarithm and the functions computed with it.

use super::coefficients::{LOG, LOG_WIDE};
use super::exponential::{LN2_HIGH, LN2_LOW};
use super::{Class, Value};

/// The bits of √½ in f32 and f64: a mantissa from there on is between √½ and √2.
const ROOT: i64 = 0x3f35_04f3;
const WIDE_ROOT: i64 = 0x3fe6_a09e_667f_3bcd;

/// `log(x) = e · ln 2 + log(1 + f)` with `x = 2ᵉ · (1 + f)` and 1 + f between √½ and √2.
pub(super) fn log(x: Value) -> Value {
    let is_subnormal = x.less(f64::from(f32::MIN_POSITIVE));
    let scaled = is_subnormal.select(x * 8_388_608.0, x);
    let bits = scaled.bits(Class::I32);
    let e = (bits - ROOT).shift_right_signed(23);
    let f = (bits - e.shift_left(23)).bits(Class::F32) - 1.0;
    let e = e.to(Class::F32);
    let e = is_subnormal.select(e - 23.0, e);
    let square = f * f;
    let y = e.mul_add(LN2_LOW, f.polynomial(&LOG) * f * square);
    let y = f + square.mul_add(-0.5, y);
    let result = e.mul_add(LN2_HIGH, y);
    let result = x.less(f64::INFINITY).select(result, x);
    let result = x.equal(0.0).select(f64::NEG_INFINITY, result);
    x.less(0.0).select(f64::NAN, result)
}

/// The exponent e and `f` of a positive normal number of f64, `x = 2ᵉ · (1 + f)` with 1 + f between √½ and √2.
pub(super) fn split_wide(x: Value<'_>) -> (Value<'_>, Value<'_>) {
    let above = x.bits(Class::I64) + ((1023 << 52) - WIDE_ROOT);
    let mantissa = above.and((1 << 52) - 1) + WIDE_ROOT;
    let f = mantissa.bits(Class::F64) - 1.0;
    // 2⁵² plus the biased exponent, in the bits of a real.
    let biased = above.shift_right(52).or(0x4330_0000_0000_0000);
    let e = biased.bits(Class::F64) - (4_503_599_627_370_496.0 + 1023.0);
    (e, f)
}

/// `log(x)` in f64 for x from 1 on; infinity and NaN are preserved.
fn log_wide(x: Value) -> Value {
    let (e, f) = split_wide(x);
    let result = e.mul_add(std::f64::consts::LN_2, f.polynomial(&LOG_WIDE) * f);
    x.less(f64::INFINITY).select(result, x)
}

/// From this magnitude on, a sum with 1 keeps enough bits of the other summand.
const SMALL: f64 = 1.0 / 1024.0;

/// `log(a + √(a² + 1))` with `a = |x|`; two terms of the power series near 0.
pub(super) fn asinh(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let a = wide.abs();
    let square = a * a;
    let small = (square * (-1.0 / 6.0)).mul_add(a, a);
    let large = log_wide(a + (square + 1.0).sqrt());
    let result = a.less(SMALL).select(small, large);
    result.to(Class::F32).copysign(x)
}

/// `log(x + √(x² - 1))`, NaN below 1.
pub(super) fn acosh(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let result = log_wide(wide + (wide * wide - 1.0).sqrt());
    wide.less(1.0).select(f64::NAN, result).to(Class::F32)
}

/// `½ log((1 + a) / (1 - a))` with `a = |x|`; two terms of the power series near 0.
pub(super) fn atanh(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let a = wide.abs();
    let small = (a * a * (1.0 / 3.0)).mul_add(a, a);
    let large = log_wide((a + 1.0) / (1.0 - a)) * 0.5;
    let result = a.less(SMALL).select(small, large);
    let result = a.greater(1.0).select(f64::NAN, result);
    result.to(Class::F32).copysign(x)
}
