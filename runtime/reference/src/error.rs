// SPDX-License-Identifier: Apache-2.0
//! Errors of an evaluation.

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::calls::{entry, failed_at};
use skript_frontend::diagnostics::codes::{
    ACCESS_AT_RUN_TIME, ASSERTION_AT_RUN_TIME, EXTENTS_DISAGREE, NOT_COMPILED, RUN_FAILED,
};
use skript_frontend::model::{CheckKind, Model};
use skript_frontend::source::Span;
use skript_semantics::IntType;
use skript_tensor::TensorError;
use std::fmt;
use thiserror::Error;

/// The kind of the error; [`EvalError`] adds the location.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum Failure {
    #[error("expected {expected} {what}, got {got}")]
    Count { what: &'static str, expected: usize, got: usize },
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// The extent of a dimension contradicts its type.
    #[error("dimension {dimension} of {name} has the extent {got}, but {expected} is expected")]
    Extent { name: String, dimension: usize, expected: i64, got: u64 },
    #[error("dimension {dimension} of {name} has the extent {got}, above its bound {bound}")]
    Bound { name: String, dimension: usize, bound: u64, got: u64 },
    #[error("{name} has rank {got} instead of {expected}")]
    Rank { name: String, expected: usize, got: usize },
    /// An access out of bounds. This is a defect of the model, because composition guards all accesses.
    #[error("subscript {value} of {tensor} is outside of its extent {extent}")]
    OutOfBounds { tensor: String, value: i64, extent: i64 },
    /// A run-time check of the model failed; its message.
    #[error("{message}")]
    Check { kind: CheckKind, message: String },
    #[error("the loop does not end within {0} steps (limit `loop_steps`)")]
    Endless(u64),
    #[error("the loop runs more than {0} iterations: too many for the reference evaluator")]
    TooManySteps(u64),
    #[error("{name} of shape {shape:?} has more than {limit} elements, too many for the reference evaluator")]
    TooManyElements { name: String, shape: Vec<u64>, limit: u64 },
    #[error(
        "the formula runs over {extents:?}, more than {limit} points: too many for the reference evaluator"
    )]
    TooManyPoints { extents: Vec<i64>, limit: u64 },
    #[error("the evaluation takes too much work")]
    TooMuchWork,
    #[error("the loop has a count of {count}, but scans only {length} items")]
    ScanTooShort { count: i64, length: usize },
    #[error("the loop runs more than {0} iterations, the declared length of its results")]
    CapacityExceeded(u64),
    #[error("the index {number} of an iteration does not fit {int}")]
    StepBeyond { int: IntType, number: i64 },
    #[error("item {item} of a pack has the extent {extent}, but the items before have {before}")]
    ItemExtent { item: usize, extent: u64, before: u64 },
    #[error("the packs that a loop scans have {shortest} and {longest} items")]
    ScanLengths { shortest: usize, longest: usize },
    #[error(
        "operator '{0}' has neither formulas nor a composition, and no kernel is bound to it; \
         --intrinsic={0}=SYMBOL@LIBRARY binds one"
    )]
    UnknownIntrinsic(String),
    #[error("operator {operator}: {reason}")]
    Intrinsic { operator: String, reason: String },
    /// The model is inconsistent.
    #[error("the model is malformed: {0}")]
    Internal(String),
}

/// An error with the chain of operator calls that led to it.
#[derive(Debug)]
pub struct EvalError {
    /// The kind of the error.
    pub failure: Box<Failure>,
    /// The calls, innermost first: source span and function.
    pub calls: Vec<Call>,
}

/// One step of a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name, `nn.conv`.
    pub function: String,
    /// The source text of the call, or of the failure in it.
    pub span: Span,
}

impl EvalError {
    /// An error without a call stack; callers add their steps.
    pub fn new(failure: Failure) -> Self {
        EvalError { failure: Box::new(failure), calls: Vec::new() }
    }

    /// The error as a diagnostic with the locations of the calls.
    pub fn diagnostic(&self, model: &Model) -> Diagnostic {
        let code = match self.failure.as_ref() {
            Failure::Check { kind: CheckKind::Assertion, .. } => &ASSERTION_AT_RUN_TIME,
            Failure::Check { kind: CheckKind::Extent, .. } | Failure::Extent { .. } => &EXTENTS_DISAGREE,
            Failure::Check { kind: CheckKind::Access, .. } => &ACCESS_AT_RUN_TIME,
            Failure::UnknownIntrinsic(_) => &NOT_COMPILED,
            _ => &RUN_FAILED,
        };
        // Each call has the location where its function stopped; a location has the name of the callee.
        let functions = self.calls.iter().map(|call| call.function.as_str());
        let called = functions.clone().take(1).chain(functions);
        let spans = self.calls.iter().map(|call| Some(call.span));
        let locations: Vec<_> = called.zip(spans).collect();
        failed_at(code, self.failure.to_string(), &locations, entry(model))
    }

    /// Sets the location unless a more precise one is set.
    pub(crate) fn in_function(self, function: &str, span: Span) -> Self {
        if self.calls.is_empty() { self.within(function, span) } else { self }
    }

    /// Adds the location of the next outer call.
    pub(crate) fn within(mut self, function: &str, span: Span) -> Self {
        self.calls.push(Call { function: function.to_string(), span });
        self
    }
}

impl<F: Into<Failure>> From<F> for EvalError {
    fn from(failure: F) -> Self {
        EvalError::new(failure.into())
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)?;
        match self.calls.first() {
            Some(call) => write!(f, " (in {})", call.function),
            None => Ok(()),
        }
    }
}

impl std::error::Error for EvalError {}

/// A malformed model.
pub(crate) fn internal(message: impl Into<String>) -> EvalError {
    EvalError::new(Failure::Internal(message.into()))
}
