// SPDX-License-Identifier: Apache-2.0
//! ONNX operators that the standard library lacks, defined in SkriptND.

use std::collections::BTreeSet;

/// The source of each group of operators. Every operator begins in column 1, after its comment. `rounded_to_even` in
/// `passes/src/integers/rounding.rs` recognizes the formula of `_nearest_even`.
const SOURCES: &[&str] = &[
    include_str!("../library/elementwise.sknd"),
    include_str!("../library/integer.sknd"),
    include_str!("../library/reduction.sknd"),
    include_str!("../library/movement.sknd"),
    include_str!("../library/indexing.sknd"),
    include_str!("../library/normalization.sknd"),
    include_str!("../library/network.sknd"),
    include_str!("../library/recurrent.sknd"),
    include_str!("../library/signal.sknd"),
    include_str!("../library/spatial.sknd"),
    include_str!("../library/quantize.sknd"),
    include_str!("../library/loss.sknd"),
    include_str!("../library/attention.sknd"),
];

/// The modules of the standard library that the operators may import.
const MODULES: &[&str] = &["algo", "image", "layout", "linalg", "math", "nn"];

/// The names of the operators, and their texts with comments.
fn all() -> Vec<(&'static str, &'static str)> {
    let mut operators = Vec::new();
    for source in SOURCES {
        // Paragraphs at column 1: a comment, then the operator up to its closing brace.
        let mut begin = 0;
        let mut at = 0;
        for line in source.split_inclusive('\n') {
            at += line.len();
            if line.trim_end() == "}" {
                if let Some(text) = source.get(begin..at)
                    && let Some(name) = name(text)
                {
                    operators.push((name, text.trim()));
                }
                begin = at;
            }
        }
    }
    operators
}

fn name(text: &str) -> Option<&str> {
    let line = text.lines().find(|l| l.starts_with("operator "))?;
    line.strip_prefix("operator ")?.split([' ', '{']).next()
}

/// Whether a text contains a word.
fn mentions(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && matches!(after, Some('(' | '{' | '<'))
    })
}

/// The text without its comments.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// A module with these operators and the operators that they invoke.
pub fn module(names: &BTreeSet<String>) -> String {
    let all = all();
    let mut wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    loop {
        let mut more = wanted.clone();
        for (name, text) in &all {
            if wanted.contains(name) {
                let text = code(text);
                more.extend(all.iter().map(|(n, _)| *n).filter(|n| mentions(&text, n)));
            }
        }
        if more == wanted {
            break;
        }
        wanted = more;
    }
    let texts: Vec<&str> = all.iter().filter(|(n, _)| wanted.contains(n)).map(|(_, t)| *t).collect();
    let mut module = "# Operators of ONNX that the standard library lacks.\n\n".to_owned();
    let body = texts.join("\n\n");
    let used = code(&body);
    let imports: Vec<String> = MODULES
        .iter()
        .filter(|m| used.contains(&format!("{m}.")))
        .map(|m| format!("import {m};\n"))
        .collect();
    module.push_str(&imports.concat());
    if !imports.is_empty() {
        module.push('\n');
    }
    module.push_str(&body);
    module.push('\n');
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_contain_the_operators_that_others_invoke() {
        let module = module(&BTreeSet::from(["wrap".to_owned()]));
        assert!(module.contains("operator wrap"), "{module}");
        assert!(!module.contains("operator gather"), "{module}");
    }

    #[test]
    fn names_are_distinct() {
        let names: Vec<&str> = all().into_iter().map(|(n, _)| n).collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), distinct.len());
        assert!(names.len() > 10);
    }
}
