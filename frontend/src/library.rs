// SPDX-License-Identifier: Apache-2.0
//! The embedded text of the standard library, and its syntax trees. Only the definitions that a model uses are parsed; a complete
//! module is parsed at most once per process.

use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::Module;
use crate::diagnostics::{Diagnostic, Sink};
use crate::limits::Limits;
use crate::source::{FileId, SourceMap};
use crate::syntax::{self, parse_definitions, parse_module};

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

    /// The number of the layer's first file.
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
    MODULES.iter().filter(move |m| m.text.lines().any(defines)).map(|m| m.name)
}

type Parsed = FxHashMap<FileId, (Module, Vec<Diagnostic>)>;

static PARSED: Mutex<Option<Parsed>> = Mutex::new(None);

/// The definitions of the library that a model uses.
#[derive(Debug)]
pub(crate) enum Used {
    /// All definitions.
    All,
    /// The definitions with these names, in any module.
    Names(FxHashSet<&'static str>),
}

impl Used {
    /// No definition.
    pub(crate) fn none() -> Self {
        Used::Names(FxHashSet::default())
    }

    /// The definitions of `modules` that a model uses: every definition whose name is a word of `texts` or of another used
    /// definition. All definitions if the texts refer to an unknown one, because the error message lists the names.
    pub(crate) fn by(texts: &[&str], modules: &[(Layer, &str)]) -> Self {
        let files = modules.iter().filter_map(|(layer, name)| {
            let mut files = layer.files().iter();
            files.find(|file| file.name == *name)
        });
        let mut known: FxHashMap<&'static str, Vec<&'static str>> = FxHashMap::default();
        for file in files {
            for (name, words) in syntax::definitions(file.text) {
                known.entry(name).or_default().extend(words);
            }
        }
        let mut names = FxHashSet::default();
        let mut pending = Vec::new();
        for text in texts {
            let (words, members) = syntax::words(text);
            let is_module = |word: &str| MODULES.iter().any(|m| m.name == word);
            if (members.iter()).any(|word| !known.contains_key::<str>(word) && !is_module(word)) {
                return Used::All;
            }
            pending.extend(words.iter().filter_map(|word| known.get_key_value::<str>(word)));
        }
        while let Some((name, words)) = pending.pop() {
            if names.insert(*name) {
                pending.extend(words.iter().filter_map(|word| known.get_key_value(word)));
            }
        }
        Used::Names(names)
    }
}

/// A module of the library; its source is added to `sources`, its diagnostics to `sink`. `None` if there is no such
/// module.
pub fn module(layer: Layer, name: &str, sources: &mut SourceMap, sink: &mut Sink) -> Option<Module> {
    part(layer, name, &Used::All, sources, sink)
}

/// Like [`module`], but with the used definitions only, and with all imports.
pub(crate) fn part(
    layer: Layer,
    name: &str,
    used: &Used,
    sources: &mut SourceMap,
    sink: &mut Sink,
) -> Option<Module> {
    let index = layer.files().iter().position(|m| m.name == name)?;
    let embedded = layer.files().get(index)?;
    let number = u32::try_from(layer.first() + index).ok()?;
    let file = sources.add_library(number, embedded.path, embedded.text);
    if let Used::Names(names) = used {
        let keep = |name: &str| names.contains(name);
        let limits = Limits::default();
        let module = parse_definitions((file, embedded.text), name, &keep, &limits, sink, None);
        return Some(module);
    }
    let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let (module, diagnostics) = parsed.get_or_insert_default().entry(file).or_insert_with(|| {
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
    fn every_module_parses_without_diagnostics() {
        for layer in [Layer::Draft, Layer::Khronos] {
            for file in layer.files() {
                let mut sources = SourceMap::default();
                let mut sink = Sink::default();
                let module = module(layer, file.name, &mut sources, &mut sink);
                let messages: Vec<String> =
                    sink.into_sorted().iter().map(|d| format!("{}: {d:?}", file.path)).collect();
                assert!(messages.is_empty(), "{}", messages.join("\n"));
                assert!(module.is_some_and(|m| !m.definitions.is_empty()), "{}", file.path);
            }
        }
    }

    #[test]
    fn a_part_of_a_module_has_all_used_definitions() {
        let modules: Vec<_> = names().map(|name| (Layer::Draft, name)).collect();
        let names = |text| match Used::by(&[text], &modules) {
            Used::Names(names) => names,
            Used::All => FxHashSet::default(),
        };
        let one = names("import nn; graph G { @compose { y = nn.max_pool{size=[2]}(x); } }");
        assert!(one.contains("max_pool") && !one.contains("conv"));
        assert!(one.len() < 60, "{one:?}");
        // Nothing is missing: all definitions parse to the same trees as in whole modules.
        for (layer, name) in modules.iter().copied() {
            let (mut sources, mut sink) = (SourceMap::default(), Sink::default());
            let whole = module(layer, name, &mut sources, &mut sink).unwrap();
            let all = whole.definitions.iter().map(|d| match MODULES.iter().find(|m| m.name == name) {
                Some(_) => d.name.name.clone(),
                None => String::new(),
            });
            let text = all.collect::<Vec<_>>().join(" ");
            let used = Used::by(&[&text], &modules);
            let part = part(layer, name, &used, &mut sources, &mut sink).unwrap();
            assert_eq!(format!("{:?}", part.definitions), format!("{:?}", whole.definitions));
            assert_eq!(part.imports.len(), whole.imports.len());
        }
        // An unknown name needs whole modules, because messages suggest known names.
        assert!(matches!(Used::by(&["nn.cnv"], &modules), Used::All));
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
