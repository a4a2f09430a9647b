// SPDX-License-Identifier: Apache-2.0
//! The document: `main.sknd`, `onnx.sknd`, `import.json` and the weights.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde_json::json;
use skript_tensor::{ElementType, Tensor};

use crate::call::{extent_list, real_text};
use crate::convert::Imported;
use crate::extent::Extent;
use crate::importer::Importer;
use crate::library;
use crate::names::Names;
use crate::refusal::Refusal;
use crate::statement::{Argument, Block, Body, Count, Statement, marked, named};
use crate::tensor::of_items;
use crate::value::{Item, Value, is_real, spelled};

/// Constants of at most this many elements are in the text.
const MOST_IN_TEXT: usize = 8;

/// An input or output.
pub type Port = (Value, String);

/// An array of the weights: its full name, and its name in the ONNX graph.
#[derive(Debug)]
pub struct Weight {
    pub name: String,
    pub onnx: String,
    pub tensor: Rc<Tensor>,
}

/// What is written.
pub struct Document<'i> {
    pub importer: &'i Importer,
    pub names: Names,
    pub stem: String,
    pub producer: String,
    pub opsets: BTreeMap<String, i64>,
    pub inputs: Vec<Port>,
    pub outputs: Vec<(String, Value)>,
    pub bounds: BTreeMap<String, u64>,
    pub block: Block,
    pub notes: Vec<String>,
}

/// Writes the files.
///
/// # Errors
/// Refusals: element types that one model cannot mix.
pub fn write(document: Document<'_>) -> Result<Imported, Vec<Refusal>> {
    let real = reals(&document)?;
    let graph = graph_name(&document.stem);
    let mut writer = Writer {
        importer: document.importer,
        names: document.names,
        texts: HashMap::new(),
        constants: Vec::new(),
        variables: Vec::new(),
        weights: Vec::new(),
        lines: Vec::new(),
        operators: BTreeSet::new(),
        graph: graph.clone(),
        results: HashSet::new(),
    };
    for (value, name) in &document.inputs {
        writer.texts.insert(value.id, name.clone());
    }
    writer.results = results(&document.block);
    let mut outputs = Vec::new();
    for (onnx, value) in &document.outputs {
        let name = writer.names.fresh(onnx, "y");
        if writer.results.contains(&value.id) && !writer.texts.contains_key(&value.id) {
            writer.texts.insert(value.id, name.clone());
        }
        outputs.push((onnx.clone(), value.clone(), name));
    }
    writer.block(&document.block, "        ");
    for (_, value, name) in &outputs {
        let text = writer.text(value, "        ");
        if text != *name {
            writer.lines.push(format!("        {name} = {text};"));
        }
    }
    let main = writer.main(
        &document.inputs,
        &outputs,
        &document.bounds,
        &document.stem,
        &document.producer,
        &document.opsets,
    );
    let onnx = (!writer.operators.is_empty()).then(|| library::module(&writer.operators));
    let port = |onnx: &str, name: &str, value: &Value| {
        let shape: Vec<serde_json::Value> = value
            .shape
            .iter()
            .map(|e| match e.value() {
                Some(number) => json!(number),
                None => e.name().map_or(json!(null), |name| json!(name)),
            })
            .collect();
        json!({"onnx": onnx, "skript": name, "dtype": value.element.name(), "shape": shape})
    };
    let json = json!({
        "version": 1,
        "inputs": document.inputs.iter().map(|(v, name)| port(&v.onnx, name, v)).collect::<Vec<_>>(),
        "outputs": outputs.iter().map(|(onnx, v, name)| port(onnx, name, v)).collect::<Vec<_>>(),
        "variables": writer.weights.iter().map(|w| json!({"onnx": w.onnx, "skript": w.name, "dtype": w.tensor.element().name(), "shape": w.tensor.shape()})).collect::<Vec<_>>(),
        "bounds": document.bounds,
        "real": real.name(),
        "int": "i64",
        "opsets": document.opsets,
        "producer": document.producer,
    });
    Ok(Imported {
        main,
        onnx,
        json: format!("{json:#}\n"),
        weights: writer.weights,
        notes: document.notes,
    })
}

/// A name for the graph: `ResNet50` of `resnet50`.
fn graph_name(stem: &str) -> String {
    let name = Names::default().fresh(stem, "G");
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + letters.as_str(),
        None => "G".to_owned(),
    }
}

/// The values that statements give, in bodies as well.
fn results(block: &Block) -> HashSet<usize> {
    let mut found = HashSet::new();
    for statement in &block.statements {
        found.extend(statement.results.iter().map(|r| r.id));
    }
    found
}

