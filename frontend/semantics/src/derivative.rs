// SPDX-License-Identifier: Apache-2.0
//! The derivative of each scalar operation, in operations of the language.
//!
//! An operation without derivatives in this table is piecewise constant, or its operands or its result are not real.
//! docs/gradients.md lists the values at kinks.

use crate::op::ScalarOp;
use crate::scalar::Scalar;
use std::fmt;

/// An expression over the operands and the result of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Derivative {
    /// An operand, by its position.
    Operand(usize),
    /// The result of the operation.
    Result,
    /// A real.
    Number(f64),
    /// An operation of the language.
    Apply(ScalarOp, Vec<Derivative>),
}

use Derivative::{Apply, Number, Operand, Result};

const A: Derivative = Operand(0);
const B: Derivative = Operand(1);

fn unary(op: ScalarOp, a: Derivative) -> Derivative {
    Apply(op, vec![a])
}

fn binary(op: ScalarOp, a: Derivative, b: Derivative) -> Derivative {
    Apply(op, vec![a, b])
}

fn add(a: Derivative, b: Derivative) -> Derivative {
    binary(ScalarOp::Add, a, b)
}

fn sub(a: Derivative, b: Derivative) -> Derivative {
    binary(ScalarOp::Sub, a, b)
}

fn mul(a: Derivative, b: Derivative) -> Derivative {
    binary(ScalarOp::Mul, a, b)
}

fn div(a: Derivative, b: Derivative) -> Derivative {
    binary(ScalarOp::Div, a, b)
}

fn neg(a: Derivative) -> Derivative {
    unary(ScalarOp::Neg, a)
}

fn select(condition: Derivative, a: Derivative, b: Derivative) -> Derivative {
    Apply(ScalarOp::Select, vec![condition, a, b])
}

/// 1 if the comparison of both operands holds, else 0.
fn indicator(op: ScalarOp) -> Derivative {
    select(binary(op, A, B), Number(1.0), Number(0.0))
}

impl ScalarOp {
    /// The partial derivative by an operand, for real operands; `None` if it is zero everywhere, or the operation has none.
    ///
    /// A tie of `Min` and `Max` belongs to the second operand, so that the derivative of `x >> 0.0` at 0 is 0.
    pub fn derivative(self, operand: usize) -> Option<Derivative> {
        Some(match (self, operand) {
            (ScalarOp::Add, _)
            | (ScalarOp::Sub, 0)
            | (ScalarOp::Mod | ScalarOp::Frac | ScalarOp::ToReal, 0) => Number(1.0),
            (ScalarOp::Sub, _) | (ScalarOp::Neg, _) => Number(-1.0),
            (ScalarOp::Mul, 0) => B,
            (ScalarOp::Mul, _) => A,
            (ScalarOp::Div, 0) => div(Number(1.0), B),
            (ScalarOp::Div, _) => neg(div(Result, B)),
            (ScalarOp::Mod, _) => neg(unary(ScalarOp::Floor, div(A, B))),
            (ScalarOp::Pow, 0) => {
                let power = binary(ScalarOp::Pow, A, sub(B, Number(1.0)));
                select(binary(ScalarOp::Eq, B, Number(0.0)), Number(0.0), mul(B, power))
            }
            (ScalarOp::Pow, _) => {
                let grown = mul(Result, unary(ScalarOp::Log, A));
                select(binary(ScalarOp::Eq, Result, Number(0.0)), Number(0.0), grown)
            }
            (ScalarOp::Min, 0) => indicator(ScalarOp::Lt),
            (ScalarOp::Min, _) => indicator(ScalarOp::Ge),
            (ScalarOp::Max, 0) => indicator(ScalarOp::Gt),
            (ScalarOp::Max, _) => indicator(ScalarOp::Le),
            (ScalarOp::Select, 1) => select(A, Number(1.0), Number(0.0)),
            (ScalarOp::Select, 2) => select(A, Number(0.0), Number(1.0)),
            (function, 0) => return function.slope(),
            _ => return None,
        })
    }

    /// The derivative of a function of one real.
    fn slope(self) -> Option<Derivative> {
        let one = || Number(1.0);
        let square = || mul(A, A);
        let root = |a| unary(ScalarOp::Sqrt, a);
        Some(match self {
            ScalarOp::Abs => unary(ScalarOp::Sign, A),
            ScalarOp::Sqrt => div(Number(0.5), Result),
            ScalarOp::Exp => Result,
            ScalarOp::Log => div(one(), A),
            ScalarOp::Sin => unary(ScalarOp::Cos, A),
            ScalarOp::Cos => neg(unary(ScalarOp::Sin, A)),
            ScalarOp::Tan => add(one(), mul(Result, Result)),
            ScalarOp::Asin => div(one(), root(sub(one(), square()))),
            ScalarOp::Acos => neg(div(one(), root(sub(one(), square())))),
            ScalarOp::Atan => div(one(), add(one(), square())),
            ScalarOp::Sinh => unary(ScalarOp::Cosh, A),
            ScalarOp::Cosh => unary(ScalarOp::Sinh, A),
            ScalarOp::Tanh => sub(one(), mul(Result, Result)),
            ScalarOp::Asinh => div(one(), root(add(square(), one()))),
            ScalarOp::Acosh => div(one(), root(sub(square(), one()))),
            ScalarOp::Atanh => div(one(), sub(one(), square())),
            ScalarOp::Erf => {
                let bell = unary(ScalarOp::Exp, neg(square()));
                mul(Number(std::f64::consts::FRAC_2_SQRT_PI), bell)
            }
            _ => return None,
        })
    }
}

