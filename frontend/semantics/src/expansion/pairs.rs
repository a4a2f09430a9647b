// SPDX-License-Identifier: Apache-2.0
//! Sums of two f64 numbers with about 100 bits (double-double arithmetic), and powers that use them.
//!
//! Products of leading halves are exact, so nothing depends on whether a product and a sum are fused.
//! T. J. Dekker, *A floating-point technique for extending the available precision* (1971).

use super::coefficients::LOG_PAIR;
use super::double::{LN2_HIGH, LN2_LOW, exp_of_parts};
use super::exponential::WIDE_ROUNDER;
use super::logarithmic::split_wide;
use super::power::finished;
use super::{Class, Value};
use std::f64::consts::LOG2_E;

/// Returns the number with the leading half of its bits, so that its square is exact.
pub(super) fn leading(x: Value<'_>) -> Value<'_> {
    let bits = x.bits(Class::I64).and(-1 << 27);
    bits.bits(Class::F64)
}

/// A sum of two numbers.
#[derive(Clone, Copy)]
pub(super) struct Pair<'b> {
    pub(super) high: Value<'b>,
    pub(super) low: Value<'b>,
}

impl<'b> Pair<'b> {
    /// The exact sum of two numbers. The magnitude of the first number must be 0 or not less than that of the second.
    pub(super) fn of_ordered(large: Value<'b>, small: Value<'b>) -> Self {
        let high = large + small;
        let low = (large - high) + small;
        Pair { high, low }
    }

    /// Adds a small number.
    pub(super) fn plus(self, small: Value<'b>) -> Self {
        Pair { low: self.low + small, ..self }
    }

    /// The same sum, in which the first number has half of its bits, and the second one contains the rest.
    fn halved(self) -> Self {
        let high = leading(self.high);
        let low = (self.high - high) + self.low;
        Pair { high, low }
    }

    /// The product of two sums that are halved.
    fn product(self, other: Self) -> Self {
        let low = self.high * other.low + self.low * (other.high + other.low);
        Pair { high: self.high * other.high, low }
    }

    /// Selects this sum where `holds` is true, the other sum elsewhere.
    pub(super) fn or_other(self, holds: Value<'b>, other: Self) -> Self {
        Pair { high: holds.select(self.high, other.high), low: holds.select(self.low, other.low) }
    }

    pub(super) fn sum(self) -> Value<'b> {
        self.high + self.low
    }
}

/// The difference of 2/3 and the nearest f64.
const TWO_THIRDS_LOW: f64 = 3.700_743_415_417_188e-17;

/// The logarithm of a positive number, `e · ln 2 + log(1 + f)`. With `s = f / (2 + f)`, `log(1 + f)` is `s · (2 + s² · (2/3 + s² · P(s²)))`.
fn log(x: Value<'_>) -> Pair<'_> {
    let is_subnormal = x.less(f64::MIN_POSITIVE);
    let scaled = is_subnormal.select(x * 18_014_398_509_481_984.0, x);
    let (e, f) = split_wide(scaled);
    let e = is_subnormal.select(e - 54.0, e);
    let below = f + 2.0;
    let lost = f - (below - 2.0);
    let divisor = leading(below);
    let quotient = leading(f / below);
    let rest = f - quotient * divisor - quotient * (below - divisor + lost);
    let s = Pair { high: quotient, low: rest / below };
    let square = s.product(s);
    let near = square.sum();
    let sum = Pair::of_ordered(near.constant(2.0 / 3.0), near * near.polynomial(&LOG_PAIR));
    let sum = sum.plus(near.constant(TWO_THIRDS_LOW)).halved();
    let sum = square.halved().product(sum);
    let sum = Pair::of_ordered(near.constant(2.0), sum.high).plus(sum.low);
    let log = s.product(sum.halved());
    let whole = Pair::of_ordered(e * LN2_HIGH, log.high);
    let result = whole.plus(e.mul_add(LN2_LOW, log.low));
    Pair::of_ordered(result.high, result.low)
}

/// Powers with exponents from here on are 0 or infinite for all bases except 1: 2⁶⁶.
const MAX_EXPONENT: f64 = 73_786_976_294_838_206_464.0;

/// Computes `exp(y · log |x|)`; [`finished`] adds the sign and the special cases.
pub(super) fn pow<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let base = x.abs();
    let log = log(base).halved();
    let near = y.at_most(MAX_EXPONENT).at_least(-MAX_EXPONENT);
    let half = leading(near);
    let exponent = Pair { high: half, low: near - half };
    let product = log.product(exponent);
    // The logarithm of 0 and infinity.
    let is_zero = base.equal(0.0);
    let is_special = is_zero.or(base.equal(f64::INFINITY));
    let special = is_zero.select(-y, y) * f64::INFINITY;
    let high = is_special.select(special, product.high);
    // Beyond these, the result is 0 or infinite.
    let bounded = high.at_most(710.0).at_least(-746.0);
    let low = bounded.equal(high).select(product.low, high.constant(0.0));
    let n = bounded * LOG2_E + WIDE_ROUNDER - WIDE_ROUNDER;
    let r = n.mul_add(-LN2_HIGH, bounded) + n.mul_add(-LN2_LOW, low);
    let result = exp_of_parts(n, r);
    let is_undefined = x.unordered(y);
    finished(x, y, is_undefined.select(f64::NAN, result))
}
