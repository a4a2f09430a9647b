// SPDX-License-Identifier: Apache-2.0
//! The reason why a lowering does not support a formula.

use crate::structure::ReadError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The formula is valid, but only another lowering supports it.
    #[error("it {0}")]
    Shape(&'static str),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Build(#[from] melior::Error),
}

impl Refusal {
    pub(crate) const UNDEFINED_EXTENT: Refusal =
        Refusal::Shape("runs over a dynamic extent that no value defines");

    /// Whether another lowering may support the formula.
    pub(crate) fn is_of_shape(&self) -> bool {
        matches!(
            self,
            Refusal::Shape(_) | Refusal::Read(ReadError::DynamicExtent | ReadError::SeveralElements)
        )
    }
}
