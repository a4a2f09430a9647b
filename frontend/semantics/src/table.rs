// SPDX-License-Identifier: Apache-2.0
//! The row of a scalar operation: its name in the dialect, its operands and its result.

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

impl ResultKind {
    fn accepts(self, kind: ScalarKind) -> bool {
        self == ResultKind::Operand || self == ResultKind::Fixed(kind)
    }
}

/// Properties of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The operation.
    pub op: ScalarOp,
    /// Full name of the op in the dialect; the three casts share one name.
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// The kinds of operands for which the operation is defined.
    pub domain: Domain,
    /// The kind of the result.
    pub result: ResultKind,
}

impl ScalarOp {
    /// The operation that an op of the dialect with this name computes, for results of this kind.
    pub fn from_name(name: &str, result: ScalarKind) -> Option<ScalarOp> {
        let computes = |row: Row| row.name == name && row.result.accepts(result);
        ScalarOp::ALL.into_iter().find(|op| computes(op.row()))
    }

    /// Whether the operation is a power or a transcendental function.
    pub fn is_transcendental(self) -> bool {
        self == ScalarOp::Pow || (ScalarOp::Exp..=ScalarOp::Erf).contains(&self)
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
