// SPDX-License-Identifier: Apache-2.0
//! The options, the result and the errors of an import.

use std::path::PathBuf;
use std::rc::Rc;

use skript_host::FileError;
use skript_tensor::Tensor;

use crate::refusal::Refusal;

/// What the command line says about the import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Shapes of inputs, by name in ONNX or SkriptND; dimensions that are `None` stay as they are.
    pub shapes: Vec<(String, Vec<Option<u64>>)>,
    /// Upper bounds of dynamic dimensions, by name.
    pub bounds: Vec<(String, u64)>,
    /// Inputs that are constants, by name in ONNX or SkriptND.
    pub constants: Vec<(String, Tensor)>,
    /// Whether blocks of equal structure become one operator.
    pub structured: bool,
}

/// The result: the files of a model folder.
#[derive(Debug)]
pub struct Imported {
    /// `main.sknd`.
    pub main: String,
    /// `onnx.sknd`, if the model needs operators that the library lacks.
    pub onnx: Option<String>,
    /// `import.json`.
    pub json: String,
    /// The arrays of `main.safetensors`.
    pub weights: Vec<Weight>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Contradictions in the model that do not affect its results.
    pub warnings: Vec<Refusal>,
    /// For each branch that data select: the inputs, by their names in ONNX, that the condition is computed from.
    pub selecting: Vec<Vec<String>>,
}

/// Why a model is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File { path: PathBuf, error: FileError },
    /// It is not an ONNX model.
    #[error("{} is not an ONNX model: {reason}", path.display())]
    Format { path: PathBuf, reason: String },
    /// A name of the command line is not in the model.
    #[error("{0}")]
    Name(String),
    /// Parts of it are not supported: all of them.
    #[error("{} is refused for {} reasons", path.display(), refusals.len())]
    Refused {
        path: PathBuf,
        refusals: Vec<Refusal>,
        /// Inputs whose elements decide what must be known, by their names in ONNX: as constants, they may help.
        deciding: Vec<String>,
    },
}

/// An array of the weights: its full name, and its name in the ONNX graph.
#[derive(Debug)]
pub struct Weight {
    pub name: String,
    pub onnx: String,
    pub tensor: Rc<Tensor>,
}
