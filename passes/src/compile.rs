// SPDX-License-Identifier: Apache-2.0
//! The driver: compiles a composed model to an artifact, or to the text of an intermediate stage.

use crate::codegen::{self, CodegenError, Form, Interface, checks, entry, memory};
use crate::codegen::{c, gpu};
use crate::emit::{EmitError, emit};
use crate::integers::SumsOfProducts;
use crate::ir::{self, Builder, step};
use crate::observer;
pub use crate::pipeline::Stop;
use crate::pipeline::stages::{self, Stage};
use crate::pipeline::{LOWERINGS, Pipeline, gpu_stages};
use crate::prepare;
use crate::profile;
use crate::target::{Gpu, Language, TargetDescription};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::ir::{Module, Value, ValueLike};
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_runtime::artifact::{Artifact, Kernels};
use skript_runtime::profile::Step;
use std::thread::available_parallelism;

/// Options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The lowering of formulas, which is a named pipeline that ends with tensors or loops.
    pub pipeline: &'static str,
    /// The target of code generation.
    pub target: TargetDescription,
    /// For tests of `skript compare`: emits every op of the first name as one of the second (`skript.max`,
    /// `skript.min`), a deliberately broken lowering.
    pub exchange: Option<(String, String)>,
    /// Qualified names of operators whose invocations are kept. Only for stages before code generation.
    pub keep: Vec<String>,
}

impl Default for Options {
    /// The lowering to linalg, for this machine.
    fn default() -> Self {
        Options {
            pipeline: "skript-to-linalg",
            target: TargetDescription::host(),
            exchange: None,
            keep: Vec::new(),
        }
    }
}

/// An error of the compilation of a model.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The message of each variant states its fields.
pub enum CompileError {
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The selected lowering does not support the model.
    #[error("{error}")]
    Lowering {
        error: CodegenError,
        /// The flags of other lowerings that support the model.
        supporting: Vec<&'static str>,
    },
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

impl From<melior::Error> for CompileError {
    fn from(error: melior::Error) -> Self {
        CompileError::Emit(error.into())
    }
}

/// Compiles the entry of a model. For a GPU, the artifact has the host's part, whose calls of the runtime launch kernels, and the
/// kernels.
///
/// # Errors
/// [`CompileError`]: constructs that compiled code does not support, with their location; defects of a lowering.
pub fn compile_model(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
) -> Result<Artifact, CompileError> {
    let context = context();
    let (module, interface) = tensors(model, sources, options, &context)?;
    match options.target.gpu {
        Some(gpu) => Ok(compile_for_gpu(&module, interface, &options.target, gpu, false)?.0),
        None => Ok(compile_tensors(&module, interface, &options.target)?),
    }
}

/// Like [`compile_model`], for code that reports the step that it computes to the runtime ([`skript_runtime::profile`]). Also returns the
/// steps.
///
/// # Errors
/// Those of [`compile_model`].
pub fn compile_model_for_profile(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
) -> Result<(Artifact, Vec<Step>), CompileError> {
    let context = context();
    let (module, interface) = tensors(model, sources, options, &context)?;
    let target = &options.target;
    match target.gpu {
        Some(gpu) => compile_for_gpu(&module, interface, target, gpu, true),
        None => Ok(compile_tensors_for_profile(&module, interface, target)?),
    }
}

/// The lowered model, and the interface of its entry.
fn tensors<'c>(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    context: &'c Context,
) -> Result<(Module<'c>, Interface), CompileError> {
    let module = lowered(model, sources, options, context)?;
    Ok((module, interface(model)?))
}

/// The interface of the entry of a model.
fn interface(model: &Model) -> Result<Interface, CodegenError> {
    Interface::from_model(model)
        .ok_or_else(|| CodegenError::Module("the model's entry is incomplete".to_owned()))
}

