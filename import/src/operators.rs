// SPDX-License-Identifier: Apache-2.0
//! The conversion rules of operators, in one file per group.

mod activation;
mod attention;
mod control;
mod convolution;
mod dynamic_slice;
mod elementwise;
mod embedding;
mod fused;
mod indexing;
mod integer;
mod limits;
mod loss;
mod movement;
mod ngrams;
mod normalization;
mod optional;
mod pooling;
mod product;
mod quantize;
mod quantized;
mod recurrent;
mod reduction;
mod resample;
mod resize;
mod sequence;
mod shape;
mod signal;
mod signatures;
mod slice;
mod spatial;
mod unique;
mod versions;
mod window;

use crate::call::Call;
use crate::evaluate;
use crate::refusal::Ruled;
pub(crate) use signatures::find as signature;

/// Converts a node to statements.
pub type Rule = fn(&mut Call) -> Ruled<()>;

/// An operator with its conversion rule.
#[derive(Clone, Copy)]
pub struct Operator {
    /// The domain; empty for the ONNX domain.
    pub domain: &'static str,
    pub name: &'static str,
    /// The conversion, for the documentation.
    pub how: &'static str,
    rule: Rule,
}

impl Operator {
    fn full_name(&self) -> String {
        full_name(self.domain, self.name)
    }
}

/// The name of an operator, qualified by its domain unless it is the ONNX domain.
pub(crate) fn full_name(domain: &str, name: &str) -> String {
    match domain {
        "" | "ai.onnx" => name.to_owned(),
        domain => format!("{domain}.{name}"),
    }
}

const fn operator(name: &'static str, how: &'static str, rule: Rule) -> Operator {
    Operator { domain: "", name, how, rule }
}

const fn microsoft(name: &'static str, how: &'static str, rule: Rule) -> Operator {
    Operator { domain: "com.microsoft", name, how, rule }
}

pub struct Group {
    pub name: &'static str,
    pub operators: &'static [Operator],
}

pub const GROUPS: &[Group] = &[
    Group { name: "Elementwise", operators: elementwise::OPERATORS },
    Group { name: "Bitwise operations", operators: integer::OPERATORS },
    Group { name: "Reductions", operators: reduction::OPERATORS },
    Group { name: "Shapes and constants", operators: shape::OPERATORS },
    Group { name: "Movement", operators: movement::OPERATORS },
    Group { name: "Slices and padding", operators: slice::OPERATORS },
    Group { name: "Indexing", operators: indexing::OPERATORS },
    Group { name: "Products", operators: product::OPERATORS },
    Group { name: "Convolution", operators: convolution::OPERATORS },
    Group { name: "Pooling", operators: pooling::OPERATORS },
    Group { name: "Normalization", operators: normalization::OPERATORS },
    Group { name: "Resizing", operators: resize::OPERATORS },
    Group { name: "Regions and grids", operators: spatial::OPERATORS },
    Group { name: "Fourier transforms", operators: signal::OPERATORS },
    Group { name: "Unique elements", operators: unique::OPERATORS },
    Group { name: "Attention", operators: attention::OPERATORS },
    Group { name: "Embeddings of com.microsoft", operators: embedding::OPERATORS },
    Group { name: "Attention of com.microsoft", operators: fused::OPERATORS },
    Group { name: "Quantization of com.microsoft", operators: quantized::OPERATORS },
    Group { name: "Recurrence", operators: recurrent::OPERATORS },
    Group { name: "Quantization", operators: quantize::OPERATORS },
    Group { name: "Losses", operators: loss::OPERATORS },
    Group { name: "N-grams", operators: ngrams::OPERATORS },
    Group { name: "Sequences", operators: sequence::OPERATORS },
    Group { name: "Optional values", operators: optional::OPERATORS },
    Group { name: "Control flow", operators: control::OPERATORS },
];

/// Whether an operator accepts sequences as operands.
pub(crate) fn takes_sequences(name: &str) -> bool {
    let others = ["Identity", "If", "Loop"];
    sequence::OPERATORS.iter().any(|o| o.name == name) || others.contains(&name)
}

/// Describes why a node of an old operator set is not supported: the semantics of its operator has changed since.
pub(crate) fn outdated(domain: &str, name: &str, opset: i64) -> Option<String> {
    let first = signatures::FIRST;
    // The rule supports the old attributes of Cast, too.
    let is_known = name == "Cast";
    (domain.is_empty() && !is_known && versions::has_changed(name, opset)).then(|| {
        format!("the operator is supported from opset {first} on, where its meaning changed, and the model has opset {opset}; convert the model with `onnx.version_converter`")
    })
}

