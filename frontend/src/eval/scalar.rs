// SPDX-License-Identifier: Apache-2.0
//! Scalar operations at compile time: exact or refused (errata 4–7, 18).

use crate::program::Edition;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// Why a compile-time operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    DivisionByZero,
    Overflow,
    /// The operation does not accept operands of these kinds.
    Kinds,
}

/// The kind of an operation's result; `None` if it does not support the kinds of the operands.
pub(crate) fn result_kind(op: ScalarOp, kinds: &[ScalarKind]) -> Option<ScalarKind> {
    use ScalarKind::{Bool, Int, Real};
    use ScalarOp::*;
    let same = |allowed: &[ScalarKind]| match kinds {
        [a, b] if a == b && allowed.contains(a) => Some(*a),
        [a] if allowed.contains(a) => Some(*a),
        _ => None,
    };
    match op {
        Add | Sub | Mul | Div | CeilDiv | Mod | Pow | Min | Max | Neg | Abs | Sign => same(&[Int, Real]),
        Lt | Le | Gt | Ge | Eq | Ne => same(&[Bool, Int, Real]).map(|_| Bool),
        And | Or | Xor | Implies | Not => same(&[Bool]),
        Sqrt | Exp | Log | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh
        | Atanh | Erf | Round | Floor | Ceil | Frac => same(&[Real]),
        ToBool => Some(Bool),
        ToInt => Some(Int),
        ToReal => Some(Real),
        Select => match kinds {
            [Bool, a, b] if a == b => Some(*a),
            _ => None,
        },
    }
}

/// The value of `op` at compile time.
pub(crate) fn apply(op: ScalarOp, operands: &[Scalar], edition: Edition) -> Result<Scalar, Fault> {
    let kinds: Vec<ScalarKind> = operands.iter().map(|o| o.kind()).collect();
    if result_kind(op, &kinds).is_none() {
        return Err(Fault::Kinds);
    }
    match (op, operands) {
        (ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal, _) => Ok(op.eval(operands)),
        (_, [Scalar::Int(a)]) => unary_int(op, *a),
        (_, [Scalar::Int(a), Scalar::Int(b)]) => binary_int(op, *a, *b, edition),
        (ScalarOp::Mod, [Scalar::Real(a), Scalar::Real(b)]) if edition == Edition::Khronos => {
            Ok(Scalar::Real(a % b))
        }
        _ => Ok(op.eval(operands)),
    }
}

fn unary_int(op: ScalarOp, a: i64) -> Result<Scalar, Fault> {
    match op {
        ScalarOp::Neg => a.checked_neg(),
        ScalarOp::Abs => a.checked_abs(),
        ScalarOp::Sign => Some(a.signum()),
        _ => return Err(Fault::Kinds),
    }
    .map(Scalar::Int)
    .ok_or(Fault::Overflow)
}

fn binary_int(op: ScalarOp, a: i64, b: i64, edition: Edition) -> Result<Scalar, Fault> {
    use ScalarOp::*;
    let value = match op {
        Add => a.checked_add(b),
        Sub => a.checked_sub(b),
        Mul => a.checked_mul(b),
        Div | CeilDiv | Mod if b == 0 => return Err(Fault::DivisionByZero),
        Div | CeilDiv | Mod => divide(op, a, b, edition),
        Pow => return power(a, b).map(Scalar::Int),
        Min => Some(a.min(b)),
        Max => Some(a.max(b)),
        Lt => return Ok(Scalar::Bool(a < b)),
        Le => return Ok(Scalar::Bool(a <= b)),
        Gt => return Ok(Scalar::Bool(a > b)),
        Ge => return Ok(Scalar::Bool(a >= b)),
        Eq => return Ok(Scalar::Bool(a == b)),
        Ne => return Ok(Scalar::Bool(a != b)),
        _ => return Err(Fault::Kinds),
    };
    value.map(Scalar::Int).ok_or(Fault::Overflow)
}