/// Compiles a module whose entry works on tensors with `linalg`, `scf`, `arith`, `math` and `tensor` ops, all calls
/// inlined.
///
/// # Errors
/// [`CodegenError`] with MLIR's diagnostics, if an operation is not supported.
pub fn compile_tensors(
    module: &Module,
    interface: Interface,
    target: &TargetDescription,
) -> Result<Artifact, CodegenError> {
    refuse_gpu(target)?;
    tensors_to_llvm(module, target)?;
    artifact(module, interface, target)
}

/// Like [`compile_tensors`], with the steps of the code; see [`compile_model_for_profile`].
///
/// # Errors
/// Those of [`compile_tensors`].
pub fn compile_tensors_for_profile(
    module: &Module,
    interface: Interface,
    target: &TargetDescription,
) -> Result<(Artifact, Vec<Step>), CodegenError> {
    refuse_gpu(target)?;
    crate::all::register();
    run(module, &stages::after_lowering_with_profile(target))?;
    let steps = profile::table(module.as_operation());
    Ok((artifact(module, interface, target)?, steps))
}

/// The artifact of a module in the `llvm` dialect.
fn artifact(
    module: &Module,
    interface: Interface,
    target: &TargetDescription,
) -> Result<Artifact, CodegenError> {
    observer::begins("code");
    let arguments = prepare::arguments(module.as_operation()).into_iter();
    let variables = arguments.filter_map(|argument| {
        let inputs = u32::try_from(interface.inputs.len()).ok()?;
        u32::try_from(argument).ok()?.checked_sub(inputs)
    });
    Ok(Artifact {
        target: target.code.clone(),
        entry: entry::SYMBOL.to_owned(),
        arena: memory::layout(module.as_operation())?,
        prepared: prepare::size(module.as_operation()),
        unread: variables.collect(),
        inputs: interface.inputs,
        variables: interface.variables,
        outputs: interface.outputs,
        updates: interface.updates,
        checks: checks::table(module.as_operation())?,
        object: codegen::emit(module, &target.code, Form::Object)?,
        kernels: None,
        embedded: None,
    })
}

/// Runs every stage after the lowering, which converts a module to the `llvm` dialect.
///
/// # Errors
/// As for [`compile_tensors`].
pub fn tensors_to_llvm(module: &Module, target: &TargetDescription) -> Result<(), CodegenError> {
    refuse_gpu(target)?;
    crate::all::register();
    run(module, &stages::after_lowering(target))
}

/// Rejects targets with a GPU, because a single object cannot contain kernels.
fn refuse_gpu(target: &TargetDescription) -> Result<(), CodegenError> {
    match target.gpu {
        None => Ok(()),
        Some(gpu) => {
            Err(CodegenError::Module(format!("this is not compiled for the GPU `{}` yet", gpu.name)))
        }
    }
}

/// The passes `before`, then those of [`tensors_to_llvm`], as `skript-opt --pass-pipeline` accepts them.
pub fn tensors_pipeline_text(before: &str, target: &TargetDescription) -> String {
    let after: Vec<String> =
        stages::after_lowering(target).iter().map(|stage| step::text(&stage.steps)).collect();
    format!("builtin.module({before},{})", after.join(","))
}

/// The passes that run on a module in the `skript` dialect up to a stage, as `skript-opt --pass-pipeline` accepts them.
///
/// # Errors
/// [`CodegenError`] if the options name no pipeline.
pub fn pipeline_text(options: &Options, stop: Stop) -> Result<String, CodegenError> {
    let stages = stages::all(lowering(options)?, &options.keep, &options.target);
    Ok(stages::text(&stages::before(stages, stop)))
}

