// SPDX-License-Identifier: Apache-2.0
//! Errors of tensors and their files.

use crate::element::ElementType;
use skript_semantics::ScalarKind;
use std::path::PathBuf;
use thiserror::Error;

/// Accepts or rejects an array of a file by its element type and shape, before its elements are read or unpacked.
pub type Admits<'a> = &'a dyn Fn(ElementType, &[u64]) -> Result<(), TensorError>;

/// Each message names the file or tensor, the error, and the values.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum TensorError {
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io { path: PathBuf, action: &'static str, source: std::io::Error },
    #[error("{path} is not an ordinary file", path = path.display())]
    NotAFile { path: PathBuf },
    /// A file was truncated or written to while it was in use.
    #[error(
        "{path} changed while it was read, so the results are not valid: {how}; to replace a file in use, write a new one and rename it",
        path = path.display()
    )]
    Changed { path: PathBuf, how: &'static str },
    /// The bytes of a file contradict its format.
    #[error("{path}: {reason}", path = path.display())]
    Format { path: PathBuf, reason: String },
    #[error("the shape of {what} is {got:?} instead of {expected}")]
    Shape {
        what: String,
        /// Like [`shape::text`](crate::shape::text), or with bounds.
        expected: String,
        got: Vec<u64>,
    },
    #[error(
        "the elements of {what} are {kind} ({got}) instead of {expected}; convert them first",
        kind = got.kind().name(),
        expected = expected.name()
    )]
    Kind { what: String, expected: ScalarKind, got: ElementType },
    #[error("{what}: element {position} is {value}, {refusal}")]
    Value {
        what: String,
        position: usize,
        value: String,
        /// Like [`ElementType::refusal`].
        refusal: String,
    },
    #[error("a tensor of {element} and shape {shape:?} does not fit into memory")]
    TooLarge { element: ElementType, shape: Vec<u64> },
    #[error("{got} bytes for a tensor of {element} and shape {shape:?}")]
    Length { element: ElementType, shape: Vec<u64>, got: usize },
    /// No file for a variable.
    #[error("no weights for variable {name}: {path} does not exist", path = path.display())]
    Missing { name: String, path: PathBuf },
    /// The caller rejected the array (see [`Admits`]).
    #[error("{reason}")]
    Unwanted { reason: String },
    #[error("the name {name:?} of a variable is not a file name")]
    Name { name: String },
    /// The format cannot represent the tensor.
    #[error("{what} cannot be stored: {reason}")]
    Store { what: String, reason: String },
}

impl TensorError {
    pub(crate) fn format(path: &std::path::Path, reason: impl Into<String>) -> Self {
        TensorError::Format { path: path.to_path_buf(), reason: reason.into() }
    }

    pub(crate) fn io(path: &std::path::Path, action: &'static str, source: std::io::Error) -> Self {
        TensorError::Io { path: path.to_path_buf(), action, source }
    }
}
