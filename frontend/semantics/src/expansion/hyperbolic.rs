// SPDX-License-Identifier: Apache-2.0
//! Inverse trigonometric, hyperbolic and inverse hyperbolic functions of f64.

use super::Value;
use super::coefficients::{ASIN_DOUBLE, ATAN_DOUBLE, SINH_DOUBLE};
use super::double::{half_exp, log_of_sum};
use super::pairs::leading;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// π/2 minus [`FRAC_PI_2`].
const PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

/// A polynomial near 0, half the difference of two exponentials elsewhere.
pub(super) fn sinh(x: Value) -> Value {
    let a = x.abs();
    let square = a * a;
    let small = (square.polynomial(&SINH_DOUBLE) * square).mul_add(a, a);
    let half = half_exp(a);
    let large = half - 0.25 / half;
    a.less(1.0).select(small, large).copysign(x)
}

/// Half the sum of two exponentials.
pub(super) fn cosh(x: Value) -> Value {
    let half = half_exp(x.abs());
    half + 0.25 / half
}

/// The parts of `asin |x|`.
struct Asin<'b> {
    /// Whether |x| is above ½.
    is_large: Value<'b>,
    /// |x| up to ½, else `√((1 - |x|) / 2)`, whose inverse sine is `(π/2 - asin |x|) / 2`.
    s: Value<'b>,
    /// `asin s - s`
    rest: Value<'b>,
    /// s with half of its bits, and the difference of the exact root to it.
    leading: Value<'b>,
    /// The exact root minus `leading`.
    low: Value<'b>,
}

impl<'b> Asin<'b> {
    fn new(a: Value<'b>) -> Self {
        let is_large = a.greater(0.5);
        let square = is_large.select((1.0 - a) * 0.5, a * a);
        let s = is_large.select(square.sqrt(), a);
        let rest = square.polynomial(&ASIN_DOUBLE) * square * s;
        let leading = leading(s);
        // Avoids 0 / 0 for the root of 0.
        let low = (square - leading * leading) / (s + leading);
        let low = s.equal(0.0).select(0.0, low);
        Asin { is_large, s, rest, leading, low }
    }
}

pub(super) fn asin(x: Value) -> Value {
    let parts = Asin::new(x.abs());
    let rest = parts.rest + parts.rest - (PI_2_LOW - (parts.low + parts.low));
    let large = FRAC_PI_4 - (rest - (FRAC_PI_4 - (parts.leading + parts.leading)));
    let small = parts.s + parts.rest;
    parts.is_large.select(large, small).copysign(x)
}

pub(super) fn acos(x: Value) -> Value {
    let parts = Asin::new(x.abs());
    let half = parts.leading + (parts.rest + parts.low);
    let above = half + half;
    let half = parts.s + (parts.rest - PI_2_LOW);
    let below = PI - (half + half);
    let large = x.less(0.0).select(below, above);
    let sum = FRAC_PI_2 - (x - (PI_2_LOW - parts.rest.copysign(x)));
    parts.is_large.select(large, sum)
}

/// Tangents and their angles; each angle is a sum of two numbers.
const ANGLES: [(f64, f64, f64); 3] = [
    (0.5, 0.463_647_609_000_806_1, 2.269_877_745_296_168_7e-17),
    (1.0, FRAC_PI_4, 3.061_616_997_868_383e-17),
    (1.5, 0.982_793_723_247_329, 1.390_331_103_123_099_8e-17),
];

/// From each of these tangents on, an angle of [`ANGLES`] is subtracted; from the last one on, a quarter turn.
const BOUNDS: [f64; 4] = [0.4375, 0.6875, 1.1875, 2.4375];

/// `atan(a) = atan(c) + atan((a - c) / (1 + a · c))` for one of a few c, and a polynomial of the quotient.
pub(super) fn atan(x: Value) -> Value {
    let a = x.abs();
    let (mut above, mut below) = (a, x.constant(1.0));
    let (mut high, mut low) = (x.constant(0.0), x.constant(0.0));
    for ((c, angle, rest), bound) in ANGLES.into_iter().zip(BOUNDS) {
        let is_far = a.greater(bound);
        above = is_far.select(a - c, above);
        below = is_far.select(a.mul_add(c, 1.0), below);
        high = is_far.select(angle, high);
        low = is_far.select(rest, low);
    }
    let is_far = a.greater(BOUNDS[3]);
    let above = is_far.select(-1.0, above);
    let below = is_far.select(a, below);
    let high = is_far.select(FRAC_PI_2, high);
    let low = is_far.select(PI_2_LOW, low);
    let t = above / below;
    let square = t * t;
    let rest = (square.polynomial(&ATAN_DOUBLE) * square).mul_add(t, low);
    (high + (t + rest)).copysign(x)
}

/// From here on, the square of a number does not change if 1 is added.
pub(super) const LARGE: f64 = 268_435_456.0;

/// `log(1 + a + a² / (1 + √(a² + 1)))` with `a = |x|`, and `log 2a` above.
pub(super) fn asinh(x: Value) -> Value {
    let a = x.abs();
    let near = a.at_most(LARGE);
    let square = near * near;
    let sum = near + square / ((square + 1.0).sqrt() + 1.0);
    log_of_sum(a, sum).copysign(x)
}

/// `log(1 + t + √(2t + t²))` with `t = x - 1`, and `log 2x` above; NaN below 1.
pub(super) fn acosh(x: Value) -> Value {
    let t = x.at_most(LARGE) - 1.0;
    let sum = t + t.mul_add(t, t + t).sqrt();
    let result = log_of_sum(x, sum);
    x.less(1.0).select(f64::NAN, result)
}

/// `½ log(1 + 2a / (1 - a))` with `a = |x|`; NaN above 1.
pub(super) fn atanh(x: Value) -> Value {
    let a = x.abs();
    let twice = a + a;
    let quotient = twice / (1.0 - a);
    let small = (twice * a) / (1.0 - a) + twice;
    let sum = a.less(0.5).select(small, quotient);
    let result = log_of_sum(x.constant(0.0), sum) * 0.5;
    let result = a.greater(1.0).select(f64::NAN, result);
    result.copysign(x)
}
