// SPDX-License-Identifier: Apache-2.0
//! Native code that launches kernels on a device.

use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;
use skript_passes::codegen::gpu::DeviceCode;
use skript_passes::target::{Gpu, Language};
use skript_passes::{Options, compile_model_for_gpu};
use skript_runtime::device::Device;
use skript_runtime::{DeviceInstance, LoadError, Program, RunError};
use skript_tensor::Tensor;

use super::compiled::{captured, failed, separated};
use super::{Computed, Job, Spent, refused};
use crate::session::Stopped;

/// Compiles for a GPU and runs there.
pub fn run(options: &Options, gpu: &'static Gpu, job: &Job) -> Result<Computed, Stopped> {
    let begun = Instant::now();
    let compiled = compile_model_for_gpu(job.model, job.sources, options, gpu);
    let (artifact, code) = compiled.map_err(|e| refused(&e, job.model, job.sources))?;
    let wrong = |e: LoadError| failed(&RunError::Load(e.to_string()), job.model, job.sources);
    let program = Program::load(artifact).map_err(wrong)?;
    let device = open(&code, options.target.device).map_err(|text| {
        Diagnostic::without_location(&RUN_FAILED, text).with_help("use --device=cpu")
    })?;
    let run_failed = |e: RunError| failed(&e, job.model, job.sources);
    let mut instance = DeviceInstance::new(&program, device).map_err(run_failed)?;
    let compile = begun.elapsed();
    let inputs: Vec<&Tensor> = job.inputs.iter().map(AsRef::as_ref).collect();
    let variables: Vec<&Tensor> = job.variables.iter().map(AsRef::as_ref).collect();
    let variables = captured(job.model, &variables);
    let begun = Instant::now();
    let computed = skript_runtime::run::compute_on_device(&mut instance, &inputs, &variables);
    let outputs = computed.map_err(run_failed)?;
    let run = begun.elapsed();
    let artifact = program.artifact();
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

/// Opens the device for these kernels.
#[cfg(feature = "vulkan")]
fn open(code: &DeviceCode, number: usize) -> Result<Box<dyn Device + Send>, String> {
    match code.language {
        Language::SpirV => {
            let device = skript_gpu::vulkan::Vulkan::open(number, &code.code, &code.kernels);
            Ok(Box::new(device.map_err(|e| e.to_string())?))
        }
        Language::Ptx => Err("there is no runtime for CUDA in this program".to_owned()),
        Language::Amdgcn => Err("there is no runtime for AMD's GPUs in this program".to_owned()),
    }
}

#[cfg(not(feature = "vulkan"))]
fn open(_: &DeviceCode, _: usize) -> Result<Box<dyn Device + Send>, String> {
    Err("this program was built without Vulkan".to_owned())
}
