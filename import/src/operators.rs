// SPDX-License-Identifier: Apache-2.0
//! The rules: one for each operator, in files by group.

mod attention;
mod control;
mod convolution;
mod dynamic_slice;
mod elementwise;
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

use crate::call::Call;
use crate::evaluate;
use crate::refusal::Ruled;
pub(crate) use signatures::find as signature;

/// How a node becomes statements.
pub type Rule = fn(&mut Call) -> Ruled<()>;

/// An operator with its rule.
#[derive(Clone, Copy)]
pub struct Operator {
    /// The domain; empty for ONNX's own.
    pub domain: &'static str,
    pub name: &'static str,
    /// What it becomes, for the documentation.
    pub how: &'static str,
    rule: Rule,
}

impl Operator {
    /// The name, after its domain unless that is ONNX's own.
    fn full_name(&self) -> String {
        full_name(self.domain, self.name)
    }
}

/// The name of an operator, after its domain unless that is ONNX's own.
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

/// A group of operators.
pub struct Group {
    pub name: &'static str,
    pub operators: &'static [Operator],
}

/// All groups.
pub const GROUPS: &[Group] = &[
    Group { name: "Elementwise", operators: elementwise::OPERATORS },
    Group { name: "Ints and bits", operators: integer::OPERATORS },
    Group { name: "Reductions", operators: reduction::OPERATORS },
    Group { name: "Shapes and constants", operators: shape::OPERATORS },
    Group { name: "Movement", operators: movement::OPERATORS },
    Group { name: "Slices and borders", operators: slice::OPERATORS },
    Group { name: "Indexing", operators: indexing::OPERATORS },
    Group { name: "Products", operators: product::OPERATORS },
    Group { name: "Convolution", operators: convolution::OPERATORS },
    Group { name: "Pooling", operators: pooling::OPERATORS },
    Group { name: "Normalization", operators: normalization::OPERATORS },
    Group { name: "Resizing", operators: resize::OPERATORS },
    Group { name: "Regions and grids", operators: spatial::OPERATORS },
    Group { name: "Fourier transforms", operators: signal::OPERATORS },
    Group { name: "Different elements", operators: unique::OPERATORS },
    Group { name: "Attention", operators: attention::OPERATORS },
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

/// Whether an operator may have sequences among its operands.
pub(crate) fn takes_sequences(name: &str) -> bool {
    let others = ["Identity", "If", "Loop"];
    sequence::OPERATORS.iter().any(|o| o.name == name) || others.contains(&name)
}

/// Why a node of an old operator set isn't supported, if so: its operator is another one since.
pub(crate) fn outdated(domain: &str, name: &str, opset: i64) -> Option<String> {
    let first = signatures::FIRST;
    // The rule reads those attributes, too.
    let is_known = name == "Cast";
    (domain.is_empty() && !is_known && versions::has_changed(name, opset)).then(|| {
        format!("in opset {opset} the operator is another one than from opset {first} on, where it is supported; convert the model with `onnx.version_converter`")
    })
}

/// Why a node's operator is not in the operator set of the model, if so.
pub(crate) fn newer(domain: &str, name: &str, opset: i64) -> Option<String> {
    let first = signatures::all(&full_name(domain, name)).first()?.since;
    (first > opset).then(|| {
        format!("the operator exists from opset {first} on, the model has opset {opset}; convert the model with `onnx.version_converter`")
    })
}

/// Whether the elements of an operator's results are those of its first operand.
pub(crate) fn moves(domain: &str, name: &str) -> bool {
    let operators = movement::OPERATORS.iter();
    let moves = operators.map(|o| o.name).filter(|name| *name != "Concat");
    domain.is_empty() && (name == "Identity" || name == "Constant" || moves.into_iter().any(|o| o == name))
}

/// Whether an operator quantizes its operand, or reverses that.
pub(crate) fn quantizes(name: &str) -> bool {
    matches!(name, "QuantizeLinear" | "DequantizeLinear")
}

/// The rule of an operator.
pub(crate) fn find(domain: &str, name: &str) -> Option<impl Fn(&mut Call) -> Ruled<()> + use<>> {
    let mut all = GROUPS.iter().flat_map(|g| g.operators);
    let operator = all.find(|o| o.domain == domain && o.name == name)?;
    let rule = operator.rule;
    Some(move |call: &mut Call| {
        if let Some(value) = evaluate::fold(call) {
            call.set(0, value);
            return Ok(());
        }
        rule(call)
    })
}

/// The newest operator set of ONNX whose operators are known.
pub fn newest() -> i64 {
    signatures::newest()
}

/// The newest operator set of a domain, if that has operators that are known.
pub(crate) fn newest_of(domain: &str) -> Option<i64> {
    match domain {
        "" => Some(newest()),
        domain => {
            let mut all = GROUPS.iter().flat_map(|g| g.operators);
            all.any(|o| o.domain == domain).then_some(1)
        }
    }
}

/// The tables of all operators, in Markdown.
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
