//! Native code.

use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::ENGINE_MISSING;
use skript_tensor::Tensor;

use super::{Engine, Job};
use crate::command_line::Pipeline;

pub struct Compiled {
    pub pipeline: Pipeline,
}

impl Engine for Compiled {
    fn run(&self, _job: &Job) -> Result<Vec<Arc<Tensor>>, Box<Diagnostic>> {
        let message = format!(
            "this build cannot compile (pipeline {:?}); it has the evaluator only",
            self.pipeline
        );
        let diagnostic = Diagnostic::without_place(&ENGINE_MISSING, message);
        Err(Box::new(diagnostic.with_help("use --engine=reference")))
    }
}
