// SPDX-License-Identifier: Apache-2.0
//! The signatures of operators in each operator set: inputs with their types, and attributes.
//!
//! `scripts/onnx-signatures.py` generates the table `signatures.txt` from the ONNX and onnxruntime schemas. Every node is checked
//! against the table before its conversion.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The first supported operator set.
pub(super) const FIRST: i64 = 7;

/// The number of operands for an input of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    Once,
    Optional,
    /// Any number of tensors of the same type.
    Alike,
    /// Any number of tensors of possibly different types.
    Mixed,
}

/// The signature of an operator since an operator set.
#[derive(Debug)]
pub(crate) struct Signature {
    pub since: i64,
    /// Types or type variables.
    inputs: Vec<(&'static str, Occurrence)>,
    attributes: Vec<&'static str>,
    /// The attributes that a node must have.
    required: Vec<&'static str>,
    /// The types of each type variable.
    variables: Vec<(&'static str, &'static str)>,
}

struct Table {
    /// Sets of types by name.
    sets: HashMap<&'static str, Vec<&'static str>>,
    /// Signatures by full name, in the order of operator sets.
    signatures: HashMap<&'static str, Vec<Signature>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("signatures.txt")));

fn read(text: &'static str) -> Table {
    let mut table = Table { sets: HashMap::new(), signatures: HashMap::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with('@') {
            let (name, types) = line.split_once(' ').unwrap_or((line, ""));
            table.sets.insert(name, types.split(' ').collect());
            continue;
        }
        let fields: Vec<&str> = line.split(';').map(str::trim).collect();
        let [name, since, inputs, attributes, variables] = fields.as_slice() else {
            unreachable!("internal compiler error: signatures.txt: {line}");
        };
        let signature = Signature {
            since: since
                .parse()
                .unwrap_or_else(|_| unreachable!("internal compiler error: signatures.txt: {line}")),
            inputs: inputs.split_whitespace().map(input).collect(),
            attributes: attributes.split_whitespace().map(|a| a.trim_end_matches('!')).collect(),
            required: attributes.split_whitespace().filter_map(|a| a.strip_suffix('!')).collect(),
            variables: variables.split_whitespace().filter_map(|v| v.split_once('=')).collect(),
        };
        table.signatures.entry(*name).or_default().push(signature);
    }
    table
}

/// Parses an input such as `T*`.
fn input(text: &'static str) -> (&'static str, Occurrence) {
    let marks = [("**", Occurrence::Mixed), ("*", Occurrence::Alike), ("?", Occurrence::Optional)];
    let marked = marks.into_iter().find_map(|(mark, kind)| Some((text.strip_suffix(mark)?, kind)));
    marked.unwrap_or((text, Occurrence::Once))
}

/// All signatures of an operator, by its full name.
pub(super) fn all(name: &str) -> &'static [Signature] {
    TABLE.signatures.get(name).map_or(&[], Vec::as_slice)
}

/// The signature of an operator in an operator set; the first one if the operator is newer.
pub(crate) fn find(name: &str, opset: i64) -> Option<&'static Signature> {
    let all = all(name);
    all.iter().rev().find(|s| s.since <= opset).or(all.first())
}

/// The newest ONNX operator set in the table.
pub fn newest() -> i64 {
    let sets = TABLE
        .signatures
        .iter()
        .filter(|(name, _)| !name.contains('.'))
        .flat_map(|(_, all)| all)
        .map(|s| s.since);
    sets.max().unwrap_or(FIRST)
}

/// An operand of a node: its name and the name of its type; `None` if it is absent.
pub(crate) type Operand<'n> = Option<(&'n str, String)>;

impl Signature {
    /// The names of the attributes.
    #[cfg(test)]
    pub fn attributes(&self) -> &[&'static str] {
        &self.attributes
    }

    /// The names of the attributes that a node must have.
    #[cfg(test)]
    pub fn required(&self) -> &[&'static str] {
        &self.required
    }

