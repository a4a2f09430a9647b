// SPDX-License-Identifier: Apache-2.0
//! Sine, cosine and tangent of f64: the angle's quarter turns are computed in integers.

use super::coefficients::{COS_DOUBLE, SIN_DOUBLE, TURN_WORDS};
use super::pairs::{Pair, leading};
use super::{Class, Value};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// The exponent field of the angles for which the window starts with the first word of [`TURN_WORDS`].
const FIRST: i64 = 1013;
/// The lower half of a word.
const LOWER: i64 = 0xffff_ffff;
/// π/2 with the leading half of its bits, and the remainder.
const PI_2_LEADING: f64 = f64::from_bits(FRAC_PI_2.to_bits() >> 27 << 27);
const PI_2_REST: f64 = 1.589_325_477_352_819_6e-8;

/// `n + r` quarter turns with r between -½ and ½: n in the two low bits of an integer, and r in radians, as a sum.
struct Angle<'b> {
    n: Value<'b>,
    high: Value<'b>,
    low: Value<'b>,
}

/// The upper and the lower half of a word.
fn halves(word: Value<'_>) -> [Value<'_>; 2] {
    [word.shift_right(32), word.and(LOWER)]
}

/// Converts an integer below 2⁵² to a real.
fn real(whole: Value<'_>) -> Value<'_> {
    whole.or(0x4330_0000_0000_0000).bits(Class::F64) - 4_503_599_627_370_496.0
}

/// Returns 192 bits of 2/π from a position on, in three words. Each bit of the position selects among the remaining words.
fn window(position: Value<'_>) -> [Value<'_>; 3] {
    let mut words = TURN_WORDS.map(|word| position.constant(word));
    for bit in [10, 9, 8, 7, 6] {
        let step = 1usize << (bit - 6);
        let is_near = position.and(1 << bit).equal(0);
        // The last window of the remaining words has four words.
        let near = words;
        let far = near.iter().skip(step);
        for (word, far) in words.iter_mut().take(step + 3).zip(far) {
            *word = is_near.select(*word, *far);
        }
    }
    let shift = position.and(63);
    let rest = position.constant(63) - shift;
    let [first, second, third, fourth, ..] = words;
    [(first, second), (second, third), (third, fourth)]
        .map(|(word, next)| word.shift_left(shift).or(next.shift_right(1).shift_right(rest)))
}

/// The reduction of M. H. Payne and R. N. Hanek. In `a · 2/π` with `a = m · 2ᵉ⁻⁵²`, the bits of 2/π that only contribute multiples of
/// four quarter turns are omitted. The product of m and the following 192 bits is the fraction of four quarter turns. 128 of its bits
/// suffice even for the angle that is nearest to a multiple of a quarter turn, from which it differs by 2⁻⁶¹.
fn reduce(a: Value<'_>) -> Angle<'_> {
    let bits = a.bits(Class::I64);
    let m = bits.and((1 << 52) - 1).or(1 << 52);
    let [m1, m0] = halves(m);
    let [top, middle, bottom] = window(bits.shift_right(52) - FIRST);
    let ([a1, a0], [b1, b0], [c1, c0]) = (halves(top), halves(middle), halves(bottom));
    // The product with the last word, without its lower half.
    let carried = m1 * c1 + (m0 * c1).shift_right(32) + (m1 * c0).shift_right(32);
    let [carried1, carried0] = halves(carried);
    // The product with the middle word, by halves.
    let low = m0 * b0;
    let cross = m1 * b0 + low.shift_right(32);
    let [cross1, cross0] = halves(cross);
    let other = m0 * b1 + cross0;
    let v0 = low.and(LOWER) + carried0;
    let v1 = other.and(LOWER) + carried1 + v0.shift_right(32);
    let above = m1 * b1 + cross1 + other.shift_right(32) + v1.shift_right(32);
    let upper = m0 * a0 + (m0 * a1 + m1 * a0).shift_left(32) + above;
    let lower = v1.shift_left(32).or(v0.and(LOWER));

    let n = (upper + (1 << 61)).shift_right(62);
    let rest = upper - n.shift_left(62);
    // The absolute value, except for an error of one unit in the least significant bit, which is negligible.
    let sign = rest.shift_right(63);
    let inverted = rest.constant(0) - sign;
    let (upper, lower) = (rest.xor(inverted), lower.xor(inverted));
    let first = real(upper.shift_right(21)) * 2f64.powi(-41);
    let second = upper.and((1 << 21) - 1).shift_left(31);
    let second = real(second.or(lower.shift_right(33))) * 2f64.powi(-93);
    let third = real(lower.and((1 << 33) - 1)) * 2f64.powi(-126);
    let turns = Pair::of_ordered(first, second).plus(third);
    // In radians.
    let leading = leading(turns.high);
    let rest = turns.high - leading + turns.low;
    let product = leading * PI_2_LEADING;
    let radians = Pair::of_ordered(product, leading * PI_2_REST + rest * FRAC_PI_2);
    let sign = sign.shift_left(63);
    let [high, low] =
        [radians.high, radians.low].map(|part| part.bits(Class::I64).xor(sign).bits(Class::F64));

    let is_small = a.less(FRAC_PI_4);
    Angle { n: is_small.select(0, n), high: is_small.select(a, high), low: is_small.select(0.0, low) }
}

impl<'b> Angle<'b> {
    /// The sine of r as a sum.
    fn sine(&self) -> Pair<'b> {
        let square = self.high * self.high;
        let rest = self.low - self.low * (square * 0.5);
        let rest = (square * self.high).mul_add(square.polynomial(&SIN_DOUBLE), rest);
        Pair::of_ordered(self.high, rest)
    }

    /// The cosine of r as a sum.
    fn cosine(&self) -> Pair<'b> {
        let square = self.high * self.high;
        let half = square * 0.5;
        let near = 1.0 - half;
        let lost = (1.0 - near) - half;
        let rest = (square * square).mul_add(square.polynomial(&COS_DOUBLE), lost - self.low * self.high);
        Pair::of_ordered(near, rest)
    }
}