/// The storage type of reals: the widest of the model. Narrower ones may only move.
fn reals(document: &Document<'_>) -> Result<ElementType, Vec<Refusal>> {
    let mut found: BTreeMap<usize, ElementType> = BTreeMap::new();
    let mut note = |value: &Value| {
        if is_real(value.element) {
            found.entry(value.element.size()).or_insert(value.element);
        }
    };
    document.inputs.iter().for_each(|(v, _)| note(v));
    document.outputs.iter().for_each(|(_, v)| note(v));
    visit(&document.block, &mut |statement| {
        statement.results.iter().for_each(&mut note)
    });
    let widest = found
        .values()
        .next_back()
        .copied()
        .unwrap_or(ElementType::F32);
    let mut refusals = Vec::new();
    visit(&document.block, &mut |statement| {
        let (Body::Call { operator, .. } | Body::Unpacked { operator, .. }) = &statement.body
        else {
            return;
        };
        for result in &statement.results {
            if is_real(result.element) && result.element != widest && !moves(operator) {
                refusals.push(Refusal {
                    node: node_of(document, statement),
                    operator: String::new(),
                    reason: format!(
                        "computes in {}, and other nodes in {}: one model has one type of reals",
                        result.element.name(),
                        widest.name()
                    ),
                });
            }
        }
    });
    unrounded(document, &mut refusals);
    match refusals.is_empty() {
        true => Ok(widest),
        false => Err(refusals),
    }
}

/// The name of the ONNX node or, if it has none, of an output of it.
fn node_of(document: &Document<'_>, statement: &Statement) -> String {
    let titles = &document.importer.titles;
    let title = statement.results.iter().find_map(|r| titles.get(&r.id));
    match (statement.node.is_empty(), title) {
        (true, Some(title)) => title.clone(),
        _ => statement.node.clone(),
    }
}

/// Refuses what reads reals before they are rounded to their narrower type: only outputs are rounded.
fn unrounded(document: &Document<'_>, refusals: &mut Vec<Refusal>) {
    let mut waiting = document.importer.rounded.clone();
    for statement in &document.block.statements {
        let mut read = BTreeSet::new();
        statement.reads(&mut read);
        let Some(from) = read.iter().find(|id| waiting.contains(id)) else {
            continue;
        };
        let element = document.importer.values.get(*from).map(|v| v.element);
        let keeps = statement.results.iter().all(|r| Some(r.element) == element);
        let passes = match &statement.body {
            Body::Call { operator, .. } | Body::Unpacked { operator, .. } => moves(operator),
            Body::Same(_) => true,
            Body::If { .. } | Body::Loop(_) => false,
        };
        if keeps && passes {
            waiting.extend(statement.results.iter().map(|r| r.id));
            continue;
        }
        let narrow = element.map_or("a narrower type", ElementType::name);
        refusals.push(Refusal {
            node: node_of(document, statement),
            operator: String::new(),
            reason: format!(
                "reads reals that a Cast rounds to {narrow}: one model has one type of reals, and only its outputs are rounded"
            ),
        });
    }
}

fn visit(block: &Block, see: &mut dyn FnMut(&Statement)) {
    for statement in &block.statements {
        see(statement);
        match &statement.body {
            Body::If {
                then, otherwise, ..
            } => {
                visit(then, see);
                visit(otherwise, see);
            }
            Body::Loop(l) => visit(&l.body, see),
            _ => {}
        }
    }
}

/// Whether each element of a result is one of the operands, or its negative, so that narrow reals stay what they are.
fn moves(operator: &str) -> bool {
    const OWN: &[&str] = &[
        "algo.top_k",
        "math.abs",
        "math.max",
        "math.max_reduce",
        "math.min",
        "math.min_reduce",
        "math.neg",
        "math.select",
        "nn.max_pool",
        "onnx.expand",
        "onnx.fill",
        "onnx.gather",
        "onnx.gather_elements",
        "onnx.gather_nd",
        "onnx.max_pool_indices",
        "onnx.one_hot",
        "onnx.pad_wrap",
        "onnx.reverse_sequence",
        "onnx.scatter_elements",
        "onnx.scatter_nd",
        "onnx.slice",
        "onnx.trilu",
    ];
    (operator.starts_with("layout.") && !operator.starts_with("layout.cast"))
        || OWN.contains(&operator)
}

struct Writer<'i> {
    importer: &'i Importer,
    names: Names,
    /// Names, and numbers, of values.
    texts: HashMap<usize, String>,
    constants: Vec<String>,
    variables: Vec<String>,
    weights: Vec<Weight>,
    lines: Vec<String>,
    /// Operators of `onnx.sknd`.
    operators: BTreeSet<String>,
    graph: String,
    /// The values that statements of the graph give.
    results: HashSet<usize>,
}

