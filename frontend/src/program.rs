// SPDX-License-Identifier: Apache-2.0
//! A loaded document: the main module, everything it imports, and the sources they came from.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ast::{Definition, Module};
use crate::source::{SourceMap, Span};
use crate::value_types::ValueTypes;

/// The edition of the language that a module uses (`draft6` is the draft with its errata, `khronos` that of the reference
/// implementation of 2026).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edition {
    /// The draft that this compiler implements by default.
    Draft6,
    /// The published revisions of Khronos.
    Khronos,
}

impl Edition {
    /// The word of `--edition`.
    pub fn name(self) -> &'static str {
        match self {
            Edition::Draft6 => "draft6",
            Edition::Khronos => "khronos",
        }
    }
}

/// Where a module's text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A file of the model folder.
    Model,
    /// The embedded standard library; shown as `<stdlib>/nn.sknd`.
    Library,
}

/// Properties of a module beside its syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleInfo {
    /// The edition that gives the module its meaning.
    pub edition: Edition,
    /// Whether the syntax of the module selected its edition.
    pub(crate) edition_from_syntax: bool,
    /// Where the module comes from.
    pub origin: Origin,
}

/// All modules that a model needs, parsed (2.15).
#[derive(Debug, Default)]
pub struct Program {
    /// The texts of all modules.
    pub sources: SourceMap,
    /// By key, in order of loading. The key is the dotted name; a library module that a file of the model hides, or an
    /// edition's variant of a library module, has a different key. Look modules up with [`Program::resolve`].
    pub modules: IndexMap<String, Module>,
    /// Per key of `modules`.
    pub info: FxHashMap<String, ModuleInfo>,
    /// (key of the importing module, dotted path as written) → key of the imported one.
    pub imports: FxHashMap<(String, String), String>,
    /// Key of the main module.
    pub main: String,
    /// The model folder, where weights are looked for.
    pub folder: PathBuf,
    /// The position of the first definition of each name, by key of the module; built on the first search.
    pub(crate) positions: OnceLock<FxHashMap<String, FxHashMap<String, usize>>>,
    /// A result of the check.
    pub(crate) value_types: OnceLock<Arc<ValueTypes>>,
}

impl Program {
    /// The module with the model's graphs; `None` if it could not be loaded.
    pub fn main_module(&self) -> Option<&Module> {
        self.modules.get(&self.main)
    }

    /// The module that `path` (dotted) names inside the module with key `from`, with its key: `None` if it is not
    /// imported there or could not be loaded (then already reported).
    pub fn resolve(&self, from: &str, path: &str) -> Option<(&str, &Module)> {
        let key = self.imports.get(&(from.to_string(), path.to_string()))?;
        let (key, module) = self.modules.get_key_value(key)?;
        Some((key, module))
    }

    /// The first definition of this name in the module with key `module`, with the key.
    pub fn definition(&self, module: &str, name: &str) -> Option<(&str, &Definition)> {
        let positions = self.positions.get_or_init(|| {
            let by_name = |module: &Module| {
                let mut positions = FxHashMap::default();
                for (position, definition) in module.definitions.iter().enumerate() {
                    positions.entry(definition.name.name.clone()).or_insert(position);
                }
                positions
            };
            self.modules.iter().map(|(key, module)| (key.clone(), by_name(module))).collect()
        });
        let position = positions.get(module)?.get(name)?;
        let (key, module) = self.modules.get_key_value(module)?;
        Some((key, module.definitions.get(*position)?))
    }

    /// The syntax that selects the edition khronos for a module, if nothing else does.
    pub(crate) fn khronos_syntax(&self, key: &str) -> Option<&(Span, String)> {
        let (info, marks) = (self.info.get(key)?, &self.modules.get(key)?.edition_marks);
        marks.khronos_only.as_ref().or(marks.khronos_first.as_ref()).filter(|_| info.edition_from_syntax)
    }

    /// The edition that gives a module its meaning; draft6 for unknown keys.
    pub fn edition(&self, key: &str) -> Edition {
        self.info.get(key).map_or(Edition::Draft6, |i| i.edition)
    }

    /// The origin of a module; the model for unknown keys.
    pub fn origin(&self, key: &str) -> Origin {
        self.info.get(key).map_or(Origin::Model, |i| i.origin)
    }
}
