// SPDX-License-Identifier: Apache-2.0
//! Calls of a model on a device.

use std::sync::Arc;
use std::time::Instant;

use skript_runtime::RunError;
use skript_tensor::Tensor;

use crate::command_line::BenchArguments;
use crate::engine::compiled::{Compiled, captured, failed};
use crate::engine::{Job, device};
use crate::measure::{duration_text, milliseconds, write_json};
use crate::session::{Session, Stopped};

/// Measures calls with the arrays on the device already, and with copies of inputs and outputs.
pub fn measure(
    arguments: &BenchArguments,
    session: &Session,
    compiled: &Compiled,
    job: &Job,
) -> Result<(), Stopped> {
    let begun = Instant::now();
    let (mut instance, _) = device::load(compiled, job)?;
    let compile = begun.elapsed();
    let wrong = |e: RunError| failed(&e, job.model, job.sources);
    let inputs: Vec<&Tensor> = job.inputs.iter().map(Arc::as_ref).collect();
    let variables: Vec<&Tensor> = job.variables.iter().map(Arc::as_ref).collect();
    let variables = captured(job.model, &variables);
    let artifact = instance.program().artifact();
    let mut outputs = skript_runtime::run::slots(artifact).map_err(wrong)?;
    let arena = artifact.arena.size;
    let (mut calls, mut with_copies) = (Vec::new(), Vec::new());
    for call in 0..arguments.calls + 2 {
        let begun = Instant::now();
        let called = instance.call(&inputs, &variables, &mut outputs);
        called.map_err(wrong)?;
        let copied = begun.elapsed();
        let begun = Instant::now();
        instance.repeat().map_err(wrong)?;
        let repeated = begun.elapsed();
        if call >= 2 {
            with_copies.push(copied);
            calls.push(repeated);
        }
    }
    with_copies.sort();
    calls.sort();
    let least = |times: &[_]| times.first().copied().unwrap_or_default();
    let median = |times: &[_]| times.get(times.len() / 2).copied().unwrap_or_default();
    let executed = session.specialized_measured(job.model, &arguments.inputs, &inputs);
    let cost = executed.unwrap_or_else(|| job.model.clone()).cost();
    let rate = cost.flops as f64 / least(&calls).as_secs_f64().max(1e-9) / 1e9;
    crate::stdout::print(&format!(
        "compile  {:9.1} ms\n\
         call     {}    median {} of {}, arrays on the device\n\
         copies   {}    median {} of {}, with copies of inputs and outputs\n\
         rate     {rate:9.1} GFLOP/s\n\
         memory   {:9.1} MB arena\n",
        milliseconds(compile),
        duration_text(least(&calls), 9),
        duration_text(median(&calls), 0),
        arguments.calls,
        duration_text(least(&with_copies), 9),
        duration_text(median(&with_copies), 0),
        arguments.calls,
        arena as f64 / 1e6,
    ));
    if let Some(path) = &arguments.json {
        write_json(
            path,
            &serde_json::json!({
                "compile_ms": milliseconds(compile),
                "call_ms": milliseconds(least(&calls)),
                "median_ms": milliseconds(median(&calls)),
                "copies_ms": milliseconds(least(&with_copies)),
                "copies_median_ms": milliseconds(median(&with_copies)),
                "calls": arguments.calls,
                "flops": cost.flops,
                "gflops": rate,
                "arena_bytes": arena,
            }),
        )?;
    }
    Ok(())
}
