// SPDX-License-Identifier: Apache-2.0
//! What operators take in each operator set: inputs with their types, and attributes.
//!
//! `signatures.txt` is the table, which `scripts/onnx-signatures.py` writes from the schemas of ONNX and onnxruntime. Every node is
//! compared with it before its rule runs.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The first operator set that is supported.
pub(super) const FIRST: i64 = 7;

/// How often an input occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    Once,
    Optional,
    /// Any number of tensors of one type.
    Alike,
    /// Any number of tensors of any of the types.
    Mixed,
}

/// An operator, from an operator set on.
#[derive(Debug)]
pub(crate) struct Signature {
    pub since: i64,
    /// Types, or type variables.
    inputs: Vec<(&'static str, Occurrence)>,
    attributes: Vec<&'static str>,
    /// Those of the attributes that a node must have.
    required: Vec<&'static str>,
    /// The types of each type variable.
    variables: Vec<(&'static str, &'static str)>,
}

/// The table.
struct Table {
    /// Sets of types, by their names.
    sets: HashMap<&'static str, Vec<&'static str>>,
    /// By full name; each in the order of its operator sets.
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
        let mut fields = line.split(';').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (name, since) = (next(), next().parse().unwrap_or(0));
        let inputs = next().split_whitespace().map(|input| {
            let kinds = [("**", Occurrence::Mixed), ("*", Occurrence::Alike), ("?", Occurrence::Optional)];
            let found = kinds.into_iter().find_map(|(mark, kind)| Some((input.strip_suffix(mark)?, kind)));
            found.unwrap_or((input, Occurrence::Once))
        });
        let inputs = inputs.collect();
        let attributes = next();
        let required = attributes.split_whitespace();
        let required = required.filter_map(|a| a.strip_suffix('!')).collect();
        let attributes = attributes.split_whitespace();
        let attributes = attributes.map(|a| a.trim_end_matches('!')).collect();
        let signature = Signature {
            since,
            inputs,
            attributes,
            required,
            variables: next().split_whitespace().filter_map(|v| v.split_once('=')).collect(),
        };
        table.signatures.entry(name).or_default().push(signature);
    }
    table
}

/// All signatures of an operator, by its full name.
pub(super) fn all(name: &str) -> &'static [Signature] {
    TABLE.signatures.get(name).map_or(&[], Vec::as_slice)
}

/// The signature in an operator set; the first one if the operator is newer.
pub(crate) fn find(name: &str, opset: i64) -> Option<&'static Signature> {
    let all = all(name);
    let found = all.iter().rev().find(|s| s.since <= opset);
    found.or(all.first())
}

/// The newest operator set of ONNX in the table.
pub fn newest() -> i64 {
    let sets = TABLE
        .signatures
        .iter()
        .filter(|(name, _)| !name.contains('.'))
        .flat_map(|(_, all)| all)
        .map(|s| s.since);
    sets.max().unwrap_or(FIRST)
}

/// An input of a node: its name there, and the name of its type; `None` for one that is absent.
pub(crate) type Operand<'n> = Option<(&'n str, String)>;

impl Signature {
    /// Names of attributes.
    #[cfg(test)]
    pub fn attributes(&self) -> &[&'static str] {
        &self.attributes
    }

    /// Names of the attributes that a node must have.
    #[cfg(test)]
    pub fn required(&self) -> &[&'static str] {
        &self.required
    }

