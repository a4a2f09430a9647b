// SPDX-License-Identifier: Apache-2.0
//! Calls models with the execution engines.

use std::time::{Duration, Instant};

use skript::{CacheEntry, Compiled, Compiler, DeviceChoice, Error, Instance, Model, RunError, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::calls::{entry, failed_at, located};
use skript_frontend::diagnostics::codes::{
    ACCESS_AT_RUN_TIME, ASSERTION_AT_RUN_TIME, EXTENTS_DISAGREE, RUN_FAILED,
};
use skript_passes::target::{Language, TargetDescription};
use skript_passes::{Options, observer};
use skript_runtime::profile;
use skript_runtime::{Artifact, Program};

use crate::command_line::Pipeline;
use crate::profile::Recorded;
use crate::stopped::Stopped;
use crate::watch::{self, Watch};

/// A model and the arrays of its calls.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub model: &'a Model,
    /// The inputs in order, in storage types; packs are flattened, absent optional inputs are omitted.
    pub inputs: &'a [Tensor],
    /// All variables of the model.
    pub variables: &'a [Tensor],
}

/// The calls of a model. Each call uses the variables of the previous call.
#[derive(Clone, Copy)]
pub struct Calls {
    pub count: u32,
    /// Whether the times of the steps of the last call are recorded.
    pub is_profiled: bool,
    /// Whether values that depend on weights alone are cached.
    pub is_cached: bool,
}

/// The results of the last call.
#[derive(Default)]
pub struct Computed {
    /// The entry's outputs; packs are flattened.
    pub outputs: Vec<Tensor>,
    /// All variables of the model.
    pub variables: Vec<Tensor>,
    pub spent: RunCost,
    pub profile: Option<Recorded>,
    /// The code, if it is in the user's cache.
    pub kept: Option<(CacheEntry, Program)>,
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunCost {
    /// The time from the model to loaded code.
    pub compile: Duration,
    /// Whether the code was in the cache.
    pub cached: bool,
    /// The time of the last call.
    pub run: Duration,
    /// Memory for intermediate tensors, in bytes.
    pub arena: u64,
}

impl Job<'_> {
    /// Evaluates the model with the reference evaluator.
    pub fn evaluate(&self, calls: u32) -> Result<Computed, Stopped> {
        let mut computed = Computed { variables: self.variables.to_vec(), ..Computed::default() };
        for _ in 0..calls {
            let begun = Instant::now();
            let (outputs, updates) = self.model.evaluate_in_order(self.inputs, &computed.variables)?;
            computed.spent.run = begun.elapsed();
            computed.outputs = outputs;
            for (position, value) in updates {
                if let Some(variable) = computed.variables.get_mut(position) {
                    *variable = value;
                }
            }
        }
        Ok(computed)
    }

    /// Compiles and calls the model.
    pub fn compute(&self, compiler: &Compiler, calls: Calls) -> Result<Computed, Stopped> {
        let mut computed = Computed { variables: self.variables.to_vec(), ..Computed::default() };
        let inputs: Vec<&Tensor> = self.inputs.iter().collect();
        let failed = |e: RunError| failed(&e, self.model);
        let begun = Instant::now();
        let unprofiled = if calls.is_profiled { calls.count - 1 } else { calls.count };
        if unprofiled > 0 {
            let Compiled { artifact, is_cached, entry } = compiler.compile(self.model)?;
            observer::begins("load");
            let mut instance = load(artifact, compiler, self.model, &computed.variables)?;
            computed.spent = spent(&instance, begun.elapsed(), is_cached);
            if calls.is_cached {
                instance.prepare(true).map_err(failed)?;
            }
            observer::begins("run");
            for _ in 0..unprofiled {
                let begun = Instant::now();
                computed.outputs = instance.compute(&inputs).map_err(failed)?;
                computed.spent.run = begun.elapsed();
            }
            self.model.release(instance.variables(), &mut computed.variables);
            computed.kept = entry.map(|entry| (entry, instance.program().clone()));
        }
        if calls.is_profiled {
            let begun = Instant::now();
            let (artifact, steps) = compiler.profile(self.model)?;
            let mut instance = load(artifact, compiler, self.model, &computed.variables)?;
            computed.spent = spent(&instance, begun.elapsed(), false);
            let prepared = instance.prepare(false).map_err(failed)?;
            // The first call faults in the pages; on a GPU, it compiles kernels and copies variables.
            instance.trial(&inputs).map_err(failed)?;
            let begun = Instant::now();
            let (outputs, profile) = profile::record(steps.len(), || instance.compute(&inputs));
            computed.outputs = outputs.map_err(failed)?;
            computed.spent.run = begun.elapsed();
            self.model.release(instance.variables(), &mut computed.variables);
            let model = graph_name(self.model);
            computed.profile = Some(Recorded { steps, profile, calls: 1, prepared, model });
        }
        Ok(computed)
    }
}

