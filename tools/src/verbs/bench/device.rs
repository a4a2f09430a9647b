// SPDX-License-Identifier: Apache-2.0
//! Measures calls of a model on a GPU.

use std::time::Instant;

use serde_json::json;
use skript::{RunError, Tensor};

use super::{Times, cost};
use crate::command_line::BenchArguments;
use crate::engine::{Job, failed, load};
use crate::measure::{duration_text, milliseconds, write_json};
use crate::session::Stopped;

/// Measures calls with all arrays on the device, and calls that copy inputs and outputs.
pub fn measure(arguments: &BenchArguments, job: &Job) -> Result<(), Stopped> {
    let compiler = arguments.call.compiler();
    let begun = Instant::now();
    let artifact = compiler.compile(job.model)?.artifact;
    let mut instance = load(artifact, &compiler, job.model, job.variables)?;
    let compile = begun.elapsed();
    let arena = instance.program().artifact().arena.size;
    let wrong = |e: RunError| failed(&e, job.model);
    let inputs: Vec<&Tensor> = job.inputs.iter().collect();
    let with_copies = Times::measure(arguments.calls, || instance.trial(&inputs)).map_err(wrong)?;
    let calls = Times::measure(arguments.calls, || instance.repeat()).map_err(wrong)?;
    let cost = cost(job.model, job.inputs);
    let rate = cost.flops as f64 / calls.minimum().as_secs_f64().max(1e-9) / 1e9;
    crate::stdout::print(&format!(
        "compile  {:9.1} ms\n\
         call     {}    median {} of {}, arrays on the device\n\
         copies   {}    median {} of {}, with copies of inputs and outputs\n\
         rate     {rate:9.1} GFLOP/s\n\
         memory   {:9.1} MB arena\n",
        milliseconds(compile),
        duration_text(calls.minimum(), 9),
        duration_text(calls.median(), 0),
        arguments.calls,
        duration_text(with_copies.minimum(), 9),
        duration_text(with_copies.median(), 0),
        arguments.calls,
        arena as f64 / 1e6,
    ));
    let Some(path) = &arguments.json else {
        return Ok(());
    };
    let figures = json!({
        "compile_ms": milliseconds(compile),
        "call_ms": milliseconds(calls.minimum()),
        "median_ms": milliseconds(calls.median()),
        "copies_ms": milliseconds(with_copies.minimum()),
        "copies_median_ms": milliseconds(with_copies.median()),
        "calls": arguments.calls,
        "flops": cost.flops,
        "gflops": rate,
        "arena_bytes": arena,
    });
    Ok(write_json(path, &figures)?)
}
