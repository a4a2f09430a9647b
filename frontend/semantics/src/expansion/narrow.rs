// SPDX-License-Identifier: Apache-2.0
//! Conversions of f16 and bf16 as arithmetic on their bits.
//!
//! Conversions round to nearest, ties to even. NaN becomes quiet NaN with the upper bits of its payload. The f32 additions and
//! subtractions have no significant subnormal operand and no subnormal result, so that processors that flush subnormals compute the same.

use super::{Class, Value};
use crate::op::ScalarOp;

/// The difference between the exponent biases of f32 and f16, in the exponent field of f32.
const BIAS: i64 = (127 - 15) << 23;
/// The bits of 2⁻¹⁴ in f32, the smallest normal number of f16.
const MIN_NORMAL: i64 = (127 - 14) << 23;
/// The bits of infinity in f32.
const INFINITY: i64 = 0x7f80_0000;

/// Converts a real to another type. Conversions of bf16 use its bits, because the bf16 instructions of some processors treat subnormals as
/// zero, and other processors require a function call.
pub(super) fn rounded(x: Value<'_>, class: Class) -> Value<'_> {
    let x = if x.class() == Class::BF16 { f32_of_bf16(x.bits(Class::I16)) } else { x };
    match (x.class(), class) {
        (from, to) if from == to => x,
        (Class::F32, Class::BF16) => rounded_to_brain(x),
        (Class::F64, Class::BF16) => rounded_to_brain(odd_f32_of_f64(x)),
        (_, Class::BF16) => rounded_to_brain(x.to(Class::F32)),
        _ => x.to(class),
    }
}

fn rounded_to_brain(x: Value<'_>) -> Value<'_> {
    bits_of_brain(x, |_| x.unordered(x)).bits(Class::BF16)
}

/// An f32 from the bits of a bf16.
pub fn f32_of_bf16(bits: Value<'_>) -> Value<'_> {
    bits.unsigned_to(Class::I32).shift_left(16).bits(Class::F32)
}

/// The bits of the bf16 that an f32 is rounded to.
pub fn bf16_of_f32(x: Value<'_>) -> Value<'_> {
    bits_of_brain(x, |bits| bits.and(0x7fff_ffff).compare_unsigned(ScalarOp::Gt, INFINITY))
}

/// Rounds by adding half of the last remaining bit; a NaN becomes quiet instead.
fn bits_of_brain<'b>(x: Value<'b>, is_nan: impl FnOnce(Value<'b>) -> Value<'b>) -> Value<'b> {
    let bits = x.bits(Class::I32);
    let upper = bits.shift_right(16);
    let nudge = upper.and(1) + 0x7fff;
    let rounded = (bits + nudge).shift_right(16);
    let quiet = upper.or(0x40);
    is_nan(bits).select(quiet, rounded).to(Class::I16)
}

/// An f32 from the bits of an f16.
///
/// Shifts the digits and rebiases the exponent. A subnormal number is first read as 2⁻¹⁴ · 1.digits; an exact f32 subtraction
/// then removes 2⁻¹⁴.
pub fn f32_of_f16(bits: Value<'_>) -> Value<'_> {
    let word = bits.unsigned_to(Class::I32);
    let sign = word.and(0x8000).shift_left(16);
    let magnitude = word.and(0x7fff);
    let moved = magnitude.shift_left(13);
    let normal = moved + BIAS;
    let above = (moved + MIN_NORMAL).bits(Class::F32);
    let min_normal = moved.constant(MIN_NORMAL).bits(Class::F32);
    let subnormal = (above - min_normal).bits(Class::I32);
    let infinite = moved + 2 * BIAS;
    let quiet = infinite.or(1 << 22);
    let special = magnitude.compare_unsigned(ScalarOp::Gt, 0x7c00).select(quiet, infinite);
    let finite = magnitude.compare_unsigned(ScalarOp::Lt, 0x400).select(subnormal, normal);
    let result = magnitude.compare_unsigned(ScalarOp::Ge, 0x7c00).select(special, finite);
    result.or(sign).bits(Class::F32)
}

/// The bits of the f16 that an f32 is rounded to.
///
/// Subnormal results are rounded by adding 0.5 in f32, whose last digit has the weight of the last digit of a subnormal f16.
pub fn f16_of_f32(x: Value<'_>) -> Value<'_> {
    let bits = x.bits(Class::I32);
    let sign = bits.shift_right(16).and(0x8000);
    let magnitude = bits.and(0x7fff_ffff);
    let upper = magnitude.shift_right(13);
    let nudged = magnitude + upper.and(1);
    // Rebiases the exponent, and adds half of the last remaining digit minus one.
    let normal = (nudged + (0xfff - BIAS)).shift_right(13);
    let half = 126 << 23;
    let scaled = magnitude.bits(Class::F32);
    let sum = scaled + magnitude.constant(half).bits(Class::F32);
    let subnormal = sum.bits(Class::I32) - half;
    let quiet = upper.and(0x3ff).or(0x7e00);
    let is_nan = magnitude.compare_unsigned(ScalarOp::Gt, INFINITY);
    let special = is_nan.select(quiet, magnitude.constant(0x7c00));
    let finite = magnitude.compare_unsigned(ScalarOp::Lt, MIN_NORMAL).select(subnormal, normal);
    // From 2¹⁶ on.
    let is_special = magnitude.compare_unsigned(ScalarOp::Ge, (127 + 16) << 23);
    is_special.select(special, finite).or(sign).to(Class::I16)
}

/// Rounds an f64 to odd in f32, so that rounding the result again to fewer digits is correct.
///
/// An inexact value gets an odd last digit: if the nearest f32 is even, the neighbour in the direction of the exact value is used. The bits of
/// absolute values are ordered as integers.
pub fn odd_f32_of_f64(x: Value<'_>) -> Value<'_> {
    let near = x.to(Class::F32);
    let back = near.to(Class::F64);
    let bits = near.bits(Class::I32);
    let (exact, rounded) = (x.abs(), back.abs());
    let step = exact.greater(rounded).select(1, bits.constant(-1));
    let moved = bits + step;
    let is_odd = bits.and(1).not_equal(0);
    let moved = is_odd.select(bits, moved);
    let is_inexact = x.less_or_greater(back);
    is_inexact.select(moved, bits).bits(Class::F32)
}
