// SPDX-License-Identifier: Apache-2.0
//! `skript bench`: latency of calls, compared with the machine's peak rate.

mod device;
mod profile;
mod program;

use std::sync::Arc;
use std::time::{Duration, Instant};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_frontend::model::{Model, Precision};
use skript_runtime::threads::default_threads;
use skript_runtime::{Instance, Program};
use skript_tensor::{Tensor, TensorError};

use crate::command_line::BenchArguments;
use crate::console::{Console, Status};
use crate::engine::Job;
use crate::engine::compiled::{Compiled, captured, failed, graph_name};
use crate::measure::{bandwidth, duration_text, milliseconds, peak, peak_memory, write_json};
use crate::session::{Session, Stopped, Weights};
use crate::stablehlo_program;

/// The time for measuring the processor's peak rate.
const PEAK_TIME: Duration = Duration::from_millis(200);

pub fn run(arguments: &BenchArguments, console: &mut Console) -> Status {
    arguments.threads.apply();
    if stablehlo_program::is_program(&arguments.model) {
        return program::run(arguments, console);
    }
    arguments.target.announce(console);
    let mut session = Session::open_for_call(&arguments.model, &arguments.reading, &arguments.inputs);
    let weights = Weights::of_arguments(arguments.variables.as_deref(), arguments.weights.as_ref());
    if let Some((model, (inputs, variables))) = session.compose_with_arrays(&arguments.inputs, weights)
        && let Err(error) = measure(arguments, &session, &model, &inputs, &variables)
    {
        session.report_all(error);
    }
    session.close(console)
}

/// A copy of a tensor.
fn in_memory(tensor: &Tensor) -> Result<Tensor, TensorError> {
    Tensor::from_bytes(tensor.element(), tensor.shape(), tensor.bytes())
}

fn measure(
    arguments: &BenchArguments,
    session: &Session,
    model: &Model,
    inputs: &[Arc<Tensor>],
    variables: &[Arc<Tensor>],
) -> Result<(), Stopped> {
    let compiled = |cache| Compiled {
        pipeline: arguments.pipeline,
        target: arguments.target.target_of(&arguments.reading),
        cache,
        profile: false,
        exchange: None,
    };
    let job = Job { model, sources: &session.program.sources, inputs, variables };
    if compiled(false).target.gpu.is_some() {
        return device::measure(arguments, session, &compiled(false), &job);
    }
    let begun = Instant::now();
    compiled(false).artifact(&job)?;
    let compile = begun.elapsed();
    // Once to fill the cache, once from it.
    compiled(true).artifact(&job)?;
    let begun = Instant::now();
    let (artifact, _) = compiled(true).artifact(&job)?;
    let wrong = |text: String| Box::new(Diagnostic::without_location(&RUN_FAILED, text));
    let program = Program::load(artifact).map_err(|e| wrong(e.to_string()))?;
    let mut instance = Instance::new(&program).map_err(|e| wrong(e.to_string()))?;
    let cached = begun.elapsed();

    // A caller has inputs in memory of its own, not in the file that they came from.
    let inputs = inputs
        .iter()
        .map(|input| in_memory(input))
        .collect::<Result<Vec<Tensor>, _>>()
        .map_err(|e| wrong(e.to_string()))?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let variables: Vec<&Tensor> = variables.iter().map(Arc::as_ref).collect();
    let variables = captured(model, &variables);
    let mut outputs = skript_runtime::run::slots(program.artifact())
        .map_err(|e| Box::new(failed(&e, job.model, job.sources)))?;
    let mut times = Vec::new();
    for call in 0..arguments.calls + 2 {
        let begun = Instant::now();
        instance
            .call(&inputs, &variables, &mut outputs)
            .map_err(|e| Box::new(failed(&e, job.model, job.sources)))?;
        if call >= 2 {
            times.push(begun.elapsed());
        }
    }
    times.sort();
    let least = times.first().copied().unwrap_or_default();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    // Of the timed iterations.
    let executed = session.specialized_measured(model, &arguments.inputs, &inputs);
    let cost = executed.unwrap_or_else(|| model.clone()).cost();
    let rate = |time: Duration| cost.flops as f64 / time.as_secs_f64().max(1e-9) / 1e9;
    let arrays = inputs.iter().chain(&variables).copied().chain(&outputs);
    let bytes: usize = arrays.map(|tensor| tensor.bytes().len()).sum();
    let traffic = bytes as f64 / least.as_secs_f64().max(1e-9) / 1e9;
    let threads = default_threads();
    // Before the array that measures the bandwidth.
    let memory = peak_memory().unwrap_or(0);
    let peak = peak::measure(PEAK_TIME, threads);
    let bandwidth = bandwidth::measure(PEAK_TIME, threads);
    let share = peak.map_or(String::new(), |p| {
        format!(
            ", {:.0} % of the {p:.0} GFLOP/s of fused multiply-adds on {}",
            100.0 * rate(least) / p,
            count(threads)
        )
    });
    let traffic_share = bandwidth.map_or(String::new(), |b| {
        format!(", {:.0} % of the {b:.0} GB/s that {} read from memory", 100.0 * traffic / b, count(threads))
    });
    let bound = match cost.precision.prefix() {
        "" => String::new(),
        prefix => format!("; {prefix}this, because extents or loops depend on data"),
    };
    crate::stdout::print(&format!(
        "compile  {:9.1} ms    from the cache {:.1} ms\n\
         call     {}    median {} of {} calls, {}\n\
         rate     {:9.1} GFLOP/s{share}{bound}\n\
         traffic  {traffic:9.1} GB/s of inputs, weights and outputs{traffic_share}\n\
         memory   {:9.1} MB arena, {:.1} MB weights, {:.1} MB peak of the process\n",
        milliseconds(compile),
        milliseconds(cached),
        duration_text(least, 9),
        duration_text(median, 0),
        arguments.calls,
        count(threads),
        rate(least),
        program.artifact().arena.size as f64 / 1e6,
        variables.iter().map(|v| v.bytes().len()).sum::<usize>() as f64 / 1e6,
        memory as f64 / 1e6,
    ));
    if let Some(path) = &arguments.json {
        write_json(
            path,
            &serde_json::json!({
                "compile_ms": milliseconds(compile),
                "cached_ms": milliseconds(cached),
                "call_ms": milliseconds(least),
                "median_ms": milliseconds(median),
                "calls": arguments.calls,
                "threads": threads,
                "flops": cost.flops,
                "flops_exact": cost.precision == Precision::Exact,
                "parameters": cost.parameters,
                "gflops": rate(least),
                "peak_gflops": peak,
                "peak_share": peak.map(|peak| rate(least) / peak),
                "bytes": bytes,
                "gbytes_per_s": traffic,
                "peak_gbytes_per_s": bandwidth,
                "bandwidth_share": bandwidth.map(|bandwidth| traffic / bandwidth),
                "arena_bytes": program.artifact().arena.size,
                "peak_bytes": memory,
            }),
        )?;
    }
    if let Some(output) = &arguments.profile {
        let (artifact, steps) = compiled(true).profiled(&job)?;
        let name = graph_name(model);
        let recorded = profile::record(artifact, steps, name, arguments.calls, &inputs, &variables)
            .map_err(|e| Box::new(failed(&e, job.model, job.sources)))?;
        recorded.report(output)?;
    }
    Ok(())
}

/// `1 thread`, `2 threads`.
pub fn count(threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}")
}
