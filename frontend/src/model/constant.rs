//! Values of constant tensors.

use skript_semantics::{Scalar, ScalarKind};

/// Row-major elements of a constant, or one value for all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantData {
    Splat(Scalar),
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Real(Vec<f64>),
}

impl ConstantData {
    pub fn kind(&self) -> ScalarKind {
        match self {
            ConstantData::Splat(s) => s.kind(),
            ConstantData::Bool(_) => ScalarKind::Bool,
            ConstantData::Int(_) => ScalarKind::Int,
            ConstantData::Real(_) => ScalarKind::Real,
        }
    }
}