    /// Describes contradictions between the signature and the inputs and attributes of a node.
    pub fn problems(&self, inputs: &[Operand<'_>], attributes: &[&str]) -> Vec<String> {
        let mut problems = Vec::new();
        let last = inputs.iter().rposition(Option::is_some);
        let count = last.map_or(0, |at| at + 1);
        let repeats = |kind| matches!(kind, Occurrence::Alike | Occurrence::Mixed);
        let repeated = self.inputs.last().filter(|(_, kind)| repeats(*kind));
        if count > self.inputs.len() && repeated.is_none() {
            problems.push(format!("it has {count} inputs, the operator takes at most {}", self.inputs.len()));
        }
        // The first input of each type variable.
        let mut bound: HashMap<&str, (&str, &str)> = HashMap::new();
        for (at, input) in inputs.iter().enumerate() {
            let Some((name, actual)) = input else { continue };
            let Some((variable, kind)) = self.inputs.get(at).or(repeated) else {
                break;
            };
            let types = self.types(variable);
            if !types.is_empty() && !types.contains(&actual.as_str()) {
                problems
                    .push(format!("its input `{name}` is {actual}, the operator takes {}", types.join(", ")));
                continue;
            }
            if *kind == Occurrence::Mixed || variable.starts_with('@') {
                continue;
            }
            let (first, expected) = *bound.entry(variable).or_insert((name, actual));
            if expected != actual {
                let problem = format!(
                    "its inputs `{first}` and `{name}` must have one type, but are {expected} and {actual}"
                );
                // A node may read one value as several inputs.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        let unknown = attributes.iter().copied();
        // Exporters may add attributes whose names begin with two underscores.
        problems.extend(unknown.filter(|a| !a.starts_with("__") && !self.attributes.contains(a)).map(
            |name| format!("the operator has no attribute `{name}` in its version of opset {}", self.since),
        ));
        let missing = self.required.iter().filter(|a| !attributes.contains(a));
        problems.extend(missing.map(|name| format!("the attribute `{name}` is missing")));
        let mut seen = HashSet::new();
        let twice = attributes.iter().filter(|name| !seen.insert(**name));
        problems.extend(twice.map(|name| format!("it has the attribute `{name}` more than once")));
        problems
    }

    /// The types of a type variable or of a set.
    fn types(&self, variable: &str) -> &'static [&'static str] {
        let mut variables = self.variables.iter();
        let set = variables.find(|(name, _)| *name == variable).map_or(variable, |(_, set)| set);
        TABLE.sets.get(set).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, opset: i64, inputs: &[&str], attributes: &[&str]) -> String {
        let names = ["a", "b", "c", "d"];
        let inputs = names.iter().zip(inputs).map(|(name, element)| match *element {
            "" => None,
            element => Some((*name, element.to_owned())),
        });
        let inputs: Vec<_> = inputs.collect();
        find(name, opset).unwrap().problems(&inputs, attributes).join("; ")
    }

    #[test]
    fn inputs_of_a_variable_have_one_type() {
        assert_eq!(problems("Add", 14, &["f32", "f32"], &[]), "");
        assert_eq!(
            problems("Add", 14, &["f32", "f64"], &[]),
            "its inputs `a` and `b` must have one type, but are f32 and f64"
        );
        assert_eq!(problems("Where", 16, &["bool", "f32", "f32"], &[]), "");
        assert_eq!(
            problems("Concat", 13, &["i64", "i64", "i32"], &["axis"]),
            "its inputs `a` and `c` must have one type, but are i64 and i32"
        );
        // Inputs of mixed types.
        assert_eq!(problems("Loop", 13, &["i64", "bool", "f32", "i32"], &["body"]), "");
        assert_eq!(problems("Clip", 13, &["f32", "", "f32"], &[]), "");
    }

    #[test]
    fn a_contradiction_is_described_once() {
        let inputs = [("a", "i64"), ("b", "i32"), ("b", "i32")]
            .map(|(name, element)| Some((name, element.to_owned())));
        let problems = find("Concat", 13).unwrap().problems(&inputs, &["axis"]);
        assert_eq!(problems, ["its inputs `a` and `b` must have one type, but are i64 and i32"]);
    }

    #[test]
    fn required_attributes_are_there() {
        assert_eq!(problems("Concat", 13, &["i64", "i64"], &[]), "the attribute `axis` is missing");
        assert_eq!(
            problems("MaxUnpool", 11, &["f32", "i64"], &["pads"]),
            "the attribute `kernel_shape` is missing"
        );
        // Since opset 11, the value is in one of several attributes.
        assert_eq!(problems("Constant", 11, &[], &[]), "");
        assert_eq!(problems("Constant", 9, &[], &[]), "the attribute `value` is missing");
    }

    #[test]
    fn types_are_those_of_the_operator_set() {
        assert_eq!(problems("Relu", 14, &["i32"], &[]), "");
        assert_eq!(
            problems("Relu", 13, &["i32"], &[]),
            "its input `a` is i32, the operator takes bf16, f16, f32, f64"
        );
        assert_eq!(
            problems("Gather", 13, &["f32", "f32"], &[]),
            "its input `b` is f32, the operator takes i32, i64"
        );
        assert_eq!(
            problems("SequenceAt", 11, &["f32", "i64"], &[]).split(',').next(),
            Some("its input `a` is f32")
        );
    }

    #[test]
    fn attributes_and_inputs_beyond_those_of_the_operator_are_found() {
        assert_eq!(
            problems("Softmax", 13, &["f32"], &["axis", "depth", "__own"]),
            "the operator has no attribute `depth` in its version of opset 13"
        );
        assert_eq!(
            problems("Softmax", 13, &["f32"], &["axis", "axis"]),
            "it has the attribute `axis` more than once"
        );
        assert_eq!(problems("Squeeze", 11, &["f32"], &["axes"]), "");
        assert_eq!(
            problems("Squeeze", 13, &["f32"], &["axes"]),
            "the operator has no attribute `axes` in its version of opset 13"
        );
        assert_eq!(
            problems("Sqrt", 13, &["f32", "f32"], &[]),
            "it has 2 inputs, the operator takes at most 1"
        );
        assert_eq!(problems("Sqrt", 13, &["f32", ""], &[]), "");
    }

    #[test]
    fn the_newest_set_is_that_of_the_table() {
        assert!(newest() >= 28);
        assert!(find("Frobnicate", 13).is_none());
        assert_eq!(find("com.microsoft.Gelu", 1).unwrap().since, 1);
    }
}
