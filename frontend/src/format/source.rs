// SPDX-License-Identifier: Apache-2.0
//! The formatter's view of the text: its tokens, and the comments and blanks between them.

use super::layout::{Comment, Gap, Layout};
use crate::syntax::token::{Bracket, Token, TokenKind, scan};

pub(super) struct Source<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token<'t>>,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Source { text, tokens: scan(text) }
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The index of the first token that begins at an offset or after it.
    fn index(&self, offset: usize) -> usize {
        self.tokens.partition_point(|t| t.start < offset)
    }

    /// The whitespace and comments between an offset and the next token. `fresh`: whether they begin on a new line.
    fn gap(&self, offset: usize, fresh: bool) -> Gap {
        let next = self.tokens.get(self.index(offset)).map_or(self.text.len(), |t| t.start);
        gap(self.slice(offset, next), fresh)
    }

    /// The text before the first token.
    pub(crate) fn opening(&self) -> Gap {
        let mut gap = self.gap(0, true);
        // Blank lines at the beginning of the file are dropped.
        if let Some(first) = gap.comments.first_mut() {
            first.blank = false;
        }
        gap
    }

    /// The token of the grammar from `start` to `end`, with the gap after it.
    pub(super) fn token(&self, start: usize, end: usize) -> Layout {
        Layout::Token { text: self.slice(start, end).to_string(), gap: self.gap(end, false) }
    }

    /// Whether the author writes no space after the commas in the bracket at an offset.
    pub(crate) fn is_tight(&self, offset: usize) -> bool {
        let (_, tokens) = self.tokens.split_at(self.index(offset));
        let depth = tokens.first().map_or(0, |open| open.depth + 1);
        let inside = tokens.windows(2).skip(1).map_while(|pair| match pair {
            [token, next] if token.depth >= depth => Some((token, next)),
            _ => None,
        });
        let mut commas = inside.filter(|(token, _)| token.kind == TokenKind::Comma && token.depth == depth);
        commas.any(|(comma, next)| comma.end == next.start && next.text != "]")
    }
}

/// The text with a space in place of each semicolon that does not end a statement of a block: `x: real; ;`.
pub(super) fn without_empty_statements(text: &str) -> String {
    let mut kept = String::new();
    let mut last = 0;
    for pair in scan(text).windows(2) {
        let [before, token] = pair else { continue };
        // The brace of a block is nested in that of its definition.
        let begins = before.kind == TokenKind::Open(Bracket::Curly) || before.kind == TokenKind::Semicolon;
        if begins && token.kind == TokenKind::Semicolon && token.depth == 2 {
            kept.extend([text.split_at(token.start).0.split_at(last).1, " "]);
            last = token.end;
        }
    }
    kept + text.split_at(last).1
}

/// Reads whitespace and comments. `fresh`: whether they begin on a new line.
fn gap(text: &str, fresh: bool) -> Gap {
    let mut gap = Gap::default();
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let line = line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}');
        if line.is_empty() {
            // The first piece ends the line of the previous token, the last piece begins the line of the next token.
            gap.blank |= at > 0 && lines.peek().is_some();
        } else {
            let blank = std::mem::take(&mut gap.blank);
            gap.comments.push(Comment { text: line.to_string(), trailing: at == 0 && !fresh, blank });
        }
    }
    gap
}
