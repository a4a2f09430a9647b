//! Why a way of lowering does not take a formula.

use crate::structure::ReadError;

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not a matter of the formula's correctness: another way takes it.
    #[error("it {0}")]
    Shape(&'static str),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Build(#[from] melior::Error),
}

impl Refusal {
    /// Whether another way of lowering may take the formula.
    pub fn is_of_shape(&self) -> bool {
        matches!(
            self,
            Refusal::Shape(_)
                | Refusal::Read(ReadError::DynamicExtent | ReadError::SeveralElements)
        )
    }
}
