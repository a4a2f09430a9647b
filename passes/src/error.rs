// SPDX-License-Identifier: Apache-2.0
//! Errors of code generation.

use skript_dialect::PassError;
use skript_dialect::pipeline::Message;

/// A stage of code generation rejected its input. The message contains MLIR and LLVM diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The message of a variant explains its fields.
pub enum CodegenError {
    /// A pass failed. Has all errors, in order.
    #[error("{stage} failed: {}", listed(messages))]
    Stage { stage: &'static str, messages: Vec<Message> },
    /// The module does not meet a requirement of code generation.
    #[error("{0}")]
    Module(String),
    /// LLVM rejected the target or the module.
    #[error("LLVM: {0}")]
    Llvm(String),
}

impl From<melior::Error> for CodegenError {
    fn from(error: melior::Error) -> Self {
        CodegenError::Module(error.to_string())
    }
}

impl From<CodegenError> for PassError {
    fn from(error: CodegenError) -> Self {
        error.to_string().into()
    }
}

fn listed(messages: &[Message]) -> String {
    messages.iter().map(|m| format!("{}: {}", m.location, m.text)).collect::<Vec<_>>().join("; ")
}
