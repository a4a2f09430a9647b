// SPDX-License-Identifier: Apache-2.0
//! The syntax tree, with the source span of every node. Nothing is resolved or checked here.

mod block;
mod expr;
mod local_tensors;
mod recurrences;
mod relocate;
mod statement;

pub use block::*;
pub use expr::*;
pub(crate) use relocate::{Relocate, Relocation};
pub use statement::*;

use crate::source::{FileId, Span};
use serde::Serialize;
use std::collections::BTreeSet;

/// A name with its span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Ident {
    /// The characters of the name.
    pub name: String,
    /// The source text.
    pub span: Span,
}

/// `a.b.c`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Path {
    /// The names between the dots.
    pub parts: Vec<Ident>,
    /// The source text.
    pub span: Span,
}

impl Path {
    /// The parts joined with dots.
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|p| p.name.as_str()).collect();
        parts.join(".")
    }
}

/// One file (2.15).
#[derive(Clone, Debug, Default, Serialize)]
pub struct Module {
    /// The file in the source map.
    #[serde(skip)]
    pub file: FileId,
    /// The dotted name in the model folder: `main`, `nn`, `mine.ops`.
    pub name: String,
    /// All imports, also those after a definition.
    pub imports: Vec<Import>,
    /// Operators and graphs in textual order.
    pub definitions: Vec<Definition>,
    /// Whether a definition or an import could not be parsed (reported): names may be missing from the tree.
    pub unread: bool,
    pub(crate) edition_marks: EditionMarks,
}

/// The first tokens of a module that only one edition has, with their texts. They select the edition of a module
/// that does not state its edition.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EditionMarks {
    pub(crate) draft_only: Option<(Span, String)>,
    pub(crate) khronos_only: Option<(Span, String)>,
    /// Constructs that the draft cannot express; a module of the draft may contain them too.
    pub(crate) khronos_first: Option<(Span, String)>,
}

impl EditionMarks {
    /// Adds the marks of a later text: the first ones count.
    pub(crate) fn add(&mut self, later: EditionMarks) {
        self.draft_only = self.draft_only.take().or(later.draft_only);
        self.khronos_only = self.khronos_only.take().or(later.khronos_only);
        self.khronos_first = self.khronos_first.take().or(later.khronos_first);
    }
}

/// `import a.b;`, one entry per imported module.
#[derive(Clone, Debug, Serialize)]
pub struct Import {
    /// The dotted name as written.
    pub path: Path,
    /// Whether it follows a definition (an error found by the checker).
    pub(crate) misplaced: bool,
    /// The source text.
    pub span: Span,
}

/// The two kinds of definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum DefinitionKind {
    /// `operator`.
    #[default]
    Operator,
    /// `graph`.
    Graph,
}

/// `operator NAME { … }` or `graph NAME { … }` (2.2). The items of repeated blocks are appended, and `duplicate_blocks`
/// has the repeated blocks in textual order, so that one error does not hide others.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Definition {
    /// The keyword.
    pub kind: DefinitionKind,
    /// Written with `public` in front.
    pub public: bool,
    /// The definition's name.
    pub name: Ident,
    /// `@dtype`.
    pub dtypes: Vec<TypeParameter>,
    /// `@attrib`.
    pub attributes: Vec<Declaration>,
    /// `@input`.
    pub inputs: Vec<Declaration>,
    /// `@using`.
    pub usings: Vec<Using>,
    /// `@constant`.
    pub constants: Vec<Declaration>,
    /// `@variable`.
    pub variables: Vec<Declaration>,
    /// `@output`.
    pub outputs: Vec<Declaration>,
    /// `@assert`.
    pub asserts: Vec<Assertion>,
    /// `@lower`.
    pub lowers: Vec<Lowering>,
    /// `@compose`.
    pub composes: Vec<Component>,
    /// `@update`.
    pub updates: Vec<Component>,
    /// `@quantize`.
    pub quantizations: Vec<Quantization>,
    /// Every block that was written, in order.
    pub blocks: Vec<BlockHead>,
    /// Blocks with a statement that could not be parsed (reported). Missing names and follow-up errors in these blocks
    /// are not reported.
    pub unread: Vec<BlockKind>,
    /// The words of unparsed text, which may declare or use names. `None` if they are unknown, so that they may include
    /// any name.
    #[serde(skip)]
    pub(crate) unread_words: Option<BTreeSet<String>>,
    /// Statements that were parsed with one token more or less than written (reported). Other errors in them may be
    /// consequences.
    #[serde(skip)]
    pub(crate) repaired: Vec<Span>,
    /// Whether the definition contains `is` (2.4).
    #[serde(skip)]
    pub(crate) tests_identity: bool,
    /// From the keyword to the closing brace.
    pub span: Span,
}

impl Definition {
    /// Whether a name may be declared or used in text that could not be parsed.
    pub(crate) fn may_have_lost(&self, name: &str) -> bool {
        let words = self.unread_words.as_ref();
        words.is_none_or(|words| words.contains(name))
    }

    /// The statement or declaration that contains a position.
    pub(crate) fn statement_around(&self, span: Span) -> Option<Span> {
        let declarations = [&self.attributes, &self.inputs, &self.constants, &self.variables, &self.outputs];
        let declared = declarations.into_iter().flatten().map(|d| d.span);
        let helpers = self.usings.iter().map(|u| u.span);
        let asserted = self.asserts.iter().map(|a| a.span);
        let lowered = self.lowers.iter().map(|l| l.span);
        let composed = self.composes.iter().chain(&self.updates).map(|c| c.span);
        let before = declared.chain(helpers).chain(asserted);
        let mut all = before.chain(lowered).chain(composed);
        all.find(|statement| statement.holds(span))
    }

    /// Whether a block of this kind was written, even if empty.
    pub fn has_block(&self, kind: BlockKind) -> bool {
        self.blocks.iter().any(|b| b.kind == kind)
    }
}
