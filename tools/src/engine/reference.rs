// SPDX-License-Identifier: Apache-2.0
//! The evaluator.

use std::time::Instant;

use skript_frontend::diagnostics::Code;
use skript_frontend::diagnostics::calls::{entry, failed_at};
use skript_frontend::diagnostics::codes::{
    ACCESS_AT_RUN_TIME, ASSERTION_AT_RUN_TIME, EXTENTS_DISAGREE, NOT_COMPILED, RUN_FAILED,
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
                Failure::Check { kind: CheckKind::Assertion, .. } => &ASSERTION_AT_RUN_TIME,
                Failure::Check { kind: CheckKind::Extent, .. } | Failure::Extent { .. } => &EXTENTS_DISAGREE,
                Failure::Check { kind: CheckKind::Access, .. } => &ACCESS_AT_RUN_TIME,
                Failure::UnknownIntrinsic(_) => &NOT_COMPILED,
                _ => &RUN_FAILED,
            };
            // Each call has the location where its own function stopped; the name of a location is that of the callee.
            let functions = error.calls.iter().map(|call| call.function.as_str());
            let called = functions.clone().take(1).chain(functions);
            let spans = error.calls.iter().map(|call| Some(call.span));
            let locations: Vec<_> = called.zip(spans).collect();
            failed_at(code, message, &locations, entry(job.model))
        })?;
        let updates = outcome.updates.into_iter();
        Ok(Computed {
            outputs: outcome.outputs,
            updates: updates.map(|(id, value)| (id.0 as usize, value)).collect(),
            spent: Spent { run: begun.elapsed(), ..Spent::default() },
            profile: None,
            kept: None,
        })
    }
}
