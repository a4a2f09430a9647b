//! From a composed model to an artifact, or to the text of a station on the way.

use crate::codegen::{self, CodegenError, Form, Interface};
use crate::emit::{EmitError, emit};
use crate::invoke::keep_operators;
use crate::pipeline::{LOWERINGS, Pipeline};
use crate::stablehlo::sharding::annotate;
use crate::stablehlo::{ExportError, Interface as Ports, Placement, Report, Weights, export};
use melior::Context;
use melior::ir::Module;
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_runtime::artifact::{Artifact, Target};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// How formulas are lowered: the named pipeline that ends on tensors or loops.
    pub pipeline: &'static str,
    pub target: Target,
    /// For tests of `skript compare`: every op of the first name is emitted as one of the second (`skript.max`,
    /// `skript.min`), a deliberately broken lowering.
    pub exchange: Option<(String, String)>,
    /// Qualified names of operators whose invocations stay whole: for stations before code only.
    pub keep: Vec<String>,
}

impl Default for Options {
    /// Linalg, for this machine.
    fn default() -> Self {
        Options {
            pipeline: "skript-to-linalg",
            target: skript_runtime::program::host(),
            exchange: None,
            keep: Vec::new(),
        }
    }
}

impl Options {
    /// The pass that keeps operators whole; `None` if all are taken apart.
    fn keeping(&self) -> Option<String> {
        let pass = keep_operators::PASS.flag;
        (!self.keep.is_empty()).then(|| format!("{pass}{{operators={}}}", self.keep.join(",")))
    }
}

/// A place on the way to code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Station {
    /// The model in the `skript` dialect.
    Skript,
    /// After the lowering that the options name: `linalg`, `affine` or `scf`.
    Lowered,
    /// Memrefs, before loops.
    Buffers,
    /// Memrefs with kernels in place of reductions.
    Scheduled,
    /// LLVM IR, assembly or an object.
    Code(Form),
}

/// Why a model was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The chosen lowering refuses the model.
    #[error("{error}")]
    Lowering {
        error: CodegenError,
        /// The flags of other lowerings that take the model.
        takers: Vec<&'static str>,
    },
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl From<melior::Error> for CompileError {
    fn from(error: melior::Error) -> Self {
        CompileError::Emit(error.into())
    }
}

/// Compiles the entry of a model.
///
/// # Errors
/// [`CompileError`]: constructs that compiled code does not take, with their place; defects of a lowering.
pub fn compile_model(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
) -> Result<Artifact, CompileError> {
    let context = context();
    let module = lowered(model, sources, options, &context)?;
    let interface = Interface::of(model)
        .ok_or_else(|| CodegenError::Module("the model's entry is incomplete".to_owned()))?;
    Ok(codegen::compile(&module, interface, &options.target)?)
}

/// What a model looks like at a station: text, or bytes for objects.
///
/// # Errors
/// Those of [`compile_model`].
pub fn model_at(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    station: Station,
) -> Result<Vec<u8>, CompileError> {
    let context = context();
    if station == Station::Skript {
        let module = emit(model, sources, &context)?;
        if let Some(keeping) = options.keeping() {
            codegen::mlir::run_pipeline(&module, keep_operators::PASS.flag, &keeping).map_err(
                |error| CompileError::Lowering {
                    error,
                    takers: Vec::new(),
                },
            )?;
        }
        return Ok(text(&module));
    }
    let module = lowered(model, sources, options, &context)?;
    if station == Station::Lowered {
        return Ok(text(&module));
    }
    codegen::buffers(&module)?;
    if station == Station::Buffers {
        return Ok(text(&module));
    }
    codegen::schedules(&module, &options.target)?;
    match station {
        Station::Code(form) => {
            codegen::native(&module)?;
            Ok(codegen::emit(&module, &options.target, form)?)
        }
        _ => Ok(text(&module)),
    }
}

/// A model as StableHLO.
pub struct Exported {
    pub text: String,
    /// Arguments and results of `@main`.
    pub ports: Ports,
    /// Which form each formula got.
    pub report: Report,
}

/// Exports the entry of a model as StableHLO, for the devices of a placement if there is one; with the values of the
/// variables that `weights` names in it.
///
/// # Errors
/// [`CompileError`]: constructs without a StableHLO form, with their place; a placement that does not fit.
pub fn export_model(
    model: &Model,
    sources: &SourceMap,
    placement: Option<&Placement>,
    weights: &Weights,
) -> Result<Exported, CompileError> {
    let context = crate::stablehlo::context();
    let source = emit(model, sources, &context)?;
    let exported = export(&source, &context, weights)?;
    if let Some(placement) = placement {
        let Ports { arguments, results } = &exported.interface;
        placement
            .check(arguments.iter().chain(results))
            .map_err(ExportError::from)?;
        annotate(&exported.module, &context, placement, arguments, results)
            .map_err(ExportError::from)?;
    }
    Ok(Exported {
        text: exported.module.as_operation().to_string(),
        ports: exported.interface,
        report: exported.report,
    })
}

fn context() -> Context {
    crate::all::register();
    codegen::mlir::context()
}

fn lowered<'c>(
    model: &Model,
    sources: &SourceMap,
    options: &Options,
    context: &'c Context,
) -> Result<Module<'c>, CompileError> {
    let mut module = emit(model, sources, context)?;
    if let Some((from, to)) = &options.exchange {
        let text = module.as_operation().to_string();
        let text = text.replace(&format!("{from} "), &format!("{to} "));
        module = Module::parse(context, &text)
            .ok_or_else(|| CodegenError::Module(format!("`{to}` cannot stand for `{from}`")))?;
    }
    let pipeline = Pipeline::named(options.pipeline).ok_or_else(|| {
        CodegenError::Module(format!("there is no pipeline `{}`", options.pipeline))
    })?;
    let text = match options.keeping() {
        Some(keeping) => format!("{keeping},{}", pipeline.text()),
        None => pipeline.text(),
    };
    codegen::mlir::run_pipeline(&module, pipeline.flag, &text).map_err(|error| {
        CompileError::Lowering {
            error,
            takers: takers(model, sources, pipeline, context),
        }
    })?;
    Ok(module)
}

/// The other lowerings that take a model.
fn takers(
    model: &Model,
    sources: &SourceMap,
    refusing: &Pipeline,
    context: &Context,
) -> Vec<&'static str> {
    let others = LOWERINGS.iter().filter(|flag| **flag != refusing.flag);
    let takes = |flag: &&&'static str| {
        let (Ok(module), Some(pipeline)) = (emit(model, sources, context), Pipeline::named(flag))
        else {
            return false;
        };
        codegen::mlir::run_pipeline(&module, pipeline.flag, &pipeline.text()).is_ok()
    };
    others.filter(takes).copied().collect()
}

fn text(module: &Module) -> Vec<u8> {
    module.as_operation().to_string().into_bytes()
}