/// Flips the sign of a value by the highest bit of an integer; NaN if the angle is infinite or NaN.
fn finished<'b>(x: Value<'b>, value: Value<'b>, sign: Value<'b>) -> Value<'b> {
    let result = value.bits(Class::I64).xor(sign).bits(Class::F64);
    let is_finite = x.abs().less(f64::INFINITY);
    is_finite.select(result, x.constant(f64::NAN))
}

pub(super) fn sin(x: Value) -> Value {
    let angle = reduce(x.abs());
    let is_even = angle.n.and(1).equal(0);
    let value = is_even.select(angle.sine().sum(), angle.cosine().sum());
    let sign = x.bits(Class::I64).and(i64::MIN);
    finished(x, value, angle.n.and(2).shift_left(62).xor(sign))
}

/// The sine of the angle plus one quarter turn.
pub(super) fn cos(x: Value) -> Value {
    let angle = reduce(x.abs());
    let is_even = angle.n.and(1).equal(0);
    let value = is_even.select(angle.cosine().sum(), angle.sine().sum());
    finished(x, value, (angle.n + 1).and(2).shift_left(62))
}

/// The quotient of two sums: the quotient of their high parts, corrected by their low parts.
pub(super) fn tan(x: Value) -> Value {
    let angle = reduce(x.abs());
    let (sine, cosine) = (angle.sine(), angle.cosine());
    let is_even = angle.n.and(1).equal(0);
    let above = sine.or_other(is_even, cosine);
    let below = cosine.or_other(is_even, sine);
    let quotient = above.high / below.high;
    let lost = (above.low - quotient * below.low) / below.high;
    let sign = x.bits(Class::I64).and(i64::MIN);
    finished(x, quotient + lost, angle.n.shift_left(63).xor(sign))
}
