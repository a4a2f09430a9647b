// SPDX-License-Identifier: Apache-2.0
//! The StableHLO form of each operation.

use crate::op::ScalarOp;
use crate::scalar::ScalarKind;

/// The StableHLO form of an operation on operands of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StableHlo {
    /// One op of this name with the same meaning.
    Named(&'static str),
    /// `compare` with this direction.
    Compare(&'static str),
    /// Several ops, those of [`ScalarOp::lowering`].
    Composed,
}

impl ScalarOp {
    /// The StableHLO form for operands of `kind` (of the two values, for `Select`).
    ///
    /// Integer division is expanded, because StableHLO's truncates and leaves division by zero to the implementation;
    /// so are casts from real to int, which are undefined out of range. `tan` is newer than the oldest version for
    /// which portable artifacts are written.
    pub fn stablehlo(self, kind: ScalarKind) -> StableHlo {
        use StableHlo::{Compare, Composed, Named};
        let real = kind == ScalarKind::Real;
        match self {
            ScalarOp::Add => Named("add"),
            ScalarOp::Sub => Named("subtract"),
            ScalarOp::Mul => Named("multiply"),
            ScalarOp::Div if real => Named("divide"),
            ScalarOp::Pow if real => Named("power"),
            ScalarOp::Min => Named("minimum"),
            ScalarOp::Max => Named("maximum"),
            ScalarOp::Neg => Named("negate"),
            ScalarOp::Abs => Named("abs"),
            ScalarOp::Sign => Named("sign"),
            ScalarOp::Lt => Compare("LT"),
            ScalarOp::Le => Compare("LE"),
            ScalarOp::Gt => Compare("GT"),
            ScalarOp::Ge => Compare("GE"),
            ScalarOp::Eq => Compare("EQ"),
            ScalarOp::Ne => Compare("NE"),
            ScalarOp::And => Named("and"),
            ScalarOp::Or => Named("or"),
            ScalarOp::Xor => Named("xor"),
            ScalarOp::Not => Named("not"),
            ScalarOp::Sqrt => Named("sqrt"),
            ScalarOp::Exp => Named("exponential"),
            ScalarOp::Log => Named("log"),
            ScalarOp::Sin => Named("sine"),
            ScalarOp::Cos => Named("cosine"),
            ScalarOp::Tanh => Named("tanh"),
            ScalarOp::Round => Named("round_nearest_afz"),
            ScalarOp::Floor => Named("floor"),
            ScalarOp::Ceil => Named("ceil"),
            ScalarOp::ToReal => Named("convert"),
            ScalarOp::ToInt | ScalarOp::ToBool if !real => Named("convert"),
            ScalarOp::Select => Named("select"),
            _ => Composed,
        }
    }
}
