//! The evaluator.

use std::time::Instant;

use skript_frontend::diagnostics::Code;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{
    ASSERTION_AT_RUN_TIME, EXTENTS_DISAGREE, NOT_COMPILED, RUN_FAILED,
};
use skript_frontend::model::CheckKind;
use skript_reference::{Failure, evaluate};

use super::{Computed, Engine, Job, Spent};
use crate::session::Stopped;

pub struct Reference;

impl Engine for Reference {
    fn run(&self, job: &Job) -> Result<Computed, Stopped> {
        let begun = Instant::now();
        let outcome = evaluate(job.model, job.inputs, job.variables).map_err(|error| {
            let message = error.failure.to_string();
            let code: &'static Code = match error.failure.as_ref() {
                Failure::Check {
                    kind: CheckKind::Assertion,
                    ..
                } => &ASSERTION_AT_RUN_TIME,
                Failure::Check {
                    kind: CheckKind::Extent,
                    ..
                }
                | Failure::Extent { .. } => &EXTENTS_DISAGREE,
                Failure::UnknownIntrinsic(_) => &NOT_COMPILED,
                _ => &RUN_FAILED,
            };
            let mut calls = error.calls.iter();
            let mut diagnostic = match calls.next() {
                Some(call) => Diagnostic::error(code, call.span, message)
                    .with_label(format!("in `{}`", call.function)),
                None => Diagnostic::without_place(code, message),
            };
            for call in calls {
                diagnostic = diagnostic
                    .with_note(Some(call.span), format!("called from `{}`", call.function));
            }
            diagnostic
        })?;
        let updates = outcome.updates.into_iter();
        Ok(Computed {
            outputs: outcome.outputs,
            updates: updates.map(|(id, value)| (id.0 as usize, value)).collect(),
            spent: Spent {
                run: begun.elapsed(),
                ..Spent::default()
            },
        })
    }
}
