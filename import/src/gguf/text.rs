// SPDX-License-Identifier: Apache-2.0
//! Writes the document of a language model.

use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::json;
use skript_tensor::gguf::label_path;
use skript_tensor::{ElementType, Tensor, TensorError};

use super::architecture::{Angles, FACTORS};
use super::attention;
use super::experts::{self, Experts};
use super::model::{FeedForward, Format, Layer, Matrix, Model, Unit};
use super::{Activations, GgufCache};
use crate::imported::Weight;

/// The text of `main.sknd`; `file` is the name of the GGUF file.
pub(super) fn document(model: &Model<'_>, file: &str) -> String {
    let mut text = header(model, file);
    let mut kinds: Vec<&Layer<'_>> = Vec::new();
    for layer in &model.layers {
        if !kinds.contains(&layer) {
            kinds.push(layer);
        }
    }
    let matrices = kinds.iter().flat_map(|layer| layer.matrices()).chain(&model.output);
    let mut written: Vec<String> = Vec::new();
    for matrix in matrices {
        let operator = linear(matrix);
        if !written.contains(&operator) {
            text += &linear_operator(matrix, model.activations);
            written.push(operator);
        }
    }
    let has_shared = |layer: &&&Layer| {
        matches!(&layer.feed_forward, FeedForward::Experts(Experts { shared: Some(_), .. }))
    };
    if kinds.iter().any(|layer| has_shared(&layer)) {
        text += experts::OPENED;
    }
    text += &norm_operators(model, &kinds);
    for (at, layer) in kinds.iter().enumerate() {
        text += &layer_operator(model, layer, &layer_name(at));
    }
    text += &graph(model, &kinds);
    text
}

fn header(model: &Model<'_>, file: &str) -> String {
    if model.cache == GgufCache::Arrays {
        // Code in the cache is found for files with other names.
        return IMPORTS.to_owned();
    }
    let title = if model.title.is_empty() { String::new() } else { format!("{}: a", model.title) };
    let title = if title.is_empty() { "A".to_owned() } else { title };
    let file: String = file.chars().filter(|c| !c.is_control()).collect();
    let architecture = model.architecture.name;
    format!(
        "# {title} language model of the architecture {architecture}, imported from {file}.\n\
         #\n\
         # The weights are the tensors of main.gguf: blk.0.attn_q.weight is `weight` of the instance blk_0.attn_q.\n\n{IMPORTS}"
    )
}

const IMPORTS: &str = "import format;\nimport layout;\nimport lm;\nimport math;\nimport nn;\n\n";

impl Matrix<'_> {
    /// The type of the variable, with extents in terms of `count`, `rows` and `columns`.
    fn variable(&self, rows: &str, columns: &str) -> String {
        let count = if self.experts.is_some() { "count," } else { "" };
        match self.format {
            Format::Real => format!("real[{count}{rows},{columns}]"),
            Format::Blocks { elements, bytes, .. } => {
                format!("int[{count}{rows},{columns} / {elements},{bytes}]")
            }
        }
    }

    /// The operator of the library that converts the variable; `None` for reals.
    fn conversion(&self) -> Option<String> {
        match self.format {
            Format::Real => None,
            Format::Blocks { name, .. } => Some(format!("format.{}", name.to_lowercase())),
        }
    }
}

impl<'f> Layer<'f> {
    fn matrices(&self) -> impl Iterator<Item = &Matrix<'f>> {
        let (unit, experts) = match &self.feed_forward {
            FeedForward::Unit(unit) => (Some(unit), None),
            FeedForward::Experts(experts) => (None, Some(experts)),
        };
        let after = unit.into_iter().flat_map(Unit::matrices);
        let after = after.chain(experts.into_iter().flat_map(Experts::matrices));
        self.projections.iter().chain([&self.mixed]).chain(after)
    }
}

impl<'f> Unit<'f> {
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix<'f>> {
        self.gated.iter().chain([&self.down])
    }
}

/// The name of the operator that multiplies by a matrix.
pub(super) fn linear(matrix: &Matrix<'_>) -> String {
    let format = match matrix.format {
        Format::Real => String::new(),
        Format::Blocks { name, .. } => format!("_{}", name.to_lowercase()),
    };
    let bias = if matrix.is_biased { "_bias" } else { "" };
    let name = if matrix.experts.is_some() { "experts" } else { "linear" };
    format!("{name}{format}{bias}")
}

