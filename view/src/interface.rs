// SPDX-License-Identifier: Apache-2.0
//! The properties of a model that its graph does not have.

use crate::text::{self, Marked};
use skript_frontend::ast::{Declaration, Definition};
use skript_frontend::model::{CheckKind, Function, Model, Port};
use skript_frontend::program::{Origin, Program};
use skript_frontend::source::{SourceMap, Span};
use skript_frontend::syntax::token::scan;
use std::collections::{BTreeMap, BTreeSet};

/// The properties of a model that its graph does not have.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// The names of inputs in order.
    pub inputs: Vec<String>,
    /// The names of outputs in order.
    pub outputs: Vec<String>,
    /// The edition of each module of the model; the name of the main module is empty.
    pub editions: BTreeMap<String, &'static str>,
    /// The entries of `@quantize` by tensor.
    pub quantization: BTreeMap<String, String>,
    /// The conditions and messages of the assertions over dynamic extents.
    pub assertions: Vec<[Marked; 2]>,
    /// The declarations of the graph by kind, such as `input`, and name: the types, and the defaults of inputs.
    pub declarations: BTreeMap<(&'static str, String), Marked>,
    /// The definitions of the operators in `@quantize`, by position in those of the model.
    pub quantizers: Vec<(String, usize)>,
}

impl Interface {
    /// `number` returns the position of the definition whose name has a span.
    pub(crate) fn new(
        model: &Model,
        program: &Program,
        number: &mut dyn FnMut(Span) -> Option<usize>,
    ) -> Self {
        let names = |ports: &[Port]| ports.iter().map(|port| port.name.clone()).collect::<Vec<String>>();
        let ports = |select: fn(&Function) -> &Vec<Port>| {
            model.function(model.entry).map_or_else(Vec::new, |f| names(select(f)))
        };
        let modules = program.info.iter().filter(|(_, info)| info.origin == Origin::Model);
        let editions = modules.map(|(key, info)| {
            let name = if *key == program.main { String::new() } else { key.clone() };
            (name, info.edition.name())
        });
        let quantization = model.quantization.iter().map(|entry| {
            let attributes = entry.attributes.iter();
            let attributes: Vec<String> =
                attributes.map(|(name, value)| format!("{name}={}", text::attribute(value))).collect();
            (entry.tensor.clone(), format!("{}{{{}}}", entry.operator, attributes.join(", ")))
        });
        let quantizers = model.quantization.iter().filter_map(|entry| {
            let (_, definition) = program.definition(&program.main, &entry.operator)?;
            Some((entry.operator.clone(), number(definition.name.span)?))
        });
        let entry = model.function(model.entry);
        let definition = entry.and_then(|entry| definition(program, entry));
        let declared = |definition| Declared::new(definition, &program.sources).all();
        let assertions = entry.into_iter().flat_map(|entry| {
            let checks = entry.checks.iter().chain(&entry.result_checks);
            let asserted = checks.filter(|check| check.kind == CheckKind::Assertion);
            asserted.map(|check| entry.check_text(model, check, &Marked::name).map(Marked::new))
        });
        Interface {
            inputs: ports(|entry| &entry.inputs),
            outputs: ports(|entry| &entry.outputs),
            editions: editions.collect(),
            quantization: quantization.collect(),
            assertions: assertions.collect(),
            declarations: definition.map_or_else(BTreeMap::new, declared),
            quantizers: quantizers.collect(),
        }
    }
}

/// The definition of a graph in the document.
fn definition<'p>(program: &'p Program, entry: &Function) -> Option<&'p Definition> {
    program.modules.values().flat_map(|module| &module.definitions).find(|d| d.name.span == entry.span)
}

/// The declarations of a graph as texts.
struct Declared<'p> {
    definition: &'p Definition,
    sources: &'p SourceMap,
    /// The tokens of the values of `@using` by the tokens of their names.
    values: BTreeMap<String, Vec<String>>,
    /// The tokens of extents of inputs.
    dimensions: BTreeSet<Vec<String>>,
}

impl<'p> Declared<'p> {
    fn new(definition: &'p Definition, sources: &'p SourceMap) -> Self {
        let (values, dimensions) = (BTreeMap::new(), BTreeSet::new());
        let mut declared = Declared { definition, sources, values, dimensions };
        for using in &definition.usings {
            let value = declared.tokens(using.value.span);
            let Some(name) = tokens(sources.text(using.span)).into_iter().next() else { continue };
            let is_single = value.len() < 2;
            let parts =
                if is_single { value } else { [vec!["(".to_owned()], value, vec![")".to_owned()]].concat() };
            declared.values.insert(name, parts);
        }
        let shapes = definition.inputs.iter().filter_map(|input| input.type_spec.shape.as_ref());
        let extents = shapes.flatten().filter_map(|extent| extent.extent.as_ref());
        declared.dimensions = extents.map(|extent| declared.tokens(extent.span)).collect();
        declared
    }

    fn all(&self) -> BTreeMap<(&'static str, String), Marked> {
        let of_kind = |kind: &'static str, list: &'p [Declaration], with_default: bool| {
            list.iter().map(move |declaration| {
                ((kind, declaration.name.name.clone()), self.text(declaration, with_default))
            })
        };
        let definition = self.definition;
        of_kind("input", &definition.inputs, true)
            .chain(of_kind("output", &definition.outputs, false))
            .chain(of_kind("attribute", &definition.attributes, false))
            .chain(of_kind("constant", &definition.constants, false))
            .chain(of_kind("variable", &definition.variables, false))
            .collect()
    }

    /// A declaration without its name. Upper bounds of dimensions of inputs are compared separately.
    fn text(&self, declaration: &Declaration, with_default: bool) -> Marked {
        let r#type = &declaration.type_spec;
        let mut text = vec![self.sources.text(r#type.base.span).to_owned()];
        if r#type.optional {
            text.insert(0, "optional".to_owned());
        }
        let extents = r#type.shape.iter().flatten().map(|extent| {
            let size = extent.extent.as_ref().map(|size| self.tokens(size.span));
            let is_dimension = size.as_ref().is_some_and(|size| self.dimensions.contains(size));
            let bound = extent.bound.as_ref().filter(|_| !is_dimension).map(|bound| self.tokens(bound.span));
            let after = bound.map_or_else(String::new, |bound| format!("|{}", joined(bound)));
            format!("{}{after}", size.map_or_else(|| "~".to_owned(), joined))
        });
        if r#type.shape.is_some() {
            text.push(format!("[{}]", extents.collect::<Vec<_>>().join(", ")));
        }
        text.extend(r#type.pack.iter().flat_map(|pack| self.tokens(pack.span)));
        if let Some(default) = declaration.default.as_ref().filter(|_| with_default) {
            text.push("=".to_owned());
            text.extend(self.tokens(default.span));
        }
        Marked::new(joined(text).replace(" [", "["))
    }

    /// The tokens of a part of the graph, with the values of `@using` in place of their names.
    fn tokens(&self, span: Span) -> Vec<String> {
        let all = tokens(self.sources.text(span)).into_iter();
        all.flat_map(|token| self.values.get(&token).cloned().unwrap_or_else(|| vec![token])).collect()
    }
}

/// The text of tokens. The parts of numbers are tokens, too.
fn joined(tokens: Vec<String>) -> String {
    tokens.join(" ").replace(" . ", ".")
}

/// The tokens of an expression, names marked.
fn tokens(text: &str) -> Vec<String> {
    let is_name = |token: &str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let tokens = scan(text).into_iter().map(|token| match token.text {
        name if is_name(name) => Marked::name(name),
        other => other.to_owned(),
    });
    tokens.collect()
}
