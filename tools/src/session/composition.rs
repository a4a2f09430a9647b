// SPDX-License-Identifier: Apache-2.0
//! Composes the graph of a session.

use indexmap::IndexMap;
use skript::{ComposeOptions, Model};
use skript_frontend::ast::Declaration;
use skript_frontend::diagnostics::codes::ATTRIBUTE_TEXT;
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::model::{AttributeValue, attribute_value};

use super::open_shapes::WholeShape;
use super::open_shapes::has_open_length;
use super::{PassedInputs, Session, internal, names};
use crate::command_line::InputArgument;
use crate::inputs;

impl Session<'_> {
    /// Composes the selected graph with all inputs, except inputs whose defaults are not overridden. Reports errors and returns `None`
    /// if there are any.
    pub fn compose(&mut self) -> Option<Model> {
        let graph = self.graph()?.name.name.clone();
        let passed = self.requested();
        self.compose_graph(&graph, passed, &[])
    }

    /// Like [`Session::compose`], for `skript check`: composes the graph with its defaults, and with all defaults replaced.
    pub fn compose_checked(&mut self, graph: &str) -> Option<Model> {
        let requested = self.requested();
        let absent = &self.arguments.absent_inputs;
        let definition = self.graph_named(graph)?;
        let defaulted =
            definition.inputs.iter().filter(|i| i.default.is_some() && !has_open_length(definition, i));
        let open = defaulted
            .map(|i| &i.name.name)
            .filter(|name| !requested.given.contains(*name) && !absent.contains(*name));
        let open: Vec<String> = open.cloned().collect();
        let mut replaced = requested.clone();
        let model = self.compose_graph(graph, requested, &[])?;
        if !open.is_empty() {
            replaced.given.extend(open);
            self.compose_graph(graph, replaced, &[])?;
        }
        Some(model)
    }

    /// Composes the graph for these inputs; all other inputs are null or have their defaults.
    pub fn compose_for(&mut self, given: &[InputArgument]) -> Option<Model> {
        let graph = self.graph()?;
        let (name, passed) = (graph.name.name.clone(), self.passed(&graph.inputs, given));
        self.compose_graph(&name, passed, given)
    }

    /// Returns how these inputs affect the composition; all other inputs are null or have their defaults.
    fn passed(&self, declared: &[Declaration], given: &[InputArgument]) -> PassedInputs {
        let held = inputs::held(given);
        let is_given = |name: &&str| held.as_ref().is_none_or(|held| held.contains(*name));
        let (given_names, absent): (Vec<&str>, _) = names(declared).into_iter().partition(is_given);
        let named = given_names.into_iter().map(str::to_owned);
        let others = self.arguments.given_inputs.iter().cloned();
        PassedInputs {
            given: named.chain(others).collect(),
            absent: absent.into_iter().map(str::to_owned).collect(),
            pack_lengths: inputs::pack_lengths(given),
        }
    }

    /// Composes the graph for these inputs, and for random values of the other inputs. Only an archive determines which
    /// inputs are absent.
    pub fn compose_measured(&mut self, given: &[InputArgument]) -> Option<Model> {
        let name = self.graph()?.name.name.clone();
        let passed = self.measured(given)?;
        self.compose_graph(&name, passed, given)
    }

    fn measured(&self, given: &[InputArgument]) -> Option<PassedInputs> {
        let graph = self.graph()?;
        let mut passed = self.requested();
        passed.pack_lengths = inputs::pack_lengths(given);
        if let Some(held) = inputs::held(given) {
            let archive = given.iter().any(|a| matches!(a, InputArgument::Archive(_)));
            let inputs = names(&graph.inputs).into_iter();
            let (held, others): (Vec<&str>, Vec<&str>) = inputs.partition(|n| held.contains(*n));
            passed.given.extend(held.into_iter().map(str::to_owned));
            let others = others.into_iter().filter(|_| archive).map(str::to_owned);
            passed.absent.extend(others);
        }
        Some(passed)
    }

    /// The options of the command line for optional inputs.
    pub(super) fn requested(&self) -> PassedInputs {
        let arguments = self.arguments;
        let shaped = self.input_shapes.iter().map(|(name, _)| name);
        PassedInputs {
            given: arguments.given_inputs.iter().chain(shaped).cloned().collect(),
            absent: arguments.absent_inputs.clone(),
            pack_lengths: IndexMap::new(),
        }
    }

    /// The options of the composition from the command line; reports malformed values of attributes.
    fn compose_options(&self, graph: &str, passed: PassedInputs) -> Result<ComposeOptions, Vec<String>> {
        let arguments = self.arguments;
        let mut options = ComposeOptions::default().graph(graph);
        if arguments.quantize.is_some() {
            options = options.quantize();
        }
        let wrong = |error: skript::Error| vec![error.to_string()];
        if let Some(real) = arguments.real {
            options = options.real(real.0.name()).map_err(wrong)?;
        }
        options = options.int(arguments.int.0.name()).map_err(wrong)?;
        options = passed.absent.iter().fold(options, |options, name| options.absent(name));
        options = passed.given.iter().fold(options, |options, name| options.given(name));
        for (name, length) in passed.pack_lengths {
            options = options.pack_length(&name, length);
        }
        options = shaped(options, &self.input_shapes);
        let definition = self.graph_named(graph);
        let declared = |name: &str| {
            let mut attributes = definition.into_iter().flat_map(|d| &d.attributes);
            attributes.find(|a| a.name.name == name)
        };
        let mut wrong = Vec::new();
        for (name, text) in &arguments.attributes {
            let Some(attribute) = declared(name) else { continue };
            match attribute_value(text) {
                Ok(AttributeValue::Null) if !attribute.type_spec.optional => {
                    wrong.push(format!("attribute `{name}` is not optional, so it cannot be null"))
                }
                Ok(value) => options = options.attribute(name, value),
                Err(reason) => wrong.push(format!("the value of attribute `{name}`: {reason}")),
            }
        }
        if wrong.is_empty() { Ok(options) } else { Err(wrong) }
    }

    /// Composes the graph for all shapes or, if that fails, for the shapes of the arrays in `given`. If both fail, reports the
    /// errors for all shapes and returns `None`.
    fn compose_graph(&mut self, graph: &str, passed: PassedInputs, given: &[InputArgument]) -> Option<Model> {
        self.graph_named(graph)?;
        let options = match self.compose_options(graph, passed) {
            Ok(options) => options,
            Err(wrong) => {
                for message in wrong {
                    self.report(Diagnostic::without_location(&ATTRIBUTE_TEXT, message));
                }
                return None;
            }
        };
        let (before, kept) = (self.sink.error_count(), self.sink.diagnostics().len());
        let mut model = self.document.compose_into(&options, &mut self.sink);
        if (model.is_none() || self.sink.error_count() > before)
            && let Some((shaped, sink)) = self.compose_shaped(options, given)
        {
            self.sink.take_back(kept);
            sink.into_sorted().into_iter().for_each(|diagnostic| self.sink.report(diagnostic));
            model = Some(shaped);
            self.note("the model is composed for the shapes of the inputs");
        }
        // The errors of an operator are reported only once, possibly for another graph.
        if model.is_none() && self.sink.error_count() == 0 {
            let message = "the composition ended without a result or a message";
            self.report(internal(message));
        }
        self.settle();
        model.filter(|_| self.sink.error_count() == before)
    }

    /// Composes a graph for the shapes of arrays, unless the command line has shapes. Also returns the diagnostics.
    fn compose_shaped(&self, options: ComposeOptions, given: &[InputArgument]) -> Option<(Model, Sink)> {
        if !self.arguments.input_shapes.is_empty() {
            return None;
        }
        let shapes = inputs::shapes(given, self.unpacked_bytes());
        if shapes.is_empty() {
            return None;
        }
        let mut sink = Sink::default();
        let model = self.document.compose_into(&shaped(options, &shapes), &mut sink)?;
        (!sink.has_errors()).then_some((model, sink))
    }
}

/// Adds these shapes of inputs to the options.
fn shaped(options: ComposeOptions, shapes: &[WholeShape]) -> ComposeOptions {
    shapes.iter().fold(options, |options, (name, shapes)| options.pack_shapes(name, shapes))
}
