// SPDX-License-Identifier: Apache-2.0
//! The execution engines.

mod compile_error;
pub mod compiled;
pub mod device;
mod reference;

pub use compile_error::{not_exported, refused};
pub use reference::Reference;

use std::sync::Arc;
use std::time::Duration;

use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_runtime::Program;
use skript_tensor::Tensor;

use crate::command_line::{EngineName, Pipeline};
use crate::profile::Recorded;
use crate::session::Stopped;
use skript_passes::target::TargetDescription;

/// The arguments of an engine.
pub struct Job<'a> {
    pub model: &'a Model,
    pub sources: &'a SourceMap,
    /// The entry's inputs in order, in storage types; packs are flattened, absent optional ones left out.
    pub inputs: &'a [Arc<Tensor>],
    /// All of [`Model::variables`].
    pub variables: &'a [Arc<Tensor>],
}

/// The results of an engine.
pub struct Computed {
    /// The entry's outputs; packs are flattened.
    pub outputs: Vec<Arc<Tensor>>,
    /// New values of variables, by position in [`Model::variables`] (2.11).
    pub updates: Vec<(usize, Arc<Tensor>)>,
    pub spent: Spent,
    /// The times of the steps, if the engine was asked for them.
    pub profile: Option<Recorded>,
    /// The code, if it is in the user's cache.
    pub kept: Option<Kept>,
}

/// Code that the user's cache has.
pub struct Kept {
    /// Its key.
    pub key: String,
    /// The key of the plans of its kernels, and the plans.
    pub plans: (String, String),
    pub program: Program,
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// The time from the model to loaded code.
    pub compile: Duration,
    /// Whether the code was in the cache.
    pub cached: bool,
    /// The time of the call.
    pub run: Duration,
    /// Memory for intermediate tensors, in bytes.
    pub arena: u64,
}

/// Computes the entry's outputs, or returns the diagnostics.
pub trait Engine {
    fn run(&self, job: &Job) -> Result<Computed, Stopped>;
}

/// The engine that the command line selects; `cache` keeps compiled models between runs. Compiled code is profiled if
/// `profile` is set.
pub fn engine(
    name: EngineName,
    pipeline: Pipeline,
    target: TargetDescription,
    cache: bool,
    profile: bool,
) -> Box<dyn Engine> {
    match name {
        EngineName::Reference => Box::new(Reference),
        EngineName::Compiled => {
            Box::new(compiled::Compiled { pipeline, target, cache, profile, exchange: None })
        }
    }
}
