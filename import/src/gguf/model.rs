// SPDX-License-Identifier: Apache-2.0
//! The structure of a language model, from the hyperparameters and the table of tensors.

use std::collections::HashSet;

use skript_tensor::gguf::{BlockType, Entry, Storage, Value};
use skript_tensor::{ElementType, Gguf};

use super::architecture::{Angles, Architecture, FACTORS, Mixture};
use super::experts::{Experts, Routing};
use super::parameters::Parameters;
use super::{Activations, GgufCache, GgufOptions};
use crate::refusal::{Reason, Ruled};

/// The formats that the library module `format` has an operator for.
const FORMATS: [&str; 15] = [
    "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "MXFP4",
    "NVFP4", "TQ1_0", "TQ2_0",
];

/// The upper bound of the number of tokens, unless the model has a smaller one or the user sets another one.
const CONTEXT: u64 = 2048;

/// The maximum number of characters of a name in messages and in the document.
const MAX_SHOWN: usize = 80;

#[derive(Debug)]
pub(super) struct Model<'f> {
    pub architecture: &'static Architecture,
    /// The name of the model; empty if the file has none.
    pub title: String,
    /// The maximum number of tokens.
    pub context: u64,
    /// Where keys and values of earlier calls are.
    pub cache: GgufCache,
    pub activations: Activations,
    /// Heads of queries.
    pub heads: u64,
    /// Heads of keys and values.
    pub groups: u64,
    /// Features of a head of keys, and of values.
    pub key_size: u64,
    pub value_size: u64,
    /// The number of features of a head that are turned.
    pub turned: u64,
    pub angles: Angles,
    /// The angles of layers with a window, if they differ.
    pub local_angles: Option<Angles>,
    pub epsilon: f64,
    /// The factor of the products of queries and keys.
    pub scale: f64,
    /// The soft bounds of these products, and of the logits.
    pub score_cap: Option<f64>,
    pub logit_cap: Option<f64>,
    pub embedding: Matrix<'f>,
    pub layers: Vec<Layer<'f>>,
    /// The matrix of the logits; `None` for that of the embedding.
    pub output: Option<Matrix<'f>>,
    /// The tensor that divides the angles.
    pub factors: Option<&'static str>,
    /// How experts are selected; `None` for a model without experts.
    pub routing: Option<Routing>,
    /// The tensors of the file.
    pub entries: &'f [Entry],
}

/// A matrix of weights, or one for each expert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Matrix<'f> {
    /// The name in its layer: `attn_q`.
    pub name: &'f str,
    /// The number of experts; `None` for one matrix.
    pub experts: Option<u64>,
    pub rows: u64,
    pub columns: u64,
    pub format: Format,
    pub is_biased: bool,
}

/// How elements of a matrix are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    /// As reals.
    Real,
    /// In blocks, which an operator of the module `format` converts.
    Blocks { name: &'static str, elements: u64, bytes: u64 },
}

/// The matrices of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layer<'f> {
    /// The matrices of queries, keys and values, or one with the rows of all.
    pub projections: Vec<Matrix<'f>>,
    pub mixed: Matrix<'f>,
    pub feed_forward: FeedForward<'f>,
    /// Whether each head of queries and keys is normalized.
    pub has_head_norms: bool,
    /// The number of last tokens that the attention reads; `None` for all.
    pub window: Option<u64>,
    /// Whether the layer has the local angles.
    pub is_local: bool,
}

/// The part of a layer after the attention.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::large_enum_variant, reason = "a model has few layers")]
pub(super) enum FeedForward<'f> {
    Unit(Unit<'f>),
    Experts(Experts<'f>),
}

/// A gated unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit<'f> {
    /// The matrices of the gate and of the gated features, or one with the rows of both.
    pub gated: Vec<Matrix<'f>>,
    pub down: Matrix<'f>,
    /// The number of gated features.
    pub hidden: u64,
}

