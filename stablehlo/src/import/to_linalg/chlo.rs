// SPDX-License-Identifier: Apache-2.0
//! Operations of `chlo`, the dialect of composite StableHLO functions, as printers leave them in programs.

mod bessel;
mod complex;
mod gamma;
mod inverse;
mod neighbour;

use super::generic::{Port, dims, empty, generic};
use super::operation::Found;
use super::reduce::accumulator;
use crate::import::element::{Element, Float};
use crate::import::terms::Terms;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

/// Functions of one real that MLIR's `math` has.
const FUNCTIONS: [&str; 10] =
    ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh"];

/// The conversion of an elementwise `chlo` operation; `None` for other operations.
pub(super) fn map<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let operand = found.operand(0)?.element;
    let mut body = Lines::default();
    let own = operand.text();
    let name = found.name.as_str();
    let value = match (name, operand) {
        ("square", _) => Some(body.value(format!("stablehlo.multiply %i0, %i0 : {own}"))),
        ("tan", _) => Some(body.value(format!("stablehlo.tan %i0 : {own}"))),
        ("next_after", Element::Float(float)) => Some(neighbour::next_after(&mut body, float)),
        (_, Element::Float(_)) => of_reals(&mut body, found, operand),
        (_, Element::Complex(part)) => complex::function(&mut body, name, part),
        _ => None,
    };
    value.map(|v| position(found, body, &v)).transpose()
}

/// Computes halves in f32 and rounds once.
fn of_reals(body: &mut Lines, found: &Found, own: Element) -> Option<String> {
    let Element::Float(float) = accumulator(own) else {
        return None;
    };
    let (own, w) = (own.text(), float.text());
    let mut operands = Vec::new();
    for n in 0..found.operands.len() {
        operands.push(if own == w {
            format!("%i{n}")
        } else {
            body.value(format!("stablehlo.convert %i{n} : ({own}) -> {w}"))
        });
    }
    let mut t = Terms { lines: body, float };
    let value = match (found.name.as_str(), operands.as_slice()) {
        ("erf_inv", [x]) => inverse_error(t.lines, x, float),
        ("is_inf", [x]) => {
            let size = t.op(ops::math::ABSF, &[x]);
            let infinity = t.infinity();
            return Some(t.compare(&size, "oeq", &infinity));
        }
        ("lgamma", [x]) => gamma::log_gamma(&mut t, x),
        ("digamma", [x]) => gamma::digamma(&mut t, x),
        ("zeta", [x, q]) => gamma::zeta(&mut t, x, q),
        ("polygamma", [n, x]) => gamma::polygamma(&mut t, n, x),
        ("bessel_i1e", [x]) => bessel::scaled_i1(&mut t, x),
        (name, [x]) if FUNCTIONS.contains(&name) => t.op(&format!("math.{name}"), &[x]),
        _ => return None,
    };
    Some(if own == w { value } else { body.value(format!("stablehlo.convert {value} : ({w}) -> {own}")) })
}

/// A map over all operands, which have one shape; its body ends in `value`.
fn position<'c: 'a, 'a>(
    found: &Found<'c, 'a>,
    mut body: Lines,
    value: &str,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let result = found.result()?;
    body.line(format!("linalg.yield {value} : {}", result.element.text()));
    let mut lines = Lines::default();
    let out = empty(&mut lines, result);
    let all = dims(0..result.rank());
    let inputs: Vec<Port> =
        found.operands.iter().enumerate().map(|(n, t)| Port::new(&format!("%{n}"), t, all.clone())).collect();
    let made = generic(&mut lines, result.rank(), 0, &inputs, &[Port::new(&out, result, all)], body.text());
    found.replace(&lines, &made.concat())
}

/// M. Giles, "Approximating the erfinv function" (2010): polynomials in w = -log(1 - x²), one for the middle and one
/// for the tails; f64 is refined by Newton's method.
fn inverse_error(lines: &mut Lines, x: &str, float: Float) -> String {
    const MIDDLE: [f64; 9] = [
        2.81022636e-08,
        3.43273939e-07,
        -3.5233877e-06,
        -4.39150654e-06,
        0.00021858087,
        -0.00125372503,
        -0.00417768164,
        0.246640727,
        1.50140941,
    ];
    const ENDS: [f64; 9] = [
        -0.000200214257,
        0.000100950558,
        0.00134934322,
        -0.00367342844,
        0.00573950773,
        -0.0076224613,
        0.00943887047,
        1.00167406,
        2.83297682,
    ];
    let t = float.text();
    let number = |lines: &mut Lines, value: f64| lines.value(format!("arith.constant {value:?} : {t}"));
    let op = |lines: &mut Lines, op: &str, operands: &[&str]| {
        lines.value(format!("{op} {} : {t}", operands.join(", ")))
    };
    let square = op(lines, ops::arith::MULF, &[x, x]);
    let minus = op(lines, ops::arith::NEGF, &[&square]);
    let log = Terms { lines, float }.log_plus_one(&minus);
    let w = op(lines, ops::arith::NEGF, &[&log]);
    let five = number(lines, 5.0);
    let middle = lines.value(format!("arith.cmpf olt, {w}, {five} : {t}"));
    let shift = number(lines, 2.5);
    let near = op(lines, ops::arith::SUBF, &[&w, &shift]);
    let shift = number(lines, 3.0);
    let root = op(lines, ops::math::SQRT, &[&w]);
    let far = op(lines, ops::arith::SUBF, &[&root, &shift]);
    let w = lines.value(format!("arith.select {middle}, {near}, {far} : {t}"));
    let mut sum = String::new();
    for (n, (a, b)) in MIDDLE.iter().zip(ENDS).enumerate() {
        let (a, b) = (number(lines, *a), number(lines, b));
        let term = lines.value(format!("arith.select {middle}, {a}, {b} : {t}"));
        sum = match n {
            0 => term,
            _ => {
                let product = op(lines, ops::arith::MULF, &[&sum, &w]);
                op(lines, ops::arith::ADDF, &[&product, &term])
            }
        };
    }
    let mut value = op(lines, ops::arith::MULF, &[&sum, x]);
    if float == Float::F64 {
        for _ in 0..2 {
            // y - (erf(y) - x) · √π/2 · exp(y²)
            let error = op(lines, ops::math::ERF, &[&value]);
            let error = op(lines, ops::arith::SUBF, &[&error, x]);
            let half = number(lines, 0.886_226_925_452_758);
            let square = op(lines, ops::arith::MULF, &[&value, &value]);
            let steep = op(lines, ops::math::EXP, &[&square]);
            let step = op(lines, ops::arith::MULF, &[&error, &half]);
            let step = op(lines, ops::arith::MULF, &[&step, &steep]);
            value = op(lines, ops::arith::SUBF, &[&value, &step]);
        }
    }
    let size = op(lines, ops::math::ABSF, &[x]);
    let one = number(lines, 1.0);
    let end = lines.value(format!("arith.cmpf oeq, {size}, {one} : {t}"));
    let infinity = Terms { lines, float }.infinity();
    let infinity = op(lines, ops::math::COPYSIGN, &[&infinity, x]);
    lines.value(format!("arith.select {end}, {infinity}, {value} : {t}"))
}
