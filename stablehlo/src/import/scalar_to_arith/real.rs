// SPDX-License-Identifier: Apache-2.0
//! Converts operations on floats, computed in f32 or f64.

use crate::import::terms::Real;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{Builder, ops};

/// Operations on f32 or f64. The result has the same type, except for predicates such as `is_finite`.
pub(super) fn of_reals<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    operands: [Value<'c, 'a>; 2],
) -> Option<Value<'c, 'a>> {
    let [x, y] = operands.map(|value| Real { at: *at, value });
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
        return Some(x.apply(unary, &[]).value);
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
        return Some(x.apply(binary, &[y]).value);
    }
    Some(match name {
        "real" => x.value,
        "imag" => x.constant(0.0).value,
        "exponential_minus_one" => x.exp_minus_one().value,
        "log_plus_one" => x.log_plus_one().value,
        "logistic" => (1.0 / ((-x).exp() + 1.0)).value,
        // Zeros keep their sign; NaN is unchanged.
        "sign" => x.is(Reals::EqualOrUnordered, 0.0).select(x, x.constant(1.0).copysign(x)).value,
        "is_finite" => x.abs().is(Reals::Less, x.infinity()).value,
        _ => return None,
    })
}