fn linear_operator(matrix: &Matrix<'_>, activations: Activations) -> String {
    let name = linear(matrix);
    let (bias, argument) = if matrix.is_biased { ("\nbias: real[size];", ", bias") } else { ("", "") };
    let (doc, converted, weight) = match (matrix.format, matrix.conversion()) {
        (Format::Blocks { name, .. }, Some(conversion)) => {
            (format!(" in the format {name}"), format!("w = {conversion}(weight);\n"), "w")
        }
        _ => (String::new(), String::new(), "weight"),
    };
    let (rounded, x) = factor(matrix.format, activations, "x");
    let variable = matrix.variable("size", "k");
    if matrix.experts.is_some() {
        return format!(
            "# The products with the matrices of experts{doc}.\n\
             operator {name} {{\n@attrib {{\ncount: int;\nsize: int;\n}}\n@input {{\nx: real[n,v,k];\nexpert: int[n,u];\n}}\n\
             @variable {{ weight: {variable}; }}\n@output {{ y: real[n,u,size]; }}\n\
             @compose {{\n{rounded}{converted}y = lm.experts({x}, expert, {weight});\n}}\n}}\n\n"
        );
    }
    format!(
        "# The product with a matrix{doc}.\n\
         operator {name} {{\n@attrib {{ size: int; }}\n@input {{ x: real[n,k]; }}\n\
         @variable {{\nweight: {variable};{bias}\n}}\n@output {{ y: real[n,size]; }}\n\
         @compose {{\n{rounded}{converted}y = nn.linear({x}, {weight}{argument});\n}}\n}}\n\n"
    )
}

/// The statement that rounds a tensor that matrices of a format multiply, if it is rounded, and the name of the factor.
fn factor(format: Format, activations: Activations, name: &str) -> (String, &str) {
    match (format, activations) {
        (Format::Blocks { .. }, Activations::Int8) => (format!("a = format.rounded({name});\n"), "a"),
        _ => (String::new(), name),
    }
}

fn norm_operators(model: &Model<'_>, layers: &[&Layer<'_>]) -> String {
    let epsilon = real(model.epsilon);
    let mut text = format!(
        "operator norm {{\n@input {{ x: real[s..,k]; }}\n@variable {{ weight: real[k]; }}\n@output {{ y: real[s..,k]; }}\n\
         @compose {{ y = lm.rms_norm{{epsilon={epsilon}}}(x, weight); }}\n}}\n\n"
    );
    if model.logit_cap.is_some() {
        text += "# Bounds values softly.\n\
                 operator bounded {\n@attrib { cap: real; }\n@input { x: real[s..]; }\n@output { y: real[s..]; }\n\
                 @lower { y[i..] = cap * `tanh`(x[i..] / cap), i < s; }\n}\n\n";
    }
    if !layers.is_empty() {
        text += &attention::operators(model);
    }
    text
}

/// The operator of the layers of the kind at this position.
fn layer_name(at: usize) -> String {
    if at == 0 { "layer".to_owned() } else { format!("layer_{}", at + 1) }
}

/// The declaration of the input `past`, and the argument.
fn past(model: &Model<'_>) -> (&'static str, &'static str) {
    match model.cache {
        GgufCache::None => ("", ""),
        GgufCache::Variables => ("\npast: int[];", ", past"),
        GgufCache::Arrays => {
            ("\npast_keys: real[o,g,d];\npast_values: real[o,g,e];", ", past_keys, past_values")
        }
    }
}

