// SPDX-License-Identifier: Apache-2.0
//! Pipelines as lists of passes: `skript-opt --skript-to-linalg` and the compiler run the same ones.

pub(crate) mod gpu_stages;
mod lowerings;
pub(crate) mod stages;
mod stop;

pub(crate) use lowerings::LOWERINGS;
pub use lowerings::{ALL, Pipeline};
pub use stop::Stop;

use skript_dialect::pass::register_pipeline;

/// Registers the pipelines with MLIR.
pub(crate) fn register() {
    for pipeline in ALL {
        register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text());
    }
}
