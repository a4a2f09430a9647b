// SPDX-License-Identifier: Apache-2.0
//! Values of constant tensors.

use skript_semantics::{Scalar, ScalarKind};

/// Row-major elements of a constant, or one value for all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantData {
    /// The same value for all elements.
    Splat(Scalar),
    /// Bools in row-major order.
    Bool(Vec<bool>),
    /// Ints in row-major order.
    Int(Vec<i64>),
    /// Reals in row-major order.
    Real(Vec<f64>),
}

impl ConstantData {
    /// The elements, or the common value of all of them.
    pub fn scalars(&self) -> Box<dyn Iterator<Item = Scalar> + '_> {
        match self {
            ConstantData::Splat(value) => Box::new(std::iter::once(*value)),
            ConstantData::Bool(values) => Box::new(values.iter().map(|b| Scalar::Bool(*b))),
            ConstantData::Int(values) => Box::new(values.iter().map(|i| Scalar::Int(*i))),
            ConstantData::Real(values) => Box::new(values.iter().map(|x| Scalar::Real(*x))),
        }
    }

    /// The kind of the elements.
    pub fn kind(&self) -> ScalarKind {
        match self {
            ConstantData::Splat(s) => s.kind(),
            ConstantData::Bool(_) => ScalarKind::Bool,
            ConstantData::Int(_) => ScalarKind::Int,
            ConstantData::Real(_) => ScalarKind::Real,
        }
    }
}
