// SPDX-License-Identifier: Apache-2.0
//! Types of expressions that the check deduces and that values may lack: of values whose packs may be empty, and of the
//! formulas that define local tensors.

use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The names of types by the spans of expressions: `int`, `real`, `bool`, `str`, or the name of a generic type.
#[derive(Debug, Default)]
pub(crate) struct ValueTypes(FxHashMap<Span, String>);

impl ValueTypes {
    pub(crate) fn insert(&mut self, expr: Span, name: String) {
        if let Entry::Vacant(entry) = self.0.entry(expr) {
            entry.insert(name);
        }
    }

    pub(crate) fn name(&self, expr: Span) -> Option<&str> {
        self.0.get(&expr).map(String::as_str)
    }
}
