// SPDX-License-Identifier: Apache-2.0
//! The compiler does not refer to standard operators by name: string literals of Rust and C++ code must not contain the names.
//!
//! Names that are also words of the language or names in MLIR (`add`, `exp`, `select`, …) count only when qualified
//! (`math.add`); other names also count when unqualified.

use crate::tree::{Tree, is_comment, without_tests};
use std::collections::BTreeSet;

/// The files of the intrinsics table, which may contain operator names.
const TABLE: &[&str] = &["intrinsic"];

/// The folders that may contain MLIR dialects with the same names as modules of the library.
const NAMESAKES: &[(&str, &str)] = &[
    ("passes/src/named/table.rs", "linalg."),
    ("stablehlo/src/import/scalar_to_arith", "math."),
    ("stablehlo/src/import/terms.rs", "math."),
    ("stablehlo/src/import/to_linalg/chlo", "math."),
    ("stablehlo/src/import/to_skript/form.rs", "math."),
];

/// The folder with the words of StableHLO, one of which is also an operator name.
const STABLEHLO: &str = "stablehlo/dialect/";

/// Suffixes that identify an unqualified name as an operator.
const DISTINCTIVE: &[&str] = &[
    "conv",
    "deconv",
    "pool",
    "relu",
    "gelu",
    "selu",
    "elu",
    "silu",
    "softmax",
    "softplus",
    "sigmoid",
    "norm",
    "lstm",
    "matmul",
    "matvec",
    "flatten",
    "unflatten",
    "squeeze",
    "unsqueeze",
    "unstack",
    "resize",
    "rescale",
    "quantize",
];

pub fn check(tree: &Tree) -> Vec<String> {
    let mut qualified = BTreeSet::new();
    let mut distinctive = BTreeSet::new();
    for file in tree.ending(&[".sknd"]) {
        let Some(module) = file.path.strip_prefix("frontend/stdlib/").and_then(|p| p.strip_suffix(".sknd"))
        else {
            continue;
        };
        for name in operators(&file.text) {
            qualified.insert(format!("{}.{name}", module.replace('/', ".")));
            if DISTINCTIVE.iter().any(|t| name.ends_with(t)) {
                distinctive.insert(name.to_string());
            }
        }
    }
    let mut complaints = Vec::new();
    for file in tree.ending(&[".rs", ".cpp", ".h", ".td"]) {
        if TABLE.iter().any(|t| file.path.contains(t))
            || file.path.starts_with("tidy/")
            // The importer, training steps and `skript quantize` write documents.
            || file.path.starts_with("import/")
            || file.path == "gradient/src/training.rs"
            || file.path == "tools/src/verbs/quantize/document.rs"
            || file.path.starts_with(STABLEHLO)
            || file.path.contains("/tests/")
        {
            continue;
        }
        for (number, line) in without_tests(&file.text).lines().enumerate() {
            if is_comment(line) {
                continue;
            }
            for literal in literals(line) {
                let namesake = NAMESAKES
                    .iter()
                    .any(|(path, dialect)| file.path.starts_with(path) && literal.starts_with(dialect));
                if !namesake && (qualified.contains(literal) || distinctive.contains(literal)) {
                    complaints.push(format!(
                        "{}:{}: \"{literal}\" is an operator of the standard library; ask for structure instead",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    complaints
}

/// The names after the keyword `operator`.
fn operators(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|l| {
            let rest = l.trim_start();
            let rest = rest.strip_prefix("public ").unwrap_or(rest);
            rest.strip_prefix("operator ")
        })
        .filter_map(|l| l.split(['{', ' ']).find(|w| !w.is_empty()))
        .collect()
}

/// The contents of the string literals that begin and end on the line.
fn literals(line: &str) -> Vec<&str> {
    line.split('"').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_found_with_and_without_public() {
        assert_eq!(operators("operator conv {\n  public operator a{\n# operator b\n"), ["conv", "a"]);
    }

    #[test]
    fn literals_of_a_line() {
        assert_eq!(literals(r#"if name == "nn.conv" || x == "b" {"#), ["nn.conv", "b"]);
    }
}
