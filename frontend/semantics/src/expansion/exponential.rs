// SPDX-License-Identifier: Apache-2.0
//! The exponential function and the functions computed with it.

use super::coefficients::{
    ERF, ERFC, ERFC_POWER, EXP, EXP_OF_TWICE, EXP2_WIDE, LOG2_ERFC_1, SINH_WIDE, TANH,
};
use super::{Class, Value};

/// ln 2 as a sum of two constants. The high part has few significant bits, so its product with an exponent is exact.
pub(super) const LN2_HIGH: f64 = 0.693_359_375;
pub(super) const LN2_LOW: f64 = -0.00021219444170128554;

/// 1.5 · 2²³: an f32 number added to it is rounded to an integer, which is then in the low bits.
const ROUNDER: f64 = 12_582_912.0;
const ROUNDER_BITS: i64 = 0x4b40_0000;

/// 1.5 · 2⁵²: the same for f64.
pub(super) const WIDE_ROUNDER: f64 = 6_755_399_441_055_744.0;

const LOG2_E: f32 = std::f32::consts::LOG2_E;

/// `exp(x) = 2ⁿ · exp(r)` with `x = n · ln 2 + r`.
pub(super) fn exp(x: Value) -> Value {
    // Beyond these, the result is 0 or infinite.
    let x = x.at_most(89.0).at_least(-104.0);
    let shifted = x.mul_add(f64::from(LOG2_E), ROUNDER);
    let n = shifted - ROUNDER;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    let p = r.polynomial(&EXP).mul_add(r, 1.0).mul_add(r, 1.0);
    p.scale(shifted.bits(Class::I32) - ROUNDER_BITS, n)
}

/// `a - a · a² / p(a²)` near 0, `1 - 2 / (exp(2a) + 1)` elsewhere, with `a = |x|`: one division for both.
pub(super) fn tanh(x: Value) -> Value {
    // From 9.02 on the result is 1.
    let a = x.abs().at_most(10.0);
    let square = a * a;
    // `exp(2a) = 2ⁿ · exp(2r)` with `a = n · ½ ln 2 + r`; the low bits of the sum are n and the bias of an exponent.
    let rounder = ROUNDER + 127.0;
    let shifted = a.mul_add(2.0 * f64::from(LOG2_E), rounder);
    let r = (shifted - rounder).mul_add(-0.5 * f64::from(std::f32::consts::LN_2), a);
    let p = r.polynomial(&EXP_OF_TWICE).mul_add(r, 1.0);
    let power = shifted.bits(Class::I32).shift_left(23).bits(Class::F32);
    let above = p.mul_add(power, 1.0);

    let is_small = a.less(1.0);
    let numerator = is_small.select(square, a.constant(2.0));
    let denominator = is_small.select(square.polynomial(&TANH), above);
    let whole = is_small.select(a, a.constant(1.0));
    (-whole).mul_add(numerator / denominator, whole).copysign(x)
}

/// A polynomial near 0, `1 - 2ᵗ` elsewhere, with `t = log2(1 - erf a)` and `a = |x|`.
pub(super) fn erf(x: Value) -> Value {
    let a = x.abs();
    let small = (a * a).polynomial(&ERF).mul_add(a, a);
    // `t = n + r` with `t - log2(erfc 1) = d · P(d)` and `d = a - 1`, so that t is exact to more bits where the result is farthest from 1. As
    // log2(erfc 1) is about -3, `d · P(d)` less 3 rounds to n; the low bits of the sum are n and the bias of an exponent.
    let d = a.at_most(4.0) - 1.0;
    let rounder = ROUNDER + 127.0;
    let p = d.polynomial(&ERFC);
    let shifted = p.mul_add(d, rounder - 3.0);
    let r = p.mul_add(d, LOG2_ERFC_1 - (shifted - rounder));
    let power = shifted.bits(Class::I32).shift_left(23).bits(Class::F32);
    let large = (-r.polynomial(&ERFC_POWER)).mul_add(power, 1.0);
    a.less(0.843_75).select(small, large).copysign(x)
}

/// `2ᵗ` in f64, for t between -1000 and 1000.
pub(super) fn exp2_wide(t: Value) -> Value {
    let shifted = t + WIDE_ROUNDER;
    let r = t - (shifted - WIDE_ROUNDER);
    // The bits of the exponent; the bits above n in `shifted` are shifted out.
    let power = shifted.bits(Class::I64).shift_left(52) + (1023 << 52);
    r.polynomial(&EXP2_WIDE) * power.bits(Class::F64)
}

/// `exp(|x|)` in f64, for a value of f32; finite.
fn exp_wide(a: Value) -> Value {
    exp2_wide(a.at_most(100.0) * std::f64::consts::LOG2_E)
}

/// A polynomial near 0, half the difference of two exponentials elsewhere.
pub(super) fn sinh(x: Value) -> Value {
    let wide = x.to(Class::F64);
    let a = wide.abs();
    let square = a * a;
    let small = (square.polynomial(&SINH_WIDE) * square).mul_add(a, a);
    let e = exp_wide(a);
    let large = (e - 1.0 / e) * 0.5;
    let result = a.less(1.0).select(small, large);
    result.to(Class::F32).copysign(x)
}

/// Half the sum of two exponentials.
pub(super) fn cosh(x: Value) -> Value {
    let e = exp_wide(x.to(Class::F64).abs());
    ((e + 1.0 / e) * 0.5).to(Class::F32)
}
