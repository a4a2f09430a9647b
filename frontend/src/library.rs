// SPDX-License-Identifier: Apache-2.0
//! The standard library's text, embedded, and its syntax trees, parsed once per process.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::ast::Module;
use crate::diagnostics::{Diagnostic, Sink};
use crate::limits::Limits;
use crate::source::{FileId, SourceMap};
use crate::syntax::parse_module;

/// One embedded file.
pub struct Embedded {
    /// The module's name: `nn`.
    pub name: &'static str,
    /// The path in messages: `<stdlib>/nn.sknd`.
    pub path: &'static str,
    /// The contents of the file.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// The layer of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The draft's operators.
    Draft,
    /// The operators that edition khronos defines differently; they take precedence over the draft's operators of the
    /// same names.
    Khronos,
}

impl Layer {
    fn files(self) -> &'static [Embedded] {
        match self {
            Layer::Draft => MODULES,
            Layer::Khronos => KHRONOS,
        }
    }

    /// The numbers of a layer's files begin here.
    fn first(self) -> usize {
        match self {
            Layer::Draft => 0,
            Layer::Khronos => MODULES.len(),
        }
    }
}

/// Whether the library has a module of this name.
pub fn contains(layer: Layer, name: &str) -> bool {
    layer.files().iter().any(|m| m.name == name)
}

/// Names of all modules of the library, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|m| m.name)
}

/// Modules of the library that have an operator with a name.
pub(crate) fn homes(operator: &str) -> impl Iterator<Item = &'static str> {
    let defines = move |line: &str| {
        let line = line.strip_prefix("public ").unwrap_or(line);
        let name = line.strip_prefix("operator ");
        name.is_some_and(|name| name.trim_end_matches('{').trim() == operator)
    };
    let modules = MODULES.iter();
    modules
        .filter(move |m| m.text.lines().any(defines))
        .map(|m| m.name)
}

type Parsed = FxHashMap<FileId, (Module, Vec<Diagnostic>)>;

static PARSED: Mutex<Option<Parsed>> = Mutex::new(None);

/// A module of the library; its source is added to `sources`, its diagnostics to `sink`. `None` if there is no such
/// module.
pub fn module(
    layer: Layer,
    name: &str,
    sources: &mut SourceMap,
    sink: &mut Sink,
) -> Option<Module> {
    let index = layer.files().iter().position(|m| m.name == name)?;
    let embedded = layer.files().get(index)?;
    let number = u32::try_from(layer.first() + index).ok()?;
    let file = sources.add_library(number, embedded.path, embedded.text);
    let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let (module, diagnostics) = parsed
        .get_or_insert_default()
        .entry(file)
        .or_insert_with(|| {
            let mut sink = Sink::default();
            let module = parse_module(file, embedded.text, name, &Limits::default(), &mut sink);
            (module, sink.into_sorted())
        });
    for diagnostic in diagnostics.iter() {
        sink.report(diagnostic.clone());
    }
    Some(module.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_parses_without_complaint() {
        for layer in [Layer::Draft, Layer::Khronos] {
            for file in layer.files() {
                let mut sources = SourceMap::default();
                let mut sink = Sink::default();
                let module = module(layer, file.name, &mut sources, &mut sink);
                let complaints: Vec<String> = sink
                    .into_sorted()
                    .iter()
                    .map(|d| format!("{}: {d:?}", file.path))
                    .collect();
                assert!(complaints.is_empty(), "{}", complaints.join("\n"));
                assert!(
                    module.is_some_and(|m| !m.definitions.is_empty()),
                    "{}",
                    file.path
                );
            }
        }
    }

    #[test]
    fn the_khronos_layer_only_replaces_operators_and_their_parts() {
        let mut sources = SourceMap::default();
        let mut sink = Sink::default();
        for file in Layer::Khronos.files() {
            let base = module(Layer::Draft, file.name, &mut sources, &mut sink).unwrap();
            let overlay = module(Layer::Khronos, file.name, &mut sources, &mut sink).unwrap();
            for definition in overlay.definitions {
                let name = &definition.name.name;
                let known = base.definitions.iter().any(|d| &d.name.name == name);
                assert!(known || name.starts_with('_'), "{}.{name}", file.name);
            }
        }
    }
}
