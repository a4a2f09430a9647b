// SPDX-License-Identifier: Apache-2.0
//! Powers.

use super::coefficients::LOG_WIDE;
use super::exponential::exp2_wide;
use super::logarithmic::split_wide;
use super::{Class, Value};

/// Computes `2^(y · log₂ |x|)` in f64; [`finished`] adds the sign and the special cases.
pub(super) fn pow<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let base = x.to(Class::F64).abs();
    let exponent = y.to(Class::F64);
    let (e, f) = split_wide(base);
    let log = (f.polynomial(&LOG_WIDE) * f).mul_add(std::f64::consts::LOG2_E, e);
    let log = base.less(f64::INFINITY).select(log, base);
    let log = base.equal(0.0).select(f64::NEG_INFINITY, log);
    let product = exponent * log;
    let is_one = base.equal(1.0);
    let is_unit = is_one.and(exponent.abs().equal(f64::INFINITY));
    let product = is_unit.select(0.0, product);
    // Beyond these, the result is 0 or infinite.
    let product = product.at_most(200.0).at_least(-200.0);
    let result = exp2_wide(product).to(Class::F32);

    finished(x, y, result)
}

/// Adds to `result`, a power of the absolute value, the sign for odd exponents and the special cases that logarithms do not cover.
pub(super) fn finished<'b>(x: Value<'b>, y: Value<'b>, result: Value<'b>) -> Value<'b> {
    let half = y * 0.5;
    let is_whole = y.floor().equal(y);
    let is_odd = is_whole.and(half.floor().equal(half).xor(true));
    let result = is_odd.select(result.copysign(x), result);
    let is_negative = x.less(0.0).and(x.greater(f64::NEG_INFINITY));
    let is_undefined = is_negative.and(is_whole.xor(true));
    let result = is_undefined.select(f64::NAN, result);
    let is_trivial = x.equal(1.0).or(y.equal(0.0));
    is_trivial.select(1.0, result)
}

/// Maximum magnitude of an integer exponent whose power is computed by multiplication.
const MAX_EXPONENT: u32 = 32;

/// Computes a power with a constant exponent by one operation, or for f32 by multiplication in f64; `None` if neither is possible.
pub(super) fn constant(x: Value<'_>, exponent: f64) -> Option<Value<'_>> {
    if exponent == 0.5 {
        // Adding 0 turns -0 into +0.
        let root = (x + 0.0).sqrt();
        let is_negative_infinity = x.equal(f64::NEG_INFINITY);
        return Some(is_negative_infinity.select(f64::INFINITY, root));
    }
    let count = exponent.abs();
    if count.fract() != 0.0 || count > f64::from(MAX_EXPONENT) {
        return None;
    }
    let count = count as u32;
    let power = match (count, x.class()) {
        (0, _) => return Some(x.constant(1.0)),
        (1, _) => x,
        (2, _) if exponent > 0.0 => x * x,
        (_, Class::F32) => product(x.to(Class::F64), count),
        _ => return None,
    };
    let power = if exponent < 0.0 { 1.0 / power } else { power };
    Some(if power.class() == x.class() { power } else { power.to(x.class()) })
}

/// Returns the product of `count` copies of the value, by repeated squaring; `count` is at least 1.
fn product(x: Value, count: u32) -> Value {
    let (mut square, mut rest) = (x, count);
    let mut result: Option<Value> = None;
    loop {
        if rest & 1 == 1 {
            result = Some(match result {
                None => square,
                Some(other) => other * square,
            });
        }
        rest >>= 1;
        match result {
            Some(result) if rest == 0 => return result,
            _ => square = square * square,
        }
    }
}
