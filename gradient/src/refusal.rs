// SPDX-License-Identifier: Apache-2.0
//! Reasons why a model cannot be differentiated.

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{GRADIENT, INTERNAL};
use skript_frontend::model::Function;
use skript_frontend::source::Span;

/// A diagnostic, boxed because results carry it.
pub type Refusal = Box<Diagnostic>;

/// The refusal of a formula or an operation of a function.
pub fn refused(function: &Function, span: Span, reason: &str) -> Refusal {
    let message = format!("`{}` cannot be differentiated: {reason}", function.name);
    Box::new(Diagnostic::error(&GRADIENT, span, message))
}

/// The refusal for a defect of this crate.
pub fn internal(what: &str) -> Refusal {
    Box::new(Diagnostic::without_location(
        &INTERNAL,
        format!("the gradient has {what}; please report this model"),
    ))
}

/// The refusal of a request, such as an unknown name.
pub fn request(message: String) -> Refusal {
    Box::new(Diagnostic::without_location(&GRADIENT, message))
}
