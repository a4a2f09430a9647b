// SPDX-License-Identifier: Apache-2.0
//! Native code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::calls::{entry, failed_at, located};
use skript_frontend::diagnostics::codes::{
    ACCESS_AT_RUN_TIME, ASSERTION_AT_RUN_TIME, EXTENTS_DISAGREE, RUN_FAILED,
};
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_passes::code_cache::Compiler;
use skript_passes::observer;
use skript_passes::target::TargetDescription;
use skript_passes::{CompileError, Options, compile_model, compile_model_for_profile};
use skript_runtime::cache::Cache;
use skript_runtime::profile::{self, Step};
use skript_runtime::{Artifact, Instance, LoadError, Prepared, Program, RunError};
use skript_tensor::Tensor;

use super::{Computed, Engine, Job, Kept, Spent, refused};
use crate::command_line::Pipeline;
use crate::profile::Recorded;
use crate::session::Stopped;

pub struct Compiled {
    pub pipeline: Pipeline,
    pub target: TargetDescription,
    /// Whether compiled models are cached between runs.
    pub cache: bool,
    /// Whether runs record the times of steps. Their code is not cached.
    pub profile: bool,
    /// See [`Options::exchange`].
    pub exchange: Option<(String, String)>,
}

impl Engine for Compiled {
    fn run(&self, job: &Job) -> Result<Computed, Stopped> {
        if self.target.gpu.is_some() {
            return super::device::run(self, job);
        }
        let begun = Instant::now();
        let (found, steps) = if self.profile {
            let (artifact, steps) = self.profiled(job)?;
            (Found::compiled(artifact), Some(steps))
        } else {
            (self.found(job)?, None)
        };
        let Found { artifact, cached, keys } = found;
        observer::begins("load");
        let wrong = |e: LoadError| failed(&RunError::Load(e.to_string()), job.model, job.sources);
        let program = Program::load(artifact).map_err(wrong)?;
        let mut instance = Instance::new(&program).map_err(wrong)?;
        let compile = begun.elapsed();
        let inputs: Vec<&Tensor> = job.inputs.iter().map(Arc::as_ref).collect();
        let variables: Vec<&Tensor> = job.variables.iter().map(Arc::as_ref).collect();
        let variables = captured(job.model, &variables);
        let artifact = program.artifact();
        let run_failed = |e: RunError| failed(&e, job.model, job.sources);
        let mut prepared = None;
        if steps.is_some() {
            prepared = prepare(&mut instance, &variables).map_err(run_failed)?;
        } else if let Some(cache) = Cache::of_user().filter(|_| self.cache && artifact.prepared > 0) {
            let kept = cache.prepare(&program, &variables, 0);
            instance.set_prepared(kept.map_err(run_failed)?);
        }
        observer::begins("run");
        let begun = Instant::now();
        let mut call = || skript_runtime::run::compute(&mut instance, &inputs, &variables);
        let (computed, profile) = match steps {
            None => (call(), None),
            Some(steps) => {
                // Pages of memory are not there before a first call.
                call().map_err(run_failed)?;
                let (computed, profile) = profile::record(steps.len(), call);
                let recorded = Recorded { steps, profile, calls: 1, prepared, model: graph_name(job.model) };
                (computed, Some(recorded))
            }
        };
        let outputs = computed.map_err(run_failed)?;
        let run = begun.elapsed();
        let (outputs, updates) = separated(outputs, artifact, job.model);
        Ok(Computed {
            updates,
            outputs,
            spent: Spent { compile, cached, run, arena: artifact.arena.size },
            profile,
            kept: keys.map(|(key, plans)| Kept { key, plans, program: program.clone() }),
        })
    }
}

/// The code of a model.
struct Found {
    artifact: Artifact,
    /// Whether it was in the cache.
    cached: bool,
    /// Its key in the cache, and the key and the text of its plans; `None` without a cache.
    keys: Option<(String, (String, String))>,
}

impl Found {
    fn compiled(artifact: Artifact) -> Self {
        Found { artifact, cached: false, keys: None }
    }
}

/// The graph's outputs, and the new values of variables, which follow them, with their positions in the model.
#[allow(clippy::type_complexity)]
pub fn separated(
    mut outputs: Vec<Tensor>,
    artifact: &Artifact,
    model: &Model,
) -> (Vec<Arc<Tensor>>, Vec<(usize, Arc<Tensor>)>) {
    let first = outputs.len().saturating_sub(artifact.updates.len());
    let values = outputs.split_off(first).into_iter().map(Arc::new);
    let entry = model.function(model.entry);
    let captured = entry.map_or(&[][..], |e| &e.capture_variables);
    let updates = artifact.updates.iter().zip(values);
    let updates = updates
        .filter_map(|((variable, _), value)| {
            let id = captured.get(*variable as usize)?;
            Some((id.0 as usize, value))
        })
        .collect();
    (outputs.into_iter().map(Arc::new).collect(), updates)
}

/// Prepares the variables of a program; returns the time, or `None` if there is nothing to prepare.
///
/// # Errors
/// Those of [`Prepared::new`].
pub fn prepare(instance: &mut Instance, variables: &[&Tensor]) -> Result<Option<Duration>, RunError> {
    if instance.program().artifact().prepared == 0 {
        return Ok(None);
    }
    let begun = Instant::now();
    let prepared = Prepared::new(instance.program(), variables, 0)?;
    instance.set_prepared(prepared);
    Ok(Some(begun.elapsed()))
}

