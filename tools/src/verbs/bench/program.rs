// SPDX-License-Identifier: Apache-2.0
//! `skript bench program.mlir`: latency of calls of a StableHLO program.

use std::time::{Duration, Instant};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_frontend::source::SourceMap;
use skript_runtime::{Instance, Program as Loaded};
use skript_tensor::Tensor;

use crate::command_line::{BenchArguments, InputArgument, Pipeline};
use crate::console::{Console, Status};
use crate::inputs;
use crate::measure::{duration_text, milliseconds, peak_memory, write_json};
use crate::session::{repeated, twice};
use crate::stablehlo_program::{finish, gather, load, load_for_profile, model_flags, name};

pub fn run(arguments: &BenchArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let own = [
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--weights", arguments.weights.is_some()),
        ("--variables", arguments.variables.is_some()),
    ];
    let mut wrong = model_flags(&arguments.reading, &own);
    let several = repeated(inputs::named(&arguments.inputs));
    wrong.extend(several.into_iter().map(|name| twice("--input", name)));
    let done = if wrong.is_empty() {
        measure(arguments, &mut sources).map_err(|d| (Status::Wrong, d))
    } else {
        Err((Status::Usage, wrong))
    };
    finish(done, &sources, &arguments.reading, console)
}

fn measure(arguments: &BenchArguments, sources: &mut SourceMap) -> Result<(), Vec<Diagnostic>> {
    let failed = |text: String| vec![Diagnostic::without_location(&RUN_FAILED, text)];
    let begun = Instant::now();
    let (program, _) = load(
        &arguments.model,
        &arguments.reading,
        &arguments.inputs,
        &arguments.target.target(),
        false,
        sources,
    )?;
    let compile = begun.elapsed();
    let given = or_random(&arguments.inputs, program.arguments.len());
    let most = arguments.reading.limits.in_force().unpacked_bytes;
    let tensors = gather(&program, &given, most)?;
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    let arena = program.artifact.arena.size;
    let loaded = Loaded::load(program.artifact).map_err(|e| failed(e.to_string()))?;
    let mut instance = Instance::new(&loaded).map_err(|e| failed(e.to_string()))?;
    let slots = skript_runtime::run::slots(loaded.artifact());
    let mut outputs = slots.map_err(|e| failed(e.to_string()))?;
    let mut times: Vec<Duration> = Vec::new();
    for call in 0..arguments.calls + 2 {
        let begun = Instant::now();
        let done = instance.call(&tensors, &[], &mut outputs);
        done.map_err(|e| failed(e.to_string()))?;
        if call >= 2 {
            times.push(begun.elapsed());
        }
    }
    times.sort();
    let least = times.first().copied().unwrap_or_default();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let memory = peak_memory().unwrap_or(0);
    crate::stdout::print(&format!(
        "compile  {:9.1} ms\n\
         call     {}    median {} of {} calls, {}\n\
         memory   {:9.1} MB arena, {:.1} MB peak of the process\n",
        milliseconds(compile),
        duration_text(least, 9),
        duration_text(median, 0),
        arguments.calls,
        super::count(skript_runtime::threads::default_threads()),
        arena as f64 / 1e6,
        memory as f64 / 1e6,
    ));
    if let Some(path) = &arguments.json {
        let figures = serde_json::json!({
            "compile_ms": milliseconds(compile),
            "call_ms": milliseconds(least),
            "median_ms": milliseconds(median),
            "calls": arguments.calls,
            "arena_bytes": arena,
            "peak_bytes": memory,
        });
        write_json(path, &figures).map_err(|e| vec![*e])?;
    }
    if let Some(output) = &arguments.profile {
        let (path, target) = (&arguments.model, arguments.target.target());
        let (program, steps) = load_for_profile(path, &arguments.reading, &given, &target, sources)?;
        let (artifact, name) = (program.artifact, name(path));
        let calls = arguments.calls;
        let recorded = super::profile::record(artifact, steps, name, calls, &tensors, &[]);
        let recorded = recorded.map_err(|e| failed(e.to_string()))?;
        recorded.report(output).map_err(|e| vec![*e])?;
    }
    Ok(())
}

/// The given arguments, and seeded random numbers for the others unless an archive has all of them.
fn or_random(given: &[InputArgument], count: usize) -> Vec<InputArgument> {
    let mut all = given.to_vec();
    let is_archive = |a: &InputArgument| matches!(a, InputArgument::Archive(_));
    if given.iter().any(is_archive) {
        return all;
    }
    for name in (0..count).map(|n| n.to_string()) {
        if !inputs::named(given).any(|known| known == name) {
            all.push(InputArgument::Random { name, seed: 1 });
        }
    }
    all
}
