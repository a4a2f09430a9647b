//! Who computes: one place that knows all engines.

pub mod compiled;
mod reference;

use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_tensor::Tensor;

use crate::command_line::{EngineName, Pipeline};

/// What an engine is given.
pub struct Job<'a> {
    pub model: &'a Model,
    pub sources: &'a SourceMap,
    /// The entry's inputs in order, packs flattened, absent optional ones left out, in run-time representation.
    pub inputs: &'a [Arc<Tensor>],
    /// All of [`Model::variables`].
    pub variables: &'a [Arc<Tensor>],
}

/// Computes the entry's outputs, packs flattened; or says why not.
pub trait Engine {
    fn run(&self, job: &Job) -> Result<Vec<Arc<Tensor>>, Box<Diagnostic>>;
}

/// The engine that the command line asks for; `cache` keeps compiled models between runs.
pub fn engine(name: EngineName, pipeline: Pipeline, cache: bool) -> Box<dyn Engine> {
    match name {
        EngineName::Reference => Box::new(reference::Reference),
        EngineName::Compiled => Box::new(compiled::Compiled { pipeline, cache }),
    }
}