fn layer_operator(model: &Model<'_>, layer: &Layer<'_>, name: &str) -> String {
    let (past, last) = past(model);
    let is_returned = model.cache == GgufCache::Arrays;
    let (outputs, new_keys) = if is_returned {
        ("y: real[n,width];\nnew_keys: real[n,g,d];\nnew_values: real[n,g,e];", ", new_keys")
    } else {
        ("y: real[n,width];", "")
    };
    let all_values = if is_returned { "new_values" } else { "values" };
    let mut text = format!(
        "operator {name} {{\n@input {{\nx: real[n,width];\ncosine: real[n,m];\nsine: real[n,m];{past}\n}}\n\
         @output {{\n{outputs}\n}}\n@compose {{\na = attn_norm: norm(x);\n"
    );
    text += &projections(model, layer, all_values);
    let mut names = ["queries", "keys"];
    if layer.has_head_norms {
        text += "q = attn_q_norm: norm(queries);\nk = attn_k_norm: norm(keys);\n";
        names = ["q", "k"];
    }
    let [query, key] = names;
    let window = layer.window.map_or_else(String::new, |window| format!("{{window={window}}}"));
    let _ = writeln!(
        text,
        "mixed{new_keys} = attention: attention{window}({query}, {key}, {all_values}, cosine, sine{last});"
    );
    let _ = writeln!(text, "attended = {};", product(&layer.mixed, "mixed"));
    let [mut attended, mut fed] = ["attended", "fed"];
    let post_norms = model.architecture.post_norms();
    if let [after_attention, _] = post_norms {
        let _ = writeln!(text, "normalized = {after_attention}: norm(attended);");
        attended = "normalized";
    }
    let _ = writeln!(text, "b = math.add(x, {attended});");
    text += "c = ffn_norm: norm(b);\n";
    let is_gemma = model.architecture.is_gemma;
    text += &match &layer.feed_forward {
        FeedForward::Unit(unit) => gated_unit(unit, is_gemma, "fed"),
        FeedForward::Experts(experts) => experts.statements(),
    };
    if let [_, after_unit] = post_norms {
        let _ = writeln!(text, "result = {after_unit}: norm(fed);");
        fed = "result";
    }
    let _ = writeln!(text, "y = math.add(b, {fed});\n}}\n}}\n");
    text
}

/// The product with a matrix, which is a variable of the instance with its name.
pub(super) fn product(matrix: &Matrix<'_>, argument: &str) -> String {
    format!("{}: {}{{size={}}}({argument})", matrix.name, linear(matrix), matrix.rows)
}

/// The statements that compute the heads of queries, of keys and of values from `a`.
fn projections(model: &Model<'_>, layer: &Layer<'_>, values: &str) -> String {
    let parts = [
        ("query", "queries", model.heads, model.key_size),
        ("key", "keys", model.groups, model.key_size),
        ("value", values, model.groups, model.value_size),
    ];
    let mut text = String::new();
    if let [joined] = &layer.projections[..] {
        let sizes = parts.map(|(_, _, heads, size)| (heads * size).to_string()).join(", ");
        let _ = writeln!(text, "joined = {};", product(joined, "a"));
        let _ = writeln!(text, "[query, key, value] = layout.split{{axis=1, sizes=[{sizes}]}}(joined);");
    }
    for (number, (name, all, heads, size)) in parts.into_iter().enumerate() {
        if layer.projections.len() > 1
            && let Some(matrix) = layer.projections.get(number)
        {
            let _ = writeln!(text, "{name} = {};", product(matrix, "a"));
        }
        let _ = writeln!(text, "{all} = layout.unflatten{{axis=1, shape=[{heads}, {size}]}}({name});");
    }
    text
}

/// The statements that compute `result` from `c`.
pub(super) fn gated_unit(unit: &Unit<'_>, is_gemma: bool, result: &str) -> String {
    let mut text = match &unit.gated[..] {
        [gate, up] => format!("gate = {};\nup = {};\n", product(gate, "c"), product(up, "c")),
        joined => {
            let size = unit.hidden;
            let joined = joined.first().map_or_else(String::new, |joined| product(joined, "c"));
            format!("both = {joined};\n[gate, up] = layout.split{{axis=1, sizes=[{size}, {size}]}}(both);\n")
        }
    };
    text += if is_gemma {
        "opened = nn.gelu{approximate='TANH'}(gate);\nactive = math.mul(opened, up);\n"
    } else {
        "active = lm.swiglu(gate, up);\n"
    };
    let _ = writeln!(text, "{result} = {};", product(&unit.down, "active"));
    text
}

