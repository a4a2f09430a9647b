// SPDX-License-Identifier: Apache-2.0
//! The result of each operation for every input.
//!
//! Nothing is undefined: ints wrap, integer division by zero yields 0, casts saturate. Operands of several kinds
//! are converted to the widest among them (bool < int < real) and a missing operand is `false`, so that evaluation
//! is total; callers that need types check [`ScalarOp::result_kind`] first.

use crate::op::ScalarOp;
use crate::scalar::{Scalar, ScalarKind};
use crate::{integer, real};

impl Scalar {
    /// `!= 0`; NaN is true.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(b) => b,
            Scalar::Int(i) => i != 0,
            Scalar::Real(x) => x != 0.0,
        }
    }

    /// Truncates toward zero, saturates; NaN gives 0.
    pub fn to_int(self) -> i64 {
        match self {
            Scalar::Bool(b) => i64::from(b),
            Scalar::Int(i) => i,
            Scalar::Real(x) => integer::from_real(x),
        }
    }

    /// The nearest f64.
    pub fn to_real(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Real(x) => x,
        }
    }

    /// The value in another kind, by the rules of the casts.
    pub fn cast(self, kind: ScalarKind) -> Scalar {
        match kind {
            ScalarKind::Bool => Scalar::Bool(self.to_bool()),
            ScalarKind::Int => Scalar::Int(self.to_int()),
            ScalarKind::Real => Scalar::Real(self.to_real()),
        }
    }

    /// A real rounded to run-time width (f32); other kinds are unchanged.
    pub fn narrow(self) -> Scalar {
        match self {
            Scalar::Real(x) => Scalar::Real(real::narrow(x)),
            other => other,
        }
    }
}

impl ScalarOp {
    /// The result, reals in f64 (compile-time width).
    pub fn eval(self, operands: &[Scalar]) -> Scalar {
        evaluate(self, operands, false)
    }

    /// The result, reals in f32 (run-time width): operands are rounded first, and each step of the operation.
    pub fn eval_f32(self, operands: &[Scalar]) -> Scalar {
        let operands: Vec<Scalar> = operands.iter().map(|s| s.narrow()).collect();
        evaluate(self, &operands, true).narrow()
    }
}

fn operand(operands: &[Scalar], position: usize) -> Scalar {
    operands.get(position).copied().unwrap_or(Scalar::Bool(false))
}

fn evaluate(op: ScalarOp, operands: &[Scalar], single: bool) -> Scalar {
    let (a, b) = (operand(operands, 0), operand(operands, 1));
    match op {
        ScalarOp::ToBool => return Scalar::Bool(a.to_bool()),
        ScalarOp::ToInt => return Scalar::Int(a.to_int()),
        ScalarOp::ToReal => return Scalar::Real(a.to_real()),
        ScalarOp::Select => {
            return if a.to_bool() { b } else { operand(operands, 2) };
        }
        ScalarOp::And => return Scalar::Bool(a.to_bool() && b.to_bool()),
        ScalarOp::Or => return Scalar::Bool(a.to_bool() || b.to_bool()),
        ScalarOp::Xor => return Scalar::Bool(a.to_bool() != b.to_bool()),
        ScalarOp::Implies => return Scalar::Bool(!a.to_bool() || b.to_bool()),
        ScalarOp::Not => return Scalar::Bool(!a.to_bool()),
        _ => {}
    }
    let kind = match op.row().arity {
        1 => a.kind(),
        _ => a.kind().max(b.kind()),
    };
    if let Some(compare) = comparison(op) {
        let order = match kind {
            ScalarKind::Real => a.to_real().partial_cmp(&b.to_real()),
            _ => Some(a.to_int().cmp(&b.to_int())),
        };
        return Scalar::Bool(compare(order));
    }
    // Operations that accept only reals, or that have a real operand.
    if kind == ScalarKind::Real || real_only(op) {
        return Scalar::Real(real_value(op, a.to_real(), b.to_real(), single));
    }
    Scalar::Int(int_value(op, a.to_int(), b.to_int()))
}

