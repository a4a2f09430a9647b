// SPDX-License-Identifier: Apache-2.0
//! The trigonometric functions and their inverses.

use super::coefficients::{ASIN_WIDE, ATAN_WIDE, COS_WIDE, SIN_WIDE, TURNS};
use super::exponential::WIDE_ROUNDER;
use super::{Class, Value};
use std::f64::consts::{FRAC_PI_2, PI};

/// Splits an angle into `n + r` quarter turns: r between -½ and ½ in f64, and n in the two low bits of an integer.
///
/// The angle is `h · 2ᵏ`, where h is below 2⁵⁰, and an integer unless k is 0. It has `h · (2ᵏ · 2/π)` quarter turns, which modulo 4 equal
/// `h · D` with the remainder D of `2ᵏ · 2/π`. D is the sum of three numbers. The products of h with the first two numbers
/// are exact, and so are the fractions of these products.
fn quarter_turns(x: Value<'_>) -> (Value<'_>, Value<'_>) {
    let x = x.to(Class::F64);
    let a = x.abs();
    let [first, rest @ ..] = TURNS;
    let mut bound = 50;
    let mut values = first.map(|number| x.constant(number));
    for row in rest {
        let is_below = a.less(f64::from(bound).exp2());
        let ([a, b, c, d], [s, h, m, l]) = (values, row);
        let pairs = [(a, s), (b, h), (c, m), (d, l)];
        values = pairs.map(|(value, number)| is_below.select(value, x.constant(number)));
        bound += 26;
    }
    let [scale, high, middle, low] = values;
    let h = x * scale;
    let (high, middle) = (h * high, h * middle);
    let (n, m) = (high + WIDE_ROUNDER, middle + WIDE_ROUNDER);
    let (high, middle) = (high - (n - WIDE_ROUNDER), middle - (m - WIDE_ROUNDER));
    let l = high + middle + WIDE_ROUNDER;
    let r = h.mul_add(low, high - (l - WIDE_ROUNDER) + middle);
    let n = n.bits(Class::I64) + m.bits(Class::I64) + l.bits(Class::I64);
    (n, r)
}

/// The sine and cosine of r quarter turns with |r| ≤ ½.
fn sine_and_cosine(r: Value<'_>) -> (Value<'_>, Value<'_>) {
    let square = r * r;
    let sine = square.polynomial(&SIN_WIDE) * r;
    let cosine = square.polynomial(&COS_WIDE).mul_add(square, 1.0);
    (sine, cosine)
}

/// The sine of `n + r` quarter turns.
fn sine_of_turns<'b>(n: Value<'b>, r: Value<'b>) -> Value<'b> {
    let (sine, cosine) = sine_and_cosine(r);
    let value = n.and(1).equal(0).select(sine, cosine);
    let sign = n.and(2).shift_left(62);
    let result = value.bits(Class::I64).xor(sign).bits(Class::F64);
    result.to(Class::F32)
}

pub(super) fn sin(x: Value) -> Value {
    let (n, r) = quarter_turns(x);
    sine_of_turns(n, r)
}

/// The sine of the angle plus one quarter turn.
pub(super) fn cos(x: Value) -> Value {
    let (n, r) = quarter_turns(x);
    sine_of_turns(n + 1, r)
}

pub(super) fn tan(x: Value) -> Value {
    let (n, r) = quarter_turns(x);
    let (sine, cosine) = sine_and_cosine(r);
    let is_even = n.and(1).equal(0);
    let above = is_even.select(sine, -cosine);
    let below = is_even.select(cosine, sine);
    (above / below).to(Class::F32)
}

/// Returns `asin(s)`, and whether `a` exceeds ½: then `s = √((1 - a) / 2)`, with `asin a = π/2 - 2 asin(s)`, otherwise `s = a`.
fn half_asin(a: Value<'_>) -> (Value<'_>, Value<'_>) {
    let is_large = a.greater(0.5);
    let square = is_large.select((1.0 - a) * 0.5, a * a);
    let s = is_large.select(square.sqrt(), a);
    let result = (square.polynomial(&ASIN_WIDE) * square).mul_add(s, s);
    (result, is_large)
}

pub(super) fn asin(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let (half, is_large) = half_asin(wide.abs());
    let result = is_large.select(half.mul_add(-2.0, FRAC_PI_2), half);
    result.to(Class::F32).copysign(x)
}

pub(super) fn acos(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let (half, is_large) = half_asin(wide.abs());
    let twice = half + half;
    let large = wide.less(0.0).select(PI - twice, twice);
    let small = FRAC_PI_2 - half.copysign(wide);
    is_large.select(large, small).to(Class::F32)
}

/// A polynomial for |x| ≤ 1, otherwise π/2 minus the polynomial of the reciprocal.
pub(super) fn atan(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let a = wide.abs();
    let is_large = a.greater(1.0);
    let t = is_large.select(1.0 / a, a);
    let p = (t * t).polynomial(&ATAN_WIDE) * t;
    let result = is_large.select(FRAC_PI_2 - p, p);
    result.to(Class::F32).copysign(x)
}
