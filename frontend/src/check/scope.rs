// SPDX-License-Identifier: Apache-2.0
//! Names and their meaning.

use crate::check::types::{Optional, Type};
use crate::source::Span;
use std::collections::BTreeMap;

/// The kind of a declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolKind {
    Attribute,
    Input,
    /// A name that an input shape, a pack length or a rank capture declares.
    Extent,
    Using,
    Constant,
    Variable,
    Output,
    /// A tensor of `@compose` or `@update`.
    Intermediate,
    /// Loop-carried variable, scan item or iteration index of a loop.
    LoopLocal,
    /// Index of a formula or of a constant's value.
    Index,
    /// `z = e,` of a formula.
    FormulaLocal,
    /// A tensor that formulas assign and that is not an output.
    LocalTensor,
}

impl SymbolKind {
    /// The kind with its article, for messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            SymbolKind::Attribute => "an attribute",
            SymbolKind::Input => "an input",
            SymbolKind::Extent => "an extent",
            SymbolKind::Using => "a helper",
            SymbolKind::Constant => "a constant",
            SymbolKind::Variable => "a variable",
            SymbolKind::Output => "an output",
            SymbolKind::Intermediate => "an intermediate tensor",
            SymbolKind::LoopLocal => "a name of a loop",
            SymbolKind::Index => "an index",
            SymbolKind::FormulaLocal => "a local value",
            SymbolKind::LocalTensor => "a local tensor",
        }
    }

    /// The block that declares it.
    pub(super) fn block(self) -> Option<&'static str> {
        match self {
            SymbolKind::Attribute => Some("@attrib"),
            SymbolKind::Input | SymbolKind::Extent => Some("@input"),
            SymbolKind::Using => Some("@using"),
            SymbolKind::Constant => Some("@constant"),
            SymbolKind::Variable => Some("@variable"),
            SymbolKind::Output => Some("@output"),
            _ => None,
        }
    }

    /// Whether the definition declares it, so that it has the same meaning in all blocks.
    pub(super) fn is_definition_wide(self) -> bool {
        self.block().is_some()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) kind: SymbolKind,
    pub(super) ty: Type,
    pub(super) span: Span,
}

/// Nested scopes, innermost last.
#[derive(Debug, Default)]
pub(super) struct Scope {
    frames: Vec<BTreeMap<String, Symbol>>,
}

impl Scope {
    pub(super) fn new() -> Scope {
        Scope { frames: vec![BTreeMap::new()] }
    }

    pub(super) fn enter(&mut self) {
        self.frames.push(BTreeMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }

    pub(super) fn declare(&mut self, name: &str, symbol: Symbol) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(name.to_string(), symbol);
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.frames.iter().rev().find_map(|f| f.get(name))
    }

    /// Looks up a name in the innermost scope only.
    pub(super) fn lookup_here(&self, name: &str) -> Option<&Symbol> {
        self.frames.last().and_then(|f| f.get(name))
    }

    /// Opens a scope in which names have another optionality, after a null test.
    pub(super) fn enter_promoted(&mut self, names: &[String], optional: Optional) {
        let promoted: Vec<(String, Symbol)> = names
            .iter()
            .filter_map(|name| {
                let mut symbol = self.lookup(name)?.clone();
                symbol.ty.optional = optional;
                Some((name.clone(), symbol))
            })
            .collect();
        self.enter();
        for (name, symbol) in promoted {
            self.declare(&name, symbol);
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().flat_map(|f| f.keys().map(String::as_str))
    }
}
