// SPDX-License-Identifier: Apache-2.0
//! Writes a document: `main.sknd`, `onnx.sknd`, `import.json` and the weights.

mod constant;
mod text;

use std::collections::{BTreeMap, HashSet};

use serde_json::json;
use skript_tensor::ElementType;

use crate::imported::Imported;
use crate::importer::Importer;
use crate::library;
use crate::names::Names;
use crate::reals::visit;
use crate::statement::{Block, Body};
use crate::structure::structure;
use crate::value::{Value, is_real};
use text::Writer;

pub use constant::{Written, written};

/// An input or output with its name.
pub type Port = (Value, String);

/// The contents of a document.
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
    /// The type of reals.
    pub real: ElementType,
    /// Whether repeated blocks become operators.
    pub structured: bool,
    pub notes: Vec<String>,
}

/// Writes the files.
pub fn write(mut document: Document<'_>) -> Imported {
    if document.structured {
        let inputs: Vec<Value> = document.inputs.iter().map(|(v, _)| v.clone()).collect();
        let dimensions: Vec<String> = document.bounds.keys().cloned().collect();
        structure(&mut document.block, &inputs, &dimensions);
    }
    let graph = graph_name(&document.stem);
    let names = std::mem::take(&mut document.names);
    let mut writer = Writer::new(document.importer, names, &graph);
    for (value, name) in &document.inputs {
        writer.texts.insert(value.id, name.clone());
    }
    let results = results(&document.block);
    let mut outputs = Vec::new();
    for (onnx, value) in &document.outputs {
        let name = writer.names.fresh(onnx, "y");
        if results.contains(&value.id) && !writer.texts.contains_key(&value.id) {
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
    let tensors = storage_types(&document, &writer, &outputs);
    let json = json!({
        "version": 1,
        "inputs": document.inputs.iter().map(|(v, name)| port(&v.onnx, name, v)).collect::<Vec<_>>(),
        "outputs": outputs.iter().map(|(onnx, v, name)| port(onnx, name, v)).collect::<Vec<_>>(),
        "variables": writer.weights.iter().map(|w| json!({"onnx": w.onnx, "skript": w.name, "dtype": w.tensor.element().name(), "shape": w.tensor.shape()})).collect::<Vec<_>>(),
        "tensors": tensors,
        "bounds": document.bounds,
        "real": document.real.name(),
        "int": "i64",
        "opsets": document.opsets,
        "producer": document.producer,
        "quantized": document.importer.is_quantized,
    });
    Imported {
        main,
        onnx,
        json: format!("{json:#}\n"),
        weights: writer.weights,
        notes: document.notes,
        warnings: document.importer.warnings.clone(),
        selecting: document.importer.selecting.clone(),
    }
}

/// The storage types of the tensors that are narrower than the reals of the graph, by name.
fn storage_types(
    document: &Document<'_>,
    writer: &Writer<'_>,
    outputs: &[(String, Value, String)],
) -> BTreeMap<String, &'static str> {
    let inputs = document.inputs.iter().map(|(_, name)| name);
    let ports = inputs.chain(outputs.iter().map(|(_, _, name)| name));
    let ports: HashSet<&String> = ports.collect();
    let mut aliases = HashSet::new();
    visit(&document.block, &mut |statement| {
        if let Body::Same(_) = statement.body {
            aliases.extend(statement.results.iter().map(|r| r.id));
        }
    });
    let is_name = |text: &str| {
        let first = text.chars().next();
        first.is_some_and(|c| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let narrow = document.importer.values.iter().filter(|value| {
        is_real(value.element) && value.element != document.real && !aliases.contains(&value.id)
    });
    let named = narrow.filter_map(|value| {
        let name = writer.texts.get(&value.id).or_else(|| writer.inner_texts.get(&value.id))?;
        let is_inner = is_name(name) && !ports.contains(name);
        is_inner.then(|| (name.clone(), value.element.name()))
    });
    named.collect()
}

/// Derives the name of the graph from the name of the file.
fn graph_name(stem: &str) -> String {
    let name = Names::default().fresh(stem, "G");
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_ascii_uppercase().to_string() + letters.as_str(),
        None => "G".to_owned(),
    }
}

/// The ids of the results of statements.
fn results(block: &Block) -> HashSet<usize> {
    let results = block.statements.iter().flat_map(|statement| &statement.results);
    results.map(|result| result.id).collect()
}
