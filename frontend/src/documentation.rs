// SPDX-License-Identifier: Apache-2.0
//! Documentation of operators: the signature in one line, and the comment above it.
//!
//! A comment's first sentence is the summary. A paragraph `Example: nn.relu([-1.0, 2.0]) = [0.0, 2.0]` is an invocation
//! with its results. The tests of the library run it: nested lists are tensors, parentheses enclose packs, `with` names
//! variables.

mod comment;
mod page;
mod signature;

pub use comment::{Comment, lines_above};
pub use page::page;

use crate::ast::{Definition, DefinitionKind, Module};
use crate::diagnostics::Sink;
use crate::library::{self, Layer};
use crate::source::SourceMap;

/// An operator's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `nn.conv`.
    pub name: String,
    /// The module's name, `nn`.
    pub module: String,
    /// The declaration in one line.
    pub signature: String,
    /// The comment above the operator.
    pub comment: Comment,
    /// The text for all operators of its section.
    pub section: Comment,
    /// Whether this is a separate definition for the edition khronos.
    pub khronos: bool,
}

/// The public operators of a module in the order of the text; names that begin with `_` are private.
pub fn of_module(module: &Module, sources: &SourceMap) -> Vec<Entry> {
    let public = module
        .definitions
        .iter()
        .filter(|d| d.kind == DefinitionKind::Operator)
        .filter(|d| !d.name.name.starts_with('_'));
    public.map(|d| entry(module, d, sources)).collect()
}

fn entry(module: &Module, definition: &Definition, sources: &SourceMap) -> Entry {
    let name = format!("{}.{}", module.name, definition.name.name);
    let text = sources.get(module.file).map_or("", |f| &f.text);
    Entry {
        signature: signature::written(&name, definition, sources),
        comment: Comment::above(text, definition.span.start as usize),
        section: Comment::of_section(text, definition.span.start as usize),
        module: module.name.clone(),
        name,
        khronos: false,
    }
}

/// The operators of the standard library. An operator of the edition khronos directly follows the operator that it
/// replaces.
pub fn of_library() -> Vec<Entry> {
    let mut entries = Vec::new();
    for name in library::names() {
        let layer = |layer| {
            let (mut sources, mut sink) = (SourceMap::default(), Sink::default());
            library::module(layer, name, &mut sources, &mut sink)
                .map_or_else(Vec::new, |module| of_module(&module, &sources))
        };
        let mut overlay = layer(Layer::Khronos);
        for entry in layer(Layer::Draft) {
            let other = overlay.iter().position(|o| o.name == entry.name);
            entries.push(entry);
            if let Some(at) = other {
                entries.push(Entry { khronos: true, ..overlay.remove(at) });
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_of_the_library_has_a_summary_and_an_example() {
        let entries = of_library();
        assert!(entries.len() > 150, "{}", entries.len());
        for entry in entries {
            let name = &entry.name;
            assert!(!entry.comment.summary().is_empty(), "{name} has no comment");
            assert!(
                !entry.comment.examples.is_empty(),
                "{name} has no example: add a line `# Example: {name}(…) = …`"
            );
            for example in &entry.comment.examples {
                assert!(example.starts_with(name) && example.contains(" = "), "{name}: `{example}`");
            }
        }
    }

    #[test]
    fn overlays_follow_what_they_replace() {
        let entries = of_library();
        let at = entries.iter().position(|e| e.name == "layout.slice");
        let at = at.unwrap();
        assert!(!entries[at].khronos && entries[at + 1].khronos);
        assert_eq!(entries[at + 1].name, "layout.slice");
    }
}
