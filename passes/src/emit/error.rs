// SPDX-License-Identifier: Apache-2.0
//! Errors of emission.

use skript_frontend::source::Span;

/// The reason why a model could not be emitted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The message of each variant states its fields.
pub enum EmitError {
    #[error(
        "operator '{name}' has neither formulas nor a composition, and no kernel is bound to it; \
         --intrinsic={name}=SYMBOL@LIBRARY binds one"
    )]
    Intrinsic { name: String, span: Span },
    #[error("{what}, which compiled code does not support yet; `skript run --engine=reference` evaluates it")]
    Unsupported { what: &'static str, span: Span },
    /// The model is inconsistent.
    #[error("malformed model: {0}")]
    Malformed(&'static str),
    #[error("the emitted module does not verify")]
    Invalid,
    #[error(transparent)]
    Build(#[from] melior::Error),
}

impl EmitError {
    /// The source span, if the error has one.
    pub fn span(&self) -> Option<Span> {
        match self {
            EmitError::Intrinsic { span, .. } | EmitError::Unsupported { span, .. } => Some(*span),
            EmitError::Malformed(_) | EmitError::Invalid | EmitError::Build(_) => None,
        }
    }
}