/// The name of the model's graph.
pub fn graph_name(model: &Model) -> String {
    let entry = model.function(model.entry);
    entry.map_or_else(String::new, |entry| entry.name.clone())
}

impl Compiled {
    /// Compiles for a profile; returns the steps of the code as well.
    pub fn profiled(&self, job: &Job) -> Result<(Artifact, Vec<Step>), Stopped> {
        compile_model_for_profile(job.model, job.sources, &self.options(job))
            .map_err(|e| refused(&e, job.model, job.sources))
    }

    /// The compiler's options, with plans that `skript tune` kept.
    pub fn options(&self, job: &Job) -> Options {
        self.keyed_options(job).0
    }

    /// The same, and the key that plans were looked up by.
    fn keyed_options(&self, job: &Job) -> (Options, String) {
        let options =
            Options { exchange: self.exchange.clone(), ..options(self.pipeline, self.target.clone()) };
        if self.cache {
            Compiler::of_process().tuned(job.model, job.sources, options)
        } else {
            (options, String::new())
        }
    }

    /// Loads from the cache, or compiles and stores; returns whether it was in the cache. Errors of writing the cache
    /// are ignored.
    pub fn artifact(&self, job: &Job) -> Result<(Artifact, bool), Stopped> {
        let found = self.found(job)?;
        Ok((found.artifact, found.cached))
    }

    fn found(&self, job: &Job) -> Result<Found, Stopped> {
        let (options, plans_key) = self.keyed_options(job);
        let wrong = |e: CompileError| refused(&e, job.model, job.sources);
        if !self.cache {
            let artifact = compile_model(job.model, job.sources, &options).map_err(wrong)?;
            return Ok(Found::compiled(artifact));
        }
        let compiler = Compiler::of_process();
        let compiled = compiler.compile(job.model, job.sources, &options);
        let (artifact, key, cached) = compiled.map_err(wrong)?;
        Ok(Found { artifact, cached, keys: key.map(|key| (key, (plans_key, options.target.plans))) })
    }
}

/// The cache key of the plans of a model's kernels.
pub fn plans_key(model: &Model, sources: &SourceMap, options: &Options) -> String {
    Compiler::of_process().plans_key(model, sources, options)
}

/// The options with the plans that `skript tune` kept for this model, unless they have some.
pub fn tuned(model: &Model, sources: &SourceMap, options: Options) -> Options {
    Compiler::of_process().tuned(model, sources, options).0
}

/// The cache key of a StableHLO program.
pub fn program_key(text: &str, target: &TargetDescription) -> String {
    Compiler::of_process().program_key(text, target)
}

/// Compiles a model for a processor, with the plans that `skript tune` kept for it.
pub fn compile(
    model: &Model,
    sources: &SourceMap,
    pipeline: Pipeline,
    target: TargetDescription,
) -> Result<Artifact, Stopped> {
    let options = tuned(model, sources, options(pipeline, target));
    compile_model(model, sources, &options).map_err(|e| refused(&e, model, sources))
}

/// The compiler's options for a pipeline of the command line and a processor.
pub fn options(pipeline: Pipeline, target: TargetDescription) -> Options {
    Options { pipeline: flag(pipeline), target, ..Options::default() }
}

fn flag(pipeline: Pipeline) -> &'static str {
    match pipeline {
        Pipeline::Linalg => "skript-to-linalg",
        Pipeline::LinalgNamed => "skript-to-linalg-named",
        Pipeline::Affine => "skript-to-affine",
        Pipeline::Scf => "skript-to-scf",
    }
}

/// The command line's name for the compiler's pipeline with this flag.
pub fn pipeline_of(wanted: &str) -> Option<String> {
    let all = Pipeline::value_variants().iter();
    let named = all.filter(|p| flag(**p) == wanted);
    let mut names = named.filter_map(ValueEnum::to_possible_value);
    names.next().map(|name| name.get_name().to_string())
}

/// The variables that the entry captures, in order.
pub fn captured<'a>(model: &Model, variables: &[&'a Tensor]) -> Vec<&'a Tensor> {
    let entry = model.function(model.entry);
    let ids = entry.map_or(&[][..], |e| &e.capture_variables);
    let tensors = ids.iter().map(|id| variables.get(id.0 as usize).copied());
    tensors.flatten().collect()
}

pub fn failed(error: &RunError, model: &Model, sources: &SourceMap) -> Diagnostic {
    let RunError::Check { code, trace, .. } = error else {
        return Diagnostic::without_location(&RUN_FAILED, error.to_string());
    };
    let code = [&ASSERTION_AT_RUN_TIME, &EXTENTS_DISAGREE, &ACCESS_AT_RUN_TIME]
        .into_iter()
        .find(|c| c.id == code)
        .unwrap_or(&RUN_FAILED);
    let locations = trace.iter().map(|frame| located(frame, sources));
    let locations: Vec<_> = locations.map(|(span, name)| (name, span)).collect();
    failed_at(code, error.to_string(), &locations, entry(model))
}
