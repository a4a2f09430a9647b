// SPDX-License-Identifier: Apache-2.0
//! `skript bench program.mlir`: measures the latency of calls of a StableHLO program.

use std::time::Instant;

use serde_json::json;
use skript::{Instance, RunError, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::source::SourceMap;
use skript_runtime::threads::default_threads;

use super::{Times, count, record};
use crate::command_line::{BenchArguments, InputArgument, Pipeline};
use crate::console::{Console, Status};
use crate::inputs;
use crate::measure::{duration_text, milliseconds, peak_memory, write_json};
use crate::stablehlo_program::{call_flags, gather, load, load_for_profile, name, perform};
use crate::stopped::diagnostics;

pub fn run(arguments: &BenchArguments, console: &mut Console) -> Status {
    let call = &arguments.call;
    let flags = [
        ("--pipeline", call.pipeline != Pipeline::Linalg),
        ("--weights", call.weights.weights.is_some()),
        ("--variables", call.weights.variables.is_some()),
    ];
    let wrong = call_flags(&call.reading, &flags, &call.inputs);
    perform(&call.reading, wrong, console, |sources| measure(arguments, sources))
}

fn measure(arguments: &BenchArguments, sources: &mut SourceMap) -> Result<(), Vec<Diagnostic>> {
    let (path, call) = (&arguments.model, &arguments.call);
    let reading = &call.reading;
    let compiler = crate::engine::compiler(call.pipeline, call.target.target());
    let begun = Instant::now();
    let (program, _) = load(path, reading, &call.inputs, &compiler, sources)?;
    let compile = begun.elapsed();
    let given = with_random_inputs(&call.inputs, program.arguments.len());
    let tensors = gather(&program, &given, reading.limits.in_force().unpacked_bytes)?;
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    let arena = program.artifact.arena.size;
    let failed = |e: RunError| diagnostics(e.into());
    let mut instance = Instance::on_processor(program.artifact, Vec::new()).map_err(diagnostics)?;
    let times = Times::measure(arguments.calls, || instance.trial(&tensors)).map_err(failed)?;
    let memory = peak_memory().unwrap_or(0);
    crate::stdout::print(&format!(
        "compile  {:9.1} ms\n\
         call     {}    median {} of {} calls, {}\n\
         memory   {:9.1} MB arena, {:.1} MB peak of the process\n",
        milliseconds(compile),
        duration_text(times.minimum(), 9),
        duration_text(times.median(), 0),
        arguments.calls,
        count(default_threads()),
        arena as f64 / 1e6,
        memory as f64 / 1e6,
    ));
    if let Some(path) = &arguments.json {
        let figures = json!({
            "compile_ms": milliseconds(compile),
            "call_ms": milliseconds(times.minimum()),
            "median_ms": milliseconds(times.median()),
            "calls": arguments.calls,
            "arena_bytes": arena,
            "peak_bytes": memory,
        });
        write_json(path, &figures).map_err(|e| vec![*e])?;
    }
    if let Some(output) = &arguments.profile {
        let (program, steps) = load_for_profile(path, reading, &given, &compiler, sources)?;
        let instance = Instance::on_processor(program.artifact, Vec::new()).map_err(diagnostics)?;
        let recorded = record(instance, steps, name(path), arguments.calls, &tensors).map_err(failed)?;
        recorded.report(output).map_err(|e| vec![*e])?;
    }
    Ok(())
}

/// The given arguments, completed with seeded random ones. An archive already contains all arguments.
fn with_random_inputs(given: &[InputArgument], count: usize) -> Vec<InputArgument> {
    let mut all = given.to_vec();
    if given.iter().any(|argument| matches!(argument, InputArgument::Archive(_))) {
        return all;
    }
    for name in (0..count).map(|n| n.to_string()) {
        if !inputs::named(given).any(|known| known == name) {
            all.push(InputArgument::Random { name, seed: 1 });
        }
    }
    all
}
