// SPDX-License-Identifier: Apache-2.0
//! Scalar values and their kinds.

use std::fmt;

/// The kind of a tensor element or of a scalar in a formula (SkriptND 2.3).
///
/// `Int` is 64-bit two's complement with wrapping arithmetic at run time (an overflow of a compile-time
/// expression is a diagnostic); `Real` is an IEEE float, f64 at compile time. [`crate::Numbers`] are the storage
/// types of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarKind {
    /// A truth value.
    Bool,
    /// A signed integer; i64 in formulas.
    Int,
    /// A floating-point number.
    Real,
}

impl ScalarKind {
    /// The name of the kind in the language.
    pub fn name(self) -> &'static str {
        match self {
            ScalarKind::Bool => "bool",
            ScalarKind::Int => "int",
            ScalarKind::Real => "real",
        }
    }

    /// The default value `T()` of the kind (2.4).
    pub fn default_value(self) -> Scalar {
        match self {
            ScalarKind::Bool => Scalar::Bool(false),
            ScalarKind::Int => Scalar::Int(0),
            ScalarKind::Real => Scalar::Real(0.0),
        }
    }
}

/// One scalar value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer, before it is stored in the storage type.
    Int(i64),
    /// A real, in f64 whatever the storage type is.
    Real(f64),
}

impl Scalar {
    /// The kind of the value.
    pub fn kind(self) -> ScalarKind {
        match self {
            Scalar::Bool(_) => ScalarKind::Bool,
            Scalar::Int(_) => ScalarKind::Int,
            Scalar::Real(_) => ScalarKind::Real,
        }
    }
}

/// The literal in the language: a real always has a point, an exponent, or is `inf` or `nan`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => write!(f, "{b}"),
            Scalar::Int(i) => write!(f, "{i}"),
            Scalar::Real(r) if r.is_nan() => f.write_str("nan"),
            Scalar::Real(r) => write!(f, "{r:?}"),
        }
    }
}
