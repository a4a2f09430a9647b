// SPDX-License-Identifier: Apache-2.0
//! The syntax tree, with the source span of every node. Nothing is resolved or checked here.

mod block;
mod expr;
mod statement;

pub use block::*;
pub use expr::*;
pub use statement::*;

use crate::source::{FileId, Span};
use serde::Serialize;
use std::collections::BTreeSet;

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
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
    /// Whether a definition or an import could not be read (reported): names may be missing that were written.
    pub unread: bool,
    pub(crate) edition_marks: EditionMarks,
}

/// The first token of a module that only one edition has, with its text. They select the edition of a module
/// that does not state it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct EditionMarks {
    pub(crate) draft_only: Option<(Span, String)>,
    pub(crate) khronos_only: Option<(Span, String)>,
    /// What the draft has no way to say, so that its modules may have it as well.
    pub(crate) khronos_first: Option<(Span, String)>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DefinitionKind {
    /// `operator`.
    Operator,
    /// `graph`.
    Graph,
}

/// `operator NAME { … }` or `graph NAME { … }` (2.2). Blocks of a kind that stands twice are both kept in
/// `duplicate_blocks`' order of appearance and their items appended, so that one error does not hide others.
#[derive(Clone, Debug, Serialize)]
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
    pub(crate) asserts: Vec<Assertion>,
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
    /// Blocks in which a statement could not be read (reported): what is missing there, or is missing elsewhere because of
    /// it, is no error of its own.
    pub unread: Vec<BlockKind>,
    /// The words of what could not be read; whatever they declare or use is not known. `None`: any word may be among them.
    #[serde(skip)]
    pub(crate) unread_words: Option<BTreeSet<String>>,
    /// Statements that were read with a token more or less than is written (reported): what else seems wrong with them may
    /// come of that.
    #[serde(skip)]
    pub(crate) repaired: Vec<Span>,
    /// Whether `is` stands anywhere in it (2.4).
    #[serde(skip)]
    pub(crate) tests_identity: bool,
    /// From the keyword to the closing brace.
    pub span: Span,
}

impl Definition {
    /// Whether a name may have been declared or used where nothing could be read.
    pub(crate) fn may_have_lost(&self, name: &str) -> bool {
        let words = self.unread_words.as_ref();
        words.is_none_or(|words| words.contains(name))
    }

    /// The statement or declaration that a place lies in.
    pub(crate) fn statement_around(&self, span: Span) -> Option<Span> {
        let declared = [
            &self.attributes,
            &self.inputs,
            &self.constants,
            &self.variables,
            &self.outputs,
        ];
        let declared = declared.into_iter().flatten().map(|d| d.span);
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