fn graph(model: &Model<'_>, kinds: &[&Layer<'_>]) -> String {
    let embedding = &model.embedding;
    let (rows, columns) = (embedding.rows.to_string(), embedding.columns.to_string());
    let variable = match embedding.format {
        Format::Real => embedding.variable(&rows, &columns),
        Format::Blocks { elements, bytes, .. } => {
            format!("int[{rows},{},{bytes}]", embedding.columns / elements)
        }
    };
    let factors = model.factors.map(variable_name);
    let argument = factors.as_ref().map_or_else(String::new, |name| format!(", {name}"));
    let factors = factors.map_or_else(String::new, |name| format!("\n{name}: real[{}];", model.turned / 2));
    let first = match model.cache {
        GgufCache::None => "t",
        GgufCache::Variables => "past[] + t",
        GgufCache::Arrays => "o + t",
    };
    let inputs = GraphInputs::new(model);
    let mut text = format!(
        "# The positions of tokens in a text.\n\
         operator positions {{\n@input {{\ntokens: int[n];{}\n}}\n@output {{ position: int[n]; }}\n\
         @lower {{ position[t,] = {first}, t < n; }}\n}}\n\n\
         # {}\n\
         graph {} {{\n@input {{\ntokens: int[n|{}];{}\n}}\n@variable {{\ntoken_embd_weight: {variable};{factors}\n}}\n\
         @output {{\nlogits: real[{},{rows}];{}\n}}\n@compose {{\nposition = positions(tokens{});\n\
         {}\
         rows = layout.gather{{axis=0}}(token_embd_weight, tokens);\n",
        inputs.positions,
        inputs.doc,
        graph_name(model),
        model.context,
        inputs.declared,
        inputs.logits,
        inputs.outputs,
        inputs.position_argument,
        all_angles(model, &argument),
    );
    text += &first_rows(model);
    for (at, layer) in model.layers.iter().enumerate() {
        let kind = kinds.iter().position(|kind| *kind == layer).map_or_else(String::new, layer_name);
        let (results, arguments) = match model.cache {
            GgufCache::None => (String::new(), String::new()),
            GgufCache::Variables => (String::new(), ", past".to_owned()),
            GgufCache::Arrays => {
                (format!(", keys_{at}, values_{at}"), format!(", past_keys_{at}, past_values_{at}"))
            }
        };
        let angles = if layer.is_local { "local_cosine, local_sine" } else { "cosine, sine" };
        let _ = writeln!(text, "x{}{results} = blk_{at}: {kind}(x{at}, {angles}{arguments});", at + 1);
    }
    text + &logits_text(model, &rows) + "}\n}\n"
}

/// The statements that compute the angles of positions.
fn all_angles(model: &Model<'_>, factors: &str) -> String {
    let statement = |prefix: &str, angles: Angles, factors: &str| {
        let (base, size) = (real(angles.base), model.turned);
        let [mut before, mut after] = [String::new(), String::new()];
        let (mut factors, mut unit) = (factors.to_owned(), "");
        if angles.divisor != 1.0 {
            let (shape, divisor) = (model.turned / 2, real(angles.divisor));
            let _ = writeln!(before, "factors = layout.constant{{shape=[{shape}], value={divisor}}}();");
            ", factors".clone_into(&mut factors);
        }
        if angles.magnitude != 1.0 {
            unit = "unit_";
            for name in ["cosine", "sine"] {
                let magnitude = real(angles.magnitude);
                let _ = writeln!(after, "{prefix}{name} = math.mul({prefix}{unit}{name}, {magnitude});");
            }
        }
        let names = ["cosine", "sine"].map(|name| format!("{prefix}{unit}{name}")).join(", ");
        format!("{before}{names} = lm.angles{{base={base}, size={size}}}(position{factors});\n{after}")
    };
    let mut text = statement("", model.angles, factors);
    if let Some(angles) = model.local_angles {
        text += &statement("local_", angles, "");
    }
    text
}

/// The statements that compute the first features from the rows of the embedding.
fn first_rows(model: &Model<'_>) -> String {
    let name = if model.architecture.is_gemma { "embedded" } else { "x0" };
    let mut text = match model.embedding.conversion() {
        Some(conversion) => format!("{name} = {conversion}(rows);\n"),
        None => format!("{name} = rows;\n"),
    };
    if model.architecture.is_gemma {
        let factor = real(f64::from((model.embedding.columns as f32).sqrt()));
        let _ = writeln!(text, "x0 = math.mul({name}, {factor});");
    }
    text
}

/// The parts of the graph that depend on the cache.
struct GraphInputs {
    doc: &'static str,
    /// The declarations of inputs after the tokens, and of outputs after the logits.
    declared: String,
    outputs: String,
    /// The number of rows of the logits.
    logits: &'static str,
    /// The declaration of an input of the operator `positions`, and its argument.
    positions: &'static str,
    position_argument: &'static str,
}

