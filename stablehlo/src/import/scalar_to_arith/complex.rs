// SPDX-License-Identifier: Apache-2.0
//! Converts operations on complex numbers.

use super::{Scalar, principal};
use crate::import::element::Float;
use crate::import::terms::{Terms, Test};
use skript_passes::ir::ops;

pub(super) fn of_pairs(s: &mut Scalar, name: &str, part: Float) -> Option<String> {
    let p = part.text();
    let t = format!("complex<{p}>");
    let x = s.operand(0).to_owned();
    let y = s.operand(1).to_owned();
    let plain = match name {
        "abs" => ops::complex::ABS,
        "negate" => ops::complex::NEG,
        "exponential" => ops::complex::EXP,
        "sign" => ops::complex::SIGN,
        "real" => ops::complex::RE,
        "imag" => ops::complex::IM,
        _ => "",
    };
    if !plain.is_empty() {
        return Some(s.apply(plain, &[&x], &t));
    }
    let binary = match name {
        "add" => ops::complex::ADD,
        "subtract" => ops::complex::SUB,
        "multiply" => ops::complex::MUL,
        "divide" => ops::complex::DIV,
        "power" => ops::complex::POW,
        "atan2" => ops::complex::ATAN2,
        _ => "",
    };
    if !binary.is_empty() {
        return Some(s.apply(binary, &[&x, &y], &t));
    }
    match name {
        "logistic" => logistic(s, &x, part),
        "maximum" => Some(extreme(s, &x, &y, part, "ogt")),
        "minimum" => Some(extreme(s, &x, &y, part, "olt")),
        _ => principal::by_parts(&mut s.lines, part, &x, |pair| principal::function(name, pair)),
    }
}

/// `1 / (1 + e⁻ᶻ)`, or `eᶻ / (eᶻ + 1)` where `e⁻ᶻ` can overflow. Near a pole, where the sum cancels,
/// `(1 + tanh(z / 2)) / 2`.
fn logistic(s: &mut Scalar, z: &str, part: Float) -> Option<String> {
    let p = part.text();
    let t = format!("complex<{p}>");
    let re = s.apply(ops::complex::RE, &[z], &t);
    let zero = s.real(0.0, p);
    let left = s.value(format!("arith.cmpf olt, {re}, {zero} : {p}"));
    let minus = s.apply(ops::complex::NEG, &[z], &t);
    let falling = s.select(&left, z, &minus, &t);
    let power = s.apply(ops::complex::EXP, &[&falling], &t);
    let one = constant(s, 1.0, p, &t);
    let above = s.select(&left, &power, &one, &t);
    let below = s.apply(ops::complex::ADD, &[&power, &one], &t);
    let value = s.apply(ops::complex::DIV, &[&above, &below], &t);
    let near = principal::by_parts(&mut s.lines, part, z, |(re, im)| {
        let (re, im) = principal::tanh(re * 0.5, im * 0.5);
        Some(((re + 1.0) * 0.5, im * 0.5))
    })?;
    let [re, im] = [ops::complex::RE, ops::complex::IM].map(|op| s.apply(op, &[&below], &t));
    let is_near = Terms::append(&mut s.lines, part, |terms| {
        let reach = terms.named(re).abs().max(terms.named(im).abs());
        reach.is("olt", 0.5).name()
    });
    Some(s.select(&is_near, &near, &value, &t))
}

fn constant(s: &mut Scalar, re: f64, part: &str, r#type: &str) -> String {
    let re = s.real(re, part);
    let im = s.real(0.0, part);
    s.value(format!("complex.create {re}, {im} : {type}"))
}

/// The greater (`ogt`) or lesser (`olt`) pair in lexicographic order: real parts first, then imaginary parts. An
/// operand with a NaN takes precedence.
fn extreme(s: &mut Scalar, x: &str, y: &str, part: Float, before: &str) -> String {
    let t = format!("complex<{}>", part.text());
    let parts = [x, y].map(|z| [ops::complex::RE, ops::complex::IM].map(|op| s.apply(op, &[z], &t)));
    let [wins, nan, other_nan] = Terms::append(&mut s.lines, part, |terms| {
        let [[x_re, x_im], [y_re, y_im]] = parts.map(|pair| pair.map(|name| terms.named(name)));
        let second = x_re.is("oeq", y_re).and(x_im.is(before, y_im));
        let nan = x_re.is("uno", x_im);
        [x_re.is(before, y_re).or(second).or(nan), nan, y_re.is("uno", y_im)].map(Test::name)
    });
    let best = s.select(&wins, x, y, &t);
    let other = s.select(&nan, x, y, &t);
    s.select(&other_nan, &other, &best, &t)
}