/// Reads the structure.
///
/// # Errors
/// A part of the model is not supported.
pub(super) fn read(file: &Gguf, options: GgufOptions) -> Ruled<Model<'_>> {
    let architecture = architecture(file)?;
    let parameters = Parameters { file, architecture: architecture.name };
    if let Some(Value::Int(parts)) = file.value("split.count").filter(|parts| **parts != Value::Int(1)) {
        return Err(Reason(format!(
            "the file is one of {parts} parts of a model; `llama-gguf-split --merge` of llama.cpp joins them"
        )));
    }
    architecture.check(parameters)?;
    let width = parameters.int("embedding_length")?;
    let heads = parameters.int("attention.head_count")?;
    let groups = parameters.optional_int("attention.head_count_kv")?.unwrap_or(heads);
    if heads % groups != 0 {
        return Err(Reason(format!("{heads} heads of queries do not divide into {groups} groups")));
    }
    let size = || match width % heads {
        0 => Ok(width / heads),
        _ => Err(Reason(format!("{width} features do not divide into {heads} heads"))),
    };
    let key_size = parameters.optional_int("attention.key_length")?.map_or_else(size, Ok)?;
    let turned = parameters.optional_int("rope.dimension_count")?.unwrap_or(key_size);
    if turned > key_size || turned % 2 != 0 {
        return Err(Reason(format!(
            "the rotary embedding turns {turned} of {key_size} features of a head; an even number of them is supported"
        )));
    }
    let mut tensors = Tensors { file, used: HashSet::new() };
    let context = context(parameters, options)?;
    let layers = parameters.int("block_count")?;
    let mut model = Model {
        architecture,
        title: title(file),
        context,
        cache: options.cache,
        activations: options.activations,
        heads,
        groups,
        key_size,
        value_size: parameters.optional_int("attention.value_length")?.map_or_else(size, Ok)?,
        turned,
        angles: architecture.angles(parameters)?,
        local_angles: architecture.local_angles(parameters)?,
        scale: architecture.scale(layers, width / heads, key_size),
        score_cap: architecture.score_cap(parameters)?,
        logit_cap: architecture.logit_cap(parameters)?,
        epsilon: parameters.real("attention.layer_norm_rms_epsilon")?,
        embedding: tensors.matrix("", "token_embd", None, width)?,
        layers: Vec::new(),
        output: None,
        factors: architecture.factors(parameters, context)?,
        routing: Routing::read(architecture, parameters)?,
        entries: file.entries(),
    };
    if model.embedding.is_biased {
        return Err(Reason("the tensor `token_embd.bias` is not supported".to_owned()));
    }
    tensors.vector("output_norm.weight", width)?;
    for factors in FACTORS.into_iter().filter(|name| file.entry(name).is_some()) {
        tensors.vector(factors, turned / 2)?;
    }
    if file.entry("output.weight").is_some() {
        model.output = Some(tensors.matrix("", "output", Some(model.embedding.rows), width)?);
    }
    let window = architecture.window(parameters)?;
    for at in 0..layers {
        let mut layer = tensors.layer(&format!("blk.{at}."), width, &model)?;
        let is_local = architecture.is_local(at);
        // A window that has all tokens has no effect.
        layer.window = window.filter(|window| is_local && *window < context);
        layer.is_local = is_local && model.local_angles.is_some();
        model.layers.push(layer);
    }
    tensors.all_used(architecture.name)?;
    Ok(model)
}

/// The maximum number of tokens. A caller that has the cache may stop earlier, so that the same code serves several contexts.
fn context(parameters: Parameters<'_>, options: GgufOptions) -> Ruled<u64> {
    let largest = parameters.int("context_length")?;
    match options.context {
        None => Ok(largest.min(CONTEXT)),
        Some(context) if (1..=largest).contains(&context) => Ok(match options.cache {
            GgufCache::Arrays => context.max(CONTEXT).next_power_of_two().min(largest),
            GgufCache::None | GgufCache::Variables => context,
        }),
        Some(context) => {
            Err(Reason(format!("--context is {context}; the model supports 1 to {largest} tokens")))
        }
    }
}

