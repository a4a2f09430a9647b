// SPDX-License-Identifier: Apache-2.0
//! Writes the document of a language model.

use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::json;
use skript_tensor::gguf::label_path;
use skript_tensor::{ElementType, Tensor, TensorError};

use super::GgufCache;
use super::model::{Format, Layer, Matrix, Model};
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
            text += &linear_operator(matrix);
            written.push(operator);
        }
    }
    text += &norm_operators(model, &kinds);
    for (at, layer) in kinds.iter().enumerate() {
        text += &layer_operator(model, layer, &layer_name(at));
    }
    text += &graph(model, &kinds);
    text
}

fn header(model: &Model<'_>, file: &str) -> String {
    let title = if model.title.is_empty() { String::new() } else { format!("{}: a", model.title) };
    let title = if title.is_empty() { "A".to_owned() } else { title };
    let file: String = file.chars().filter(|c| !c.is_control()).collect();
    let architecture = model.architecture.name;
    format!(
        "# {title} language model of the architecture {architecture}, imported from {file}.\n\
         #\n\
         # The weights are the tensors of main.gguf: blk.0.attn_q.weight is `weight` of the instance blk_0.attn_q.\n\n\
         import format;\nimport layout;\nimport lm;\nimport math;\nimport nn;\n\n"
    )
}

impl Matrix<'_> {
    /// The type of the variable, with extents in terms of `rows` and `columns`.
    fn variable(&self, rows: &str, columns: &str) -> String {
        match self.format {
            Format::Real => format!("real[{rows},{columns}]"),
            Format::Blocks { elements, bytes, .. } => format!("int[{rows},{columns} / {elements},{bytes}]"),
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
    fn matrices(&self) -> [&Matrix<'f>; 7] {
        [&self.query, &self.key, &self.value, &self.mixed, &self.gate, &self.up, &self.down]
    }
}

/// The name of the operator that multiplies by a matrix.
fn linear(matrix: &Matrix<'_>) -> String {
    let format = match matrix.format {
        Format::Real => String::new(),
        Format::Blocks { name, .. } => format!("_{}", name.to_lowercase()),
    };
    let bias = if matrix.is_biased { "_bias" } else { "" };
    format!("linear{format}{bias}")
}

fn linear_operator(matrix: &Matrix<'_>) -> String {
    let name = linear(matrix);
    let (bias, argument) = if matrix.is_biased { ("\nbias: real[size];", ", bias") } else { ("", "") };
    let (doc, converted, weight) = match (matrix.format, matrix.conversion()) {
        (Format::Blocks { name, .. }, Some(conversion)) => {
            (format!(" in the format {name}"), format!("w = {conversion}(weight);\n"), "w")
        }
        _ => (String::new(), String::new(), "weight"),
    };
    let variable = matrix.variable("size", "k");
    format!(
        "# The product with a matrix{doc}.\n\
         operator {name} {{\n@attrib {{ size: int; }}\n@input {{ x: real[n,k]; }}\n\
         @variable {{\nweight: {variable};{bias}\n}}\n@output {{ y: real[n,size]; }}\n\
         @compose {{\n{converted}y = nn.linear(x, {weight}{argument});\n}}\n}}\n\n"
    )
}

fn norm_operators(model: &Model<'_>, layers: &[&Layer<'_>]) -> String {
    let epsilon = real(model.epsilon);
    let mut text = format!(
        "operator norm {{\n@input {{ x: real[s..,k]; }}\n@variable {{ weight: real[k]; }}\n@output {{ y: real[s..,k]; }}\n\
         @compose {{ y = lm.rms_norm{{epsilon={epsilon}}}(x, weight); }}\n}}\n\n"
    );
    if !layers.is_empty() {
        text += &attention_operator(model);
    }
    text
}

