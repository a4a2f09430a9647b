// SPDX-License-Identifier: Apache-2.0
//! Contexts, pass pipelines, and the errors that MLIR reports.

use crate::error::CodegenError;
use melior::Context;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Module;
use std::sync::{Arc, Mutex};

/// A context with `skript` and everything that code generation makes, loaded; one thread, so that messages keep order.
pub fn context() -> Context {
    let context = Context::new();
    load_all(&context);
    context
}

/// Makes of a context one as [`context`] returns.
pub fn load_all(context: &Context) {
    context.enable_multi_threading(false);
    skript_dialect::add_all(context);
    context.load_all_available_dialects();
}

/// So many errors are kept of one stage, and so many bytes of each: text that MLIR prints may be much larger than what was
/// read.
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

/// A message of at most `bytes`, and what stands for the rest.
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
pub fn run_pipeline(
    module: &Module,
    stage: &'static str,
    pipeline: &str,
) -> Result<(), CodegenError> {
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
