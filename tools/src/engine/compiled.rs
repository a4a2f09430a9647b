//! Native code.

use std::sync::Arc;
use std::time::Instant;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{NOT_COMPILED, RUN_FAILED};
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_passes::{CompileError, Options, compile_model};
use skript_runtime::cache::{Cache, Key};
use skript_runtime::{Artifact, Instance, LoadError, Program, RunError};
use skript_tensor::Tensor;

use super::{Computed, Engine, Job, Spent};
use crate::command_line::Pipeline;

pub struct Compiled {
    pub pipeline: Pipeline,
    /// Whether compiled models are kept between runs.
    pub cache: bool,
    /// See [`Options::exchange`].
    pub exchange: Option<(String, String)>,
}

impl Engine for Compiled {
    fn run(&self, job: &Job) -> Result<Computed, Box<Diagnostic>> {
        let begun = Instant::now();
        let (artifact, cached) = self.artifact(job)?;
        let wrong = |e: LoadError| Box::new(failed(&RunError::Load(e.to_string())));
        let program = Program::load(artifact).map_err(wrong)?;
        let mut instance = Instance::new(&program).map_err(wrong)?;
        let compile = begun.elapsed();
        let inputs: Vec<&Tensor> = job.inputs.iter().map(Arc::as_ref).collect();
        let variables: Vec<&Tensor> = job.variables.iter().map(Arc::as_ref).collect();
        let variables = captured(job.model, &variables);
        let artifact = program.artifact();
        let begun = Instant::now();
        let mut outputs = skript_runtime::run::compute(&mut instance, &inputs, &variables)
            .map_err(|e| Box::new(failed(&e)))?;
        let run = begun.elapsed();
        // New values of variables follow the graph's outputs.
        outputs.truncate(outputs.len().saturating_sub(artifact.updates.len()));
        Ok(Computed {
            outputs: outputs.into_iter().map(Arc::new).collect(),
            spent: Spent {
                compile,
                cached,
                run,
                arena: artifact.arena.size,
            },
        })
    }
}

impl Compiled {
    /// From the cache, or compiled now and kept; and whether it was there. A cache that cannot be written costs time only.
    pub fn artifact(&self, job: &Job) -> Result<(Artifact, bool), Box<Diagnostic>> {
        let options = Options {
            exchange: self.exchange.clone(),
            ..options(self.pipeline)
        };
        let compile =
            || compile_model(job.model, job.sources, &options).map_err(|e| Box::new(refused(&e)));
        let cache = Cache::of_user().filter(|_| self.cache);
        let Some(cache) = cache else {
            return Ok((compile()?, false));
        };
        let key = key(job, &options);
        if let Some(artifact) = cache.get(&key) {
            return Ok((artifact, true));
        }
        let artifact = compile()?;
        let _ = cache.put(&key, &artifact);
        Ok((artifact, false))
    }
}

/// Everything that decides the code: the composed model with its places, the texts, options, processor, and this program.
fn key(job: &Job, options: &Options) -> String {
    let mut key = Key::new();
    for (_, file) in job.sources.files() {
        key.add("path", file.path.as_os_str().as_encoded_bytes());
        key.add("text", file.text.as_bytes());
    }
    key.add("model", format!("{:?}", job.model).as_bytes());
    key.add("options", format!("{options:?}").as_bytes());
    key.add("version", env!("CARGO_PKG_VERSION").as_bytes());
    // Two builds of one version differ while the compiler is worked on.
    let program = std::env::current_exe().and_then(std::fs::metadata);
    if let Ok(program) = program {
        key.add("program", &program.len().to_le_bytes());
        key.add("built", format!("{:?}", program.modified().ok()).as_bytes());
    }
    key.finish()
}

/// Compiles a model for this machine.
pub fn compile(
    model: &Model,
    sources: &SourceMap,
    pipeline: Pipeline,
) -> Result<Artifact, Box<Diagnostic>> {
    compile_model(model, sources, &options(pipeline)).map_err(|e| Box::new(refused(&e)))
}

/// The compiler's options for a pipeline of the command line.
pub fn options(pipeline: Pipeline) -> Options {
    Options {
        pipeline: match pipeline {
            Pipeline::Linalg => "skript-to-linalg",
            Pipeline::Affine => "skript-to-affine",
            Pipeline::Scf => "skript-to-scf",
        },
        ..Options::default()
    }
}

/// Why a model was not compiled.
pub fn refused(error: &CompileError) -> Diagnostic {
    let span = match error {
        CompileError::Emit(error) => error.span(),
        CompileError::Codegen(_) => None,
    };
    match span {
        Some(span) => Diagnostic::error(&NOT_COMPILED, span, error.to_string()),
        None => Diagnostic::without_place(&NOT_COMPILED, error.to_string())
            .with_help("use --engine=reference"),
    }
}

/// The variables that the entry captures, in its order.
pub fn captured<'a>(model: &Model, variables: &[&'a Tensor]) -> Vec<&'a Tensor> {
    let entry = model.function(model.entry);
    let ids = entry.map_or(&[][..], |e| &e.capture_variables);
    let tensors = ids.iter().map(|id| variables.get(id.0 as usize).copied());
    tensors.flatten().collect()
}

pub fn failed(error: &RunError) -> Diagnostic {
    let diagnostic = Diagnostic::without_place(&RUN_FAILED, error.to_string());
    match error {
        RunError::Check { trace, .. } => trace
            .iter()
            .fold(diagnostic, |d, place| d.with_note(None, place.clone())),
        _ => diagnostic,
    }
}
