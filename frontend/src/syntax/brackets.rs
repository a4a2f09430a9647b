// SPDX-License-Identifier: Apache-2.0
//! Brackets of statements: the kinds of braces, a `;` within brackets, and diagnostics for unmatched ones.

use super::splitter::Splitter;
use super::token::{Bracket, Token, TokenKind};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{BRACKET, SYNTAX};

/// The maximum number of scanned tokens, so that a text of brackets does not take quadratic time.
const MAX_SCANNED: usize = 200;

/// An open bracket and its kind.
pub(super) type Opened<'t> = (&'t Token<'t>, Bracket);

impl<'t> Splitter<'t, '_> {
    /// Whether a brace opens a block of statements; after a name or `>` it opens attributes.
    pub(super) fn opens_block(&self, brace: &Token) -> bool {
        if brace.kind != TokenKind::Open(Bracket::Curly) {
            return false;
        }
        let mut at = self.tokens.partition_point(|t| t.start < brace.start);
        // An inserted token has the same start as the next token.
        while self.tokens.get(at).is_some_and(|t| t.kind != brace.kind) {
            at += 1;
        }
        let before = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        match before.map(|t| (t.kind, t.text)) {
            Some((TokenKind::Word, word)) => {
                let begins_part = matches!(word, "then" | "else" | "do" | "if" | "elif" | "while" | "unroll");
                begins_part || self.closes_part(at)
            }
            Some((TokenKind::Operator, ">")) => false,
            _ => true,
        }
    }

    /// Whether the brace at an index is closed where a branch or a statement ends, or a statement in the syntax of other
    /// languages, `for … { … }`. Attributes are followed by arguments instead.
    fn closes_part(&self, brace: usize) -> bool {
        let mut depth = 0_usize;
        let rest = self.tokens.iter().skip(brace);
        let mut rest = rest.take(MAX_SCANNED).skip_while(|token| {
            match token.kind {
                TokenKind::Open(Bracket::Curly) => depth += 1,
                TokenKind::Close(Bracket::Curly) => depth -= 1,
                _ => {}
            }
            depth > 0
        });
        let after = rest.nth(1).map(|t| t.text);
        after.is_some_and(|word| match word {
            ";" | "then" | "elif" | "else" => true,
            "(" => false,
            _ => self.begins_with_control(brace),
        })
    }

    /// Whether the statement that continues at an index begins with a keyword of control flow.
    fn begins_with_control(&self, at: usize) -> bool {
        let before = self.tokens.iter().take(at).rev();
        let ends = |t: &&Token| {
            matches!(
                t.kind,
                TokenKind::Semicolon | TokenKind::Open(Bracket::Curly) | TokenKind::Close(Bracket::Curly)
            )
        };
        let first = before.take(MAX_SCANNED).take_while(|t| !ends(t)).last();
        first.is_some_and(|t| self.is_control(t))
    }

    /// Whether a token is a keyword of control flow that cannot begin a statement.
    pub(super) fn is_control(&self, token: &Token) -> bool {
        matches!(token.text, "for" | "if" | "while" | "do")
    }

    /// Whether the `;` here separates items within a bracket that is closed after the items. Items within a brace must be
    /// attributes; items within other brackets must not be statements.
    pub(super) fn separates(&self, (bracket, kind): &Opened) -> bool {
        let is_brace = *kind == Bracket::Curly;
        if is_brace && self.opens_block(bracket) {
            return false;
        }
        let mut depth = 0_usize;
        let (_, rest) = self.tokens.split_at(self.at);
        let mut rest = rest.get(..MAX_SCANNED).unwrap_or(rest).iter();
        while let Some(token) = rest.next() {
            let mut next = rest.as_slice().iter();
            match token.kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(closing) if depth == 0 => {
                    let is_invoked = next.next().is_some_and(|t| t.text == "(");
                    return closing == *kind && (is_invoked || !is_brace);
                }
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Semicolon if depth == 0 && is_brace => {
                    let is_name = next.next().is_some_and(|t| t.kind == TokenKind::Word);
                    if !is_name || next.next().is_none_or(|t| t.text != "=") {
                        return false;
                    }
                }
                _ if depth == 0 && !is_brace && token.text == "=" => return false,
                TokenKind::At | TokenKind::OpenString => return false,
                _ if self.begins_definition(token) => return false,
                _ => {}
            }
        }
        false
    }

    pub(super) fn separator(&self, semicolon: &Token) -> Diagnostic {
        let (message, span) = ("`;` ends statements, it does not separate", self.span(semicolon));
        Diagnostic::error(&SYNTAX, span, message).with_fix(
            "write `,` between attributes, arguments and items",
            span,
            ",",
        )
    }

    /// The error that a bracket is not closed before `found`.
    pub(super) fn unclosed_bracket(
        &self,
        open: Option<&Opened>,
        found: Option<&Token>,
    ) -> Option<Diagnostic> {
        let (open, bracket) = open?;
        let message = format!("`{}` is not closed", bracket.opening());
        let help = format!("add `{}`", bracket.closing());
        let diagnostic = Diagnostic::error(&BRACKET, self.span(open), message);
        Some(match found {
            Some(found) => {
                let label = format!("`{}` found before it was", found.text);
                let diagnostic = diagnostic.with_label_at(self.span(found), label);
                if found.kind == TokenKind::Semicolon {
                    let end = self.location(found.start, found.start);
                    diagnostic.with_fix(help, end, bracket.closing())
                } else {
                    diagnostic.with_help(help)
                }
            }
            None => diagnostic.with_help(help),
        })
    }

    /// `inner`: the innermost open bracket.
    pub(super) fn unopened(&self, close: &Token, inner: Option<&Opened>) -> Diagnostic {
        let span = self.span(close);
        match inner {
            Some((open, bracket)) => {
                let message = format!("expected `{}`, found `{}`", bracket.closing(), close.text);
                Diagnostic::error(&BRACKET, span, message).with_label_at(self.span(open), "opened here")
            }
            None => Diagnostic::error(&BRACKET, span, format!("`{}` has no opening bracket", close.text)),
        }
    }
}