impl Writer<'_> {
    /// The text of a value where it is read; declares constants and variables.
    fn text(&mut self, value: &Value, indent: &str) -> String {
        if let Some(text) = self.texts.get(&value.id) {
            return text.clone();
        }
        let text = self.constant(value, indent);
        self.texts.insert(value.id, text.clone());
        text
    }

    fn title(&self, value: &Value) -> String {
        match self.importer.titles.get(&value.id) {
            Some(title) => title.clone(),
            None => value.onnx.clone(),
        }
    }

    fn constant(&mut self, value: &Value, indent: &str) -> String {
        let title = self.title(value);
        let Some(known) = &value.known else {
            return self.variable(value, &title);
        };
        let literal = |item: &Item| match item {
            Item::Bool(truth) => Some(truth.to_string()),
            Item::Real(number) if number.is_nan() => None,
            Item::Real(number) => Some(real_text(value.element, *number)),
            Item::Int(extent) => extent.value().map(|v| v.to_string()),
        };
        let literals: Option<Vec<String>> = known.iter().map(literal).collect();
        match (literals, known.as_slice(), value.rank()) {
            (Some(texts), [_], 0) => texts.concat(),
            (None, [Item::Int(extent)], 0) => self.extent(extent, indent),
            (None, _, _) if known.iter().all(|i| matches!(i, Item::Int(_))) => {
                let extents = value.extents().unwrap_or_default();
                let items = extents
                    .iter()
                    .map(|e| self.extent(e, indent))
                    .collect::<Vec<_>>()
                    .join(", ");
                self.operators.insert("vector".to_owned());
                let name = self.names.fresh(&title, "shape");
                self.lines.push(format!(
                    "{indent}{name} = onnx.vector{{value=[{items}]}}();"
                ));
                name
            }
            (None, _, _) => self.variable(value, &title),
            (Some(texts), _, _) => {
                let uniform = texts
                    .first()
                    .filter(|first| texts.iter().all(|t| t == *first));
                let few = texts.len() <= MOST_IN_TEXT && (!value.is_real() || texts.len() == 1);
                let shape = extent_list(&value.shape);
                match uniform {
                    _ if texts.is_empty() => {
                        let name = self.names.fresh(&title, "c");
                        let kind = spelled(value.element);
                        self.lines.push(format!(
                            "{indent}{name} = layout.constant<{kind}>{{shape={shape}, value=[]}}();"
                        ));
                        name
                    }
                    Some(text) if !few => {
                        let name = self.names.fresh(&title, "c");
                        self.lines.push(format!(
                            "{indent}{name} = layout.constant{{shape={shape}, value={text}}}();"
                        ));
                        name
                    }
                    _ if few => {
                        let name = self.names.fresh(&title, "c");
                        let values = match uniform {
                            Some(text) => text.clone(),
                            None => format!("[{}]", texts.join(", ")),
                        };
                        let shape = shape
                            .trim_start_matches('[')
                            .trim_end_matches(']')
                            .replace(", ", ",");
                        self.constants.push(format!(
                            "        {name}: {}[{shape}] = {values};",
                            spelled(value.element)
                        ));
                        name
                    }
                    _ => self.variable(value, &title),
                }
            }
        }
    }

    fn extent(&mut self, extent: &Extent, _: &str) -> String {
        let texts = RefCell::new(&self.texts);
        named(&marked(extent), &|id| {
            texts.borrow().get(&id).cloned().unwrap_or_default()
        })
    }

    fn variable(&mut self, value: &Value, title: &str) -> String {
        let name = self.names.fresh(title, "w");
        let tensor = match &value.tensor {
            Some(tensor) => Some(tensor.clone()),
            None => {
                let shape: Option<Vec<u64>> = value
                    .shape
                    .iter()
                    .map(|e| u64::try_from(e.value()?).ok())
                    .collect();
                shape
                    .zip(value.known.as_ref())
                    .and_then(|(shape, items)| of_items(value.element, &shape, items))
            }
        };
        let Some(tensor) = tensor else {
            // Nothing gives the value: the compiler reports the name.
            return name;
        };
        let shape: Vec<String> = tensor.shape().iter().map(u64::to_string).collect();
        self.variables.push(format!(
            "        {name}: {}[{}];",
            spelled(value.element),
            shape.join(",")
        ));
        self.weights.push(Weight {
            name: format!("main.{}.{name}", self.graph),
            onnx: title.to_owned(),
            tensor,
        });
        name
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
        let prefix = operator
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .split('<')
            .next()
            .unwrap_or_default();
        let title = self.title(value);
        let name = self.names.fresh(&title, prefix);
        self.texts.insert(value.id, name.clone());
        name
    }

    fn block(&mut self, block: &Block, indent: &str) {
        let mut last = String::new();
        for statement in &block.statements {
            let comment = match statement.node == last || statement.node.is_empty() {
                true => String::new(),
                false => format!("    # {}", printable(&statement.node)),
            };
            last.clone_from(&statement.node);
            self.statement(statement, indent, &comment);
        }
    }

    fn statement(&mut self, statement: &Statement, indent: &str, comment: &str) {
        match &statement.body {
            Body::Call {
                operator,
                attributes,
                arguments,
            }
            | Body::Unpacked {
                operator,
                attributes,
                arguments,
            } => {
                if let Some(own) = operator.strip_prefix("onnx.") {
                    self.operators
                        .insert(own.split('<').next().unwrap_or_default().to_owned());
                }
                let arguments: Vec<String> =
                    arguments.iter().map(|a| self.argument(a, indent)).collect();
                let attributes: Vec<String> = attributes
                    .iter()
                    .map(|(name, text)| format!("{name}={}", self.attribute(text)))
                    .collect();
                let attributes = match attributes.is_empty() {
                    true => String::new(),
                    false => format!("{{{}}}", attributes.join(", ")),
                };
                let results: Vec<String> = statement
                    .results
                    .iter()
                    .map(|r| self.result(r, operator))
                    .collect();
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
                        // An output of the graph, which has its name already.
                        Some(name) => self
                            .lines
                            .push(format!("{indent}{name} = {text};{comment}")),
                        None => {
                            self.texts.insert(result.id, text.clone());
                        }
                    }
                }
            }
            Body::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.text(condition, indent);
                let results: Vec<String> = statement
                    .results
                    .iter()
                    .map(|r| self.result(r, "if"))
                    .collect();
                self.lines.push(format!(
                    "{indent}{} = if {condition} then {{{comment}",
                    results.join(", ")
                ));
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
                    Some(Count::Extent(count)) => format!(" {}", self.extent(count, indent)),
                    Some(Count::Tensor(count)) => format!(" {}", self.text(count, indent)),
                    None => String::new(),
                };
                let results: Vec<String> = statement
                    .results
                    .iter()
                    .map(|r| self.result(r, "loop"))
                    .collect();
                let with = match carried.is_empty() {
                    true => String::new(),
                    false => format!("with {} ", carried.join(", ")),
                };
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

    /// A block within a statement. Constants that it declares are its own.
    fn inner(&mut self, block: &Block, indent: &str) {
        let deeper = format!("{indent}    ");
        let before: HashSet<usize> = self.texts.keys().copied().collect();
        self.block(block, &deeper);
        let yields: Vec<String> = block.yields.iter().map(|v| self.text(v, &deeper)).collect();
        self.lines
            .push(format!("{deeper}yield {};", yields.join(", ")));
        let declared: HashSet<&str> = self
            .variables
            .iter()
            .chain(&self.constants)
            .filter_map(|line| line.trim_start().split(':').next())
            .collect();
        self.texts
            .retain(|id, text| before.contains(id) || declared.contains(text.as_str()));
    }

    fn main(
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
        let mut imports = Vec::new();
        for module in [
            "algo", "image", "layout", "linalg", "math", "nn", "onnx", "quant",
        ] {
            if body.contains(&format!("= {module}.")) {
                imports.push(format!("import {module};\n"));
            }
        }
        text.push_str(&imports.concat());
        if !imports.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("graph {} {{\n", self.graph));
        let mut seen = HashSet::new();
        let mut declared = Vec::new();
        for (value, name) in inputs {
            let extents: Vec<String> = value
                .shape
                .iter()
                .map(|e| match e.name() {
                    Some(dim) if seen.insert(dim.to_owned()) => {
                        format!("{dim}|{}", bounds.get(dim).copied().unwrap_or(1))
                    }
                    _ => e.text(&|_| String::new()),
                })
                .collect();
            declared.push(format!(
                "        {name}: {}[{}];\n",
                spelled(value.element),
                extents.join(",")
            ));
        }
        section(&mut text, "input", &declared.concat());
        let with_newlines =
            |lines: &[String]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
        section(&mut text, "constant", &with_newlines(&self.constants));
        section(&mut text, "variable", &with_newlines(&self.variables));
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
                format!(
                    "        {name}: {}[{}];\n",
                    spelled(value.element),
                    extents.join(",")
                )
            })
            .collect();
        section(&mut text, "output", &declared.concat());
        section(&mut text, "compose", &format!("{body}\n"));
        text.push_str("}\n");
        text
    }
}

fn section(text: &mut String, name: &str, body: &str) {
    if !body.trim().is_empty() {
        text.push_str(&format!("    @{name} {{\n{body}    }}\n"));
    }
}

/// Text of the file in a comment: one line, without control characters.
fn printable(text: &str) -> String {
    skript_host::one_line(text).to_string()
}
