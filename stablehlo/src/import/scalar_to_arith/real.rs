// SPDX-License-Identifier: Apache-2.0
//! Floating-point numbers, in f32 or f64.

use super::Scalar;
use crate::import::element::Float;
use crate::import::terms::Terms;
use skript_passes::ir::ops;

/// Operations with operands of type `float`; the result has that type too, except for tests.
pub(super) fn of_reals(s: &mut Scalar, name: &str, float: Float) -> Option<String> {
    let t = float.text();
    let x = s.operand(0).to_owned();
    let y = s.operand(1).to_owned();
    let unary = match name {
        "abs" => ops::math::ABSF,
        "ceil" => ops::math::CEIL,
        "floor" => ops::math::FLOOR,
        "round_nearest_afz" => ops::math::ROUND,
        "round_nearest_even" => ops::math::ROUNDEVEN,
        "cosine" => ops::math::COS,
        "sine" => ops::math::SIN,
        "tan" => ops::math::TAN,
        "tanh" => ops::math::TANH,
        "exponential" => ops::math::EXP,
        "log" => ops::math::LOG,
        "sqrt" => ops::math::SQRT,
        "rsqrt" => ops::math::RSQRT,
        "cbrt" => ops::math::CBRT,
        "negate" => ops::arith::NEGF,
        _ => "",
    };
    if !unary.is_empty() {
        return Some(s.apply(unary, &[&x], t));
    }
    let binary = match name {
        "add" => ops::arith::ADDF,
        "subtract" => ops::arith::SUBF,
        "multiply" => ops::arith::MULF,
        "divide" => ops::arith::DIVF,
        "remainder" => ops::arith::REMF,
        "maximum" => ops::arith::MAXIMUMF,
        "minimum" => ops::arith::MINIMUMF,
        "power" => ops::math::POWF,
        "atan2" => ops::math::ATAN2,
        _ => "",
    };
    if !binary.is_empty() {
        return Some(s.apply(binary, &[&x, &y], t));
    }
    match name {
        "exponential_minus_one" => Some(terms(s, float).exp_minus_one(&x)),
        "log_plus_one" => Some(terms(s, float).log_plus_one(&x)),
        "real" => Some(x),
        "imag" => Some(s.real(0.0, t)),
        "logistic" => {
            let minus = s.apply(ops::arith::NEGF, &[&x], t);
            let power = s.apply(ops::math::EXP, &[&minus], t);
            let one = s.real(1.0, t);
            let sum = s.apply(ops::arith::ADDF, &[&power, &one], t);
            Some(s.apply(ops::arith::DIVF, &[&one, &sum], t))
        }
        "sign" => {
            // Zeros keep their sign, NaN stays.
            let zero = s.real(0.0, t);
            let one = s.real(1.0, t);
            let itself = s.value(format!("arith.cmpf ueq, {x}, {zero} : {t}"));
            let unit = s.apply(ops::math::COPYSIGN, &[&one, &x], t);
            Some(s.select(&itself, &x, &unit, t))
        }
        "is_finite" => {
            let size = s.apply(ops::math::ABSF, &[&x], t);
            let infinity = match float {
                Float::F64 => "0x7FF0000000000000",
                _ => "0x7F800000",
            };
            let infinity = s.value(format!("arith.constant {infinity} : {t}"));
            Some(s.value(format!("arith.cmpf olt, {size}, {infinity} : {t}")))
        }
        _ => None,
    }
}

fn terms(s: &mut Scalar, float: Float) -> Terms<'_> {
    let lines = &mut s.lines;
    Terms { lines, float }
}
