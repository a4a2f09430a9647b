// SPDX-License-Identifier: Apache-2.0
//! Native code that launches kernels on a device.

use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_runtime::artifact::Language;
use skript_runtime::device::DeviceChoice;
use skript_runtime::{Artifact, DeviceInstance, LoadError, Program, RunError, profile};
use skript_tensor::Tensor;

use super::compiled::{Compiled, captured, failed, graph_name, separated};
use super::{Computed, Job, Spent};
use crate::devices;
use crate::profile::Recorded;
use crate::session::Stopped;

/// Compiles for a GPU, or takes the code from the cache, and loads it there; returns whether it was in the cache.
pub fn load(compiled: &Compiled, job: &Job) -> Result<(DeviceInstance, bool), Stopped> {
    let (artifact, cached) = compiled.artifact(job)?;
    Ok((loaded(artifact, compiled, job)?, cached))
}

/// Loads code onto the device.
pub fn loaded(artifact: Artifact, compiled: &Compiled, job: &Job) -> Result<DeviceInstance, Stopped> {
    let wrong = |e: LoadError| failed(&RunError::Load(e.to_string()), job.model, job.sources);
    let kernels = artifact.kernels.clone();
    let program = Program::load(artifact).map_err(wrong)?;
    let device = match &kernels {
        Some(kernels) => devices::open(kernels, compiled.target.device),
        None => Err("the code has no kernels".to_owned()),
    };
    let device = device.map_err(|text| {
        let language = kernels.as_ref().map(|kernels| kernels.language);
        let help = match language.filter(|_| compiled.target.device == DeviceChoice::Cpu) {
            Some(Language::Ptx) => "add --device=cuda, or leave --target out to run on the processor",
            Some(Language::SpirV) => "add --device=vulkan, or leave --target out to run on the processor",
            Some(Language::Amdgcn) => {
                "there is no device for these kernels: leave --target out to run on the processor"
            }
            None => "use --device=cpu, or --device=auto for a GPU if there is one",
        };
        Diagnostic::without_location(&RUN_FAILED, text).with_help(help)
    })?;
    let instance = DeviceInstance::new(&program, device);
    instance.map_err(|e| failed(&e, job.model, job.sources).into())
}

/// Compiles for a GPU and runs there.
pub fn run(compiled: &Compiled, job: &Job) -> Result<Computed, Stopped> {
    let begun = Instant::now();
    let ((mut instance, cached), steps) = if compiled.profile {
        let (artifact, steps) = compiled.profiled(job)?;
        ((loaded(artifact, compiled, job)?, false), Some(steps))
    } else {
        (load(compiled, job)?, None)
    };
    let compile = begun.elapsed();
    let inputs: Vec<&Tensor> = job.inputs.iter().map(AsRef::as_ref).collect();
    let variables: Vec<&Tensor> = job.variables.iter().map(AsRef::as_ref).collect();
    let variables = captured(job.model, &variables);
    let begun = Instant::now();
    let mut call = || skript_runtime::run::compute_on_device(&mut instance, &inputs, &variables);
    let (computed, profile) = match steps {
        None => (call(), None),
        Some(steps) => {
            // The first call compiles kernels, and copies variables.
            call().map_err(|e| failed(&e, job.model, job.sources))?;
            let (computed, profile) = profile::record(steps.len(), call);
            let recorded =
                Recorded { steps, profile, calls: 1, prepared: None, model: graph_name(job.model) };
            (computed, Some(recorded))
        }
    };
    let outputs = computed.map_err(|e| failed(&e, job.model, job.sources))?;
    let run = begun.elapsed();
    let artifact = instance.program().artifact();
    let (outputs, updates) = separated(outputs, artifact, job.model);
    Ok(Computed {
        outputs,
        updates,
        spent: Spent { compile, cached, run, arena: artifact.arena.size },
        profile,
        kept: None,
    })
}
