//! What can go wrong between a module and its code.

/// A stage of code generation that refused its input. Never an abort: what MLIR and LLVM say is collected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodegenError {
    /// A pass failed; all messages, in order.
    #[error("{stage} failed: {}", messages.join("; "))]
    Stage {
        stage: &'static str,
        messages: Vec<String>,
    },
    /// The module lacks what code generation needs.
    #[error("{0}")]
    Module(String),
    /// LLVM refused the target or the module.
    #[error("LLVM: {0}")]
    Llvm(String),
}
