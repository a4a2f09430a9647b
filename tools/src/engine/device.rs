// SPDX-License-Identifier: Apache-2.0
//! Native code that launches kernels on a device.

use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_passes::target::Gpu;
use skript_passes::{Options, compile_model_for_gpu};
use skript_runtime::{DeviceInstance, LoadError, Program, RunError};
use skript_tensor::Tensor;

use super::compiled::{captured, failed, separated};
use super::{Computed, Job, Spent, refused};
use crate::devices;
use crate::session::Stopped;

/// Compiles for a GPU, and loads the code there.
pub fn load(options: &Options, gpu: &'static Gpu, job: &Job) -> Result<DeviceInstance, Stopped> {
    let compiled = compile_model_for_gpu(job.model, job.sources, options, gpu);
    let artifact = compiled.map_err(|e| refused(&e, job.model, job.sources))?;
    let wrong = |e: LoadError| failed(&RunError::Load(e.to_string()), job.model, job.sources);
    let kernels = artifact.kernels.clone();
    let program = Program::load(artifact).map_err(wrong)?;
    let device = match &kernels {
        Some(kernels) => devices::open(kernels, options.target.device),
        None => Err("the code has no kernels".to_owned()),
    };
    let device = device.map_err(|text| {
        let help = "use --device=cpu, or --device=auto for a GPU if there is one";
        Diagnostic::without_location(&RUN_FAILED, text).with_help(help)
    })?;
    DeviceInstance::new(&program, device).map_err(|e| failed(&e, job.model, job.sources).into())
}

/// Compiles for a GPU and runs there.
pub fn run(options: &Options, gpu: &'static Gpu, job: &Job) -> Result<Computed, Stopped> {
    let begun = Instant::now();
    let mut instance = load(options, gpu, job)?;
    let compile = begun.elapsed();
    let inputs: Vec<&Tensor> = job.inputs.iter().map(AsRef::as_ref).collect();
    let variables: Vec<&Tensor> = job.variables.iter().map(AsRef::as_ref).collect();
    let variables = captured(job.model, &variables);
    let begun = Instant::now();
    let computed = skript_runtime::run::compute_on_device(&mut instance, &inputs, &variables);
    let outputs = computed.map_err(|e| failed(&e, job.model, job.sources))?;
    let run = begun.elapsed();
    let artifact = instance.program().artifact();
    let (outputs, updates) = separated(outputs, artifact, job.model);
    Ok(Computed {
        outputs,
        updates,
        spent: Spent {
            compile,
            cached: false,
            run,
            arena: artifact.arena.size,
        },
        profile: None,
        kept: None,
    })
}
