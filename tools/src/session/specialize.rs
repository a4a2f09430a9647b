// SPDX-License-Identifier: Apache-2.0
//! Models for the shapes of given inputs.

use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::model::Model;
use skript_tensor::Tensor;

use super::{Brought, Session};
use crate::command_line::InputArgument;
use crate::inputs;

impl Session<'_> {
    /// The graph that [`Session::compose_for`] gave, for inputs of these shapes. `None` if no input has a dynamic extent, or
    /// it does not compose for these shapes; nothing is reported.
    pub fn specialized(&self, model: &Model, given: &[InputArgument], inputs: &[&Tensor]) -> Option<Model> {
        let graph = self.graph()?;
        self.compose_with(model, self.brought(&graph.inputs, given), inputs)
    }

    /// The graph that [`Session::compose_measured`] gave, for inputs of these shapes.
    pub fn specialized_measured(
        &self,
        model: &Model,
        given: &[InputArgument],
        inputs: &[&Tensor],
    ) -> Option<Model> {
        self.compose_with(model, self.measured(&self.named(given))?, inputs)
    }

    /// Composes a graph for the shapes of arrays, unless the command line has shapes. Returns the diagnostics as well.
    pub(super) fn compose_shaped(
        &self,
        mut options: ComposeOptions,
        given: &[InputArgument],
    ) -> Option<(Model, Sink)> {
        if !self.arguments.input_shapes.is_empty() {
            return None;
        }
        let shapes = inputs::shapes(given, self.limits.unpacked_bytes);
        if shapes.is_empty() {
            return None;
        }
        options.input_shapes.extend(shapes);
        let mut sink = Sink::default();
        let model = compose(&self.program, &options, &self.limits, &mut sink)?;
        (!sink.has_errors()).then_some((model, sink))
    }

    fn compose_with(&self, model: &Model, mut brought: Brought, inputs: &[&Tensor]) -> Option<Model> {
        let arrays: Vec<&[u64]> = inputs.iter().map(|t| t.shape()).collect();
        let shapes = model.dynamic_shapes(&arrays);
        if shapes.is_empty() {
            return None;
        }
        brought.given.extend(shapes.iter().map(|(name, _)| name.clone()));
        let name = self.graph()?.name.name.clone();
        let mut options = self.compose_options(name, brought).ok()?;
        options.input_shapes.extend(shapes);
        compose(&self.program, &options, &self.limits, &mut Sink::default())
    }
}
