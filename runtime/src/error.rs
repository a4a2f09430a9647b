// SPDX-License-Identifier: Apache-2.0
//! Errors of compiled models.

use skript_tensor::ElementType;

/// Why a compiled model cannot be loaded here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The model is for another architecture or system.
    #[error("compiled for {artifact}, but this machine is {host}: compile the model again")]
    Triple {
        /// The triple of the model.
        artifact: String,
        /// The triple of this machine.
        host: String,
    },
    /// This processor lacks features that the code uses.
    #[error(
        "compiled for the processor {artifact}, but this one ({cpu}) lacks {missing}: compile the model for this processor, \
         or for one that both are compatible with, such as x86-64-v3"
    )]
    Features {
        /// The processor that the model was compiled for.
        artifact: String,
        /// LLVM's names of the features, with commas between them.
        missing: String,
        /// This processor.
        cpu: String,
    },
    /// The object file is not one that this version writes, or too far from what it calls.
    #[error("the code of the compiled model cannot be linked: {0}")]
    Link(String),
    /// The code calls functions that are not the runtime's.
    #[error(
        "the code of the compiled model calls `{}`, which the runtime does not provide: loaded code may call mathematics and \
         the runtime's own functions only; compile the model again with this version, and report the name if it fails again",
        .0.join("`, `")
    )]
    Symbols(Vec<String>),
    /// The system has no memory for an arena.
    #[error("no memory for an arena of {bytes} bytes: {source}")]
    Arena {
        /// The size of the arena.
        bytes: u64,
        /// The system's error.
        source: std::io::Error,
    },
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A call with too few tensors or too many.
    #[error("there are {found} {role}, but the model has {expected}")]
    Count {
        /// `inputs`, `variables` or `outputs`.
        role: &'static str,
        /// How many the model has.
        expected: usize,
        /// How many the call has.
        found: usize,
    },
    /// A tensor with elements of another type.
    #[error("{role} `{name}` is {}, the model wants {}", found, expected)]
    Element {
        /// `input`, `variable` or `output`.
        role: &'static str,
        /// The name in the graph.
        name: String,
        /// The type that the model wants.
        expected: ElementType,
        /// The type of the tensor.
        found: ElementType,
    },
    /// A tensor of another shape, or larger than the bounds of dynamic dimensions.
    #[error("{role} `{name}` has shape {found:?}, the model wants {expected}")]
    Shape {
        /// `input`, `variable` or `output`.
        role: &'static str,
        /// The name in the graph.
        name: String,
        /// The shape that the model wants, with a bound for a dynamic dimension.
        expected: String,
        /// The shape of the tensor.
        found: Vec<u64>,
    },
    /// A run-time check of the model failed.
    #[error("{message}")]
    Check {
        /// Code of the diagnostic.
        code: String,
        /// What the check says, with the values that it found.
        message: String,
        /// As [`crate::artifact::Check::trace`].
        trace: Vec<String>,
    },
    /// The code returned a status that stands for no check.
    #[error("the compiled model returned status {0}, which is not in its table of checks")]
    Status(i32),
    /// The system has no memory for a tensor, or for prepared variables.
    #[error("no memory for a tensor: {0}")]
    Memory(String),
    /// A file that is mapped changed during the call.
    #[error("{0}")]
    Changed(String),
    /// What [`LoadError`] says of a model that was to be loaded for one call.
    #[error("{0}")]
    Load(String),
}
