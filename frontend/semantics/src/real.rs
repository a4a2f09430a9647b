// SPDX-License-Identifier: Apache-2.0
//! Real operations in f64, and at run-time width (f32).
//!
//! Transcendental functions come from a portable implementation, so that compile-time values and the reference
//! evaluator agree on every machine.

use crate::numbers::RealType;
use crate::op::ScalarOp;

/// Rounds to run-time width: f32.
#[inline]
pub fn narrow(x: f64) -> f64 {
    f64::from(x as f32)
}

/// `x - y * floor(x / y)` without intermediate rounding (errata 4): the remainder with the sign of `y`, rounded once. A
/// remainder of zero is `+0`; a remainder by zero or of an infinite number is NaN.
pub fn modulo(x: f64, y: f64) -> f64 {
    let remainder = x % y;
    let differ = remainder != 0.0 && (remainder < 0.0) != (y < 0.0);
    remainder + if differ { y } else { 0.0 }
}

/// The lesser of two numbers; NaN if an operand is NaN. `min(-0, +0)` is `-0` (errata 6).
pub fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// The greater of two numbers; NaN if an operand is NaN. `max(-0, +0)` is `+0` (errata 6).
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

/// -1, 1, or the operand itself for ±0 and NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// NaN below 1, where the portable implementation returns numbers.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// A unary operation on real numbers in f64; `None` for other operations.
pub fn unary(op: ScalarOp) -> Option<fn(f64) -> f64> {
    Some(match op {
        ScalarOp::Neg => |x| -x,
        ScalarOp::Abs => f64::abs,
        ScalarOp::Sign => sign,
        ScalarOp::Sqrt => libm::sqrt,
        ScalarOp::Exp => libm::exp,
        ScalarOp::Log => libm::log,
        ScalarOp::Sin => libm::sin,
        ScalarOp::Cos => libm::cos,
        ScalarOp::Tan => libm::tan,
        ScalarOp::Asin => libm::asin,
        ScalarOp::Acos => libm::acos,
        ScalarOp::Atan => libm::atan,
        ScalarOp::Sinh => libm::sinh,
        ScalarOp::Cosh => libm::cosh,
        ScalarOp::Tanh => libm::tanh,
        ScalarOp::Asinh => libm::asinh,
        ScalarOp::Acosh => acosh,
        ScalarOp::Atanh => libm::atanh,
        ScalarOp::Erf => libm::erf,
        ScalarOp::Round => f64::round,
        ScalarOp::Floor => f64::floor,
        ScalarOp::Ceil => f64::ceil,
        ScalarOp::Frac => |x| x - x.trunc(),
        _ => return None,
    })
}

/// A binary operation on real numbers with a real result, in f64; `None` for other operations.
pub fn binary(op: ScalarOp) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        ScalarOp::Add => |a, b| a + b,
        ScalarOp::Sub => |a, b| a - b,
        ScalarOp::Mul => |a, b| a * b,
        ScalarOp::Div => |a, b| a / b,
        ScalarOp::CeilDiv => |a, b| (a / b).ceil(),
        ScalarOp::Mod => modulo,
        ScalarOp::Pow => libm::pow,
        ScalarOp::Min => minimum,
        ScalarOp::Max => maximum,
        _ => return None,
    })
}

/// [`binary`] as a step of a formula with reals of this type.
pub fn binary_of(op: ScalarOp, real: RealType) -> Option<fn(f64, f64) -> f64> {
    match real {
        RealType::F64 => binary(op),
        _ => binary_f32(op),
    }
}

/// [`binary`] at run-time width: operands are f32 values, every step rounds to f32.
///
/// One f64 step rounded to f32 is the correctly rounded f32 result for `+ - * /` and square root; operations of several
/// steps round after each step.
pub(crate) fn binary_f32(op: ScalarOp) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        ScalarOp::Add => |a, b| narrow(a + b),
        ScalarOp::Sub => |a, b| narrow(a - b),
        ScalarOp::Mul => |a, b| narrow(a * b),
        ScalarOp::Div => |a, b| narrow(a / b),
        ScalarOp::CeilDiv => |a, b| narrow(a / b).ceil(),
        ScalarOp::Mod => |a, b| narrow(modulo(a, b)),
        ScalarOp::Pow => |a, b| narrow(libm::pow(a, b)),
        ScalarOp::Min => minimum,
        ScalarOp::Max => maximum,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erf_agrees_with_published_values() {
        // Abramowitz and Stegun, table 7.1.
        let erf = unary(ScalarOp::Erf).unwrap();
        assert!((erf(0.5) - 0.520_499_877_8).abs() < 1e-10);
        assert!((erf(1.0) - 0.842_700_792_9).abs() < 1e-10);
        assert!((erf(-2.0) + 0.995_322_265_0).abs() < 1e-10);
    }

    #[test]
    fn ceil_division_rounds_the_quotient_to_single_precision_first() {
        // In f64 the quotient of these two lies just above 7.
        let single = binary_f32(ScalarOp::CeilDiv).unwrap();
        let (a, b) = (f64::from(0.7f32), f64::from(0.1f32));
        assert_eq!(single(a, b), f64::from((0.7f32 / 0.1f32).ceil()));
    }
}
