// SPDX-License-Identifier: Apache-2.0
//! Files, imports, and the definitions that they may contain (2.15).

use crate::ast::{Definition, DefinitionKind, Module};
use crate::diagnostics::{Diagnostic, Sink, codes};
use crate::program::Program;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// Checks that imports come first, names are unique, and graphs are in the main module only.
pub(super) fn check_module(program: &Program, key: &str, module: &Module, sink: &mut Sink) {
    for import in &module.imports {
        if import.misplaced {
            let mut diagnostic = Diagnostic::error(
                &codes::IMPORT_MISPLACED,
                import.span,
                format!("`import {}` follows a definition", import.path.text()),
            )
            .with_help("move imports to the beginning of the file");
            if let Some(first) = module.definitions.first() {
                diagnostic = diagnostic.with_label_at(first.name.span, "the first definition");
            }
            sink.report(diagnostic);
        }
    }
    let mut seen: FxHashMap<&str, &Definition> = FxHashMap::default();
    for definition in &module.definitions {
        let name = &definition.name;
        let first = *seen.entry(&name.name).or_insert(definition);
        if first.name.span != name.span && !name.name.is_empty() {
            sink.report(
                Diagnostic::error(
                    &codes::DUPLICATE_DEFINITION,
                    name.span,
                    format!("`{}` is defined twice in this file", name.name),
                )
                .with_label_at(first.name.span, "first here")
                .with_help("operators and graphs of a file have different names"),
            );
        }
        if definition.kind == DefinitionKind::Graph && key != program.main {
            sink.report(
                Diagnostic::error(
                    &codes::GRAPH_IN_MODULE,
                    name.span,
                    format!("the graph `{}` is in the imported module `{}`", name.name, module.name),
                )
                .with_help("only the main file has graphs; make it an operator"),
            );
        }
    }
    let has_graph = module.definitions.iter().any(|d| d.kind == DefinitionKind::Graph);
    if key == program.main && !has_graph && !module.unread {
        sink.report(
            Diagnostic::error(
                &codes::NO_GRAPH,
                Span::new(module.file, 0, 0),
                "the main file defines no graph",
            )
            .with_help("add `graph NAME { … }`, the entry of the program"),
        );
    }
}
