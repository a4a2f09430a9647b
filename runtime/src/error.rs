// SPDX-License-Identifier: Apache-2.0
//! Errors of compiled models.

use skript_tensor::ElementType;

/// Why a compiled model cannot be loaded here.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("compiled for {artifact}, but this machine is {host}: compile the model again")]
    Triple { artifact: String, host: String },
    #[error(
        "compiled for the processor {artifact}, but this one ({cpu}) lacks {missing}: compile the model for this processor, \
         or for one that both are compatible with, such as x86-64-v3"
    )]
    Features {
        artifact: String,
        missing: String,
        cpu: String,
    },
    #[error("the code of the compiled model cannot be linked: {0}")]
    Link(String),
    #[error(
        "the code of the compiled model calls `{}`, which the runtime does not provide: loaded code may call mathematics and \
         the runtime's own functions only; compile the model again with this version, and report the name if it fails again",
        .0.join("`, `")
    )]
    Symbols(Vec<String>),
    #[error("no memory for an arena of {bytes} bytes: {source}")]
    Arena { bytes: u64, source: std::io::Error },
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("there are {found} {role}, but the model has {expected}")]
    Count {
        role: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("{role} `{name}` is {}, the model wants {}", found, expected)]
    Element {
        role: &'static str,
        name: String,
        expected: ElementType,
        found: ElementType,
    },
    #[error("{role} `{name}` has shape {found:?}, the model wants {expected}")]
    Shape {
        role: &'static str,
        name: String,
        expected: String,
        found: Vec<u64>,
    },
    #[error("{message}")]
    Check {
        code: String,
        message: String,
        trace: Vec<String>,
    },
    #[error("the compiled model returned status {0}, which is not in its table of checks")]
    Status(i32),
    #[error("no memory for a tensor: {0}")]
    Memory(String),
    /// A file that is mapped changed during the call.
    #[error("{0}")]
    Changed(String),
    #[error("{0}")]
    Load(String),
}
