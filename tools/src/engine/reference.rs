//! The evaluator.

use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_reference::evaluate;
use skript_tensor::Tensor;

use super::{Engine, Job};

pub struct Reference;

impl Engine for Reference {
    fn run(&self, job: &Job) -> Result<Vec<Arc<Tensor>>, Box<Diagnostic>> {
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
        Ok(outcome.outputs)
    }
}
