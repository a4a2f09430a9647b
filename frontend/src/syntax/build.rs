// SPDX-License-Identifier: Apache-2.0
//! Converts pest's pairs to the syntax tree of one statement.

mod block;
mod composition;
mod expr;
mod formula;
mod literal;
mod types;

pub(crate) use composition::open_type_list;
pub(crate) use expr::precedence;

use super::grammar::{Pair, Rule};
use super::token::Token;
use crate::ast::{EditionMarks, Ident, Path};
use crate::diagnostics::{Code, Diagnostic, Sink};
use crate::limits::Limits;
use crate::source::{FileId, Span};

/// The state that the builders share while a file is parsed.
pub(super) struct Builder<'s> {
    pub(super) file: FileId,
    /// The byte offset of the parsed text in the file.
    pub(super) base: usize,
    /// The tokens of the complete file.
    pub(super) tokens: &'s [Token<'s>],
    /// The differences between the parsed text and the file.
    pub(super) splices: Vec<Splice>,
    pub(super) limits: &'s Limits,
    pub(super) sink: &'s mut Sink,
    pub(super) marks: EditionMarks,
}

/// A replacement of bytes of the file in the parsed text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Splice {
    /// The offset in the file: [`Builder::base`] plus an offset in the text.
    pub(super) at: usize,
    pub(super) written: usize,
    pub(super) replaced: usize,
}

impl Builder<'_> {
    /// The span in the file, for offsets of the parsed text.
    pub(super) fn span_at(&self, start: usize, end: usize) -> Span {
        Span::of_bytes(self.file, self.in_file(start), self.in_file(end))
    }

    /// The offset in the file for an offset in the parsed text.
    fn in_file(&self, offset: usize) -> usize {
        let mut at = self.base + offset;
        for splice in self.splices.iter().rev() {
            if at >= splice.at + splice.written {
                at = at - splice.written + splice.replaced;
            } else {
                at = at.min(splice.at);
            }
        }
        at
    }

    /// Pest includes whitespace and comments before an absent optional part in a rule; they are removed here.
    pub(super) fn span(&self, pair: &Pair) -> Span {
        let start = pair.as_span().start();
        let end = self.in_file(start + pair.as_str().trim_end().len());
        let start = self.in_file(start);
        let after = self.tokens.partition_point(|t| t.start < end);
        let last = after.checked_sub(1).and_then(|at| self.tokens.get(at));
        let end = last.map_or(end, |t| end.min(t.end));
        Span::of_bytes(self.file, start, end.max(start))
    }

    pub(super) fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        self.sink.report(Diagnostic::error(code, span, message));
    }

    pub(super) fn error_with_help(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.sink.report(Diagnostic::error(code, span, message).with_help(help));
    }

    pub(super) fn mark_draft(&mut self, span: Span, text: &str) {
        self.marks.draft_only.get_or_insert_with(|| (span, text.to_string()));
    }

    pub(super) fn mark_khronos(&mut self, span: Span, text: &str) {
        self.marks.khronos_only.get_or_insert_with(|| (span, text.to_string()));
    }

    pub(super) fn ident(&mut self, pair: &Pair) -> Ident {
        let ident = Ident { name: pair.as_str().trim_end().to_string(), span: self.span(pair) };
        if ident.name == "_" {
            let message = "`_` alone is not a name";
            let help = "write a name, or `~` to skip a tensor";
            self.error_with_help(&crate::diagnostics::codes::RESERVED_WORD, ident.span, message, help);
        }
        ident
    }

    /// All direct children that are names.
    fn idents(&mut self, pair: &Pair) -> Vec<Ident> {
        let names = pair.clone().into_inner().filter(|c| matches!(c.as_rule(), Rule::ident | Rule::any_type));
        names.map(|name| self.ident(&name)).collect()
    }

    pub(super) fn path(&mut self, pair: &Pair) -> Path {
        Path { parts: self.idents(pair), span: self.span(pair) }
    }

    /// The first direct child that is a name.
    fn first_ident(&mut self, pair: &Pair) -> Ident {
        let child = pair.clone().into_inner().find(|c| matches!(c.as_rule(), Rule::ident | Rule::any_type));
        let child = child.unwrap_or_else(|| unreachable!("internal compiler error: no name in `{pair}`"));
        self.ident(&child)
    }
}
