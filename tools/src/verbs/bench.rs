// SPDX-License-Identifier: Apache-2.0
//! `skript bench`: measures the latency of calls, and compares it with the machine's peak rates.

mod device;
mod language;
mod program;

use std::time::{Duration, Instant};

use serde_json::json;
use skript::{Instance, Model, RunError, Tensor};
use skript_frontend::model::{Cost, Precision};
use skript_host::format::is_gguf;
use skript_runtime::profile::{self, Step};
use skript_runtime::threads::default_threads;

use crate::command_line::{ActivationType, BenchArguments};
use crate::console::{Console, Status};
use crate::engine::{Job, failed, graph_name, load};
use crate::language::{option_refused, stopped};
use crate::measure::{bandwidth, duration_text, milliseconds, peak, peak_memory, write_json};
use crate::profile::Recorded;
use crate::session::{Session, Stopped, reporter};
use crate::stablehlo_program;
use crate::watch::Watch;

/// The time for measuring each of the machine's peak rates.
const PEAK_TIME: Duration = Duration::from_millis(200);

/// Number of untimed calls before the timed calls.
const WARM_UP: u32 = 2;

pub fn run(arguments: &BenchArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.call.stop.timeout, reporter(arguments.call.reading.message_format));
    let call = &arguments.call;
    call.threads.apply();
    if arguments.activations != ActivationType::Real && !is_gguf(&arguments.model) {
        return stopped(
            Err(option_refused("--activations", &arguments.model).into()),
            call.reading.message_format,
            console,
        );
    }
    if stablehlo_program::is_program(&arguments.model) {
        return program::run(arguments, console);
    }
    if is_gguf(&arguments.model) {
        return stopped(language::measure(arguments), call.reading.message_format, console);
    }
    call.target.announce(console);
    let mut session = Session::open_for_call(&arguments.model, &call.reading, &call.inputs);
    if let Some((model, (inputs, variables))) = session.compose_with_arrays(call) {
        let job = Job { model: &model, inputs: &inputs, variables: &variables };
        let is_for_gpu = call.compiler().options().target.gpu.is_some();
        let measure = if is_for_gpu { device::measure } else { measure };
        if let Err(error) = measure(arguments, &job) {
            session.report_all(error);
        }
    }
    session.close(console)
}

/// The times of calls, in ascending order.
struct Times(Vec<Duration>);

impl Times {
    /// Times `calls` calls, after [`WARM_UP`] untimed calls.
    fn measure<E>(calls: u32, mut call: impl FnMut() -> Result<(), E>) -> Result<Times, E> {
        let mut times = Vec::new();
        for number in 0..calls + WARM_UP {
            let begun = Instant::now();
            call()?;
            if number >= WARM_UP {
                times.push(begun.elapsed());
            }
        }
        times.sort();
        Ok(Times(times))
    }

