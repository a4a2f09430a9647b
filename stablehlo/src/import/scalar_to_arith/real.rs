// SPDX-License-Identifier: Apache-2.0
//! Converts operations on floats, computed in f32 or f64.

use super::Scalar;
use crate::import::element::Float;
use crate::import::terms::Terms;
use skript_passes::ir::ops;

/// Operations with operands of type `float`. The result has the same type, except for predicates such as `is_finite`.
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
        "real" => return Some(x),
        "imag" => return Some(s.real(0.0, t)),
        _ => {}
    }
    Terms::append(&mut s.lines, float, |terms| {
        let x = terms.named(x);
        Some(match name {
            "exponential_minus_one" => x.exp_minus_one().name(),
            "log_plus_one" => x.log_plus_one().name(),
            "logistic" => (1.0 / ((-x).exp() + 1.0)).name(),
            // Zeros keep their sign; NaN is unchanged.
            "sign" => x.is("ueq", 0.0).select(x, x.constant(1.0).copysign(x)).name(),
            "is_finite" => x.abs().is("olt", x.infinity()).name(),
            _ => return None,
        })
    })
}
