// SPDX-License-Identifier: Apache-2.0
//! One row per scalar operation: name in the dialect, operands, result.
//!
//! The meaning is in [`crate::eval`] and [`crate::checked`], the spelling in `arith`/`math` in [`crate::recipe`], the
//! StableHLO form in [`crate::stablehlo`]; all are keyed by [`ScalarOp`].

use crate::op::ScalarOp;
use crate::scalar::ScalarKind;

/// The operand kinds of an operation. All operands have one kind; `Select` has an additional bool condition first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// bool
    Logical,
    /// real
    Real,
    /// int, real
    Numeric,
    /// bool, int, real
    Any,
}

impl Domain {
    /// Whether operands of this kind are accepted.
    pub fn contains(self, kind: ScalarKind) -> bool {
        match self {
            Domain::Logical => kind == ScalarKind::Bool,
            Domain::Real => kind == ScalarKind::Real,
            Domain::Numeric => kind != ScalarKind::Bool,
            Domain::Any => true,
        }
    }
}

/// The kind of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// The kind of the operands (for `Select`: of the two values).
    Operand,
    /// The same kind for all operands.
    Fixed(ScalarKind),
}

/// Properties of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The operation.
    pub op: ScalarOp,
    /// Full name of the op in the dialect; the three casts share one.
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// The kinds of operands for which the operation is defined.
    pub domain: Domain,
    /// The kind of the result.
    pub result: ResultKind,
}

const SAME: ResultKind = ResultKind::Operand;
const BOOL: ResultKind = ResultKind::Fixed(ScalarKind::Bool);
const INT: ResultKind = ResultKind::Fixed(ScalarKind::Int);
const REAL: ResultKind = ResultKind::Fixed(ScalarKind::Real);

impl ScalarOp {
    /// All operations, in the order of the enum.
    pub const ALL: [ScalarOp; 47] = {
        use ScalarOp::*;
        [
            Add, Sub, Mul, Div, CeilDiv, Mod, Pow, Min, Max, Neg, Abs, Sign, Lt, Le, Gt, Ge, Eq, Ne, And, Or,
            Xor, Implies, Not, Sqrt, Exp, Log, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh,
            Acosh, Atanh, Erf, Round, Floor, Ceil, Frac, ToBool, ToInt, ToReal, Select,
        ]
    };

    /// The table.
    pub fn row(self) -> Row {
        use Domain::{Any, Logical, Numeric, Real};
        let (name, arity, domain, result) = match self {
            ScalarOp::Add => ("skript.add", 2, Numeric, SAME),
            ScalarOp::Sub => ("skript.sub", 2, Numeric, SAME),
            ScalarOp::Mul => ("skript.mul", 2, Numeric, SAME),
            ScalarOp::Div => ("skript.div", 2, Numeric, SAME),
            ScalarOp::CeilDiv => ("skript.ceildiv", 2, Numeric, SAME),
            ScalarOp::Mod => ("skript.mod", 2, Numeric, SAME),
            ScalarOp::Pow => ("skript.pow", 2, Numeric, SAME),
            ScalarOp::Min => ("skript.min", 2, Numeric, SAME),
            ScalarOp::Max => ("skript.max", 2, Numeric, SAME),
            ScalarOp::Neg => ("skript.neg", 1, Numeric, SAME),
            ScalarOp::Abs => ("skript.abs", 1, Numeric, SAME),
            ScalarOp::Sign => ("skript.sign", 1, Numeric, SAME),
            ScalarOp::Lt => ("skript.lt", 2, Any, BOOL),
            ScalarOp::Le => ("skript.le", 2, Any, BOOL),
            ScalarOp::Gt => ("skript.gt", 2, Any, BOOL),
            ScalarOp::Ge => ("skript.ge", 2, Any, BOOL),
            ScalarOp::Eq => ("skript.eq", 2, Any, BOOL),
            ScalarOp::Ne => ("skript.ne", 2, Any, BOOL),
            ScalarOp::And => ("skript.and", 2, Logical, BOOL),
            ScalarOp::Or => ("skript.or", 2, Logical, BOOL),
            ScalarOp::Xor => ("skript.xor", 2, Logical, BOOL),
            ScalarOp::Implies => ("skript.implies", 2, Logical, BOOL),
            ScalarOp::Not => ("skript.not", 1, Logical, BOOL),
            ScalarOp::Sqrt => ("skript.sqrt", 1, Real, SAME),
            ScalarOp::Exp => ("skript.exp", 1, Real, SAME),
            ScalarOp::Log => ("skript.log", 1, Real, SAME),
            ScalarOp::Sin => ("skript.sin", 1, Real, SAME),
            ScalarOp::Cos => ("skript.cos", 1, Real, SAME),
            ScalarOp::Tan => ("skript.tan", 1, Real, SAME),
            ScalarOp::Asin => ("skript.asin", 1, Real, SAME),
            ScalarOp::Acos => ("skript.acos", 1, Real, SAME),
            ScalarOp::Atan => ("skript.atan", 1, Real, SAME),
            ScalarOp::Sinh => ("skript.sinh", 1, Real, SAME),
            ScalarOp::Cosh => ("skript.cosh", 1, Real, SAME),
            ScalarOp::Tanh => ("skript.tanh", 1, Real, SAME),
            ScalarOp::Asinh => ("skript.asinh", 1, Real, SAME),
            ScalarOp::Acosh => ("skript.acosh", 1, Real, SAME),
            ScalarOp::Atanh => ("skript.atanh", 1, Real, SAME),
            ScalarOp::Erf => ("skript.erf", 1, Real, SAME),
            ScalarOp::Round => ("skript.round", 1, Real, SAME),
            ScalarOp::Floor => ("skript.floor", 1, Real, SAME),
            ScalarOp::Ceil => ("skript.ceil", 1, Real, SAME),
            ScalarOp::Frac => ("skript.frac", 1, Real, SAME),
            ScalarOp::ToBool => ("skript.cast", 1, Any, BOOL),
            ScalarOp::ToInt => ("skript.cast", 1, Any, INT),
            ScalarOp::ToReal => ("skript.cast", 1, Any, REAL),
            ScalarOp::Select => ("skript.select", 3, Any, SAME),
        };
        Row { op: self, name, arity, domain, result }
    }