/// A model after a stage: text, or bytes for objects. MLIR text has locations if `locations` is set.
///
/// # Errors
/// Those of [`compile_model`].
pub fn model_after(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    stop: Stop,
    locations: bool,
) -> Result<Vec<u8>, CompileError> {
    let context = context();
    let module = match stop {
        Stop::Skript => {
            let module = emit(model, sources, &context)?;
            if let Some(keeping) = stages::keep(&options.keep) {
                run(&module, &[Stage::new("keep", [keeping])])
                    .map_err(|error| CompileError::Lowering { error, supporting: Vec::new() })?;
            }
            module
        }
        _ => lowered(model, sources, options, &context)?,
    };
    let target = &options.target;
    let stages = match target.gpu {
        Some(gpu) => gpu_stages::to_kernels(target, gpu),
        None => stages::after_lowering(target),
    };
    if !matches!(stop, Stop::Skript | Stop::Lowered) {
        run(&module, &stages::before(stages, stop))?;
    }
    match (target.gpu, stop) {
        (Some(gpu), Stop::LlvmDialect | Stop::Code(_)) => {
            finish(&device(&module, &options.target, gpu)?, options, stop, locations)
        }
        _ => finish(&module, options, stop, locations),
    }
}

/// Runs all passes, one by one. Calls `report` with the module in the `skript` dialect, and after each
/// pass that changes it, with the pass in the syntax of `skript-opt --pass-pipeline` and the text of the module.
///
/// # Errors
/// Those of [`compile_model`].
pub fn report_passes(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    locations: bool,
    report: &mut dyn FnMut(&str, &[u8]),
) -> Result<(), CompileError> {
    let context = context();
    let module = emit(model, sources, &context)?;
    let mut before = text(&module, locations)?;
    report("emit", &before);
    for stage in stages::all(lowering(options)?, &options.keep, &options.target) {
        for step in &stage.steps {
            let pass = step.to_string();
            ir::run_pipeline(&module, stage.name, &pass)?;
            let after = text(&module, locations)?;
            if after != before {
                report(&pass, &after);
                before = after;
            }
        }
    }
    Ok(())
}

/// Writes a model as a C program.
///
/// # Errors
/// Those of [`compile_model`], and operators or operations that have no form in C.
pub fn model_as_c(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    weights: c::Weights,
    has_locations: bool,
) -> Result<c::Program, CompileError> {
    let context = context();
    let module = emit(model, sources, &context)?;
    let [lower, buffers, loops] = stages::to_c(lowering(options)?);
    run(&module, &[lower])?;
    c::refuse_intrinsics(&module)?;
    run(&module, &[buffers, loops])?;
    let interface = interface(model)?;
    let name = model.function(model.entry).map_or("", |function| &function.name);
    let graph = name.rsplit('.').next().unwrap_or(name);
    Ok(c::write(&module, &interface, graph, weights, has_locations)?)
}

/// The sums of products that code of a model computes in bytes and in reals.
///
/// # Errors
/// Those of [`compile_model`].
pub fn sums_of_products(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
) -> Result<SumsOfProducts, CompileError> {
    let context = context();
    let module = lowered(model, sources, options, &context)?;
    if options.target.computes_integers() {
        run(&module, &[stages::integers_alone()])?;
    }
    Ok(SumsOfProducts::new(module.as_operation()))
}

/// The kernels of a module, in the dialect for the code.
fn device<'c>(
    module: &Module<'c>,
    target: &TargetDescription,
    gpu: &Gpu,
) -> Result<Module<'c>, CodegenError> {
    let module = gpu::emit::kernels_alone(module)?;
    if gpu.language == Language::SpirV {
        let operation = module.as_operation();
        let environment = ir::spirv::environment(ir::context::of(operation));
        ir::set_attribute(operation, "spirv.target_env", environment);
    }
    let [functions, code] = gpu_stages::kernels(target, gpu);
    run(&module, &[functions])?;
    gpu::emit::check(&module)?;
    run(&module, &[code])?;
    Ok(module)
}