fn architecture(file: &Gguf) -> Ruled<&'static Architecture> {
    let known = Architecture::names();
    let name = match file.value("general.architecture") {
        Some(Value::Text(name)) => name,
        Some(_) => {
            return Err(Reason(format!(
                "the key `general.architecture` is not a string; supported are {known}"
            )));
        }
        None => {
            return Err(Reason(
                "the key `general.architecture` is missing: the file has no language model".to_owned(),
            ));
        }
    };
    Architecture::named(name).ok_or_else(|| {
        let name: String = name.chars().take(MAX_SHOWN).collect();
        Reason(format!("the architecture `{name}` is not supported; supported are {known}"))
    })
}

fn title(file: &Gguf) -> String {
    match file.value("general.name") {
        Some(Value::Text(name)) => name.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect(),
        _ => String::new(),
    }
}

/// The tensors of a file, and those that the document uses.
pub(super) struct Tensors<'f> {
    pub file: &'f Gguf,
    used: HashSet<&'f str>,
}

impl<'f> Tensors<'f> {
    fn entry(&mut self, name: &str) -> Ruled<&'f Entry> {
        let entry = self.file.entry(name).filter(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| Reason(format!("the tensor `{name}` is missing")))?;
        self.used.insert(&entry.name);
        Ok(entry)
    }

    /// A tensor of reals with one dimension.
    pub fn vector(&mut self, name: &str, size: u64) -> Ruled<()> {
        let entry = self.entry(name)?;
        if entry.shape != [size] {
            return Err(Reason(format!(
                "the shape of the tensor `{name}` is {:?} instead of [{size}]",
                entry.shape
            )));
        }
        match format(entry.kind) {
            Some(Format::Real) => Ok(()),
            _ => {
                Err(Reason(format!("the tensor `{name}` has the type {} instead of F32", entry.kind.name())))
            }
        }
    }

    /// The matrix `{prefix}{name}.weight`, with any number of rows if `rows` is `None`.
    pub fn matrix(
        &mut self,
        prefix: &str,
        name: &'static str,
        rows: Option<u64>,
        columns: u64,
    ) -> Ruled<Matrix<'f>> {
        self.matrices(prefix, name, None, rows, columns)
    }

    /// The matrix of [`Tensors::matrix`], or one for each of `experts`.
    pub fn matrices(
        &mut self,
        prefix: &str,
        name: &'static str,
        experts: Option<u64>,
        rows: Option<u64>,
        columns: u64,
    ) -> Ruled<Matrix<'f>> {
        let full = format!("{prefix}{name}.weight");
        let entry = self.entry(&full)?;
        let rows = match (experts, rows, entry.shape.as_slice()) {
            (Some(experts), rows, [count, own_rows, own])
                if (*count, *own) == (experts, columns)
                    && rows.unwrap_or(*own_rows) == *own_rows
                    && *own_rows > 0 =>
            {
                *own_rows
            }
            (None, rows, [own_rows, own])
                if *own == columns && rows.unwrap_or(*own_rows) == *own_rows && *own_rows > 0 =>
            {
                *own_rows
            }
            _ => {
                let experts = experts.map_or_else(String::new, |experts| format!("{experts}, "));
                let rows = rows.map_or("any".to_owned(), |rows| rows.to_string());
                return Err(Reason(format!(
                    "the shape of the tensor `{full}` is {:?} instead of [{experts}{rows}, {columns}]",
                    entry.shape
                )));
            }
        };
        let format = format(entry.kind).ok_or_else(|| {
            let kind = entry.kind.name();
            let known = FORMATS.join(", ");
            Reason(format!("the tensor `{full}` has the type {kind}; supported are F32, F16, BF16, {known}"))
        })?;
        let bias = format!("{prefix}{name}.bias");
        // A bias of experts remains unused, and is refused.
        let is_biased = experts.is_none() && self.file.entry(&bias).is_some();
        if is_biased {
            self.vector(&bias, rows)?;
        }
        Ok(Matrix { name, experts, rows, columns, format, is_biased })
    }

    fn layer(&mut self, prefix: &str, width: u64, model: &Model<'_>) -> Ruled<Layer<'f>> {
        for norm in [&["attn_norm", "ffn_norm"][..], model.architecture.post_norms()].concat() {
            self.vector(&format!("{prefix}{norm}.weight"), width)?;
        }
        let has_head_norms = self.file.entry(&format!("{prefix}attn_q_norm.weight")).is_some();
        if has_head_norms {
            for norm in ["attn_q_norm", "attn_k_norm"] {
                self.vector(&format!("{prefix}{norm}.weight"), model.key_size)?;
            }
        }
        let queries = model.heads * model.key_size;
        let (keys, values) = (model.groups * model.key_size, model.groups * model.value_size);
        let projections = if self.is_joined(prefix, model, "attn_qkv") {
            vec![self.matrix(prefix, "attn_qkv", Some(queries + keys + values), width)?]
        } else {
            let all = [("attn_q", queries), ("attn_k", keys), ("attn_v", values)];
            let matrices = all.map(|(name, rows)| self.matrix(prefix, name, Some(rows), width));
            matrices.into_iter().collect::<Ruled<Vec<_>>>()?
        };
        let feed_forward = self.feed_forward(prefix, width, model)?;
        Ok(Layer {
            projections,
            mixed: self.matrix(prefix, "attn_output", Some(width), model.heads * model.value_size)?,
            feed_forward,
            has_head_norms,
            window: None,
            is_local: false,
        })
    }

    /// Experts if the layer has a router; a file with experts may have layers without it.
    fn feed_forward(&mut self, prefix: &str, width: u64, model: &Model<'_>) -> Ruled<FeedForward<'f>> {
        let has = |name: &str| self.file.entry(&format!("{prefix}{name}.weight")).is_some();
        match (model.routing, has("ffn_gate_inp")) {
            (None, true) if model.architecture.experts != Mixture::Never => Err(Reason(format!(
                "the tensor `{prefix}ffn_gate_inp.weight` selects experts, but the key `{}.expert_count` is missing or 0",
                model.architecture.name
            ))),
            (Some(routing), is_routed) if is_routed || !has("ffn_up") => {
                Ok(FeedForward::Experts(Experts::read(self, prefix, width, routing)?))
            }
            _ => Ok(FeedForward::Unit(self.unit(prefix, width, model)?)),
        }
    }

    /// The gated unit of a layer without experts.
    fn unit(&mut self, prefix: &str, width: u64, model: &Model<'_>) -> Ruled<Unit<'f>> {
        let up = self.matrix(prefix, "ffn_up", None, width)?;
        let is_joined =
            model.architecture.joins && self.file.entry(&format!("{prefix}ffn_gate.weight")).is_none();
        let hidden = if is_joined { up.rows / 2 } else { up.rows };
        if is_joined && up.rows % 2 != 0 {
            return Err(Reason(format!(
                "the tensor `{prefix}ffn_up.weight` has {} rows, which are not two halves",
                up.rows
            )));
        }
        let gated = if is_joined {
            vec![up]
        } else {
            vec![self.matrix(prefix, "ffn_gate", Some(hidden), width)?, up]
        };
        Ok(Unit { gated, down: self.matrix(prefix, "ffn_down", Some(width), hidden)?, hidden })
    }

    /// Whether a layer has this matrix in place of several.
    fn is_joined(&self, prefix: &str, model: &Model<'_>, name: &str) -> bool {
        model.architecture.joins && self.file.entry(&format!("{prefix}{name}.weight")).is_some()
    }

    /// Refuses a file with tensors that the document does not use: its results would be wrong.
    fn all_used(&self, architecture: &str) -> Ruled<()> {
        let unused = self.file.entries().iter().find(|entry| !self.used.contains(entry.name.as_str()));
        unused.map_or(Ok(()), |entry| {
            let name: String = entry.name.chars().take(MAX_SHOWN).collect();
            Err(Reason(format!("the tensor `{name}` is not a part of the architecture {architecture}")))
        })
    }
}

/// How a type is read; `None` if the library has no operator for it.
fn format(kind: BlockType) -> Option<Format> {
    match kind.storage() {
        Storage::Elements(ElementType::F32 | ElementType::F16 | ElementType::BF16) => Some(Format::Real),
        Storage::Elements(_) => None,
        Storage::Blocks { elements, bytes } => {
            let name = FORMATS.into_iter().find(|name| *name == kind.name())?;
            Some(Format::Blocks { name, elements, bytes })
        }
    }
}
