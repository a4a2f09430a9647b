// SPDX-License-Identifier: Apache-2.0
//! Contexts, pass pipelines, and the errors that MLIR reports.

use crate::error::CodegenError;
use melior::Context;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Module;
use std::sync::{Arc, Mutex};

/// A context with `skript` and all dialects of code generation loaded; single-threaded, so that messages keep their
/// order.
pub fn context() -> Context {
    let context = Context::new();
    load_all(&context);
    context
}

/// Registers and loads in a context what [`context`] does.
pub fn load_all(context: &Context) {
    context.enable_multi_threading(false);
    skript_dialect::add_all(context);
    context.load_all_available_dialects();
}

/// The maximum number of errors of one stage, and the maximum size of each in bytes: text that MLIR prints may be much
/// larger than its input.
const MESSAGES: usize = 100;

const BYTES: usize = 4000;

/// Runs `work` with every error that MLIR reports collected.
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
    let messages = messages.lock().map(|m| m.clone()).unwrap_or_default();
    (result, messages)
}

/// A message of at most `bytes`, followed by a note about the rest.
pub fn bounded(mut message: String, bytes: usize) -> String {
    if message.len() > bytes {
        let end = (0..=bytes).rev().find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or(0));
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
