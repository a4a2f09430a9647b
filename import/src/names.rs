// SPDX-License-Identifier: Apache-2.0
//! Converts ONNX names to SkriptND names.
//!
//! A trailing `_output_0` is dropped, each run of characters other than letters, digits and `_` becomes `_`, and leading and
//! trailing `_` are dropped. A name that begins with a digit or is reserved gets a prefix. A name that is in use gets the first
//! free suffix of `_2`, `_3`, ….

use std::collections::{HashMap, HashSet};

/// Keywords of the language, and names that would be confusing in a document.
const RESERVED: &[&str] = &[
    "optional", "operator", "import", "public", "unroll", "graph", "yield", "while", "false", "elif", "else",
    "then", "with", "real", "bool", "true", "for", "inf", "int", "str", "if", "in", "is", "do", "pi",
    "static", "dynamic", "layout", "math", "nn", "linalg", "image", "algo", "onnx", "quant", "rand", "misc",
    "loss", "optim", "layer", "main",
];

/// Maximum length of a name; longer names are truncated.
const MAX_LENGTH: usize = 96;

/// The names in use.
#[derive(Debug, Default)]
pub struct Names {
    used: HashSet<String>,
    /// The next suffix to try for a name.
    next: HashMap<String, usize>,
}

impl Names {
    /// Returns a name that is not in use yet; `prefix` precedes names that begin with a digit or are reserved.
    pub fn fresh(&mut self, onnx: &str, prefix: &str) -> String {
        let name = valid(onnx, prefix);
        if self.used.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let other = format!("{name}_{next}");
            *next += 1;
            if self.used.insert(other.clone()) {
                return other;
            }
        }
    }
}

/// Removes the name of the enclosing part as a prefix: `attention_MatMul` for `/layer.0/attention/MatMul` in `layer.0`.
pub fn within(onnx: &str, whole: &str) -> String {
    let (name, whole) = (valid(onnx, ""), valid(whole, ""));
    let suffix = name.strip_prefix(&whole).and_then(|suffix| suffix.strip_prefix('_'));
    match suffix {
        Some(suffix) if !whole.is_empty() && !suffix.is_empty() => suffix.to_owned(),
        _ => onnx.to_owned(),
    }
}

/// The name in SkriptND by the rules for characters and prefixes, if no other name is equal.
pub fn valid(onnx: &str, prefix: &str) -> String {
    let onnx = onnx.strip_suffix("_output_0").unwrap_or(onnx);
    let mut name = String::new();
    for c in onnx.chars() {
        if name.len() >= MAX_LENGTH {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_matches('_');
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() {
        prefix.to_owned()
    } else if digit || RESERVED.contains(&name) {
        format!("{prefix}_{name}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        let mut names = Names::default();
        let mut of = |onnx: &str| names.fresh(onnx, "conv");
        assert_eq!(of("/layer1/layer1.0/conv1/Conv_output_0"), "layer1_layer1_0_conv1_Conv");
        assert_eq!(of("layer1.0.conv1.weight"), "layer1_0_conv1_weight");
        assert_eq!(of("layer1:0:conv1:weight"), "layer1_0_conv1_weight_2");
        assert_eq!(of("x"), "x");
        assert_eq!(of("x"), "x_2");
        assert_eq!(of("x_2"), "x_2_2");
        assert_eq!(of("123"), "conv_123");
        assert_eq!(of("if"), "conv_if");
        assert_eq!(of("ß→"), "conv");
        assert!(of(&"a".repeat(4000)).len() <= MAX_LENGTH);
    }
}
