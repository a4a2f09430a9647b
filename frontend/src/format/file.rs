// SPDX-License-Identifier: Apache-2.0
//! Files: imports, definitions, blocks, statements.

use super::layout::Kind::{self, Group, Indent, Lines};
use super::layout::Layout::{self, End, Line, Soft, Space};
use super::layout::{Parts, node};
use super::source::Source;
use super::statement::Statement;
use crate::syntax::grammar::Rule;
use crate::syntax::read;
use crate::syntax::splitter::block_named;
use crate::syntax::token::{Bracket, Token, TokenKind};

/// Walks over a file that the parser accepts. `None` if the walk differs from the parse.
pub(super) struct Walk<'s, 't> {
    pub source: &'s Source<'t>,
    pub at: usize,
}

impl<'t> Walk<'_, 't> {
    pub(super) fn file(mut self) -> Option<Parts> {
        let mut parts = Vec::new();
        while let Some(token) = self.peek() {
            if !parts.is_empty() {
                parts.push(End);
            }
            match token.text {
                "import" => parts.push(self.statement(Rule::import_line)?),
                _ => self.definition(&mut parts)?,
            }
        }
        Some(parts)
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.source.tokens.get(self.at).copied()
    }

    /// Writes the next token unchanged.
    fn take(&mut self) -> Option<Layout> {
        let token = self.peek()?;
        self.at += 1;
        Some(self.source.token(token.start, token.end))
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.peek().is_some_and(|t| t.kind == kind)
    }

    fn definition(&mut self, parts: &mut Parts) -> Option<()> {
        while !self.is(TokenKind::Open(Bracket::Curly)) {
            parts.extend([self.take()?, Space]);
        }
        parts.push(self.take()?);
        let mut body = Vec::new();
        while self.is(TokenKind::At) {
            body.extend([End, self.block()?]);
        }
        parts.extend([node(Indent, body), Line, self.take()?]);
        Some(())
    }

    /// `@name { … }`, on one line if the author wrote it so and it fits.
    fn block(&mut self) -> Option<Layout> {
        let first = self.peek()?;
        let mut parts = vec![self.take()?];
        let (_, entry) = block_named(self.peek()?.text)?;
        parts.extend([self.take()?, Space, self.take()?]);
        let mut statements = Vec::new();
        while !self.is(TokenKind::Close(Bracket::Curly)) {
            statements.push(self.statement(entry)?);
        }
        let one_line = !self.source.slice(first.start, self.peek()?.end).contains('\n');
        let is_empty = statements.is_empty();
        let separated = |statement| [if one_line { Line } else { End }, statement];
        parts.push(node(Indent, statements.into_iter().flat_map(separated).collect()));
        parts.extend([if is_empty { Soft } else { Line }, self.take()?]);
        // The definition's lines are broken in any case.
        Some(node(if one_line || is_empty { Group } else { Lines }, parts))
    }

    /// Up to the semicolon that is not enclosed in brackets.
    fn statement(&mut self, entry: Rule) -> Option<Layout> {
        let (_, rest) = self.source.tokens.split_at_checked(self.at)?;
        let first = rest.first()?;
        let ends = |t: &Token| t.kind == TokenKind::Semicolon && t.depth == first.depth;
        let length = rest.iter().position(ends)?;
        let last = rest.get(length.checked_sub(1)?)?;
        let pair = read(entry, self.source.slice(first.start, last.end)).ok()?;
        let statement = Statement { source: self.source, base: first.start, within: Default::default() };
        let mut parts = statement.parts(&pair);
        self.at += length;
        parts.push(self.take()?);
        Some(node(Kind::Statement, parts))
    }
}
