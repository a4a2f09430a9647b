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
    /// A number that controls the selection of tokens is outside of its range.
    #[error("{name} is {value}; it must be {range}")]
    Range {
        /// The name of the field.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The supported values.
        range: &'static str,
    },
    /// The text is longer than the context.
    #[error("the text has at least {tokens} tokens, but the context has {context}: {}", remedy(.context, .largest))]
    Context {
        /// The minimum number of tokens of the text.
        tokens: usize,
        /// The maximum number of tokens.
        context: usize,
        /// The maximum context of the model.
        largest: usize,
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

fn remedy(context: &usize, largest: &usize) -> String {
    if context < largest {
        format!("set a larger context, at most {largest}")
    } else {
        "the model does not support a larger context, so shorten the text".to_owned()
    }
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
