// SPDX-License-Identifier: Apache-2.0
//! Running pipelines from Rust.

use crate::source_location::{self, Frame};
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationRef};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The diagnostics of a pipeline that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Errors, warnings and remarks in the order of their emission; notes follow their diagnostic.
    pub messages: Vec<Message>,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `error`, `warning`, `note`, `remark`.
    pub severity: &'static str,
    /// The location as MLIR prints it, without `loc(…)`.
    pub location: String,
    /// The source positions in the location, innermost first; each is called from the next.
    pub frames: Vec<Frame>,
    /// The text of the diagnostic, without location.
    pub text: String,
}

impl Message {
    /// An error at an operation.
    pub fn error(op: OperationRef<'_, '_>, text: String) -> Self {
        let location = op.location();
        Message {
            severity: "error",
            location: bare(&location.to_string()),
            frames: source_location::frames(location.to_raw()),
            text,
        }
    }
}

/// A location as MLIR prints it, without `loc(…)` and quotes.
fn bare(location: &str) -> String {
    let inside = location.strip_prefix("loc(");
    let inside = inside.and_then(|rest| rest.strip_suffix(')'));
    inside.unwrap_or(location).replace('"', "")
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, message) in self.messages.iter().enumerate() {
            if position > 0 {
                f.write_char('\n')?;
            }
            let Message { severity, location, text, .. } = message;
            write!(f, "{location}: {severity}: {text}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// Runs a pipeline, such as `builtin.module(cse,func.func(canonicalize))`, on a module.
///
/// All upstream passes are available, and those registered with [`crate::register_passes`]. The module is verified
/// after each pass. After a failure the module is valid, but its state is unspecified.
///
/// # Errors
/// The text is not a pipeline, or a pass failed.
pub fn run(module: &Module<'_>, text: &str) -> Result<(), Failure> {
    melior::utility::register_all_passes();
    let op = module.as_operation();
    let context = op.context();
    // SAFETY: the context outlives the module.
    let context = unsafe { context.to_ref() };
    let said = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        record(&diagnostic, &mut sink.lock().unwrap_or_else(PoisonError::into_inner));
        true
    });
    let result = run_unheard(op.to_raw(), text);
    context.detach_diagnostic_handler(handler);
    let mut messages = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
    match result {
        Ok(()) => Ok(()),
        Err(problem) => {
            if let Some(text) = problem {
                messages.push(Message {
                    severity: "error",
                    location: "pipeline".to_string(),
                    frames: Vec::new(),
                    text,
                });
            }
            Err(Failure { messages })
        }
    }
}

/// Parses and runs a pipeline; `Err(Some)` if the text is not a pipeline.
fn run_unheard(op: mlir_sys::MlirOperation, text: &str) -> Result<(), Option<String>> {
    let (anchor, passes) = match text.split_once('(') {
        Some((anchor, rest)) if rest.ends_with(')') => (anchor.trim(), &rest[..rest.len() - 1]),
        _ => {
            return Err(Some(format!("'{text}' is not a pipeline: expected operation(pass,pass…)")));
        }
    };
    let mut problem = String::new();
    // SAFETY: operation and context are valid, the manager is destroyed once, the callback writes to `problem` only
    // while parsing.
    unsafe {
        let context = mlir_sys::mlirOperationGetContext(op);
        let manager = mlir_sys::mlirPassManagerCreateOnOperation(context, crate::ffi::string_ref(anchor));
        // Once at the end: verification after each pass would take as long as the passes. `skript-opt` verifies after each.
        mlir_sys::mlirPassManagerEnableVerifier(manager, cfg!(debug_assertions));
        let parsed = mlir_sys::mlirOpPassManagerAddPipeline(
            mlir_sys::mlirPassManagerGetAsOpPassManager(manager),
            crate::ffi::string_ref(passes),
            Some(crate::ffi::append),
            (&raw mut problem).cast(),
        );
        let result = if parsed.value == 0 {
            Err(Some(problem.trim().to_string()))
        } else if mlir_sys::mlirPassManagerRunOnOp(manager, op).value == 0
            || !mlir_sys::mlirOperationVerify(op)
        {
            Err(None)
        } else {
            Ok(())
        };
        mlir_sys::mlirPassManagerDestroy(manager);
        result
    }
}

fn record(diagnostic: &Diagnostic<'_>, messages: &mut Vec<Message>) {
    let location = diagnostic.location();
    messages.push(Message {
        severity: match diagnostic.severity() {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Note => "note",
            DiagnosticSeverity::Remark => "remark",
        },
        location: bare(&location.to_string()),
        frames: source_location::frames(location.to_raw()),
        text: diagnostic.to_string(),
    });
    for index in 0..diagnostic.note_count() {
        if let Ok(note) = diagnostic.note(index) {
            record(&note, messages);
        }
    }
}
