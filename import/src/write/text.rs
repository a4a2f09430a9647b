// SPDX-License-Identifier: Apache-2.0
//! Writes operators and the graph as text.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Port;
use super::constant::{Written, tensor_of, written};
use crate::extent::Extent;
use crate::imported::Weight;
use crate::importer::Importer;
use crate::literals::extent_list;
use crate::names::{Names, within};
use crate::statement::{
    Argument, Block, Body, Count, Instance, Statement, Template, marked, named, short_name,
};
use crate::value::{Value, spelled};

pub struct Writer<'i> {
    importer: &'i Importer,
    pub names: Names,
    /// The names or literals of values.
    pub texts: HashMap<usize, String>,
    /// The names of values in inner blocks that are already written.
    pub inner_texts: HashMap<usize, String>,
    constants: Vec<String>,
    variables: Vec<String>,
    pub weights: Vec<Weight>,
    pub lines: Vec<String>,
    /// The used operators of `onnx.sknd`.
    pub operators: BTreeSet<String>,
    graph: String,
    /// The common prefix of the titles of all values; the names in the text omit it.
    prefix: String,
    /// The texts of the document's operators.
    definitions: Vec<String>,
    templates: HashMap<usize, (String, Vec<String>)>,
}

impl<'i> Writer<'i> {
    pub fn new(importer: &'i Importer, names: Names, graph: &str) -> Writer<'i> {
        Writer {
            importer,
            names,
            texts: HashMap::new(),
            inner_texts: HashMap::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            weights: Vec::new(),
            lines: Vec::new(),
            operators: BTreeSet::new(),
            graph: graph.to_owned(),
            prefix: String::new(),
            definitions: Vec::new(),
            templates: HashMap::new(),
        }
    }
    /// The text of an operand. Declares constants and variables.
    pub fn text(&mut self, value: &Value, indent: &str) -> String {
        if let Some(text) = self.texts.get(&value.id) {
            return text.clone();
        }
        let text = self.constant(value, indent);
        self.texts.insert(value.id, text.clone());
        text
    }

    fn title(&self, value: &Value) -> String {
        let title = self.importer.titles.get(&value.id).unwrap_or(&value.onnx);
        within(title, &self.prefix)
    }

    fn constant(&mut self, value: &Value, indent: &str) -> String {
        let title = self.title(value);
        let (form, prefix) = match written(value) {
            Written::Literal(text) => return text,
            Written::Extent(extent) => return self.extent(&extent),
            Written::Variable => return self.variable(value, &title),
            form @ Written::Extents(_) => (form, "shape"),
            form => (form, "c"),
        };
        let name = self.names.fresh(&title, prefix);
        let kind = spelled(value.element);
        let shape = extent_list(&value.shape);
        match form {
            Written::Few(values) => {
                let (name, kind) = (&name, shape_of(kind, &value.shape));
                self.constants.push(format!("        {name}: {kind} = {values};"));
            }
            Written::Empty => self
                .lines
                .push(format!("{indent}{name} = layout.constant<{kind}>{{shape={shape}, value=[]}}();")),
            Written::Uniform(text) => {
                self.lines.push(format!("{indent}{name} = layout.constant{{shape={shape}, value={text}}}();"))
            }
            Written::Extents(extents) => {
                let items: Vec<String> = extents.iter().map(|e| self.extent(e)).collect();
                let items = items.join(", ");
                self.operators.insert("vector".to_owned());
                self.lines.push(format!("{indent}{name} = onnx.vector{{value=[{items}]}}();"));
            }
            Written::Literal(_) | Written::Extent(_) | Written::Variable => {}
        }
        name
    }

    fn extent(&self, extent: &Extent) -> String {
        self.attribute(&marked(extent))
    }

    fn variable(&mut self, value: &Value, title: &str) -> String {
        let name = self.names.fresh(title, "w");
        if tensor_of(value).is_none() {
            // The value is not defined: the compiler will report the name.
            return name;
        }
        let kind = shape_of(spelled(value.element), &value.shape);
        self.variables.push(format!("        {name}: {kind};"));
        self.weight(value, title, &name);
        name
    }

    /// Adds an array to the weights for the variable `name` of the graph.
    fn weight(&mut self, value: &Value, title: &str, name: &str) {
        if let Some(tensor) = tensor_of(value) {
            self.weights.push(Weight {
                name: format!("main.{}.{name}", self.graph),
                onnx: title.to_owned(),
                tensor,
            });
        }
    }

    fn argument(&mut self, argument: &Argument, indent: &str) -> String {
        match argument {
            Argument::Tensor(value) => self.text(value, indent),
            Argument::Number(text) => self.attribute(text),
            Argument::Absent => "~".to_owned(),
            Argument::Pack(values) => {
                let texts: Vec<String> = values.iter().map(|v| self.text(v, indent)).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }

    fn attribute(&self, text: &str) -> String {
        named(text, &|id| self.texts.get(&id).cloned().unwrap_or_default())
    }

    fn result(&mut self, value: &Value, operator: &str) -> String {
        if let Some(text) = self.texts.get(&value.id) {
            return text.clone();
        }
        let prefix = short_name(operator);
        let title = self.title(value);
        let name = self.names.fresh(&title, prefix);
        self.texts.insert(value.id, name.clone());
        name
    }

    pub fn block(&mut self, block: &Block, indent: &str) {
        let mut last = String::new();
        for statement in &block.statements {
            let comment = if statement.node == last || statement.node.is_empty() {
                String::new()
            } else {
                format!("    # {}", printable(&statement.node))
            };
            last.clone_from(&statement.node);
            self.statement(statement, indent, &comment);
        }
    }

    fn statement(&mut self, statement: &Statement, indent: &str, comment: &str) {
        match &statement.body {
            Body::Call { operator, attributes, arguments }
            | Body::Unpacked { operator, attributes, arguments } => {
                if operator.starts_with("onnx.") {
                    self.operators.insert(short_name(operator).to_owned());
                }
                let arguments: Vec<String> = arguments.iter().map(|a| self.argument(a, indent)).collect();
                let attributes: Vec<String> = attributes
                    .iter()
                    .map(|(name, text)| format!("{name}={}", self.attribute(text)))
                    .collect();
                let attributes = if attributes.is_empty() {
                    String::new()
                } else {
                    format!("{{{}}}", attributes.join(", "))
                };
                let results: Vec<String> =
                    statement.results.iter().map(|r| self.result(r, operator)).collect();
                let left = match &statement.body {
                    Body::Unpacked { .. } => format!("[{}]", results.join(", ")),
                    _ => results.join(", "),
                };
                self.lines.push(format!(
                    "{indent}{left} = {operator}{attributes}({});{comment}",
                    arguments.join(", ")
                ));
            }
            Body::Same(value) => {
                let text = self.text(value, indent);
                for result in &statement.results {
                    match self.texts.get(&result.id).cloned() {
                        // An output of the graph, whose name is fixed.
                        Some(name) => self.lines.push(format!("{indent}{name} = {text};{comment}")),
                        None => {
                            self.texts.insert(result.id, text.clone());
                        }
                    }
                }
            }
            Body::Instance(instance) => self.instance(instance, &statement.results, indent, comment),
            Body::If { condition, then, otherwise } => {
                let condition = self.text(condition, indent);
                let results: Vec<String> = statement.results.iter().map(|r| self.result(r, "if")).collect();
                self.lines.push(format!("{indent}{} = if {condition} then {{{comment}", results.join(", ")));
                self.inner(then, indent);
                self.lines.push(format!("{indent}}} else {{"));
                self.inner(otherwise, indent);
                self.lines.push(format!("{indent}}};"));
            }
            Body::Loop(l) => {
                let carried: Vec<String> = l
                    .carried
                    .iter()
                    .map(|(step, start)| {
                        let start = self.text(start, indent);
                        let name = self.result(step, "carried");
                        let kind = spelled(step.element);
                        let shape = extent_list(&step.shape);
                        format!("{name}: {kind}{} = {start}", self.attribute(&shape))
                    })
                    .collect();
                let index = self.result(&l.index, "i");
                let count = match &l.count {
                    Some(Count::Extent(count)) => format!(" {}", self.extent(count)),
                    Some(Count::Tensor(count)) => format!(" {}", self.text(count, indent)),
                    None => String::new(),
                };
                let results: Vec<String> = statement.results.iter().map(|r| self.result(r, "loop")).collect();
                let with =
                    if carried.is_empty() { String::new() } else { format!("with {} ", carried.join(", ")) };
                let condition = match &l.condition {
                    None => String::new(),
                    Some(condition) => format!("while {} ", self.text(condition, indent)),
                };
                self.lines.push(format!(
                    "{indent}{} = {with}{condition}do..({index} ->{count}) {{{comment}",
                    results.join(", ")
                ));
                self.inner(&l.body, indent);
                self.lines.push(format!("{indent}}};"));
            }
        }
    }

    /// Writes an invocation of an operator of the document, and adds the weights of its variables.
    fn instance(&mut self, instance: &Instance, results: &[Value], indent: &str, comment: &str) {
        let template = &instance.operator;
        let (operator, variables) = match self.templates.get(&template.index) {
            Some(known) => known.clone(),
            None => {
                let known = self.template(template);
                self.templates.insert(template.index, known.clone());
                known
            }
        };
        let arguments: Vec<String> = instance.arguments.iter().map(|v| self.text(v, indent)).collect();
        let label = self.names.fresh(&instance.label, "block");
        for (value, variable) in instance.variables.iter().zip(&variables) {
            let title = self.title(value);
            self.weight(value, &title, &format!("{label}.{variable}"));
        }
        let names: Vec<String> = results.iter().map(|r| self.result(r, &operator)).collect();
        let (names, arguments) = (names.join(", "), arguments.join(", "));
        self.lines.push(format!("{indent}{names} = {label}: {operator}({arguments});{comment}"));
    }

    /// Writes the definition of an operator. Returns the names of the operator and of its variables.
    fn template(&mut self, template: &Template) -> (String, Vec<String>) {
        let mut name = self.names.fresh(&template.name, "Block");
        if name == self.graph {
            name = self.names.fresh(&template.name, "Block");
        }
        let mut inner = Writer::new(self.importer, Names::default(), &self.graph);
        let prefix = &template.prefix;
        let titled = |value: &Value| within(&self.title(value), prefix);
        inner.prefix.clone_from(prefix);
        for dimension in &template.dimensions {
            inner.names.fresh(dimension, "n");
        }
        let mut declare = |value: &Value, name: &str, text: &mut String| {
            let name = inner.names.fresh(name, "w");
            inner.texts.insert(value.id, name.clone());
            let kind = shape_of(spelled(value.element), &value.shape);
            text.push_str(&format!("        {name}: {kind};\n"));
            name
        };
        let (mut inputs, mut variables, mut outputs) = (String::new(), String::new(), String::new());
        for value in &template.inputs {
            let shared = value.tensor.is_some().then(|| titled(value));
            declare(value, shared.as_deref().unwrap_or("x"), &mut inputs);
        }
        let variable_names =
            template.variables.iter().map(|value| declare(value, &titled(value), &mut variables)).collect();
        for value in &template.block.yields {
            declare(value, "y", &mut outputs);
        }
        inner.block(&template.block, "        ");
        let mut text = format!("operator {name} {{\n");
        section(&mut text, "input", &inputs);
        section(&mut text, "constant", &joined(&inner.constants));
        section(&mut text, "variable", &variables);
        section(&mut text, "output", &outputs);
        section(&mut text, "compose", &joined(&inner.lines));
        text.push_str("}\n\n");
        self.operators.append(&mut inner.operators);
        self.definitions.push(text);
        (name, variable_names)
    }

    /// Writes a block within a statement. The constants that it declares are local to it.
    fn inner(&mut self, block: &Block, indent: &str) {
        let deeper = format!("{indent}    ");
        let before: HashSet<usize> = self.texts.keys().copied().collect();
        self.block(block, &deeper);
        let yields: Vec<String> = block.yields.iter().map(|v| self.text(v, &deeper)).collect();
        self.lines.push(format!("{deeper}yield {};", yields.join(", ")));
        let declared: HashSet<&str> = self
            .variables
            .iter()
            .chain(&self.constants)
            .filter_map(|line| line.trim_start().split(':').next())
            .collect();
        let inner = &mut self.inner_texts;
        self.texts.retain(|id, text| {
            let is_visible = before.contains(id) || declared.contains(text.as_str());
            if !is_visible {
                inner.insert(*id, text.clone());
            }
            is_visible
        });
    }

    pub fn main(
        &self,
        inputs: &[Port],
        outputs: &[(String, Value, String)],
        bounds: &BTreeMap<String, u64>,
        stem: &str,
        producer: &str,
        opsets: &BTreeMap<String, i64>,
    ) -> String {
        let mut text = format!("# Imported from {}.onnx", printable(stem));
        let versions: Vec<String> = opsets
            .iter()
            .map(|(domain, version)| match domain.as_str() {
                "" => format!("opset {version}"),
                domain => format!("{} {version}", printable(domain)),
            })
            .collect();
        text.push_str(&format!(" ({}", versions.join(", ")));
        if !producer.is_empty() {
            text.push_str(&format!("; written by {}", printable(producer)));
        }
        text.push_str(").\n\n");
        let body = self.lines.join("\n");
        let definitions = self.definitions.concat();
        let mut imports = Vec::new();
        for module in ["algo", "image", "layout", "linalg", "math", "nn", "onnx", "quant", "rand"] {
            let called = format!("= {module}.");
            if body.contains(&called) || definitions.contains(&called) {
                imports.push(format!("import {module};\n"));
            }
        }
        text.push_str(&imports.concat());
        if !imports.is_empty() {
            text.push('\n');
        }
        text.push_str(&definitions);
        text.push_str(&format!("graph {} {{\n", self.graph));
        let mut seen = HashSet::new();
        let mut declared = Vec::new();
        for (value, name) in inputs {
            let extents: Vec<String> = value
                .shape
                .iter()
                .map(|e| match e.name() {
                    Some(dim) if seen.insert(dim.to_owned()) => {
                        bounds.get(dim).map_or(dim.to_owned(), |bound| format!("{dim}|{bound}"))
                    }
                    _ => e.text(&|_| String::new()),
                })
                .collect();
            declared.push(format!("        {name}: {}[{}];\n", spelled(value.element), extents.join(",")));
        }
        section(&mut text, "input", &declared.concat());
        section(&mut text, "constant", &joined(&self.constants));
        section(&mut text, "variable", &joined(&self.variables));
        let declared: Vec<String> = outputs
            .iter()
            .map(|(_, value, name)| {
                let extents: Vec<String> = value
                    .shape
                    .iter()
                    .map(|e| match (e.value(), e.name()) {
                        (Some(number), _) => number.to_string(),
                        (None, Some(name)) => name.to_owned(),
                        (None, None) => "~".to_owned(),
                    })
                    .collect();
                format!("        {name}: {}[{}];\n", spelled(value.element), extents.join(","))
            })
            .collect();
        section(&mut text, "output", &declared.concat());
        section(&mut text, "compose", &format!("{body}\n"));
        text.push_str("}\n");
        text
    }
}

/// Concatenates lines, each with a line break.
fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A type with its shape, `real[2,n]`.
fn shape_of(kind: &str, shape: &[Extent]) -> String {
    let extents = extent_list(shape).replace(", ", ",");
    format!("{kind}{extents}")
}

fn section(text: &mut String, name: &str, body: &str) {
    if !body.trim().is_empty() {
        text.push_str(&format!("    @{name} {{\n{body}    }}\n"));
    }
}

/// Converts text of the model file for a comment: the result is one line without control characters.
fn printable(text: &str) -> String {
    skript_host::one_line(text).to_string()
}
