// SPDX-License-Identifier: Apache-2.0
//! Files: imports, definitions, blocks, statements.

use super::layout::Layout;
use super::layout::Layout::{End, Group, Indent, Line, Space};
use super::source::Source;
use super::statement::Statement;
use crate::ast::BlockKind;
use crate::syntax::grammar::Rule;
use crate::syntax::read;
use crate::syntax::splitter::BLOCKS;
use crate::syntax::token::{Bracket, Token, TokenKind};

/// Walks over a file that the parser accepts. `None` if the walk differs from the parse.
pub(super) struct Walk<'s, 't> {
    pub source: &'s Source<'t>,
    pub at: usize,
}

impl Walk<'_, '_> {
    pub(super) fn file(mut self) -> Option<Vec<Layout>> {
        let mut parts = Vec::new();
        while let Some(token) = self.peek() {
            if !parts.is_empty() {
                parts.push(End);
            }
            match self.source.word(&token) {
                "import" => parts.push(self.statement(Rule::import_line)?),
                _ => self.definition(&mut parts)?,
            }
        }
        Some(parts)
    }

    fn peek(&self) -> Option<Token> {
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

    fn definition(&mut self, parts: &mut Vec<Layout>) -> Option<()> {
        const OPEN: TokenKind = TokenKind::Open(Bracket::Curly);
        while !self.is(OPEN) {
            parts.push(self.take()?);
            parts.push(Space);
        }
        parts.push(self.take()?);
        let mut body = Vec::new();
        while self.is(TokenKind::At) {
            body.push(End);
            body.push(self.block()?);
        }
        parts.push(Indent(body));
        parts.push(Line);
        parts.push(self.take()?);
        Some(())
    }

    /// `@name { … }`, on one line if the author wrote it so and it fits.
    fn block(&mut self) -> Option<Layout> {
        let first = self.peek()?;
        let mut parts = vec![self.take()?];
        let word = self.source.word(&self.peek()?);
        let (_, kind) = BLOCKS.iter().find(|(name, _)| *name == word)?;
        parts.extend([self.take()?, Space, self.take()?]);
        let mut statements = Vec::new();
        while !self.is(TokenKind::Close(Bracket::Curly)) {
            statements.push(self.statement(entry(*kind))?);
        }
        let last = self.peek()?;
        let one_line = !self.source.slice(first.start, last.end).contains('\n');
        let is_empty = statements.is_empty();
        let mut body = Vec::new();
        for statement in statements {
            body.push(if one_line { Line } else { End });
            body.push(statement);
        }
        parts.push(Indent(body));
        parts.push(if is_empty { Layout::Soft } else { Line });
        parts.push(self.take()?);
        Some(if one_line || is_empty {
            Group(parts)
        } else {
            // The definition's lines are broken in any case.
            Layout::Lines(parts)
        })
    }

    /// Up to the semicolon that is not enclosed in brackets.
    fn statement(&mut self, entry: Rule) -> Option<Layout> {
        let first = self.peek()?;
        let mut depth = 0usize;
        let mut end = first.end;
        loop {
            let token = self.peek()?;
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth = depth.checked_sub(1)?,
                TokenKind::Semicolon if depth == 0 => break,
                _ => {}
            }
            end = token.end;
            self.at += 1;
        }
        let pair = read(entry, self.source.slice(first.start, end)).ok()?;
        let statement = Statement { source: self.source, base: first.start, within: Default::default() };
        let mut parts = statement.entry(&pair);
        parts.push(self.take()?);
        Some(Layout::Statement(parts))
    }
}

fn entry(kind: BlockKind) -> Rule {
    match kind {
        BlockKind::Dtype => Rule::dtype_entry,
        BlockKind::Attrib
        | BlockKind::Input
        | BlockKind::Constant
        | BlockKind::Variable
        | BlockKind::Output => Rule::declaration_entry,
        BlockKind::Using => Rule::using_entry,
        BlockKind::Assert => Rule::assert_entry,
        BlockKind::Lower => Rule::lowering_entry,
        BlockKind::Compose | BlockKind::Update => Rule::component_entry,
        BlockKind::Quantize => Rule::quantize_entry,
    }
}
