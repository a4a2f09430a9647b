// SPDX-License-Identifier: Apache-2.0
//! The formatter's view of the text: its tokens, and the comments and blanks between them.

use super::layout::{Comment, Gap, Layout};
use crate::syntax::token::{Bracket, Token, TokenKind, scan};
use std::borrow::Cow;

pub(super) struct Source<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Source { text, tokens: scan(text) }
    }

    pub(super) fn word(&self, token: &Token) -> &'t str {
        self.slice(token.start, token.end)
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The text before the first token.
    pub(crate) fn opening(&self) -> Gap {
        let end = self.tokens.first().map_or(self.text.len(), |t| t.start);
        let mut gap = gap(self.slice(0, end), true);
        // Blank lines at the beginning of the file are dropped.
        if let Some(first) = gap.comments.first_mut() {
            first.blank = false;
        }
        gap
    }

    /// The token of the grammar from `start` to `end`, with the gap after it.
    pub(super) fn token(&self, start: usize, end: usize) -> Layout {
        let next = self.tokens.partition_point(|t| t.start < end);
        let next = self.tokens.get(next).map_or(self.text.len(), |t| t.start);
        Layout::Token { text: self.slice(start, end).to_string(), gap: gap(self.slice(end, next), false) }
    }

    /// Whether the author writes no space after the commas between these brackets.
    pub(crate) fn is_tight(&self, start: usize, end: usize) -> bool {
        let first = self.tokens.partition_point(|t| t.start < start + 1);
        let mut depth = 0usize;
        for pair in self.tokens.split_at(first).1.windows(2) {
            let [token, next] = pair else { continue };
            if token.start >= end {
                break;
            }
            match self.word(token) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 0 && token.end == next.start && self.word(next) != "]" => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

/// The text with a space in place of each semicolon that does not end a statement of a block: `x: real; ;`.
pub(super) fn without_empty_statements(text: &str) -> Cow<'_, str> {
    let mut stray = Vec::new();
    let mut depth = 0_usize;
    // Whether a statement of a block begins with the next token.
    let mut begins = false;
    for token in scan(text) {
        let is_curly = |kind| kind == Bracket::Curly;
        match token.kind {
            TokenKind::Open(kind) => {
                depth += 1;
                // The brace of a block is nested in that of its definition.
                begins = is_curly(kind) && depth == BLOCK;
            }
            TokenKind::Close(_) => {
                depth = depth.saturating_sub(1);
                begins = false;
            }
            TokenKind::Semicolon if begins => stray.push(token.start..token.end),
            TokenKind::Semicolon => begins = depth == BLOCK,
            _ => begins = false,
        }
    }
    if stray.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = text.to_owned();
    for range in stray {
        kept.replace_range(range, " ");
    }
    Cow::Owned(kept)
}

/// The number of open brackets around the statements of a block.
const BLOCK: usize = 2;

/// Reads whitespace and comments. `fresh`: whether they begin on a new line.
fn gap(text: &str, fresh: bool) -> Gap {
    let mut gap = Gap::default();
    let mut own_line = fresh;
    let mut blank = false;
    for (at, line) in text.split('\n').enumerate() {
        own_line |= at > 0;
        let line = line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}');
        if line.is_empty() {
            // The first piece ends the line of the previous token, the last piece begins the line of the next token.
            blank |= at > 0 && text.matches('\n').count() > at;
        } else {
            gap.comments.push(Comment { text: line.to_string(), trailing: !own_line, blank });
            blank = false;
        }
    }
    gap.blank = blank;
    gap
}

/// All comments in order, as they are kept.
pub(super) fn comments(text: &str) -> Vec<String> {
    let tokens = scan(text);
    let mut comments = Vec::new();
    let mut at = 0;
    for next in tokens.iter().map(|t| (t.start, t.end)).chain([(text.len(), 0)]) {
        let between = gap(text.split_at(next.0).0.split_at(at).1, true);
        comments.extend(between.comments.into_iter().map(|c| c.text));
        at = next.1;
    }
    comments
}
