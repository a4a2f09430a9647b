// SPDX-License-Identifier: Apache-2.0
//! The options, the result and the errors of an import.

use std::path::PathBuf;
use std::rc::Rc;

use skript_host::FileError;
use skript_tensor::{Tensor, TensorError};

use crate::refusal::Refusal;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Shapes of inputs, by name in ONNX or SkriptND; `None` keeps the dimension of the model.
    pub shapes: Vec<(String, Vec<Option<u64>>)>,
    /// Upper bounds of dynamic dimensions, by name.
    pub bounds: Vec<(String, u64)>,
    /// Inputs that become constants, by name in ONNX or SkriptND.
    pub constants: Vec<(String, Tensor)>,
    /// Whether repeated blocks of equal structure become operators.
    pub structured: bool,
    /// Whether all real initializers with dimensions become variables, as training needs: none becomes a constant or is folded.
    pub trainable: bool,
}

/// The result of an import: the files of a model folder.
#[derive(Debug)]
pub struct Imported {
    /// The text of `main.sknd`.
    pub main: String,
    /// `onnx.sknd`, if the model needs operators that the library lacks.
    pub onnx: Option<String>,
    /// The text of `import.json`.
    pub json: String,
    /// The arrays of `main.safetensors`.
    pub weights: Vec<Weight>,
    /// Messages for the user.
    pub notes: Vec<String>,
    /// Contradictions in the model that do not affect its results.
    pub warnings: Vec<Refusal>,
    /// For each data-dependent branch: the inputs, by their names in ONNX, that the condition depends on.
    pub selecting: Vec<Vec<String>>,
}

/// The errors of an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File { path: PathBuf, error: FileError },
    /// It is not an ONNX model.
    #[error("{} is not an ONNX model: {reason}", path.display())]
    Format { path: PathBuf, reason: String },
    /// A GGUF file cannot be read, or violates its format.
    #[error("{0}")]
    Gguf(#[from] TensorError),
    /// An option contradicts the model, for instance by an unknown name.
    #[error("{0}")]
    Name(String),
    /// The model has unsupported parts; `refusals` lists all of them.
    #[error("{} is refused for {} reasons", path.display(), refusals.len())]
    Refused {
        path: PathBuf,
        refusals: Vec<Refusal>,
        /// The inputs, by their names in ONNX, that determine values that the import must know. Making them constants may help.
        deciding: Vec<String>,
    },
}

/// An array of the weights.
#[derive(Debug)]
pub struct Weight {
    pub name: String,
    pub onnx: String,
    pub tensor: Rc<Tensor>,
}
