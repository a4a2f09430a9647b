// SPDX-License-Identifier: Apache-2.0
//! Elements of the tensors that a formula writes.

use crate::error::EvalError;
use skript_frontend::model::Accumulation;
use skript_semantics::{Numbers, Scalar, ScalarKind, real};
use skript_tensor::{ElementType, Tensor, TensorError, shape};

/// Reals are f64 so that sums are accurate until [`Elements::round`]; all other real values here have the compute type.
pub(super) enum Elements {
    Real(Vec<f64>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

impl Elements {
    pub(super) fn filled(
        kind: ScalarKind,
        extents: &[u64],
        value: Scalar,
        numbers: Numbers,
    ) -> Result<Elements, EvalError> {
        let too_large = || TensorError::TooLarge {
            element: ElementType::for_kind(kind, numbers),
            shape: extents.to_vec(),
        };
        let volume = shape::byte_length(ElementType::F64, extents).ok_or_else(too_large)? / 8;
        let mut elements = match kind {
            ScalarKind::Real => Elements::Real(reserved(volume).ok_or_else(too_large)?),
            ScalarKind::Int => Elements::Int(reserved(volume).ok_or_else(too_large)?),
            ScalarKind::Bool => Elements::Bool(reserved(volume).ok_or_else(too_large)?),
        };
        match &mut elements {
            Elements::Real(v) => v.resize(volume, numbers.narrow(value.to_real())),
            Elements::Int(v) => v.resize(volume, value.to_int()),
            Elements::Bool(v) => v.resize(volume, value.to_bool()),
        }
        Ok(elements)
    }

    pub(super) fn fill(&mut self, value: Scalar, numbers: Numbers) {
        match self {
            Elements::Real(v) => v.fill(numbers.narrow(value.to_real())),
            Elements::Int(v) => v.fill(value.to_int()),
            Elements::Bool(v) => v.fill(value.to_bool()),
        }
    }

    /// Combines an element with a value; a position out of bounds is ignored, because it was checked before.
    pub(crate) fn combine(&mut self, position: usize, kind: Accumulation, value: Scalar, numbers: Numbers) {
        match self {
            Elements::Real(v) => {
                if let (Some(element), Scalar::Real(x)) = (v.get_mut(position), value) {
                    *element = match kind {
                        Accumulation::Sum => *element + x,
                        Accumulation::Product => numbers.narrow(*element * x),
                        Accumulation::Min => real::minimum(*element, x),
                        Accumulation::Max => real::maximum(*element, x),
                        _ => x,
                    };
                }
            }
            Elements::Int(v) => {
                if let (Some(element), Scalar::Int(i)) = (v.get_mut(position), value) {
                    *element = match kind {
                        Accumulation::Sum => element.wrapping_add(i),
                        Accumulation::Product => element.wrapping_mul(i),
                        Accumulation::Min => (*element).min(i),
                        Accumulation::Max => (*element).max(i),
                        _ => i,
                    };
                }
            }
            Elements::Bool(v) => {
                if let (Some(element), Scalar::Bool(b)) = (v.get_mut(position), value) {
                    *element = match kind {
                        Accumulation::All => *element && b,
                        Accumulation::Any => *element || b,
                        _ => b,
                    };
                }
            }
        }
    }

    /// Rounds reals to the compute type, after a sum.
    pub(super) fn round(&mut self, numbers: Numbers) {
        if let Elements::Real(v) = self {
            for x in v {
                *x = numbers.narrow(*x);
            }
        }
    }

    /// Rounds each value to the nearest element of the type.
    pub(crate) fn into_tensor(self, element: ElementType, extents: &[u64]) -> Result<Tensor, EvalError> {
        Ok(match self {
            Elements::Real(v) => Tensor::from_scalars(element, extents, v.into_iter().map(Scalar::Real))?,
            Elements::Int(v) => Tensor::from_scalars(element, extents, v.into_iter().map(Scalar::Int))?,
            Elements::Bool(v) => Tensor::from_bool(extents, &v)?,
        })
    }
}

fn reserved<T>(volume: usize) -> Option<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(volume).ok()?;
    Some(elements)
}
