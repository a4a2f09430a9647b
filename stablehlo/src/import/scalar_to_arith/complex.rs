// SPDX-License-Identifier: Apache-2.0
//! Complex numbers.

use super::{Scalar, principal};
use crate::import::element::Float;
use crate::import::terms::Terms;
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
        "logistic" => Some(logistic(s, &x, part)),
        "maximum" => Some(extreme(s, &x, &y, p, &t, "ogt")),
        "minimum" => Some(extreme(s, &x, &y, p, &t, "olt")),
        _ => {
            let (re, im) = (s.apply(ops::complex::RE, &[&x], &t), s.apply(ops::complex::IM, &[&x], &t));
            let lines = &mut s.lines;
            let mut terms = Terms { lines, float: part };
            let (re, im) = principal::function(&mut terms, name, &re, &im)?;
            Some(s.value(format!("complex.create {re}, {im} : {t}")))
        }
    }
}

/// `1 / (1 + e⁻ᶻ)`, or `eᶻ / (eᶻ + 1)` where the first exponential overflows; near a pole, where the sum cancels, `(1 +
/// tanh(z / 2)) / 2`.
fn logistic(s: &mut Scalar, z: &str, part: Float) -> String {
    let p = part.text();
    let t = format!("complex<{p}>");
    let (re, im) = (s.apply(ops::complex::RE, &[z], &t), s.apply(ops::complex::IM, &[z], &t));
    let zero = s.real(0.0, p);
    let left = s.value(format!("arith.cmpf olt, {re}, {zero} : {p}"));
    let minus = s.apply(ops::complex::NEG, &[z], &t);
    let falling = s.select(&left, z, &minus, &t);
    let power = s.apply(ops::complex::EXP, &[&falling], &t);
    let one = constant(s, 1.0, p, &t);
    let above = s.select(&left, &power, &one, &t);
    let below = s.apply(ops::complex::ADD, &[&power, &one], &t);
    let value = s.apply(ops::complex::DIV, &[&above, &below], &t);
    let (below_re, below_im) =
        (s.apply(ops::complex::RE, &[&below], &t), s.apply(ops::complex::IM, &[&below], &t));
    let lines = &mut s.lines;
    let mut terms = Terms { lines, float: part };
    let (half_re, half_im) = (terms.times(&re, 0.5), terms.times(&im, 0.5));
    let (tanh_re, tanh_im) = principal::tanh(&mut terms, &half_re, &half_im);
    let sum = terms.plus(&tanh_re, 1.0);
    let (near_re, near_im) = (terms.times(&sum, 0.5), terms.times(&tanh_im, 0.5));
    let (of_re, of_im) = (principal::size(&mut terms, &below_re), principal::size(&mut terms, &below_im));
    let reach = terms.op(ops::arith::MAXIMUMF, &[&of_re, &of_im]);
    let is_near = terms.is(&reach, "olt", 0.5);
    let near = s.value(format!("complex.create {near_re}, {near_im} : {t}"));
    s.select(&is_near, &near, &value, &t)
}

fn constant(s: &mut Scalar, re: f64, part: &str, r#type: &str) -> String {
    let re = s.real(re, part);
    let im = s.real(0.0, part);
    s.value(format!("complex.create {re}, {im} : {type}"))
}

/// The greater (`ogt`) or lesser (`olt`) pair in lexicographic order: real parts first, then imaginary ones. An operand
/// with a NaN wins.
fn extreme(s: &mut Scalar, x: &str, y: &str, part: &str, r#type: &str, before: &str) -> String {
    let [[x_re, x_im], [y_re, y_im]] =
        [x, y].map(|value| [ops::complex::RE, ops::complex::IM].map(|op| s.apply(op, &[value], r#type)));
    let test = |s: &mut Scalar, predicate: &str, a: &str, b: &str| {
        s.value(format!("arith.cmpf {predicate}, {a}, {b} : {part}"))
    };
    let first = test(s, before, &x_re, &y_re);
    let tied = test(s, "oeq", &x_re, &y_re);
    let second = test(s, before, &x_im, &y_im);
    let second = s.apply(ops::arith::ANDI, &[&tied, &second], "i1");
    let wins = s.apply(ops::arith::ORI, &[&first, &second], "i1");
    let nan = test(s, "uno", &x_re, &x_im);
    let wins = s.apply(ops::arith::ORI, &[&wins, &nan], "i1");
    let other_nan = test(s, "uno", &y_re, &y_im);
    let best = s.select(&wins, x, y, r#type);
    let other = s.select(&nan, x, y, r#type);
    s.select(&other_nan, &other, &best, r#type)
}