/// The artifact of tensor code for a GPU, and the steps of its profile, if there are any.
fn compile_for_gpu(
    module: &Module,
    interface: Interface,
    target: &TargetDescription,
    gpu: &'static Gpu,
    is_profiled: bool,
) -> Result<(Artifact, Vec<Step>), CompileError> {
    run(module, &gpu_stages::to_kernels(target, gpu))?;
    if is_profiled {
        run(module, &[stages::numbered_kernels()])?;
    }
    let steps = profile::table(module.as_operation());
    let names = gpu::emit::names(module);
    let code = if names.is_empty() {
        Vec::new()
    } else {
        let device = device(module, target, gpu)?;
        gpu::emit::emit(&device, gpu, Form::Object)?
    };
    run(module, &gpu_stages::host(target))?;
    let artifact = Artifact {
        kernels: Some(Kernels { language: gpu.language, code, names }),
        ..artifact(module, interface, target)?
    };
    Ok((artifact, steps))
}

/// The module after the last stage.
fn finish(module: &Module, options: &Options, stop: Stop, locations: bool) -> Result<Vec<u8>, CompileError> {
    match stop {
        Stop::Code(form) => {
            observer::begins("code");
            Ok(match options.target.gpu {
                Some(gpu) => gpu::emit::emit(module, gpu, form)?,
                None => codegen::emit(module, &options.target.code, form)?,
            })
        }
        _ => text(module, locations),
    }
}

fn context() -> Context {
    crate::all::register();
    ir::new_context()
}

fn lowered<'c>(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    context: &'c Context,
) -> Result<Module<'c>, CompileError> {
    observer::begins("emit");
    let module = emit(model, sources, context)?;
    if let Some((from, to)) = &options.exchange {
        exchange(&module, context, from, to)?;
    }
    let pipeline = lowering(options)?;
    run(&module, &[stages::lower(pipeline, &options.keep, &options.target)]).map_err(|error| {
        CompileError::Lowering { error, supporting: supporting(model, sources, pipeline, context) }
    })?;
    Ok(module)
}

/// Replaces the operations with one name by operations with another name, and the same operands and results.
fn exchange<'c>(module: &Module<'c>, context: &'c Context, from: &str, to: &str) -> Result<(), CompileError> {
    for op in ir::nested(module.as_operation()).into_iter().filter(|op| ir::name(*op) == from) {
        let builder = Builder::before(context, op)?;
        let operands: Vec<Value> = op.operands().collect();
        let result = op.result(0)?;
        ir::replace_uses(result.into(), builder.value(to, &operands, &[], result.r#type())?);
        ir::erase(op);
    }
    Ok(())
}

fn lowering(options: &Options) -> Result<&'static Pipeline, CodegenError> {
    Pipeline::named(options.pipeline)
        .ok_or_else(|| CodegenError::Module(format!("there is no pipeline `{}`", options.pipeline)))
}

fn run(module: &Module, stages: &[Stage]) -> Result<(), CodegenError> {
    let context = ir::context::of(module.as_operation());
    let processors = available_parallelism().map_or(1, usize::from);
    stages.iter().try_for_each(|stage| {
        observer::begins(stage.name);
        // In other stages, the locks of the context would only cost time.
        context.enable_multi_threading(stage.is_parallel() && processors > 1);
        let result = ir::run_pipeline(module, stage.name, &step::text(&stage.steps));
        context.enable_multi_threading(false);
        result
    })
}

/// The other lowerings that support a model.
fn supporting(
    model: &Model,
    sources: &SourceMap,
    refusing: &Pipeline,
    context: &Context,
) -> Vec<&'static str> {
    let others = LOWERINGS.iter().filter(|flag| **flag != refusing.flag);
    let takes = |flag: &&&'static str| {
        let (Ok(module), Some(pipeline)) = (emit(model, sources, context), Pipeline::named(flag)) else {
            return false;
        };
        ir::run_pipeline(&module, pipeline.flag, &pipeline.text()).is_ok()
    };
    others.filter(takes).copied().collect()
}

fn text(module: &Module, locations: bool) -> Result<Vec<u8>, CompileError> {
    let operation = module.as_operation();
    let text = if locations {
        operation.to_string_with_flags(OperationPrintingFlags::new().enable_debug_info(true, false))?
    } else {
        operation.to_string()
    };
    Ok(format!("{}\n", text.trim_end()).into_bytes())
}
