// SPDX-License-Identifier: Apache-2.0
//! The reasons why an expression has no value.

use crate::diagnostics::Code;
use crate::diagnostics::codes::GUARD_AS_VALUE;
use crate::source::Span;

/// Why an evaluation has no value.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Box<EvalError>),
    /// The formula must be unrolled over this index variable first.
    Unroll(usize),
    /// The limit `work` is exhausted; [`Limits`](crate::limits::Limits) have the location.
    Exhausted,
    /// The value depends on a value with a reported error.
    Poison,
}

/// The error and its location.
#[derive(Debug)]
pub(crate) struct EvalError {
    pub code: &'static Code,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

pub(crate) type EvalResult<T> = Result<T, Stop>;

/// A failure at a location.
pub(crate) fn stop<T>(code: &'static Code, span: Span, message: impl Into<String>) -> EvalResult<T> {
    Err(Stop::Error(Box::new(EvalError { code, span, message: message.into(), help: None })))
}

/// A failure at a location, with help.
pub(crate) fn stop_with_help<T>(
    code: &'static Code,
    span: Span,
    message: impl Into<String>,
    help: &str,
) -> EvalResult<T> {
    Err(Stop::Error(Box::new(EvalError {
        code,
        span,
        message: message.into(),
        help: Some(help.to_string()),
    })))
}

/// The error for computations with a guarded index, such as `2 * |i|`.
pub(crate) fn computed_guard<T>(span: Span) -> EvalResult<T> {
    let message = "a guarded index is not a value: write computations between its bars, `|2 * i|`";
    stop(&GUARD_AS_VALUE, span, message)
}
