// SPDX-License-Identifier: Apache-2.0
//! Every source file names its license in an SPDX line: the first line, or the second line after `#!`.
//!
//! Test inputs are exempt, because an additional line would change the positions that tests check.

use crate::tree::{File, Tree};

const LICENSE: &str = "SPDX-License-Identifier: Apache-2.0";

/// The endings of source files, with their comment markers.
const SOURCES: &[(&str, &str)] = &[
    (".rs", "//"),
    (".c", "//"),
    (".cpp", "//"),
    (".h", "//"),
    (".td", "//"),
    (".pest", "//"),
    (".js", "//"),
    (".py", "#"),
    (".py.template", "#"),
    (".sh", "#"),
    (".cmake.in", "#"),
    (".cfg", "#"),
    ("CMakeLists.txt", "#"),
    ("Makefile", "#"),
    (".ci/run", "#"),
    ("bin/llvm-config", "#"),
];

/// The ending of bundled scripts, which have other licenses.
const BUNDLED: &str = ".min.js";
/// The parser that tree-sitter generates from `grammar.js`.
const GENERATED: &str = "editors/tree-sitter-sknd/src/";

/// The folder of the standard library. Other models are examples and inputs of tests.
const LIBRARY: &str = "frontend/stdlib/";

pub fn check(tree: &Tree) -> Vec<String> {
    let sources = tree.files.iter().filter_map(|f| Some((f, mark(&f.path)?)));
    let unnamed = sources.filter(|(file, mark)| !names_license(file, mark));
    let complaint = |(file, mark): (&File, &str)| format!("{}: begins without `{mark} {LICENSE}`", file.path);
    unnamed.map(complaint).collect()
}

/// The comment marker of a source file; `None` for all other files.
fn mark(path: &str) -> Option<&'static str> {
    if path.starts_with(LIBRARY) {
        return Some("#");
    }
    if path.ends_with(BUNDLED) || path.starts_with(GENERATED) {
        return None;
    }
    let mut sources = SOURCES.iter().filter(|(end, _)| path.ends_with(end));
    sources.next().map(|(_, mark)| *mark)
}

fn names_license(file: &File, mark: &str) -> bool {
    let mut lines = file.text.lines();
    let Some(first) = lines.next() else { return false };
    let is_script = first.starts_with("#!") && !first.starts_with("#![");
    let line = if is_script { lines.next() } else { Some(first) };
    line.is_some_and(|line| line == format!("{mark} {LICENSE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> usize {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        check(&Tree { files: vec![file] }).len()
    }

    #[test]
    fn source_files_begin_with_the_license() {
        assert_eq!(complaints("a/b.rs", &format!("// {LICENSE}\n//! B.\n")), 0);
        assert_eq!(complaints("a.sh", &format!("#!/bin/sh\n# {LICENSE}\n")), 0);
        let library = format!("# {LICENSE}\n");
        assert_eq!(complaints("frontend/stdlib/nn.sknd", &library), 0);
    }

    #[test]
    fn a_license_elsewhere_or_of_another_mark_does_not_count() {
        assert_eq!(complaints("a/b.rs", "//! B.\n"), 1);
        assert_eq!(complaints("a/b.rs", &format!("//! B.\n// {LICENSE}\n")), 1);
        assert_eq!(complaints("a/b.py", &format!("// {LICENSE}\n")), 1);
        assert_eq!(complaints("frontend/stdlib/nn.sknd", "# Layers.\n"), 1);
        assert_eq!(complaints("a.rs", "#![allow(unused)]\n"), 1);
    }

    #[test]
    fn inputs_of_tests_and_generated_files_need_none() {
        assert_eq!(complaints("editors/tree-sitter-sknd/src/parser.c", "int a;\n"), 0);
        assert_eq!(complaints("editors/tree-sitter-sknd/parser.c", "int a;\n"), 1);
        assert_eq!(complaints("test/passes/a.mlir", "// RUN: true\n"), 0);
        assert_eq!(complaints("test/tools/a.sknd", "graph g {}\n"), 0);
        assert_eq!(complaints("tools/playground/a.min.js", "/*! MIT */\n"), 0);
        assert_eq!(complaints("tools/playground/amin.js", "/*! MIT */\n"), 1);
    }
}
