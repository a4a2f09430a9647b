//! Floating-point numbers, in f32 or f64.

use super::Scalar;
use crate::stablehlo::import::element::Float;
use crate::stablehlo::import::terms::Terms;

/// Operations whose operands are of type `float`; so is the result, except of tests.
pub(super) fn of_reals(s: &mut Scalar, name: &str, float: Float) -> Option<String> {
    let t = float.text();
    let x = s.operand(0).to_owned();
    let y = s.operand(1).to_owned();
    let unary = match name {
        "abs" => "math.absf",
        "ceil" => "math.ceil",
        "floor" => "math.floor",
        "round_nearest_afz" => "math.round",
        "round_nearest_even" => "math.roundeven",
        "cosine" => "math.cos",
        "sine" => "math.sin",
        "tan" => "math.tan",
        "tanh" => "math.tanh",
        "exponential" => "math.exp",
        "log" => "math.log",
        "sqrt" => "math.sqrt",
        "rsqrt" => "math.rsqrt",
        "cbrt" => "math.cbrt",
        "negate" => "arith.negf",
        _ => "",
    };
    if !unary.is_empty() {
        return Some(s.apply(unary, &[&x], t));
    }
    let binary = match name {
        "add" => "arith.addf",
        "subtract" => "arith.subf",
        "multiply" => "arith.mulf",
        "divide" => "arith.divf",
        "remainder" => "arith.remf",
        "maximum" => "arith.maximumf",
        "minimum" => "arith.minimumf",
        "power" => "math.powf",
        "atan2" => "math.atan2",
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
            let minus = s.apply("arith.negf", &[&x], t);
            let power = s.apply("math.exp", &[&minus], t);
            let one = s.real(1.0, t);
            let sum = s.apply("arith.addf", &[&power, &one], t);
            Some(s.apply("arith.divf", &[&one, &sum], t))
        }
        "sign" => {
            // Zeros keep their sign, NaN stays.
            let zero = s.real(0.0, t);
            let one = s.real(1.0, t);
            let itself = s.value(format!("arith.cmpf ueq, {x}, {zero} : {t}"));
            let unit = s.apply("math.copysign", &[&one, &x], t);
            Some(s.select(&itself, &x, &unit, t))
        }
        "is_finite" => {
            let size = s.apply("math.absf", &[&x], t);
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
