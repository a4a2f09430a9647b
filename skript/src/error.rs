// SPDX-License-Identifier: Apache-2.0
//! Errors of composing, compiling, loading and running models.

use crate::problem::Problem;
use skript_passes::target::TargetError;
use skript_runtime::{ArtifactError, LoadError, RunError};
use skript_stablehlo::ExportError;
use skript_tensor::TensorError;

/// An error of composing, compiling, loading or running a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document has errors, or the options contradict it. At least one problem, in the order of the text.
    #[error("{}", listed(.0))]
    Document(Vec<Problem>),
    /// The compiler does not support the model, or one of its passes has a defect.
    #[error("{}", listed(&.0.problems))]
    Compile(NotCompiled),
    /// An unknown processor or feature.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The model has no StableHLO form.
    #[error(transparent)]
    Export(Box<ExportError>),
    /// The StableHLO program cannot be read or compiled: all reasons, with `line:column: ` where it is known.
    #[error("{}", .0.join("\n"))]
    Program(Vec<String>),
    /// The bytes are not compiled code, or are corrupt.
    #[error(transparent)]
    Code(#[from] ArtifactError),
    /// The code does not run on this machine.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A name that the model does not have, or an input without a suitable array.
    #[error("{0}")]
    Name(String),
    /// An array file cannot be read, or an array has another type or shape.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Arrays(Vec<TensorError>),
    /// The call failed: the type or shape of an array differs from the model's input, or a run-time check failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The evaluator failed, for the reasons of [`Error::Run`].
    #[error("{}", .0.message)]
    Evaluate(Box<Problem>),
}

/// Why a model was not compiled.
#[derive(Clone, Debug)]
pub struct NotCompiled {
    /// The problems; at least one.
    pub problems: Vec<Problem>,
    /// Flags of other lowerings that support the model; `None` if the message of the problem contains the remedy.
    pub supporting: Option<Vec<&'static str>>,
}

impl From<ExportError> for Error {
    fn from(error: ExportError) -> Self {
        Error::Export(Box::new(error))
    }
}

impl From<TensorError> for Error {
    fn from(error: TensorError) -> Self {
        Error::Arrays(vec![error])
    }
}

/// The problems, one per line.
fn listed(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
