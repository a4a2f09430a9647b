// SPDX-License-Identifier: Apache-2.0
//! The logarithm of the gamma function and its derivatives.
//!
//! C. Lanczos, "A precision approximation of the gamma function" (1964), with g = 7 and nine terms; below 1/2 by
//! reflection. The Hurwitz zeta function by the Euler-Maclaurin formula.

use crate::import::terms::Terms;
use skript_passes::ir::ops;
use std::f64::consts::PI;

const G: f64 = 7.0;
const FIRST: f64 = 0.999_999_999_999_809_9;
const TERMS: [f64; 8] = [
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// Whether `x` is reflected, and the argument z of the series for Γ(z + 1).
fn reflected(t: &mut Terms, x: &str) -> (String, String) {
    let small = t.is(x, "olt", 0.5);
    let minus = t.op(ops::arith::NEGF, &[x]);
    let less = t.plus(x, -1.0);
    let z = t.select(&small, &minus, &less);
    (small, z)
}

/// `log(z + g + 1/2)`, accurate for small z, and its argument.
fn log_of_base(t: &mut Terms, z: &str) -> (String, String) {
    let base = t.plus(z, G + 0.5);
    let part = t.times(z, 1.0 / (G + 0.5));
    let part = t.log_plus_one(&part);
    (t.plus(&part, (G + 0.5).ln()), base)
}

pub(crate) fn log_gamma(t: &mut Terms, x: &str) -> String {
    let (small, z) = reflected(t, x);
    let mut sum = t.number(FIRST);
    for (n, term) in TERMS.iter().enumerate() {
        let term = t.number(*term);
        let below = t.plus(&z, n as f64 + 1.0);
        let part = t.div(&term, &below);
        sum = t.add(&sum, &part);
    }
    let (log, base) = log_of_base(t, &z);
    let ratio = t.div(&base, &log);
    let factor = t.plus(&z, 0.5);
    let factor = t.sub(&factor, &ratio);
    let product = t.mul(&factor, &log);
    let log_sum = t.op(ops::math::LOG, &[&sum]);
    let value = t.plus(&product, (2.0 * PI).sqrt().ln());
    let value = t.add(&value, &log_sum);
    // Γ(x) Γ(1 - x) = π / sin(πx); the sine of the distance to the next integer.
    let size = t.op(ops::math::ABSF, &[x]);
    let floor = t.op(ops::math::FLOOR, &[&size]);
    let fraction = t.sub(&size, &floor);
    let far = t.is(&fraction, "ogt", 0.5);
    let one = t.number(1.0);
    let rest = t.sub(&one, &fraction);
    let distance = t.select(&far, &rest, &fraction);
    let angle = t.times(&distance, PI);
    let sine = t.op(ops::math::SIN, &[&angle]);
    let log_sine = t.op(ops::math::LOG, &[&sine]);
    let pi = t.number(PI.ln());
    let mirrored = t.sub(&pi, &log_sine);
    let mirrored = t.sub(&mirrored, &value);
    let infinity = t.infinity();
    let pole = t.is(&sine, "oeq", 0.0);
    let mirrored = t.select(&pole, &infinity, &mirrored);
    let value = t.select(&small, &mirrored, &value);
    let endless = t.compare(&size, "oeq", &infinity);
    t.select(&endless, &infinity, &value)
}

pub(crate) fn digamma(t: &mut Terms, x: &str) -> String {
    let (small, z) = reflected(t, x);
    let (mut above, mut below) = (t.number(0.0), t.number(FIRST));
    for (n, term) in TERMS.iter().enumerate() {
        let term = t.number(*term);
        let position = t.plus(&z, n as f64 + 1.0);
        let part = t.div(&term, &position);
        below = t.add(&below, &part);
        let slope = t.div(&part, &position);
        above = t.sub(&above, &slope);
    }
    let (log, base) = log_of_base(t, &z);
    let ratio = t.div(&above, &below);
    let g = t.number(G);
    let end = t.div(&g, &base);
    let value = t.add(&log, &ratio);
    let value = t.sub(&value, &end);
    // ψ(1 - x) - ψ(x) = π cot(πx), of the distance to the next integer.
    let shifted = t.plus(x, 0.5);
    let whole = t.op(ops::math::FLOOR, &[&shifted]);
    let distance = t.sub(x, &whole);
    let angle = t.times(&distance, PI);
    let (sine, cosine) = (t.op(ops::math::SIN, &[&angle]), t.op(ops::math::COS, &[&angle]));
    let cotangent = t.div(&cosine, &sine);
    let cotangent = t.times(&cotangent, PI);
    let mirrored = t.sub(&value, &cotangent);
    let value = t.select(&small, &mirrored, &value);
    let nan = t.nan();
    let floor = t.op(ops::math::FLOOR, &[x]);
    let is_whole = t.compare(x, "oeq", &floor);
    let negative = t.is(x, "ole", 0.0);
    let pole = t.both(&negative, &is_whole);
    t.select(&pole, &nan, &value)
}

/// ζ(x, q) = Σ (q + k)^-x: ten terms are summed; for the rest, the integral, half a term and twelve derivatives.
pub(crate) fn zeta(t: &mut Terms, x: &str, q: &str) -> String {
    /// (2j)! / B₂ⱼ, in descending order of j.
    const QUOTIENTS: [f64; 12] = [
        -7.166_165_256_175_667e18,
        1.815_210_540_194_354_7e17,
        -4.597_978_722_407_473e15,
        1.164_678_281_435_006_7e14,
        -2.950_130_727_918_164e12,
        7.472_424_96e10,
        -1.892_437_580_318_379e9,
        47_900_160.0,
        -1_209_600.0,
        30_240.0,
        -720.0,
        12.0,
    ];
    let minus = t.op(ops::arith::NEGF, &[x]);
    let mut sum = t.op(ops::math::POWF, &[q, &minus]);
    let mut end = q.to_owned();
    for _ in 0..9 {
        end = t.plus(&end, 1.0);
        let term = t.op(ops::math::POWF, &[&end, &minus]);
        sum = t.add(&sum, &term);
    }
    end = t.plus(&end, 1.0);
    let term = t.op(ops::math::POWF, &[&end, &minus]);
    let less = t.plus(x, -1.0);
    let integral = t.div(&end, &less);
    let one = t.number(1.0);
    let inverse = t.div(&one, &end);
    let square = t.mul(&inverse, &inverse);
    let mut rest = t.number(1.0 / QUOTIENTS[0]);
    for (n, quotient) in QUOTIENTS.iter().enumerate().skip(1) {
        let derivative = (2 * (QUOTIENTS.len() - n) - 1) as f64;
        let first = t.plus(x, derivative);
        let second = t.plus(x, derivative + 1.0);
        let factor = t.mul(&first, &second);
        let factor = t.mul(&factor, &square);
        rest = t.mul(&rest, &factor);
        rest = t.plus(&rest, 1.0 / quotient);
    }
    let slope = t.mul(x, &inverse);
    let rest = t.mul(&rest, &slope);
    let factor = t.plus(&integral, 0.5);
    let factor = t.add(&factor, &rest);
    let tail = t.mul(&term, &factor);
    // Without a term there is no rest, whatever its factor.
    let none = t.is(&term, "oeq", 0.0);
    let zero = t.number(0.0);
    let tail = t.select(&none, &zero, &tail);
    let value = t.add(&sum, &tail);
    let (infinity, nan) = (t.infinity(), t.nan());
    let floor_q = t.op(ops::math::FLOOR, &[q]);
    let whole_q = t.compare(q, "oeq", &floor_q);
    let no_pole = t.select(&whole_q, &infinity, &nan);
    let negative = t.is(q, "ole", 0.0);
    let floor_x = t.op(ops::math::FLOOR, &[x]);
    let broken = t.compare(x, "one", &floor_x);
    let either = t.lines.value(format!("arith.ori {whole_q}, {broken} : i1"));
    let outside = t.both(&negative, &either);
    let value = t.select(&outside, &no_pole, &value);
    let below = t.is(x, "olt", 1.0);
    let value = t.select(&below, &nan, &value);
    let at_one = t.is(x, "oeq", 1.0);
    t.select(&at_one, &infinity, &value)
}

/// The derivative of order `n` of the digamma function: (-1)^(n+1) n! ζ(n + 1, x).
pub(crate) fn polygamma(t: &mut Terms, n: &str, x: &str) -> String {
    let own = digamma(t, x);
    let next = t.plus(n, 1.0);
    let log = log_gamma(t, &next);
    let factorial = t.op(ops::math::EXP, &[&log]);
    let sum = zeta(t, &next, x);
    let value = t.mul(&factorial, &sum);
    let half = t.times(n, 0.5);
    let floor = t.op(ops::math::FLOOR, &[&half]);
    let is_even = t.compare(&half, "oeq", &floor);
    let negated = t.op(ops::arith::NEGF, &[&value]);
    let value = t.select(&is_even, &negated, &value);
    let zero = t.is(n, "oeq", 0.0);
    let value = t.select(&zero, &own, &value);
    let floor = t.op(ops::math::FLOOR, &[n]);
    let broken = t.compare(n, "une", &floor);
    let negative = t.is(n, "olt", 0.0);
    let wrong = t.lines.value(format!("arith.ori {broken}, {negative} : i1"));
    let nan = t.nan();
    t.select(&wrong, &nan, &value)
}