fn attention_operator(model: &Model<'_>) -> String {
    let adjacent = if model.architecture.is_adjacent { "{adjacent=true}" } else { "" };
    let scale = real(1.0 / (model.key_size as f64).sqrt());
    let inputs =
        "query: real[n,h,d];\nkey: real[n,g,d];\nvalue: real[n,g,e];\ncosine: real[n,m];\nsine: real[n,m];";
    let rotated =
        format!("q = lm.rotate{adjacent}(query, cosine, sine);\nk = lm.rotate{adjacent}(key, cosine, sine);");
    if model.cache == GgufCache::Arrays {
        return cached_attention_operators(model);
    }
    if model.cache == GgufCache::None {
        return format!(
            "# Causal attention: each token reads those before it.\n\
             operator attention {{\n@input {{\n{inputs}\n}}\n@output {{ y: real[n,h * e]; }}\n@compose {{\n{rotated}\n\
             mixed = lm.attention{{scale={scale}}}(q, k, value);\ny = layout.flatten{{axis=1}}(mixed);\n}}\n}}\n\n"
        );
    }
    let context = model.context;
    format!(
        "# The cache with new rows, the first of them at the row `past`; NaN if they exceed the cache.\n\
         operator stored {{\n@input {{\ncache: real[c,g,d];\nrows: real[n,g,d];\npast: int[];\n}}\n\
         @output {{ y: real[c,g,d]; }}\n@lower {{\nat = i - past[],\n\
         y[i,j,k] = past[] < 0 || past[] + n > c ? inf - inf :\n\
         at >= 0 && at < n ? rows[|at <> 0 : n - 1|,j,k] : cache[i,j,k], i < c, j < g, k < d;\n}}\n}}\n\n\
         # Causal attention: each token reads those before it, in this call and in earlier ones.\n\
         operator attention {{\n@input {{\n{inputs}\npast: int[];\n}}\n\
         @variable {{\nkeys: real[{context},g,d];\nvalues: real[{context},g,e];\n}}\n@output {{ y: real[n,h * e]; }}\n\
         @compose {{\n{rotated}\nall_keys = stored(keys, k, past);\nall_values = stored(values, value, past);\n\
         mixed = lm.attention{{scale={scale}}}(q, all_keys, all_values, past);\ny = layout.flatten{{axis=1}}(mixed);\n}}\n\
         @update {{\nkeys = all_keys;\nvalues = all_values;\n}}\n}}\n\n"
    )
}