/// Describes a node whose operator is newer than the operator set of the model.
pub(crate) fn newer(domain: &str, name: &str, opset: i64) -> Option<String> {
    let first = signatures::all(&full_name(domain, name)).first()?.since;
    (first > opset).then(|| {
        format!("the operator exists from opset {first} on, the model has opset {opset}; convert the model with `onnx.version_converter`")
    })
}

/// Describes why an operator without a rule is not supported.
pub(crate) fn unsupported(domain: &str) -> &'static str {
    match domain {
        "com.microsoft.nchwc" => {
            "onnxruntime optimized the model for one kind of processor; save it with the optimization level `ORT_ENABLE_EXTENDED`"
        }
        _ => "the operator is not supported",
    }
}

/// Whether an operator only moves the elements of its first operand.
pub(crate) fn moves(domain: &str, name: &str) -> bool {
    let operators = movement::OPERATORS.iter();
    let moves = operators.map(|o| o.name).filter(|name| *name != "Concat");
    domain.is_empty() && (name == "Identity" || name == "Constant" || moves.into_iter().any(|o| o == name))
}

/// Whether an operator quantizes or dequantizes its operand.
pub(crate) fn quantizes(name: &str) -> bool {
    matches!(name, "QuantizeLinear" | "DequantizeLinear")
}

/// Operators on quantized values: integers that represent reals by a scale and a zero point. The list does not contain `MatMulNBits`:
/// its input is real, so it does not compute products of integers.
pub(crate) const QUANTIZED: [(&str, &[&str]); 2] = [
    (
        "",
        &[
            "ConvInteger",
            "DequantizeLinear",
            "DynamicQuantizeLinear",
            "MatMulInteger",
            "QLinearConv",
            "QLinearMatMul",
            "QuantizeLinear",
        ],
    ),
    (
        "com.microsoft",
        &[
            "DequantizeLinear",
            "DynamicQuantizeLSTM",
            "DynamicQuantizeMatMul",
            "MatMulIntegerToFloat",
            "QAttention",
            "QEmbedLayerNormalization",
            "QGemm",
            "QLinearAdd",
            "QLinearAveragePool",
            "QLinearConcat",
            "QLinearConv",
            "QLinearGlobalAveragePool",
            "QLinearLeakyRelu",
            "QLinearMul",
            "QLinearReduceMean",
            "QLinearSigmoid",
            "QLinearSoftmax",
            "QLinearWhere",
            "QuantizeLinear",
        ],
    ),
];

/// Whether an operator computes with quantized values.
fn is_quantized(operator: &Operator) -> bool {
    QUANTIZED.iter().any(|(domain, names)| operator.domain == *domain && names.contains(&operator.name))
}

/// The rule of an operator.
pub(crate) fn find(domain: &str, name: &str) -> Option<impl Fn(&mut Call) -> Ruled<()> + use<>> {
    let mut all = GROUPS.iter().flat_map(|g| g.operators);
    let operator = all.find(|o| o.domain == domain && o.name == name)?;
    Some(move |call: &mut Call| {
        if let Some(value) = evaluate::fold(call) {
            call.set(0, value);
            return Ok(());
        }
        call.importer.is_quantized |= is_quantized(operator);
        (operator.rule)(call)
    })
}

/// The newest supported ONNX operator set.
pub fn newest() -> i64 {
    signatures::newest()
}

/// The newest supported operator set of a domain; `None` if no operator of the domain is supported.
pub(crate) fn newest_of(domain: &str) -> Option<i64> {
    match domain {
        "" => Some(newest()),
        domain => {
            let mut all = GROUPS.iter().flat_map(|g| g.operators);
            all.any(|o| o.domain == domain).then_some(1)
        }
    }
}

/// The tables of all operators in Markdown.
pub fn markdown() -> String {
    let count = |of: &dyn Fn(&Operator) -> bool| {
        let all = GROUPS.iter().flat_map(|g| g.operators);
        all.filter(|o| of(o)).count()
    };
    let mut text = format!(
        "\nThese are {} operators of ONNX and {} of `com.microsoft`.\n",
        count(&|o| o.domain.is_empty()),
        count(&|o| !o.domain.is_empty())
    );
    for group in GROUPS {
        text.push_str(&format!(
            "\n## {}\n\n| operator | versions | becomes | limits |\n|---|---|---|---|\n",
            group.name
        ));
        for operator in group.operators {
            let name = operator.full_name();
            let limits = limits::text(&name);
            let versions = versions::text(&name);
            text.push_str(&format!("| {name} | {versions} | {} | {limits} |\n", operator.how));
        }
    }
    text
}
