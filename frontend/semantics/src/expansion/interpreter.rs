// SPDX-License-Identifier: Apache-2.0
//! Evaluates expansions in tests; panics in the cases that a dialect leaves undefined.

use super::{Class, Emitter, Expansion, Operation};
use crate::op::ScalarOp;
use crate::scalar::Scalar;
use std::convert::Infallible;

/// Represents a value by its bits, in the low bits of an integer.
pub(super) struct Interpreter;

impl Expansion {
    /// The bits of the result for the bits of the arguments.
    pub(super) fn run(&self, arguments: &[u64]) -> u64 {
        let Ok(result) = self.emit(&mut Interpreter, arguments);
        result
    }

    /// The result for these arguments, as scalars.
    pub(super) fn value(&self, arguments: &[Scalar]) -> Scalar {
        let pairs = arguments.iter().zip(&self.arguments);
        let arguments: Vec<u64> = pairs.map(|(value, class)| class.encode(*value)).collect();
        self.result.1.decode(self.run(&arguments))
    }
}

impl Class {
    fn encode(self, value: Scalar) -> u64 {
        match (self, value) {
            (Class::F32, Scalar::Real(x)) => u64::from((x as f32).to_bits()),
            (Class::F64, Scalar::Real(x)) => x.to_bits(),
            (Class::Int(_) | Class::Index, Scalar::Int(i)) => i as u64 & u64::MAX >> (64 - self.width()),
            (Class::BOOL, Scalar::Bool(b)) => u64::from(b),
            _ => panic!("{value:?} is not of {self:?}"),
        }
    }

    fn decode(self, bits: u64) -> Scalar {
        match self {
            Class::BOOL => Scalar::Bool(bits == 1),
            Class::F32 => Scalar::Real(f64::from(f32::from_bits(bits as u32))),
            Class::F64 => Scalar::Real(f64::from_bits(bits)),
            Class::Int(_) | Class::Index => {
                let unused = 64 - self.width();
                Scalar::Int((bits << unused) as i64 >> unused)
            }
            Class::Real(_) => panic!("{self:?} is only converted"),
        }
    }
}

impl Emitter for Interpreter {
    type Value = u64;
    type Error = Infallible;

    fn constant(&mut self, number: Scalar, class: Class) -> Result<u64, Infallible> {
        if let (Class::F32, Scalar::Real(x)) = (class, number) {
            assert!(x.is_nan() || f64::from(x as f32) == x, "{x:e} is not a number of f32");
        }
        Ok(class.encode(number))
    }

    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(u64, Class)],
        class: Class,
    ) -> Result<u64, Infallible> {
        let value = |n: usize| operands[n].1.decode(operands[n].0);
        let bits = |n: usize| operands[n].0;
        let from = operands[0].1;
        let x = |n: usize| value(n).to_real();
        let int = |n: usize| value(n).to_int();
        let of_pair = |f: fn(f64, f64) -> f64| Scalar::Real(f(x(0), x(1)));
        Ok(class.encode(match operation {
            // Bitwise operations.
            Operation::Scalar(ScalarOp::And) => return Ok(bits(0) & bits(1)),
            Operation::Scalar(ScalarOp::Or) => return Ok(bits(0) | bits(1)),
            Operation::Scalar(ScalarOp::Xor) => return Ok(bits(0) ^ bits(1)),
            Operation::Scalar(ScalarOp::Select) => return Ok(if bits(0) == 1 { bits(1) } else { bits(2) }),
            Operation::Scalar(op) => {
                let values = [value(0), value(operands.len() - 1)];
                let values = &values[..operands.len()];
                check(op, values, from);
                if from == Class::F32 { op.eval_f32(values) } else { op.eval(values) }
            }
            Operation::Unsigned(ScalarOp::Lt) => Scalar::Bool(bits(0) < bits(1)),
            Operation::Unsigned(ScalarOp::Gt) => Scalar::Bool(bits(0) > bits(1)),
            Operation::Unsigned(ScalarOp::Ge) => Scalar::Bool(bits(0) >= bits(1)),
            Operation::Unsigned(ScalarOp::Mod) => return Ok(bits(0) % bits(1)),
            Operation::Unsigned(ScalarOp::ToInt) => return Ok(bits(0)),
            Operation::Unsigned(ScalarOp::ToReal) => Scalar::Real(bits(0) as f64),
            Operation::Unsigned(op) => panic!("{op:?} without signs"),
            Operation::Quotient => Scalar::Int(int(0).checked_div(int(1)).expect("defined")),
            Operation::Remainder if from.is_real() => of_pair(|a, b| a % b),
            Operation::Remainder => Scalar::Int(int(0).checked_rem(int(1)).expect("defined")),
            Operation::MultiplyAdd if from == Class::F32 => {
                let [a, b, c] = [0, 1, 2].map(|n| x(n) as f32);
                Scalar::Real(f64::from(a.mul_add(b, c)))
            }
            Operation::MultiplyAdd => Scalar::Real(x(0).mul_add(x(1), x(2))),
            Operation::CopySign => of_pair(f64::copysign),
            Operation::Trunc => Scalar::Real(x(0).trunc()),
            Operation::Atan2 => of_pair(libm::atan2),
            Operation::Expm1 => Scalar::Real(libm::expm1(x(0))),
            Operation::Log1p => Scalar::Real(libm::log1p(x(0))),
            Operation::ShiftLeft => Scalar::Int((bits(0) << bits(1)) as i64),
            Operation::ShiftRight => return Ok(bits(0) >> bits(1)),
            Operation::ShiftRightSigned => Scalar::Int(int(0) >> bits(1)),
            Operation::LessOrGreater => Scalar::Bool(x(0) < x(1) || x(0) > x(1)),
            Operation::Unordered => Scalar::Bool(x(0).is_nan() || x(1).is_nan()),
            Operation::Bits => return Ok(bits(0)),
            Operation::Convert if from.is_real() && !class.is_real() => {
                let whole = x(0).trunc();
                assert!((class.least() as f64..-(class.least() as f64)).contains(&whole), "poison: {whole}");
                Scalar::Int(whole as i64)
            }
            // An int is rounded once.
            Operation::Convert if class == Class::F32 && !from.is_real() => {
                Scalar::Real(f64::from(int(0) as f32))
            }
            Operation::Convert if class.is_real() => Scalar::Real(x(0)),
            Operation::Convert => Scalar::Int(int(0)),
            Operation::Scale => Scalar::Real(x(0) * 2f64.powi(int(1) as i32)),
        }))
    }

    fn repeat(
        &mut self,
        count: u64,
        first: &[(u64, Class)],
        body: &mut dyn FnMut(&mut Self, &[u64]) -> Result<Vec<u64>, Infallible>,
    ) -> Result<u64, Infallible> {
        let mut carried: Vec<u64> = first.iter().map(|(value, _)| *value).collect();
        for _ in 0..(count as i64).max(0) {
            carried = body(self, &carried)?;
        }
        Ok(carried[0])
    }
}

/// Panics where the operation is undefined in dialects.
fn check(op: ScalarOp, operands: &[Scalar], class: Class) {
    if let [Scalar::Int(a), Scalar::Int(b)] = operands {
        let is_division = matches!(op, ScalarOp::Div | ScalarOp::CeilDiv);
        let is_undefined = is_division && (*b == 0 || *a == class.least() && *b == -1)
            || op == ScalarOp::Pow && *b < 0
            || op == ScalarOp::Mod;
        assert!(!is_undefined, "{op:?} of {a} and {b}");
    }
}
