// SPDX-License-Identifier: Apache-2.0
//! Composes the graph of a session.

use indexmap::IndexMap;
use skript_frontend::ast::Declaration;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::ATTRIBUTE_TEXT;
use skript_frontend::model::{AttributeValue, Model};
use skript_semantics::Numbers;

use super::open_shapes::has_open_length;
use super::{Brought, Session, internal, names};
use crate::attributes::attribute_value;
use crate::command_line::InputArgument;
use crate::inputs;
use crate::onnx_model::Origin;
use crate::positions;

impl Session<'_> {
    /// Composes the selected graph with all inputs except defaults that are not overridden. `None` if that is not
    /// possible, which is reported.
    pub fn compose(&mut self) -> Option<Model> {
        let graph = self.graph()?.name.name.clone();
        let brought = self.asked();
        self.compose_graph(graph, brought, &[])
    }

    /// As above for a graph that is checked: also with its defaults replaced.
    pub fn compose_checked(&mut self, graph: &str) -> Option<Model> {
        let asked = self.asked();
        let absent = &self.arguments.absent_inputs;
        let definition = self.graph_named(graph)?;
        let defaulted =
            definition.inputs.iter().filter(|i| i.default.is_some() && !has_open_length(definition, i));
        let open = defaulted
            .map(|i| &i.name.name)
            .filter(|name| !asked.given.contains(*name) && !absent.contains(*name));
        let open: Vec<String> = open.cloned().collect();
        let mut replaced = asked.clone();
        let model = self.compose_graph(graph.to_owned(), asked, &[])?;
        if !open.is_empty() {
            replaced.given.extend(open);
            self.compose_graph(graph.to_owned(), replaced, &[])?;
        }
        Some(model)
    }

    /// Composes the graph for these inputs; all other inputs are null or have their defaults.
    pub fn compose_for(&mut self, given: &[InputArgument]) -> Option<Model> {
        let graph = self.graph()?;
        let (name, brought) = (graph.name.name.clone(), self.brought(&graph.inputs, given));
        self.compose_graph(name, brought, given)
    }

    /// Returns how these inputs affect the composition; all other inputs are null or have their defaults.
    pub(super) fn brought(&self, declared: &[Declaration], given: &[InputArgument]) -> Brought {
        let held = inputs::held(given);
        let is_given = |name: &&str| held.as_ref().is_none_or(|held| held.contains(*name));
        let (given_names, absent): (Vec<&str>, _) = names(declared).into_iter().partition(is_given);
        let named = given_names.into_iter().map(str::to_owned);
        let others = self.arguments.given_inputs.iter().cloned();
        Brought {
            given: named.chain(others).collect(),
            absent: absent.into_iter().map(str::to_owned).collect(),
            pack_lengths: inputs::pack_lengths(given),
        }
    }

    /// Composes the graph for these inputs, and random values for others; only an archive determines the absent inputs.
    pub fn compose_measured(&mut self, given: &[InputArgument]) -> Option<Model> {
        let name = self.graph()?.name.name.clone();
        let brought = self.measured(given)?;
        self.compose_graph(name, brought, given)
    }

    pub(super) fn measured(&self, given: &[InputArgument]) -> Option<Brought> {
        let graph = self.graph()?;
        let mut brought = self.asked();
        brought.pack_lengths = inputs::pack_lengths(given);
        if let Some(held) = inputs::held(given) {
            let archive = given.iter().any(|a| matches!(a, InputArgument::Archive(_)));
            let inputs = names(&graph.inputs).into_iter();
            let (held, others): (Vec<&str>, Vec<&str>) = inputs.partition(|n| held.contains(*n));
            brought.given.extend(held.into_iter().map(str::to_owned));
            let others = others.into_iter().filter(|_| archive).map(str::to_owned);
            brought.absent.extend(others);
        }
        Some(brought)
    }

    /// The options of the command line about optional inputs.
    pub(super) fn asked(&self) -> Brought {
        let arguments = self.arguments;
        let shaped = self.input_shapes.iter().map(|(name, _)| name);
        Brought {
            given: arguments.given_inputs.iter().chain(shaped).cloned().collect(),
            absent: arguments.absent_inputs.clone(),
            pack_lengths: IndexMap::new(),
        }
    }

    /// The options of the composition from the command line; reports malformed values of attributes.
    pub(super) fn compose_options(
        &self,
        graph: String,
        brought: Brought,
    ) -> Result<ComposeOptions, Vec<String>> {
        let definition = self.graph_named(&graph);
        let declared = |name: &str| {
            let mut attributes = definition.into_iter().flat_map(|d| &d.attributes);
            attributes.find(|a| a.name.name == name)
        };
        let arguments = self.arguments;
        let values: Vec<_> = arguments
            .attributes
            .iter()
            .filter_map(|(name, text)| Some((declared(name)?, name, text)))
            .map(|(attribute, name, text)| (attribute.type_spec.optional, name, attribute_value(text)))
            .collect();
        let mut options = ComposeOptions {
            graph: Some(graph),
            simulate_quantization: self.arguments.quantize.is_some(),
            numbers: Numbers { real: self.real(), int: self.arguments.int.0 },
            storage: self.origin.as_ref().map(Origin::storage).unwrap_or_default(),
            absent_inputs: brought.absent,
            given_inputs: brought.given,
            pack_lengths: brought.pack_lengths,
            ..ComposeOptions::default()
        };
        options.input_shapes = self.input_shapes.iter().cloned().collect();
        let mut wrong = Vec::new();
        for (optional, name, value) in values {
            match value {
                Ok(AttributeValue::Null) if !optional => {
                    wrong.push(format!("attribute `{name}` is not optional, so it cannot be null"))
                }
                Ok(value) => {
                    options.attributes.insert(name.clone(), value);
                }
                Err(reason) => wrong.push(format!("the value of attribute `{name}`: {reason}")),
            }
        }
        if wrong.is_empty() { Ok(options) } else { Err(wrong) }
    }

    /// Composes the graph for all shapes, or for those of the arrays of `given` if that is not possible. `None` after errors, which are
    /// those for all shapes.
    fn compose_graph(&mut self, graph: String, brought: Brought, given: &[InputArgument]) -> Option<Model> {
        self.graph_named(&graph)?;
        let options = match self.compose_options(graph, brought) {
            Ok(options) => options,
            Err(wrong) => {
                for message in wrong {
                    self.report(Diagnostic::without_location(&ATTRIBUTE_TEXT, message));
                }
                return None;
            }
        };
        let (before, kept) = (self.sink.error_count(), self.sink.diagnostics().len());
        let mut model = compose(&self.program, &options, &self.limits, &mut self.sink);
        if (model.is_none() || self.sink.error_count() > before)
            && let Some((shaped, sink)) = self.compose_shaped(options, given)
        {
            self.sink.take_back(kept);
            for diagnostic in sink.into_sorted() {
                self.sink.report(diagnostic);
            }
            model = Some(shaped);
            self.note("the model is composed for the shapes of the inputs");
        }
        // Another graph may have reported the errors of the same operator.
        if model.is_none() && self.sink.error_count() == 0 {
            let message = "the composition ended without a result or a message";
            self.report(internal(message));
        }
        for misfit in model.iter().flat_map(positions::misfits) {
            self.sink.report(misfit);
        }
        self.settle();
        model.filter(|_| self.sink.error_count() == before)
    }
}
