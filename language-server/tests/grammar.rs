// SPDX-License-Identifier: Apache-2.0
//! The TextMate grammar covers every reserved word of the language, and its patterns are regular expressions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use regex::Regex;
use serde_json::Value;
use skript_frontend::syntax::block_names;
use skript_semantics::ScalarOp;

fn grammar() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors/vscode/syntaxes/sknd.tmLanguage.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// All `match`, `begin` and `end` patterns.
fn patterns(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if ["match", "begin", "end"].contains(&key.as_str()) => {
                        found.push(text.clone());
                    }
                    _ => patterns(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
        _ => {}
    }
}

/// Compiles a pattern without its look-aheads, which the crate `regex` does not support.
fn compiled(pattern: &str) -> Regex {
    let without = Regex::new(r"\(\?=[^)]*\)").unwrap().replace_all(pattern, "");
    Regex::new(&without).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

#[test]
fn patterns_compile() {
    let mut all = Vec::new();
    patterns(&grammar(), &mut all);
    assert!(all.len() > 15);
    for pattern in all {
        compiled(&pattern);
    }
}

#[test]
fn includes_are_defined() {
    let grammar = grammar();
    let text = grammar.to_string();
    for part in text.split("\"include\":\"#").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(grammar["repository"].get(name).is_some(), "{name}");
    }
}

#[test]
fn reserved_words_are_coloured() {
    let pest = include_str!("../../frontend/src/syntax/skript.pest");
    let rule = pest.split("reserved = _{").nth(1).unwrap().split('}').next().unwrap();
    let words: Vec<&str> = rule.split('"').skip(1).step_by(2).collect();
    assert!(words.len() > 20, "{words:?}");
    let grammar = grammar();
    let mut known = Vec::new();
    for name in ["control", "word-operator", "modifier", "type", "constant"] {
        patterns(&grammar["repository"][name], &mut known);
    }
    let known: Vec<Regex> = known.iter().map(|p| compiled(p)).collect();
    for word in words {
        let whole = |r: &Regex| r.find(word).is_some_and(|m| m.len() == word.len());
        assert!(known.iter().any(whole), "`{word}` has no colour");
    }
    // Names of blocks, and calls of built-in functions.
    let block = compiled(grammar["repository"]["block"]["match"].as_str().unwrap());
    assert!(block_names().count() > 10);
    for name in block_names() {
        assert!(block.is_match(&format!("@{name}")), "{name}");
    }
    let built_in = compiled(grammar["repository"]["built-in"]["match"].as_str().unwrap());
    assert!(ScalarOp::ALL.iter().all(|op| built_in.is_match(&format!("`{}`", op.mnemonic()))));
}