/// Draft: `/` rounds down, `\` up, `%` has the divisor's sign. Edition khronos: toward zero, away from zero, the
/// dividend's sign.
fn divide(op: ScalarOp, a: i64, b: i64, edition: Edition) -> Option<i64> {
    // For INT_MIN and -1, only the quotient overflows.
    let remainder = a.wrapping_rem(b);
    let quotient = match op {
        ScalarOp::Mod => 0,
        _ => a.checked_div(b)?,
    };
    let exact = remainder == 0;
    let negative = (a < 0) != (b < 0);
    match (op, edition) {
        (ScalarOp::Mod, Edition::Draft6) if !exact && negative => remainder.checked_add(b),
        (ScalarOp::Mod, _) => Some(remainder),
        (ScalarOp::Div, Edition::Draft6) if !exact && negative => quotient.checked_sub(1),
        (ScalarOp::CeilDiv, _) if !exact && !negative => quotient.checked_add(1),
        (ScalarOp::CeilDiv, Edition::Khronos) if !exact => quotient.checked_sub(1),
        _ => Some(quotient),
    }
}

/// Errata 18: negative exponents give 0 except for bases 1 and −1; base 0 has no value.
fn power(base: i64, exponent: i64) -> Result<i64, Fault> {
    if exponent >= 0 {
        let exponent = match u32::try_from(exponent) {
            Ok(e) => e,
            // Only 0, 1 and −1 stay in range with such exponents; parity decides.
            Err(_) if matches!(base, -1..=1) => 2 + u32::from(exponent % 2 != 0),
            Err(_) => return Err(Fault::Overflow),
        };
        return base.checked_pow(exponent).ok_or(Fault::Overflow);
    }
    match base {
        0 => Err(Fault::DivisionByZero),
        1 => Ok(1),
        -1 => Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: ScalarOp, a: i64, b: i64) -> Result<Scalar, Fault> {
        apply(op, &[Scalar::Int(a), Scalar::Int(b)], Edition::Draft6)
    }

    #[test]
    fn errata_4_division_rounds_down_and_up() {
        assert_eq!(int(ScalarOp::Div, -7, 2), Ok(Scalar::Int(-4)));
        assert_eq!(int(ScalarOp::Div, 7, -2), Ok(Scalar::Int(-4)));
        assert_eq!(int(ScalarOp::CeilDiv, -5, 2), Ok(Scalar::Int(-2)));
        assert_eq!(int(ScalarOp::CeilDiv, 5, 2), Ok(Scalar::Int(3)));
        assert_eq!(int(ScalarOp::Mod, -7, 3), Ok(Scalar::Int(2)));
        assert_eq!(int(ScalarOp::Mod, 7, -3), Ok(Scalar::Int(-2)));
        assert_eq!(int(ScalarOp::Div, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(int(ScalarOp::Div, i64::MIN, -1), Err(Fault::Overflow));
        assert_eq!(int(ScalarOp::Mod, i64::MIN, -1), Ok(Scalar::Int(0)));
    }

    #[test]
    fn edition_khronos_divides_as_c_does() {
        let khronos = |op, a, b| apply(op, &[Scalar::Int(a), Scalar::Int(b)], Edition::Khronos);
        assert_eq!(khronos(ScalarOp::Div, -7, 2), Ok(Scalar::Int(-3)));
        assert_eq!(khronos(ScalarOp::CeilDiv, -5, 2), Ok(Scalar::Int(-3)));
        assert_eq!(khronos(ScalarOp::Mod, -7, 3), Ok(Scalar::Int(-1)));
        assert_eq!(khronos(ScalarOp::Mod, i64::MIN, -1), Ok(Scalar::Int(0)));
    }

    #[test]
    fn errata_18_powers() {
        assert_eq!(int(ScalarOp::Pow, 2, -1), Ok(Scalar::Int(0)));
        assert_eq!(int(ScalarOp::Pow, -1, -3), Ok(Scalar::Int(-1)));
        assert_eq!(int(ScalarOp::Pow, 0, -1), Err(Fault::DivisionByZero));
        assert_eq!(int(ScalarOp::Pow, -1, i64::MAX), Ok(Scalar::Int(-1)));
        assert_eq!(int(ScalarOp::Pow, 3, 64), Err(Fault::Overflow));
    }
}