/// The result of a comparison, given the ordering of the operands; `None` means unordered (a NaN).
pub(crate) fn comparison(op: ScalarOp) -> Option<fn(Option<std::cmp::Ordering>) -> bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    Some(match op {
        ScalarOp::Lt => |o| o == Some(Less),
        ScalarOp::Le => |o| matches!(o, Some(Less | Equal)),
        ScalarOp::Gt => |o| o == Some(Greater),
        ScalarOp::Ge => |o| matches!(o, Some(Greater | Equal)),
        ScalarOp::Eq => |o| o == Some(Equal),
        ScalarOp::Ne => |o| o != Some(Equal),
        _ => return None,
    })
}

fn real_only(op: ScalarOp) -> bool {
    op.row().domain == crate::table::Domain::Real
}

fn real_value(op: ScalarOp, a: f64, b: f64, single: bool) -> f64 {
    let two = if single { real::binary_f32(op) } else { real::binary(op) };
    match (two, real::unary(op)) {
        (Some(f), _) => f(a, b),
        (None, Some(f)) => f(a),
        (None, None) => f64::NAN,
    }
}

fn int_value(op: ScalarOp, a: i64, b: i64) -> i64 {
    match (integer::binary(op), integer::unary(op)) {
        (Some(f), _) => f(a, b),
        (None, Some(f)) => f(a),
        (None, None) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scalar::{Bool, Int, Real};

    fn int(op: ScalarOp, a: i64, b: i64) -> i64 {
        match op.eval(&[Int(a), Int(b)]) {
            Int(i) => i,
            other => panic!("{op:?} gives {other:?}"),
        }
    }

    #[test]
    fn integer_division_rounds_down_and_up() {
        let cases = [(7, 2, 3, 4, 1), (-7, 2, -4, -3, 1), (7, -2, -4, -3, -1), (-7, -2, 3, 4, -1)];
        for (a, b, down, up, rest) in cases {
            assert_eq!(int(ScalarOp::Div, a, b), down);
            assert_eq!(int(ScalarOp::CeilDiv, a, b), up);
            assert_eq!(int(ScalarOp::Mod, a, b), rest);
        }
        for op in [ScalarOp::Div, ScalarOp::CeilDiv, ScalarOp::Mod] {
            assert_eq!(int(op, 5, 0), 0);
        }
        assert_eq!(int(ScalarOp::Div, i64::MIN, -1), i64::MIN);
        assert_eq!(int(ScalarOp::CeilDiv, i64::MIN, -1), i64::MIN);
        assert_eq!(int(ScalarOp::Mod, i64::MIN, -1), 0);
    }

    #[test]
    fn integer_power_of_negative_exponents() {
        assert_eq!(int(ScalarOp::Pow, 3, 4), 81);
        assert_eq!(int(ScalarOp::Pow, -2, 3), -8);
        assert_eq!(int(ScalarOp::Pow, 2, -1), 0);
        assert_eq!(int(ScalarOp::Pow, 1, -5), 1);
        assert_eq!(int(ScalarOp::Pow, -1, -5), -1);
        assert_eq!(int(ScalarOp::Pow, -1, -4), 1);
        assert_eq!(int(ScalarOp::Pow, 0, -1), 0);
        assert_eq!(int(ScalarOp::Pow, 0, 0), 1);
        assert_eq!(int(ScalarOp::Pow, 3, 64), 3i64.wrapping_pow(64));
    }

    fn real(op: ScalarOp, a: f64, b: f64) -> f64 {
        match op.eval(&[Real(a), Real(b)]) {
            Real(x) => x,
            other => panic!("{op:?} gives {other:?}"),
        }
    }

    #[test]
    fn minimum_and_maximum_handle_nan_and_signed_zeros() {
        assert!(real(ScalarOp::Min, f64::NAN, 1.0).is_nan());
        assert!(real(ScalarOp::Max, 1.0, f64::NAN).is_nan());
        assert!(real(ScalarOp::Min, -0.0, 0.0).is_sign_negative());
        assert!(real(ScalarOp::Min, 0.0, -0.0).is_sign_negative());
        assert!(real(ScalarOp::Max, -0.0, 0.0).is_sign_positive());
        assert!(real(ScalarOp::Max, 0.0, -0.0).is_sign_positive());
        assert_eq!(real(ScalarOp::Min, 2.0, 1.0), 1.0);
        assert_eq!(real(ScalarOp::Max, 2.0, 1.0), 2.0);
    }

    #[test]
    fn nan_compares_unequal_to_all() {
        for op in [ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge, ScalarOp::Eq] {
            assert_eq!(op.eval(&[Real(f64::NAN), Real(f64::NAN)]), Bool(false), "{op:?}");
        }
        assert_eq!(ScalarOp::Ne.eval(&[Real(f64::NAN), Real(1.0)]), Bool(true));
    }

    #[test]
    fn casts_saturate() {
        assert_eq!(ScalarOp::ToInt.eval(&[Real(-2.7)]), Int(-2));
        assert_eq!(ScalarOp::ToInt.eval(&[Real(1e30)]), Int(i64::MAX));
        assert_eq!(ScalarOp::ToInt.eval(&[Real(f64::NEG_INFINITY)]), Int(i64::MIN));
        assert_eq!(ScalarOp::ToInt.eval(&[Real(f64::NAN)]), Int(0));
        assert_eq!(ScalarOp::ToBool.eval(&[Real(f64::NAN)]), Bool(true));
        assert_eq!(ScalarOp::ToReal.eval(&[Bool(true)]), Real(1.0));
    }

    #[test]
    fn rounding() {
        assert_eq!(ScalarOp::Round.eval(&[Real(-2.5)]), Real(-3.0));
        assert_eq!(ScalarOp::Round.eval(&[Real(0.5)]), Real(1.0));
        assert_eq!(ScalarOp::Frac.eval(&[Real(-1.25)]), Real(-0.25));
        assert!(matches!(ScalarOp::Sign.eval(&[Real(-0.0)]), Real(x) if x == 0.0 && x.is_sign_negative()));
        assert!(matches!(ScalarOp::Sign.eval(&[Real(f64::NAN)]), Real(x) if x.is_nan()));
        assert_eq!(real(ScalarOp::Mod, -7.0, 2.0), 1.0);
        assert_eq!(real(ScalarOp::CeilDiv, 7.0, 2.0), 4.0);
    }

    #[test]
    fn remainders_of_large_quotients_are_exact() {
        // Computed with integers: 10^10 mod 3, and 10^8 mod 7.
        assert_eq!(real(ScalarOp::Mod, 1e10, 3.0), 1.0);
        assert_eq!(real(ScalarOp::Mod, 1e8, 7.0), 2.0);
        assert_eq!(real(ScalarOp::Mod, -1e8, 7.0), 5.0);
        assert_eq!(real(ScalarOp::Mod, 1e8, -7.0), -5.0);
        assert_eq!(real(ScalarOp::Mod, 7.0, f64::INFINITY), 7.0);
        assert_eq!(real(ScalarOp::Mod, -7.0, f64::INFINITY), f64::INFINITY);
        assert!(real(ScalarOp::Mod, 7.0, 0.0).is_nan());
        assert!(real(ScalarOp::Mod, f64::INFINITY, 7.0).is_nan());
        assert!(real(ScalarOp::Mod, -8.0, 2.0).is_sign_positive());
    }

    #[test]
    fn false_is_below_true() {
        assert_eq!(ScalarOp::Lt.eval(&[Bool(false), Bool(true)]), Bool(true));
        assert_eq!(ScalarOp::Implies.eval(&[Bool(true), Bool(false)]), Bool(false));
    }
}
