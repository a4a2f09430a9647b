// SPDX-License-Identifier: Apache-2.0
//! Names and their values, innermost frame last.

use rustc_hash::FxHashMap;

use super::value::Value;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    frames: Vec<FxHashMap<String, Value>>,
    /// The lengths that null packs would have.
    null_lengths: FxHashMap<String, Value>,
}

impl Scope {
    pub(crate) fn new() -> Self {
        Scope { frames: vec![FxHashMap::default()], null_lengths: FxHashMap::default() }
    }

    /// Sets the declared length of a pack that is null.
    pub(crate) fn set_null_length(&mut self, name: impl Into<String>, length: Value) {
        self.null_lengths.insert(name.into(), length);
    }

    pub(crate) fn null_length(&self, name: &str) -> Option<&Value> {
        self.null_lengths.get(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.frames.iter().rev().find_map(|f| f.get(name))
    }

    /// Binds a name in the innermost frame.
    pub(crate) fn set(&mut self, name: impl Into<String>, value: Value) {
        if self.frames.is_empty() {
            self.frames.push(FxHashMap::default());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(name.into(), value);
        }
    }

    pub(crate) fn push(&mut self) {
        self.frames.push(FxHashMap::default());
    }

    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }
}
