// SPDX-License-Identifier: Apache-2.0
//! The errors of this crate.

/// Why no text is generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has no tokenizer, or one that is wrong or not supported.
    #[error("{0}")]
    Tokenizer(String),
    /// The file has no chat template, or the template failed.
    #[error("{0}")]
    Template(String),
    /// An option has a value that is not supported.
    #[error("{0}")]
    Option(String),
    /// The text is longer than the context.
    #[error("the text has {tokens} tokens, but the context has {context}: set a larger context")]
    Context {
        /// The number of tokens.
        tokens: usize,
        /// The maximum number of tokens.
        context: usize,
    },
    /// The logits are not finite, for instance because weights are not.
    #[error("the model computed no finite logits for the token at position {0}")]
    Logits(usize),
    /// Another thread ended the work ([`crate::LanguageModel::interrupt`]).
    #[error("interrupted")]
    Interrupted,
    /// The model cannot be imported, compiled or called.
    #[error(transparent)]
    Model(#[from] skript::Error),
}

impl From<skript_tensor::TensorError> for Error {
    fn from(error: skript_tensor::TensorError) -> Self {
        Error::Model(error.into())
    }
}

impl From<skript::RunError> for Error {
    fn from(error: skript::RunError) -> Self {
        Error::Model(error.into())
    }
}
