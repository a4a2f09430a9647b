// SPDX-License-Identifier: Apache-2.0
//! The operations at compile time, which reject inputs that are defined only at run time (errata 4, 7, 18).

use crate::op::ScalarOp;
use crate::scalar::{Scalar, ScalarKind};

/// Why a compile-time operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Undefined {
    /// The integer result needs more than 64 bits.
    Overflow,
    /// Integer division or modulo by zero, or zero to a negative power.
    DivisionByZero,
    /// Operands that [`ScalarOp::result_kind`] rejects.
    Operands,
}

impl ScalarOp {
    /// The result of a compile-time operation. Operands must have the kinds that the operation accepts.
    ///
    /// # Errors
    /// [`Undefined`] where the operation has no value, such as a division by zero or an integer overflow.
    pub fn checked_eval(self, operands: &[Scalar]) -> Result<Scalar, Undefined> {
        // Arity is at most three, so no allocation is needed for the kinds.
        let mut kinds = [ScalarKind::Bool; 3];
        if operands.len() > kinds.len() {
            return Err(Undefined::Operands);
        }
        for (kind, operand) in kinds.iter_mut().zip(operands) {
            *kind = operand.kind();
        }
        let kinds = kinds.get(..operands.len()).ok_or(Undefined::Operands)?;
        self.result_kind(kinds).ok_or(Undefined::Operands)?;
        match operands {
            [Scalar::Int(a), Scalar::Int(b)] => check_binary(self, *a, *b)?,
            [Scalar::Int(i64::MIN)] if matches!(self, ScalarOp::Neg | ScalarOp::Abs) => {
                return Err(Undefined::Overflow);
            }
            _ => {}
        }
        Ok(self.eval(operands))
    }
}

fn check_binary(op: ScalarOp, a: i64, b: i64) -> Result<(), Undefined> {
    let overflow = match op {
        ScalarOp::Add => a.checked_add(b).is_none(),
        ScalarOp::Sub => a.checked_sub(b).is_none(),
        ScalarOp::Mul => a.checked_mul(b).is_none(),
        ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod if b == 0 => {
            return Err(Undefined::DivisionByZero);
        }
        ScalarOp::Div | ScalarOp::CeilDiv => a.checked_div(b).is_none(),
        ScalarOp::Pow if a == 0 && b < 0 => return Err(Undefined::DivisionByZero),
        ScalarOp::Pow => power_overflows(a, b),
        _ => false,
    };
    if overflow { Err(Undefined::Overflow) } else { Ok(()) }
}

fn power_overflows(base: i64, exponent: i64) -> bool {
    if matches!(base, -1..=1) || exponent < 0 {
        return false;
    }
    u32::try_from(exponent).map_or(true, |e| base.checked_pow(e).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scalar::{Int, Real};

    #[test]
    fn overflow_and_division_by_zero_differ() {
        let check = |op: ScalarOp, a, b| op.checked_eval(&[Int(a), Int(b)]);
        assert_eq!(check(ScalarOp::Add, i64::MAX, 1), Err(Undefined::Overflow));
        assert_eq!(check(ScalarOp::Div, i64::MIN, -1), Err(Undefined::Overflow));
        assert_eq!(check(ScalarOp::Mod, i64::MIN, -1), Ok(Int(0)));
        assert_eq!(check(ScalarOp::Mod, 1, 0), Err(Undefined::DivisionByZero));
        assert_eq!(check(ScalarOp::CeilDiv, 1, 0), Err(Undefined::DivisionByZero));
        assert_eq!(check(ScalarOp::Pow, 0, -1), Err(Undefined::DivisionByZero));
        assert_eq!(check(ScalarOp::Pow, 2, 63), Err(Undefined::Overflow));
        assert_eq!(check(ScalarOp::Pow, -2, 63), Ok(Int(i64::MIN)));
        assert_eq!(check(ScalarOp::Pow, -1, i64::MAX), Ok(Int(-1)));
        assert_eq!(check(ScalarOp::Pow, 2, i64::MAX), Err(Undefined::Overflow));
        assert_eq!(ScalarOp::Neg.checked_eval(&[Int(i64::MIN)]), Err(Undefined::Overflow));
    }

    #[test]
    fn kinds_are_not_mixed() {
        assert_eq!(ScalarOp::Add.checked_eval(&[Int(1), Real(1.5)]), Err(Undefined::Operands));
        assert_eq!(ScalarOp::Add.checked_eval(&[Int(1)]), Err(Undefined::Operands));
        assert_eq!(ScalarOp::Div.checked_eval(&[Real(1.0), Real(0.0)]), Ok(Real(f64::INFINITY)));
    }
}
