// SPDX-License-Identifier: Apache-2.0
//! Checks the text of a request and composes a graph.

use crate::request::{Request, name_and_value, shapes};
use skript_frontend::ast::{Declaration, Definition, DefinitionKind};
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::codes::{ATTRIBUTE_TEXT, COMMAND_LINE_NAME};
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::model::{AttributeValue, Model, attribute_value};
use skript_frontend::program::Program;
use skript_frontend::source_files::load_text;
use skript_semantics::{Numbers, RealType};
use std::path::Path;

/// Parses and checks the text.
pub(crate) fn checked(request: &Request, sink: &mut Sink) -> Program {
    let program = load_text(&request.text, Path::new(&request.name), None, &Limits::default(), sink);
    if program.main_module().is_some() {
        check_program(&program, sink);
    }
    program
}

/// Composes the graph of the request, if the text has no errors. Errors are in `sink`.
pub(crate) fn composed(request: &Request, program: &Program, sink: &mut Sink) -> Option<Model> {
    if sink.has_errors() {
        return None;
    }
    let wrong = |text: String| Diagnostic::without_location(&COMMAND_LINE_NAME, text);
    let graph = match graph(request, program) {
        Ok(graph) => graph,
        Err(text) => {
            sink.report(wrong(text));
            return None;
        }
    };
    let mut options = ComposeOptions { graph: Some(graph.name.name.clone()), ..ComposeOptions::default() };
    for problem in [
        attributes(request, graph, &mut options),
        inputs(request, graph, &mut options),
        numbers(request, &mut options),
    ] {
        problem.into_iter().for_each(|problem| sink.report(problem));
    }
    if sink.has_errors() {
        return None;
    }
    let model = compose(program, &options, &Limits::default(), sink);
    model.filter(|_| !sink.has_errors())
}

/// Whether the requested graph can be composed without values of attributes. A graph that the text does not have is composed too, which
/// reports it; a text without graphs is not.
pub(crate) fn has_defaults(request: &Request, program: &Program) -> bool {
    let given = |name: &str| {
        request.attributes.iter().filter_map(|entry| name_and_value(entry)).any(|(n, _)| n == name)
    };
    let has_value = |a: &Declaration| a.default.is_some() || a.type_spec.optional || given(&a.name.name);
    graph(request, program).map_or(request.graph.is_some(), |graph| graph.attributes.iter().all(has_value))
}

fn graph<'p>(request: &Request, program: &'p Program) -> Result<&'p Definition, String> {
    let definitions = program.main_module().into_iter().flat_map(|module| &module.definitions);
    let mut graphs = definitions.filter(|definition| definition.kind == DefinitionKind::Graph);
    match &request.graph {
        None => graphs.next().ok_or_else(|| "the text has no graph".to_owned()),
        Some(name) => graphs
            .find(|graph| graph.name.name == *name)
            .ok_or_else(|| format!("the text has no graph `{name}`")),
    }
}

fn attributes(request: &Request, graph: &Definition, options: &mut ComposeOptions) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let mut report = |text: String| wrong.push(Diagnostic::without_location(&ATTRIBUTE_TEXT, text));
    for entry in &request.attributes {
        let Some((name, text)) = name_and_value(entry) else {
            report(format!("`{entry}` is not an attribute with its value, such as `n=8`"));
            continue;
        };
        let declared = graph.attributes.iter().find(|attribute| attribute.name.name == name);
        match (declared, attribute_value(text)) {
            (None, _) => report(format!("graph `{}` has no attribute `{name}`", graph.name.name)),
            (Some(attribute), Ok(AttributeValue::Null)) if !attribute.type_spec.optional => {
                report(format!("attribute `{name}` is not optional, so it cannot be null"));
            }
            (Some(_), Ok(value)) => drop(options.attributes.insert(name.to_owned(), value)),
            (Some(_), Err(reason)) => report(format!("the value of attribute `{name}`: {reason}")),
        }
    }
    wrong
}

/// The shapes of inputs. An input with a shape or an array is passed, even if it has a default.
fn inputs(request: &Request, graph: &Definition, options: &mut ComposeOptions) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let mut report = |text: String| wrong.push(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
    let is_declared = |name: &str| graph.inputs.iter().any(|input| input.name.name == name);
    for entry in &request.shapes {
        match name_and_value(entry).and_then(|(name, text)| Some((name, shapes(text)?))) {
            None => report(format!("`{entry}` is not an input with its shape, such as `x=4,3`")),
            Some((name, _)) if !is_declared(name) => {
                report(format!("graph `{}` has no input `{name}`", graph.name.name));
            }
            Some((name, shapes)) => {
                options.given_inputs.push(name.to_owned());
                options.input_shapes.insert(name.to_owned(), shapes);
            }
        }
    }
    let declared = graph.inputs.iter().map(|input| &input.name.name);
    options.given_inputs.extend(declared.filter(|name| request.inputs.contains_key(*name)).cloned());
    wrong
}

fn numbers(request: &Request, options: &mut ComposeOptions) -> Vec<Diagnostic> {
    let Some(name) = &request.real else { return Vec::new() };
    let reals = [RealType::F16, RealType::BF16, RealType::F32, RealType::F64];
    match reals.into_iter().find(|real| real.name() == name) {
        Some(real) => {
            options.numbers = Numbers { real, ..options.numbers };
            Vec::new()
        }
        None => {
            let text = format!("`{name}` is not an element type of reals: f16, bf16, f32, f64");
            vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)]
        }
    }
}