impl Derivative {
    /// The value for these operands and this result, in f64.
    pub fn eval(&self, operands: &[Scalar], result: Scalar) -> Option<Scalar> {
        Some(match self {
            Operand(position) => *operands.get(*position)?,
            Result => result,
            Number(value) => Scalar::Real(*value),
            Apply(op, parts) => {
                let values: Option<Vec<Scalar>> =
                    parts.iter().map(|part| part.eval(operands, result)).collect();
                op.eval(&values?)
            }
        })
    }
}

/// The expression as functions: `mul(y, log(a))`; the operands are `a`, `b`, `c`, the result `y`.
impl fmt::Display for Derivative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand(0) => f.write_str("a"),
            Operand(1) => f.write_str("b"),
            Operand(_) => f.write_str("c"),
            Result => f.write_str("y"),
            Number(value) => write!(f, "{value:?}"),
            Apply(op, parts) => {
                let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
                write!(f, "{}({})", op.mnemonic(), parts.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarKind::Real;

    const STEP: f64 = 1e-6;

    /// The central difference by one operand.
    fn difference(op: ScalarOp, at: &[f64], operand: usize) -> f64 {
        let value = |shift: f64| {
            let moved = at.iter().enumerate();
            let moved: Vec<Scalar> =
                moved.map(|(n, x)| Scalar::Real(if n == operand { x + shift } else { *x })).collect();
            op.eval(&moved).to_real()
        };
        (value(STEP) - value(-STEP)) / (2.0 * STEP)
    }

    fn derivative(op: ScalarOp, at: &[f64], operand: usize) -> f64 {
        let operands: Vec<Scalar> = at.iter().copied().map(Scalar::Real).collect();
        let value = op.derivative(operand).and_then(|d| d.eval(&operands, op.eval(&operands)));
        value.map_or(0.0, Scalar::to_real)
    }

    #[test]
    fn derivatives_are_the_limits_of_differences() {
        for op in ScalarOp::ALL {
            let row = op.row();
            let kinds = vec![Real; row.arity];
            if op.result_kind(&kinds) != Some(Real) {
                continue;
            }
            let points: &[[f64; 2]] = match op {
                ScalarOp::Acosh => &[[1.7, 0.0], [3.2, 0.0]],
                _ => &[[0.3, 0.8], [0.7, 0.4], [0.45, 2.3]],
            };
            for point in points {
                let at = point.get(..row.arity).unwrap();
                for operand in 0..row.arity {
                    let (found, expected) = (derivative(op, at, operand), difference(op, at, operand));
                    assert!((found - expected).abs() < 1e-7, "{op:?} {at:?} {operand}: {found} {expected}");
                }
            }
        }
    }

    /// The table of docs/gradients.md.
    #[test]
    fn derivatives_at_kinks_are_documented() {
        assert_eq!(derivative(ScalarOp::Max, &[0.0, 0.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Max, &[0.0, 0.0], 1), 1.0);
        assert_eq!(derivative(ScalarOp::Min, &[0.0, 0.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Min, &[0.0, 0.0], 1), 1.0);
        assert_eq!(derivative(ScalarOp::Abs, &[0.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Sqrt, &[0.0], 0), f64::INFINITY);
        assert_eq!(derivative(ScalarOp::Pow, &[0.0, 0.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Pow, &[0.0, 2.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Pow, &[0.0, 2.0], 1), 0.0);
        assert_eq!(derivative(ScalarOp::Floor, &[1.0], 0), 0.0);
        assert_eq!(derivative(ScalarOp::Sign, &[0.0], 0), 0.0);
    }

    #[test]
    fn expressions_are_printed_as_functions() {
        let text = |op: ScalarOp, operand| op.derivative(operand).map(|d| d.to_string());
        assert_eq!(text(ScalarOp::Sqrt, 0).as_deref(), Some("div(0.5, y)"));
        assert_eq!(text(ScalarOp::Div, 1).as_deref(), Some("neg(div(y, b))"));
        assert_eq!(text(ScalarOp::Round, 0), None);
    }
}
