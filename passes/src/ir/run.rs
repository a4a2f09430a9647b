// SPDX-License-Identifier: Apache-2.0
//! Creates contexts, runs pass pipelines, and collects the errors that MLIR reports.

use crate::error::CodegenError;
use melior::Context;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Module;
use std::sync::{Arc, Mutex, PoisonError};

/// A context in which `skript` and all dialects of code generation are loaded. It is single-threaded except in stages with
/// nested passes, whose messages MLIR sorts.
pub fn context() -> Context {
    let context = Context::new();
    load_all(&context);
    context
}

/// Registers and loads the dialects of [`context`] in a context.
pub fn load_all(context: &Context) {
    context.enable_multi_threading(false);
    skript_dialect::add_all(context);
    context.load_all_available_dialects();
}

/// Maximum number of collected errors.
const MESSAGES: usize = 100;

/// Maximum size of a collected error in bytes. Text that MLIR prints may be much larger than its input.
const BYTES: usize = 4000;

/// Runs `work`, and collects the errors that MLIR reports during its execution.
pub fn collecting<T>(context: &Context, work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error)
            && let Ok(mut messages) = sink.lock()
            && messages.len() < MESSAGES
        {
            let message = format!("{}: {diagnostic}", diagnostic.location());
            messages.push(bounded(message, BYTES));
        }
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    let messages = messages.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (result, messages)
}

/// Truncates a message to at most `bytes`, with an ellipsis.
pub fn bounded(mut message: String, bytes: usize) -> String {
    if message.len() > bytes {
        let mut end = bytes;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
    }
    message
}

/// Runs a pass pipeline given as text.
///
/// # Errors
/// [`CodegenError::Stage`] with the diagnostics of the pass that failed.
pub fn run_pipeline(module: &Module, stage: &'static str, pipeline: &str) -> Result<(), CodegenError> {
    let text = format!("builtin.module({pipeline})");
    skript_dialect::pipeline::run(module, &text).map_err(|failure| {
        let mut messages = failure.messages;
        messages.retain(|m| m.severity == "error");
        if messages.is_empty() {
            return CodegenError::Module(format!("{stage} failed and gave no reason"));
        }
        CodegenError::Stage { stage, messages }
    })
}
