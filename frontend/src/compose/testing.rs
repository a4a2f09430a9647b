// SPDX-License-Identifier: Apache-2.0
//! Small documents for the tests of diagnostics; composed without being checked before.

use super::{ComposeOptions, compose};
use crate::diagnostics::{Code, Diagnostic, Sink};
use crate::limits::Limits;
use crate::model::Model;
use crate::program::Program;
use crate::source_files::load_program;

/// Composes the first graph of a document; returns the messages if that fails.
pub(crate) fn composed(text: &str) -> Result<Model, Vec<Diagnostic>> {
    composed_with(text, &ComposeOptions::default(), &Limits::default())
}

pub(crate) fn composed_with(
    text: &str,
    options: &ComposeOptions,
    limits: &Limits,
) -> Result<Model, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let mut sink = Sink::default();
    let program: Program = load_program(&path, None, limits, &mut sink);
    assert!(!sink.has_errors(), "{:?}", sink.diagnostics());
    match compose(&program, options, limits, &mut sink) {
        Some(model) => Ok(model),
        None => Err(sink.into_sorted()),
    }
}

/// A document whose operator evaluates these helper symbols.
pub(crate) fn with_symbols(lines: &str) -> String {
    format!(
        "operator probe {{ @attrib {{ k: int = 3; p: int..(n) = [1, 2]; word: str = 'a'; }} @using {{ {lines} }} \
         @output {{ y: int[1]; }} @lower {{ y[i,] = 0, i < 1; }} }} \
         graph G {{ @output {{ y: int[1]; }} @compose {{ y = probe(); }} }}"
    )
}

/// A document with an operator `f` of these blocks, and a graph of input x: real[4], flag: bool[] and output
/// y: real[4] with these components.
pub(crate) fn with_operator(blocks: &str, components: &str) -> String {
    format!(
        "operator f {{ {blocks} }} \
         operator pass {{ @input {{ a: real[n]; }} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }} }} \
         graph G {{ @input {{ x: real[4]; z: real[3]; flag: bool[]; }} @output {{ y: real[4]; }} \
         @compose {{ {components} }} }}"
    )
}

pub(crate) fn assert_fires(code: &Code, text: &str) {
    assert_failed(code, composed(text));
}

fn assert_failed(code: &Code, result: Result<Model, Vec<Diagnostic>>) {
    let diagnostics = match result {
        Ok(_) => panic!("composed without a message"),
        Err(diagnostics) => diagnostics,
    };
    assert!(diagnostics.iter().any(|d| d.code.id == code.id), "{}: {diagnostics:?}", code.id);
}

pub(crate) fn assert_composes(text: &str) {
    if let Err(diagnostics) = composed(text) {
        panic!("{diagnostics:?}");
    }
}