impl GraphInputs {
    fn new(model: &Model<'_>) -> Self {
        let none = GraphInputs {
            doc: "The logits of the token after each prefix of a text.",
            declared: String::new(),
            outputs: String::new(),
            logits: "n",
            positions: "",
            position_argument: "",
        };
        match model.cache {
            GgufCache::None => none,
            GgufCache::Variables => GraphInputs {
                doc: "The logits of the token after each new token; `past` is the number of tokens of earlier calls.",
                declared: "\npast: int[];".to_owned(),
                positions: "\npast: int[];",
                position_argument: ", past",
                ..none
            },
            GgufCache::Arrays => {
                let (mut declared, mut outputs) = ("\nrow: int[1];".to_owned(), String::new());
                for layer in 0..model.layers.len() {
                    for (name, size) in [("keys", model.key_size), ("values", model.value_size)] {
                        let (context, groups) = (model.context, model.groups);
                        let _ = write!(declared, "\npast_{name}_{layer}: real[o|{context},{groups},{size}];");
                        let _ = write!(outputs, "\n{name}_{layer}: real[n,{groups},{size}];");
                    }
                }
                GraphInputs {
                    doc: "The logits of the token after the new token at `row`, and the keys and values of new tokens.",
                    declared,
                    outputs,
                    logits: "1",
                    positions: "\npast_keys: real[o,g,d];",
                    position_argument: ", past_keys_0",
                }
            }
        }
    }
}

/// The statements after the layers.
fn logits_text(model: &Model<'_>, rows: &str) -> String {
    let mut text = String::new();
    let mut hidden = format!("x{}", model.layers.len());
    if model.cache == GgufCache::Arrays {
        let _ = writeln!(text, "selected = layout.gather{{axis=0}}({hidden}, row);");
        hidden = "selected".to_owned();
    }
    let _ = writeln!(text, "last = output_norm: norm({hidden});");
    let name = if model.logit_cap.is_some() { "unbounded" } else { "logits" };
    let _ = match (&model.output, model.embedding.conversion()) {
        (Some(output), _) => writeln!(text, "{name} = output: {}{{size={rows}}}(last);", linear(output)),
        (None, Some(conversion)) => {
            let (rounded, last) = factor(model.embedding.format, model.activations, "last");
            writeln!(
                text,
                "{rounded}table = {conversion}(token_embd_weight);\n{name} = nn.linear({last}, table);"
            )
        }
        (None, None) => writeln!(text, "{name} = nn.linear(last, token_embd_weight);"),
    };
    if let Some(cap) = model.logit_cap.map(real) {
        let _ = writeln!(text, "logits = bounded{{cap={cap}}}({name});");
    }
    text
}

/// The name of the graph: `Llama`.
fn graph_name(model: &Model<'_>) -> String {
    let mut letters = model.architecture.name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A real of the language, with the digits of a 32-bit float if it is one.
pub(super) fn real(x: f64) -> String {
    let short = x as f32;
    if f64::from(short) == x { format!("{short:?}") } else { format!("{x:?}") }
}

/// The name of a tensor as a variable of the graph.
fn variable_name(name: &str) -> String {
    name.replace('.', "_")
}

/// The text of `import.json`: the types of the variables.
pub(super) fn json(model: &Model<'_>) -> String {
    let graph = graph_name(model);
    // The document reads one of the tensors of factors.
    let is_read = |name: &str| !FACTORS.contains(&name) || model.factors == Some(name);
    let variables = model.entries.iter().filter(|entry| is_read(&entry.name)).map(|entry| {
        let (element, shape) = entry.array();
        let name = match entry.name.as_str() {
            name if name == "token_embd.weight" || FACTORS.contains(&name) => variable_name(name),
            name => label_path(name),
        };
        json!({"gguf": entry.name, "skript": format!("main.{graph}.{name}"), "dtype": element.name(), "shape": shape})
    });
    let json = json!({
        "version": 1,
        "variables": variables.collect::<Vec<_>>(),
        "real": "f32",
        "int": "i64",
        "producer": "GGUF",
    });
    format!("{json:#}\n")
}

/// The initial values of the caches: zeros.
///
/// # Errors
/// They do not fit the memory.
pub(super) fn caches(model: &Model<'_>) -> Result<Vec<Weight>, TensorError> {
    let layers = if model.cache == GgufCache::Variables { model.layers.len() } else { 0 };
    let (graph, mut all) = (graph_name(model), Vec::new());
    for layer in 0..layers {
        for (name, size) in [("keys", model.key_size), ("values", model.value_size)] {
            let tensor = Tensor::reserved(ElementType::F32, &[model.context, model.groups, size])?;
            let name = format!("main.{graph}.blk_{layer}.attention.{name}");
            all.push(Weight { name, onnx: String::new(), tensor: Rc::new(tensor) });
        }
    }
    Ok(all)
}