fn spent(instance: &Instance, compile: Duration, cached: bool) -> RunCost {
    let arena = instance.program().artifact().arena.size;
    RunCost { compile, cached, arena, ..RunCost::default() }
}

/// Loads the code of a model with all variables of the model.
pub fn load(
    artifact: Artifact,
    compiler: &Compiler,
    model: &Model,
    variables: &[Tensor],
) -> Result<Instance, Stopped> {
    let target = &compiler.options().target;
    let variables = model.captured(variables);
    if target.gpu.is_none() {
        let instance = Instance::on_processor(artifact, variables)?;
        Watch::calls(instance.stop_handle());
        return Ok(instance);
    }
    let language = artifact.kernels.as_ref().map(|kernels| kernels.language);
    Instance::on_device(artifact, target.device, variables).map_err(|error| match error {
        Error::Run(RunError::Device(text)) => {
            let help = match language.filter(|_| target.device == DeviceChoice::Cpu) {
                Some(Language::Ptx) => "add --device=cuda, or leave --target out to run on the processor",
                Some(Language::SpirV) => "add --device=vulkan, or leave --target out to run on the processor",
                Some(Language::Amdgcn) => {
                    "there is no device for these kernels: leave --target out to run on the processor"
                }
                None => "use --device=cpu, or --device=auto for a GPU if there is one",
            };
            Diagnostic::without_location(&RUN_FAILED, text).with_help(help).into()
        }
        error => error.into(),
    })
}

/// The qualified name of the model's graph.
pub fn graph_name(model: &Model) -> String {
    let model = model.ir();
    model.function(model.entry).map_or_else(String::new, |entry| entry.name.clone())
}

/// The compiler for a pipeline of the command line and a target.
pub fn compiler(pipeline: Pipeline, target: TargetDescription) -> Compiler {
    Compiler::from(Options { pipeline: pipeline.flag(), target, ..Options::default() })
}

/// The diagnostic of a failed call.
pub fn failed(error: &RunError, model: &Model) -> Diagnostic {
    let (code, trace, message) = match error {
        RunError::Check { code, trace, .. } => (code.as_str(), trace, error.to_string()),
        RunError::Stopped { trace } => (RUN_FAILED.id, trace, watch::message().unwrap_or(error.to_string())),
        _ => return Diagnostic::without_location(&RUN_FAILED, error.to_string()),
    };
    let code = [&ASSERTION_AT_RUN_TIME, &EXTENTS_DISAGREE, &ACCESS_AT_RUN_TIME]
        .into_iter()
        .find(|c| c.id == code)
        .unwrap_or(&RUN_FAILED);
    let locations = trace.iter().map(|frame| located(frame, model.sources()));
    let locations: Vec<_> = locations.map(|(span, name)| (name, span)).collect();
    failed_at(code, message, &locations, entry(model.ir()))
}