/// The operators of the attention to arrays of earlier keys and values, and to new ones. Earlier ones are not copied.
fn cached_attention_operators(model: &Model<'_>) -> String {
    let adjacent = if model.architecture.is_adjacent { "{adjacent=true}" } else { "" };
    let scale = real(1.0 / (model.key_size as f64).sqrt());
    let scores = |doc: &str, name: &str, selected: &str| {
        format!(
            "# {doc}\n\
             operator {name} {{\n@attrib {{ scale: real; }}\n@input {{\nquery: real[n,h,d];\nkey: real[o,g,d];\n}}\n\
             @output {{ y: real[h,n,o]; }}\n@lower {{\n\
             product[k,t,j] += query[t,k,c] * key[j,k / (h / g),c], k < h, t < n, j < o, c < d;\n\
             y[k,t,j] = {selected}, k < h, t < n, j < o;\n}}\n}}\n\n"
        )
    };
    let earlier = scores("The scores of keys of earlier calls.", "earlier_scores", "product[k,t,j] * scale");
    let selected = "j <= t ? product[k,t,j] * scale : -inf";
    let new = scores(
        "The scores of new keys; a query reads those of its token and of earlier ones.",
        "new_scores",
        selected,
    );
    format!(
        "{earlier}{new}# The sums of earlier and new values, in the order of the weights.\n\
         operator mix {{\n@input {{\nweights: real[h,n,o + n];\nvalue: real[n,g,e];\npast_values: real[o,g,e];\n}}\n\
         @output {{ y: real[n,h,e]; }}\n@lower {{\n\
         new[t,k,c] += weights[k,t,o + j] * value[j,k / (h / g),c], t < n, k < h, c < e, j < n;\n\
         earlier[t,k,c] += weights[k,t,j] * past_values[j,k / (h / g),c], t < n, k < h, c < e, j < o;\n\
         y[t,k,c] = new[t,k,c] + earlier[t,k,c], t < n, k < h, c < e;\n}}\n}}\n\n\
         # Causal attention: each token reads those of earlier calls, and those before it in this call.\n\
         operator attention {{\n@input {{\nquery: real[n,h,d];\nkey: real[n,g,d];\nvalue: real[n,g,e];\ncosine: real[n,m];\n\
         sine: real[n,m];\npast_keys: real[o,g,d];\npast_values: real[o,g,e];\n}}\n\
         @output {{\ny: real[n,h * e];\nkeys: real[n,g,d];\n}}\n@compose {{\n\
         q = lm.rotate{adjacent}(query, cosine, sine);\nkeys = lm.rotate{adjacent}(key, cosine, sine);\n\
         earlier = earlier_scores{{scale={scale}}}(q, past_keys);\nnew = new_scores{{scale={scale}}}(q, keys);\n\
         scores = layout.concat{{axis=2}}([earlier, new]);\nweights = nn.softmax{{axes=[-1]}}(scores);\n\
         mixed = mix(weights, value, past_values);\ny = layout.flatten{{axis=1}}(mixed);\n}}\n}}\n\n"
    )
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
    let product = |matrix: &Matrix<'_>, argument: &str| {
        format!("{}: {}{{size={}}}({argument})", matrix.name, linear(matrix), matrix.rows)
    };
    let heads = |name: &str, all: &str, matrix: &Matrix<'_>, heads: u64, size: u64| {
        format!(
            "{name} = {};\n{all} = layout.unflatten{{axis=1, shape=[{heads}, {size}]}}({name});\n",
            product(matrix, "a")
        )
    };
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
    text += &heads("query", "queries", &layer.query, model.heads, model.key_size);
    text += &heads("key", "keys", &layer.key, model.groups, model.key_size);
    text += &heads("value", all_values, &layer.value, model.groups, model.value_size);
    let mut names = ["queries", "keys"];
    if layer.has_head_norms {
        text += "q = attn_q_norm: norm(queries);\nk = attn_k_norm: norm(keys);\n";
        names = ["q", "k"];
    }
    let [query, key] = names;
    let _ = writeln!(
        text,
        "mixed{new_keys} = attention: attention({query}, {key}, {all_values}, cosine, sine{last});"
    );
    let _ = writeln!(text, "attended = {};\nb = math.add(x, attended);", product(&layer.mixed, "mixed"));
    let _ = writeln!(text, "c = ffn_norm: norm(b);\ngate = {};", product(&layer.gate, "c"));
    let _ = writeln!(text, "up = {};\nactive = lm.swiglu(gate, up);", product(&layer.up, "c"));
    let _ = writeln!(text, "fed = {};\ny = math.add(b, fed);\n}}\n}}\n", product(&layer.down, "active"));
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
    let factors = if model.has_factors {
        format!("\nrope_freqs_weight: real[{}];", model.turned / 2)
    } else {
        String::new()
    };
    let argument = if model.has_factors { ", rope_freqs_weight" } else { "" };
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
         cosine, sine = lm.angles{{base={}, size={}}}(position{argument});\n\
         rows = layout.gather{{axis=0}}(token_embd_weight, tokens);\n",
        inputs.positions,
        inputs.doc,
        graph_name(model),
        model.context,
        inputs.declared,
        inputs.logits,
        inputs.outputs,
        inputs.position_argument,
        real(model.base),
        model.turned
    );
    let _ = match embedding.conversion() {
        Some(conversion) => writeln!(text, "x0 = {conversion}(rows);"),
        None => writeln!(text, "x0 = rows;"),
    };
    for (at, layer) in model.layers.iter().enumerate() {
        let kind = kinds.iter().position(|kind| *kind == layer).map_or_else(String::new, layer_name);
        let (results, arguments) = match model.cache {
            GgufCache::None => (String::new(), String::new()),
            GgufCache::Variables => (String::new(), ", past".to_owned()),
            GgufCache::Arrays => {
                (format!(", keys_{at}, values_{at}"), format!(", past_keys_{at}, past_values_{at}"))
            }
        };
        let _ = writeln!(text, "x{}{results} = blk_{at}: {kind}(x{at}, cosine, sine{arguments});", at + 1);
    }
    text + &logits_text(model, &rows) + "}\n}\n"
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
    let _ = match (&model.output, model.embedding.conversion()) {
        (Some(output), _) => writeln!(text, "logits = output: {}{{size={rows}}}(last);", linear(output)),
        (None, Some(conversion)) => {
            writeln!(text, "table = {conversion}(token_embd_weight);\nlogits = nn.linear(last, table);")
        }
        (None, None) => writeln!(text, "logits = nn.linear(last, token_embd_weight);"),
    };
    text
}

/// The name of the graph: `Llama`.
fn graph_name(model: &Model<'_>) -> String {
    let mut letters = model.architecture.name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A real of the language, with the digits of a 32-bit float if it is one.
fn real(x: f64) -> String {
    let short = x as f32;
    if f64::from(short) == x { format!("{short:?}") } else { format!("{x:?}") }
}

/// The text of `import.json`: the types of the variables.
pub(super) fn json(model: &Model<'_>) -> String {
    let graph = graph_name(model);
    let variables = model.entries.iter().map(|entry| {
        let (element, shape) = entry.array();
        let name = match entry.name.as_str() {
            name @ ("token_embd.weight" | "rope_freqs.weight") => name.replace('.', "_"),
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
