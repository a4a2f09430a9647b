// SPDX-License-Identifier: Apache-2.0
//! The execution engines.

mod calls;
mod compile_error;
pub mod compiled;
mod reference;

pub use compile_error::{not_exported, refused};
pub use reference::Reference;

use std::sync::Arc;
use std::time::Duration;

use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_tensor::Tensor;

use crate::command_line::{EngineName, Pipeline};
use crate::session::Stopped;
use crate::target_arguments::TargetArguments;

/// What an engine is given.
pub struct Job<'a> {
    pub model: &'a Model,
    pub sources: &'a SourceMap,
    /// The entry's inputs in order, packs flattened, absent optional ones left out, in run-time representation.
    pub inputs: &'a [Arc<Tensor>],
    /// All of [`Model::variables`].
    pub variables: &'a [Arc<Tensor>],
}

/// What an engine gives back.
pub struct Computed {
    /// The entry's outputs, packs flattened.
    pub outputs: Vec<Arc<Tensor>>,
    /// New values of variables, by their position in [`Model::variables`] (2.11).
    pub updates: Vec<(usize, Arc<Tensor>)>,
    pub spent: Spent,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// From the model to loaded code.
    pub compile: Duration,
    /// Whether the code was there already.
    pub cached: bool,
    /// The call itself.
    pub run: Duration,
    /// Memory for intermediate tensors, in bytes.
    pub arena: u64,
}

/// Computes the entry's outputs; or says why not.
pub trait Engine {
    fn run(&self, job: &Job) -> Result<Computed, Stopped>;
}

/// The engine that the command line asks for; `cache` keeps compiled models between runs.
pub fn engine(
    name: EngineName,
    pipeline: Pipeline,
    target: &TargetArguments,
    cache: bool,
) -> Box<dyn Engine> {
    match name {
        EngineName::Reference => Box::new(Reference),
        EngineName::Compiled => Box::new(compiled::Compiled {
            pipeline,
            target: target.target(),
            cache,
            exchange: None,
        }),
    }
}
