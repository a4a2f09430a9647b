//! The evaluator.

use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_reference::evaluate;

use super::{Computed, Engine, Job, Spent};

pub struct Reference;

impl Engine for Reference {
    fn run(&self, job: &Job) -> Result<Computed, Box<Diagnostic>> {
        let begun = Instant::now();
        let outcome = evaluate(job.model, job.inputs, job.variables).map_err(|error| {
            let message = error.failure.to_string();
            let mut calls = error.calls.iter();
            let mut diagnostic = match calls.next() {
                Some(call) => Diagnostic::error(&RUN_FAILED, call.span, message)
                    .with_label(format!("in `{}`", call.function)),
                None => Diagnostic::without_place(&RUN_FAILED, message),
            };
            for call in calls {
                diagnostic = diagnostic
                    .with_note(Some(call.span), format!("called from `{}`", call.function));
            }
            Box::new(diagnostic)
        })?;
        Ok(Computed {
            outputs: outcome.outputs,
            spent: Spent {
                run: begun.elapsed(),
                ..Spent::default()
            },
        })
    }
}
