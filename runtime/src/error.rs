// SPDX-License-Identifier: Apache-2.0
//! Errors of compiled models.

use skript_tensor::ElementType;

/// Why a compiled model cannot be loaded on this machine.
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
    /// The object file has an unsupported form, or is too far from the functions that it calls.
    #[error("the code of the compiled model cannot be linked: {0}")]
    Link(String),
    /// The code calls functions that the runtime does not provide.
    #[error(
        "the code of the compiled model calls `{}`, which the runtime does not provide: loaded code may call mathematics and \
         the runtime's own functions only; compile the model again with this version, and report the name if it fails again",
        .0.join("`, `")
    )]
    Symbols(Vec<String>),
    /// The kernels are for a GPU, but no device was selected.
    #[error("compiled for a GPU, with kernels in {0}: choose a device, such as --device=auto")]
    Kernels(&'static str),
    /// The system cannot provide memory for an arena.
    #[error("no memory for an arena of {bytes} bytes: {source}{remedy}")]
    Arena {
        /// The size of the arena.
        bytes: u64,
        /// The system's error.
        source: std::io::Error,
        /// The way to reduce the memory.
        remedy: String,
    },
}

/// The remedy for insufficient memory.
pub const SMALLER: &str = "smaller upper bounds of dynamic dimensions (`--bound`; in a document `real[n|8]`), static shapes (`--input-shape`) \
     or code for the shapes of a call (`--specialize`) take less memory";

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A call with a wrong number of tensors.
    #[error("there are {found} {role}, but the model has {expected}")]
    Count {
        /// `inputs`, `variables` or `outputs`.
        role: &'static str,
        /// The number that the model has.
        expected: usize,
        /// The number in the call.
        found: usize,
    },
    /// A tensor with a wrong element type.
    #[error("{role} `{name}` is {}, the model expects {}", found, expected)]
    Element {
        /// `input`, `variable` or `output`.
        role: &'static str,
        /// The name in the graph.
        name: String,
        /// The type in the model.
        expected: ElementType,
        /// The type of the tensor.
        found: ElementType,
    },
    /// A tensor with a wrong shape, or larger than the upper bounds of dynamic dimensions.
    #[error("{role} `{name}` has shape {found:?}, the model expects {expected}")]
    Shape {
        /// `input`, `variable` or `output`.
        role: &'static str,
        /// The name in the graph.
        name: String,
        /// The shape in the model, with upper bounds for dynamic dimensions.
        expected: String,
        /// The shape of the tensor.
        found: Vec<u64>,
    },
    /// A run-time check of the model failed.
    #[error("{message}")]
    Check {
        /// Code of the diagnostic.
        code: String,
        /// The message of the check, with the recorded values.
        message: String,
        /// Like [`crate::artifact::Check::trace`].
        trace: Vec<String>,
    },
    /// Another thread stopped the call ([`crate::StopHandle`]).
    #[error("the call was stopped")]
    Stopped {
        /// The loop that was running, like [`crate::artifact::Check::trace`]; empty if the call was stopped before its code began.
        trace: Vec<String>,
    },
    /// The code returned a status that does not refer to a check.
    #[error("the compiled model returned status {0}, which is not in its table of checks")]
    Status(i32),
    /// The system cannot provide memory for a tensor, or for prepared variables.
    #[error("no memory for a tensor: {0}")]
    Memory(String),
    /// A device failed, or its memory is insufficient.
    #[error("the device failed: {0}")]
    Device(String),
    /// The variables differ from the embedded variables.
    #[error("the compiled model embeds its weights, so it cannot run with others: compile it without them")]
    Embedded,
    /// A mapped file was changed during the call.
    #[error("{0}")]
    Changed(String),
    /// A [`LoadError`] of a model that was loaded for one call.
    #[error("{0}")]
    Load(String),
}