    /// What is wrong with the inputs and attributes of a node, if anything.
    pub fn problems(&self, inputs: &[Operand<'_>], attributes: &[&str]) -> Vec<String> {
        let mut problems = Vec::new();
        let last = inputs.iter().rposition(Option::is_some);
        let count = last.map_or(0, |at| at + 1);
        let repeats = |kind| matches!(kind, Occurrence::Alike | Occurrence::Mixed);
        let repeated = self.inputs.last().filter(|(_, kind)| repeats(*kind));
        if count > self.inputs.len() && repeated.is_none() {
            problems.push(format!("it has {count} inputs, the operator takes at most {}", self.inputs.len()));
        }
        // The first input of each variable.
        let mut bound: HashMap<&str, (&str, &str)> = HashMap::new();
        for (at, input) in inputs.iter().enumerate() {
            let Some((name, found)) = input else { continue };
            let Some((variable, kind)) = self.inputs.get(at).or(repeated) else {
                break;
            };
            let types = self.types(variable);
            if !types.is_empty() && !types.contains(&found.as_str()) {
                problems
                    .push(format!("its input `{name}` is {found}, the operator takes {}", types.join(", ")));
                continue;
            }
            if *kind == Occurrence::Mixed || variable.starts_with('@') {
                continue;
            }
            let (first, wanted) = *bound.entry(variable).or_insert((name, found));
            if wanted != found {
                problems.push(format!(
                    "its inputs `{first}` and `{name}` must have one type, but are {wanted} and {found}"
                ));
            }
        }
        let unknown = attributes.iter().copied();
        // Names that begin so are for programs that write models.
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

    /// The types of a variable, or in a set.
    fn types(&self, variable: &str) -> &'static [&'static str] {
        let mut variables = self.variables.iter();
        let own = variables.find(|(name, _)| *name == variable);
        let set = own.map_or(variable, |(_, set)| set);
        TABLE.sets.get(set).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, opset: i64, inputs: &[&str], attributes: &[&str]) -> String {
        let names = ["a", "b", "c", "d"];
        let inputs = names.iter().zip(inputs).map(|(name, found)| match *found {
            "" => None,
            found => Some((*name, found.to_owned())),
        });
        let inputs: Vec<_> = inputs.collect();
        let found = find(name, opset).unwrap().problems(&inputs, attributes);
        found.join("; ")
    }

    #[test]
    fn inputs_of_a_variable_have_one_type() {
        assert_eq!(of("Add", 14, &["f32", "f32"], &[]), "");
        assert_eq!(
            of("Add", 14, &["f32", "f64"], &[]),
            "its inputs `a` and `b` must have one type, but are f32 and f64"
        );
        assert_eq!(of("Where", 16, &["bool", "f32", "f32"], &[]), "");
        assert_eq!(
            of("Concat", 13, &["i64", "i64", "i32"], &["axis"]),
            "its inputs `a` and `c` must have one type, but are i64 and i32"
        );
        // Of any types, each.
        assert_eq!(of("Loop", 13, &["i64", "bool", "f32", "i32"], &["body"]), "");
        assert_eq!(of("Clip", 13, &["f32", "", "f32"], &[]), "");
    }

    #[test]
    fn required_attributes_are_there() {
        assert_eq!(of("Concat", 13, &["i64", "i64"], &[]), "the attribute `axis` is missing");
        assert_eq!(
            of("MaxUnpool", 11, &["f32", "i64"], &["pads"]),
            "the attribute `kernel_shape` is missing"
        );
        // A value in one of several attributes, from opset 11 on.
        assert_eq!(of("Constant", 11, &[], &[]), "");
        assert_eq!(of("Constant", 9, &[], &[]), "the attribute `value` is missing");
    }

    #[test]
    fn types_are_those_of_the_operator_set() {
        assert_eq!(of("Relu", 14, &["i32"], &[]), "");
        assert_eq!(
            of("Relu", 13, &["i32"], &[]),
            "its input `a` is i32, the operator takes bf16, f16, f32, f64"
        );
        assert_eq!(
            of("Gather", 13, &["f32", "f32"], &[]),
            "its input `b` is f32, the operator takes i32, i64"
        );
        assert_eq!(
            of("SequenceAt", 11, &["f32", "i64"], &[]).split(',').next(),
            Some("its input `a` is f32")
        );
    }

    #[test]
    fn attributes_and_inputs_beyond_those_of_the_operator_are_found() {
        assert_eq!(
            of("Softmax", 13, &["f32"], &["axis", "depth", "__own"]),
            "the operator has no attribute `depth` in its version of opset 13"
        );
        assert_eq!(
            of("Softmax", 13, &["f32"], &["axis", "axis"]),
            "it has the attribute `axis` more than once"
        );
        assert_eq!(of("Squeeze", 11, &["f32"], &["axes"]), "");
        assert_eq!(
            of("Squeeze", 13, &["f32"], &["axes"]),
            "the operator has no attribute `axes` in its version of opset 13"
        );
        assert_eq!(of("Sqrt", 13, &["f32", "f32"], &[]), "it has 2 inputs, the operator takes at most 1");
        assert_eq!(of("Sqrt", 13, &["f32", ""], &[]), "");
    }

    #[test]
    fn the_newest_set_is_that_of_the_table() {
        assert!(newest() >= 28);
        assert!(find("Frobnicate", 13).is_none());
        assert_eq!(find("com.microsoft.Gelu", 1).unwrap().since, 1);
    }
}