    /// The op of the dialect without its prefix: `add`.
    pub fn mnemonic(self) -> &'static str {
        let name = self.row().name;
        name.strip_prefix("skript.").unwrap_or(name)
    }

    /// The result's kind for operands of these kinds; `None` if the operation does not accept them (2.4: expressions
    /// convert no kinds).
    pub fn result_kind(self, operands: &[ScalarKind]) -> Option<ScalarKind> {
        let row = self.row();
        if operands.len() != row.arity {
            return None;
        }
        let values = match self {
            ScalarOp::Select => match operands.split_first() {
                Some((ScalarKind::Bool, rest)) => rest,
                _ => return None,
            },
            _ => operands,
        };
        let (&first, rest) = values.split_first()?;
        if !row.domain.contains(first) || rest.iter().any(|&k| k != first) {
            return None;
        }
        Some(match row.result {
            ResultKind::Operand => first,
            ResultKind::Fixed(kind) => kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarKind::{Bool, Int, Real};

    #[test]
    fn all_lists_every_operation_once() {
        for (position, op) in ScalarOp::ALL.iter().enumerate() {
            assert_eq!(*op as usize, position);
        }
        assert_eq!(ScalarOp::Select as usize + 1, ScalarOp::ALL.len());
    }

    #[test]
    fn names_are_unique_but_for_casts() {
        let mut names: Vec<_> = ScalarOp::ALL.iter().map(|op| op.row().name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ScalarOp::ALL.len() - 2);
    }

    #[test]
    fn kinds_follow_section_2_4() {
        assert_eq!(ScalarOp::Add.result_kind(&[Int, Int]), Some(Int));
        assert_eq!(ScalarOp::Add.result_kind(&[Int, Real]), None);
        assert_eq!(ScalarOp::Add.result_kind(&[Bool, Bool]), None);
        assert_eq!(ScalarOp::Lt.result_kind(&[Real, Real]), Some(Bool));
        assert_eq!(ScalarOp::Sqrt.result_kind(&[Int]), None);
        assert_eq!(ScalarOp::ToInt.result_kind(&[Real]), Some(Int));
        assert_eq!(ScalarOp::Select.result_kind(&[Bool, Real, Real]), Some(Real));
        assert_eq!(ScalarOp::Select.result_kind(&[Int, Real, Real]), None);
    }
}
