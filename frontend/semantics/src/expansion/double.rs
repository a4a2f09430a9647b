// SPDX-License-Identifier: Apache-2.0
//! Functions of f64 in f64, with errors of at most two units in the last place.

use super::coefficients::{ERF_DOUBLE, ERFC_DOUBLE, EXP_DOUBLE, LOG_DOUBLE, TANH_DOUBLE};
use super::exponential::WIDE_ROUNDER;
use super::hyperbolic::LARGE;
use super::logarithmic::split_wide;
use super::{Class, Value};
use std::f64::consts::{LN_2, LOG2_E};

/// ln 2 as a sum of two constants. The high part has few significant bits, so its product with an exponent is exact.
pub(super) const LN2_HIGH: f64 = f64::from_bits(LN_2.to_bits() >> 21 << 21);
/// ln 2 minus [`LN2_HIGH`], rounded to 53 bits.
pub(super) const LN2_LOW: f64 = 1.9082149292705877e-10;

/// `exp(x) = 2ⁿ · exp(r)` with `x = n · ln 2 + r`.
pub(super) fn exp(x: Value) -> Value {
    // Beyond these, the result is 0 or infinite.
    let x = x.at_most(710.0).at_least(-746.0);
    let n = x * LOG2_E + WIDE_ROUNDER - WIDE_ROUNDER;
    exp_of_parts(n, n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x)))
}

/// Half of `exp(x)`: finite where the exponential function is not, up to 710.4.
pub(super) fn half_exp(x: Value) -> Value {
    let x = x.at_most(712.0).at_least(-746.0);
    let n = x * LOG2_E + WIDE_ROUNDER - WIDE_ROUNDER;
    exp_of_parts(n - 1.0, n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x)))
}

/// `exp(x · y)` of numbers whose product is in the range of [`exp`]: the product is not rounded.
fn exp_of_product<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let n = x * y * LOG2_E + WIDE_ROUNDER - WIDE_ROUNDER;
    exp_of_parts(n, n.mul_add(-LN2_LOW, x.mul_add(y, n * -LN2_HIGH)))
}

/// `2ⁿ · exp(r)`. The power is a product of two, each of which is a normal number.
pub(super) fn exp_of_parts<'b>(n: Value<'b>, r: Value<'b>) -> Value<'b> {
    let p = r.polynomial(&EXP_DOUBLE).mul_add(r * r, r) + 1.0;
    let half = n * 0.5 + WIDE_ROUNDER;
    let rest = n - (half - WIDE_ROUNDER) + WIDE_ROUNDER;
    // The bits above those of the exponent are shifted out.
    let power = |n: Value<'b>| (n.bits(Class::I64).shift_left(52) + (1023 << 52)).bits(Class::F64);
    p * power(half) * power(rest)
}

/// A polynomial near 0, `1 - 2 / (exp(2|x|) + 1)` elsewhere.
pub(super) fn tanh(x: Value) -> Value {
    let a = x.abs();
    let square = a * a;
    let small = (square.polynomial(&TANH_DOUBLE) * square).mul_add(a, a);
    let large = 1.0 - 2.0 / (exp(a + a) + 1.0);
    a.less(1.0).select(small, large).copysign(x)
}

/// A polynomial near 0, `1 - exp(-a·R(a))` elsewhere, with `a = |x|`.
pub(super) fn erf(x: Value) -> Value {
    let a = x.abs();
    let small = (a * a).polynomial(&ERF_DOUBLE).mul_add(a, a);
    let near = a.at_most(6.0);
    let large = 1.0 - exp_of_product(-near.polynomial(&ERFC_DOUBLE), near);
    a.less(1.0).select(small, large).copysign(x)
}

/// `log(1 + s)` for s ≥ 0, or `log(2x)` for x > [`LARGE`].
pub(super) fn log_of_sum<'b>(x: Value<'b>, s: Value<'b>) -> Value<'b> {
    let is_large = x.greater(LARGE);
    let sum = s + 1.0;
    // The rounding error of the sum.
    let lost = s.less(1.0).select(s - (sum - 1.0), 1.0 - (sum - s));
    let argument = is_large.select(x, sum);
    let lost = is_large.select(0.0, lost / sum);
    let (e, f) = split_wide(argument);
    let e = is_large.select(e + 1.0, e);
    let result = log_of_parts(e, f, Some(lost));
    argument.less(f64::INFINITY).select(result, argument)
}

/// `e · ln 2 + log(1 + f) + lost`
fn log_of_parts<'b>(e: Value<'b>, f: Value<'b>, lost: Option<Value<'b>>) -> Value<'b> {
    let s = f / (f + 2.0);
    let square = s * s;
    let half = f * f * 0.5;
    let sum = square.polynomial(&LOG_DOUBLE).mul_add(square, half);
    let rest = match lost {
        None => s * sum,
        Some(lost) => s * sum + lost,
    };
    let rest = e.mul_add(LN2_LOW, rest);
    e.mul_add(LN2_HIGH, f - (half - rest))
}

/// `log(x) = e · ln 2 + log(1 + f)` with `x = 2ᵉ · (1 + f)` and 1 + f between √½ and √2. With `s = f / (2 + f)`, `log(1 + f)` is
/// `f - f²/2 + s · (f²/2 + s² · P(s²))`.
pub(super) fn log(x: Value) -> Value {
    let is_subnormal = x.less(f64::MIN_POSITIVE);
    let scaled = is_subnormal.select(x * 18_014_398_509_481_984.0, x);
    let (e, f) = split_wide(scaled);
    let e = is_subnormal.select(e - 54.0, e);
    let result = log_of_parts(e, f, None);
    let result = x.less(f64::INFINITY).select(result, x);
    let result = x.equal(0.0).select(f64::NEG_INFINITY, result);
    x.less(0.0).select(f64::NAN, result)
}
