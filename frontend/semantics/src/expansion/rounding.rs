// SPDX-License-Identifier: Apache-2.0
//! Rounding, remainders and powers of integers, for processors and systems without a function for them.

use super::{Class, Value};
use crate::op::ScalarOp;

/// The magnitude from which on every real is an integer.
fn whole_from(class: Class) -> f64 {
    if class == Class::F64 { 4_503_599_627_370_496.0 } else { 8_388_608.0 }
}

/// Rounds a real by converting its magnitude to an integer and back; reals from [`whole_from`] on are integers. `adjust` returns the result for
/// the magnitude, its whole part, and the whole part as an integer.
fn rounded<'b>(x: Value<'b>, adjust: impl FnOnce(Value<'b>, Value<'b>, Value<'b>) -> Value<'b>) -> Value<'b> {
    let size = x.abs();
    let is_small = size.less(whole_from(x.class()));
    let held = is_small.select(size, x.constant(0.0));
    let integer = held.to(x.class().bits());
    let result = adjust(held, integer.to(x.class()), integer);
    is_small.select(result, x)
}

/// Rounds down.
pub fn floor(x: Value<'_>) -> Value<'_> {
    rounded(x, |_, whole, _| {
        let whole = whole.copysign(x);
        let is_beyond = whole.greater(x);
        is_beyond.select(whole - 1.0, whole)
    })
}

/// Rounds up.
pub fn ceil(x: Value<'_>) -> Value<'_> {
    rounded(x, |_, whole, _| {
        let whole = whole.copysign(x);
        let is_beyond = whole.less(x);
        is_beyond.select(whole + 1.0, whole)
    })
}

/// Rounds toward zero.
pub fn trunc(x: Value<'_>) -> Value<'_> {
    rounded(x, |_, whole, _| whole.copysign(x))
}

/// Rounds to nearest, halves away from zero.
pub fn round(x: Value<'_>) -> Value<'_> {
    rounded(x, |held, whole, _| {
        let is_up = (held - whole).compare(ScalarOp::Ge, 0.5);
        is_up.select(whole + 1.0, whole).copysign(x)
    })
}

/// Rounds to nearest, halves to even.
pub fn round_even(x: Value<'_>) -> Value<'_> {
    rounded(x, |held, whole, integer| {
        let fraction = held - whole;
        let is_above = fraction.greater(0.5);
        let is_tie = fraction.equal(0.5);
        let is_odd = integer.and(1).equal(1);
        let is_up = is_above.or(is_tie.and(is_odd));
        is_up.select(whole + 1.0, whole).copysign(x)
    })
}

/// Rounds toward zero, by the functions that round down and up.
pub fn trunc_by_sides(x: Value<'_>) -> Value<'_> {
    let (lower, upper) = (x.floor(), x.ceil());
    x.less(0.0).select(upper, lower)
}

/// The remainder of integers, computed from their quotient: Vulkan drivers divide INT_MIN correctly but compute its remainder wrongly.
pub fn integer_remainder<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    x - x.quotient(y) * y
}

/// Computes an integer power by repeated squaring; the exponent must be nonnegative.
pub fn integer_power<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let (zero, one) = (x.constant(0), x.constant(1));
    let power = x.index(63).repeat([one, x, y], |[held, square, rest]| {
        let is_set = rest.and(1).not_equal(0);
        let next = is_set.select(held * square, held);
        [next, square * square, rest.shift_right(1)]
    });
    power.or(zero)
}

/// The remainder of truncating division, by long division of the significands: exact for all numbers.
pub fn real_remainder<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let class = x.class();
    let (digits, bias, infinity) =
        if class == Class::F64 { (52, 1023, 0x7ff0_0000_0000_0000) } else { (23, 127, 0x7f80_0000) };
    let mask = !class.bits().least();
    let low = [x, y].map(|x| x.bits(class.bits())).map(|bits| bits.and(mask));
    let words = if class == Class::F64 { low } else { low.map(|bits| bits.unsigned_to(Class::I64)) };
    let fields = words.map(|word| word.shift_right(digits));
    let [x_exponent, y_exponent] = fields.map(|field| field.max(1));
    let [x_part, y_part] = words.map(|word| word.and((1 << digits) - 1));
    let [x_is_normal, y_is_normal] = fields.map(|field| field.not_equal(0));
    let [x_full, y_full] = [x_part, y_part].map(|part| part.or(1 << digits));
    let dividend = x_is_normal.select(x_full, x_part);
    let divisor = y_is_normal.select(y_full, y_part).max(1);
    let shift = x_exponent - y_exponent;
    let first = dividend.remainder_unsigned(divisor);
    let steps = shift.to(Class::Index);
    let rest = steps.repeat([first], |[held]| [held.shift_left(1).remainder_unsigned(divisor)]);

    // The scale is a product of two normal numbers, because it may be subnormal itself.
    let power = y_exponent - (bias + digits);
    let half = power.shift_right_signed(1);
    let fields = [half, power - half].map(|exponent| exponent + bias).map(|field| field.shift_left(digits));
    let fields = if class == Class::F64 { fields } else { fields.map(|field| field.to(Class::I32)) };
    let [lower, upper] = fields.map(|field| field.bits(class));
    let scaled = rest.unsigned_to(class) * lower * upper;
    let [x_low, y_low] = low;
    let is_less = x_low.compare_unsigned(ScalarOp::Lt, y_low);
    let remainder = is_less.select(x, scaled.copysign(x));
    let x_is_wrong = x_low.compare_unsigned(ScalarOp::Ge, infinity);
    let y_is_wrong = y_low.compare_unsigned(ScalarOp::Gt, infinity);
    let [_, y_word] = words;
    let has_no_divisor = y_word.equal(0);
    let is_wrong = x_is_wrong.or(y_is_wrong).or(has_no_divisor);
    is_wrong.select(f64::NAN, remainder)
}