    fn minimum(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// The number of operations of a call with these arrays.
fn cost(model: &Model, inputs: &[Tensor]) -> Cost {
    let shapes: Vec<&[u64]> = inputs.iter().map(Tensor::shape).collect();
    model.specialized(&shapes).as_ref().unwrap_or(model).ir().cost()
}

/// The measurements of a model on a processor.
struct Measured {
    compile: Duration,
    cached: Duration,
    times: Times,
    cost: Cost,
    /// Bytes of inputs, weights and outputs.
    bytes: usize,
    weight_bytes: usize,
    arena: u64,
    memory: u64,
}

fn measure(arguments: &BenchArguments, job: &Job) -> Result<(), Stopped> {
    let compiler = arguments.call.compiler();
    let begun = Instant::now();
    compiler.compile(job.model)?;
    let compile = begun.elapsed();
    // The first call fills the cache, the second call loads from it.
    let compiler = compiler.for_this_executable(true);
    compiler.compile(job.model)?;
    let begun = Instant::now();
    let artifact = compiler.compile(job.model)?.artifact;
    let mut instance = load(artifact, &compiler, job.model, job.variables)?;
    let cached = begun.elapsed();
    // Copies the inputs, because callers pass arrays in their memory, not mapped files.
    let copies = job.inputs.iter().map(|t| Tensor::from_bytes(t.element(), t.shape(), t.bytes()));
    let copies: Vec<Tensor> = copies.collect::<Result<_, _>>().map_err(skript::Error::from)?;
    let inputs: Vec<&Tensor> = copies.iter().collect();
    let wrong = |e: RunError| failed(&e, job.model);
    let times = Times::measure(arguments.calls, || instance.trial(&inputs)).map_err(wrong)?;
    let size = |tensors: &[Tensor]| tensors.iter().map(|t| t.bytes().len()).sum::<usize>();
    let weight_bytes = size(instance.variables());
    let measured = Measured {
        compile,
        cached,
        times,
        cost: cost(job.model, job.inputs),
        bytes: size(&copies) + weight_bytes + size(instance.trial_outputs()),
        weight_bytes,
        arena: instance.program().artifact().arena.size,
        // Read before the measurement of the bandwidth allocates an array.
        memory: peak_memory().unwrap_or(0),
    };
    measured.report(arguments)?;
    if let Some(output) = &arguments.profile {
        let (artifact, steps) = compiler.profile(job.model)?;
        let instance = load(artifact, &compiler, job.model, job.variables)?;
        let name = graph_name(job.model);
        record(instance, steps, name, arguments.calls, &inputs).map_err(wrong)?.report(output)?;
    }
    Ok(())
}

impl Measured {
    /// Prints the figures, and writes them if requested.
    fn report(&self, arguments: &BenchArguments) -> Result<(), Stopped> {
        let threads = default_threads();
        let minimum = self.times.minimum();
        let seconds = minimum.as_secs_f64().max(1e-9);
        let rate = self.cost.flops as f64 / seconds / 1e9;
        let traffic = self.bytes as f64 / seconds / 1e9;
        let peak = peak::measure(PEAK_TIME, threads);
        let bandwidth = bandwidth::measure(PEAK_TIME, threads);
        let share = peak.map_or(String::new(), |p| {
            let share = 100.0 * rate / p;
            format!(", {share:.0} % of the {p:.0} GFLOP/s of fused multiply-adds on {}", count(threads))
        });
        let traffic_share = bandwidth.map_or(String::new(), |b| {
            let share = 100.0 * traffic / b;
            format!(", {share:.0} % of the {b:.0} GB/s that {} read from memory", count(threads))
        });
        let bound = match self.cost.precision.prefix() {
            "" => String::new(),
            prefix => format!("; {prefix}this, because extents or loops depend on data"),
        };
        let (arena, weights, memory) =
            (self.arena as f64 / 1e6, self.weight_bytes as f64 / 1e6, self.memory as f64 / 1e6);
        crate::stdout::print(&format!(
            "compile  {:9.1} ms    from the cache {:.1} ms\n\
             call     {}    median {} of {} calls, {}\n\
             rate     {rate:9.1} GFLOP/s{share}{bound}\n\
             traffic  {traffic:9.1} GB/s of inputs, weights and outputs{traffic_share}\n\
             memory   {arena:9.1} MB arena, {weights:.1} MB weights, {memory:.1} MB peak of the process\n",
            milliseconds(self.compile),
            milliseconds(self.cached),
            duration_text(minimum, 9),
            duration_text(self.times.median(), 0),
            arguments.calls,
            count(threads),
        ));
        let Some(path) = &arguments.json else {
            return Ok(());
        };
        let figures = json!({
            "compile_ms": milliseconds(self.compile),
            "cached_ms": milliseconds(self.cached),
            "call_ms": milliseconds(minimum),
            "median_ms": milliseconds(self.times.median()),
            "calls": arguments.calls,
            "threads": threads,
            "flops": self.cost.flops,
            "flops_exact": self.cost.precision == Precision::Exact,
            "parameters": self.cost.parameters,
            "gflops": rate,
            "peak_gflops": peak,
            "peak_share": peak.map(|peak| rate / peak),
            "bytes": self.bytes,
            "gbytes_per_s": traffic,
            "peak_gbytes_per_s": bandwidth,
            "bandwidth_share": bandwidth.map(|bandwidth| traffic / bandwidth),
            "arena_bytes": self.arena,
            "peak_bytes": self.memory,
        });
        Ok(write_json(path, &figures)?)
    }
}

/// Records the steps of calls of code that was compiled for a profile, after [`WARM_UP`] calls.
fn record(
    mut instance: Instance,
    steps: Vec<Step>,
    model: String,
    calls: u32,
    inputs: &[&Tensor],
) -> Result<Recorded, RunError> {
    let prepared = instance.prepare(false)?;
    let mut several = |calls: u32| (0..calls).try_for_each(|_| instance.trial(inputs));
    several(WARM_UP)?;
    let (done, profile) = profile::record(steps.len(), || several(calls));
    done?;
    Ok(Recorded { steps, profile, calls, prepared, model })
}

/// `1 thread`, `2 threads`.
fn count(threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}")
}
