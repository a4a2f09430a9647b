// SPDX-License-Identifier: Apache-2.0
//! Numbers and strings.

use super::super::grammar::{Pair, Rule, all};
use super::super::read_piece;
use super::Builder;
use crate::ast::{Expr, ExprKind, StringLiteral, StringPiece};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{NUMBER, STRING};
use crate::source::Span;

impl Builder<'_> {
    pub(super) fn number(&mut self, pair: &Pair) -> ExprKind {
        let Some(literal) = pair.clone().into_inner().next() else {
            return ExprKind::Error;
        };
        let span = self.span(&literal);
        let text = literal.as_str();
        match literal.as_rule() {
            Rule::real => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => ExprKind::Real(value),
                _ => {
                    let message = format!("`{text}` is larger than a 64-bit real can be");
                    self.error_with_help(&NUMBER, span, message, "infinity is written `inf`");
                    ExprKind::Error
                }
            },
            rule => {
                if rule == Rule::glued_int {
                    let message = format!("`{text}..` could be read as the real number `{text}.`");
                    let help = format!("put a blank between them: `{text} ..`");
                    self.sink.report(Diagnostic::error(&NUMBER, span, message).with_fix(
                        help,
                        span.after(),
                        " ",
                    ));
                    return ExprKind::Error;
                }
                text.parse().map_or_else(
                    |_| {
                        let message = format!("`{text}` does not fit in 64 bits");
                        self.error(&NUMBER, span, message);
                        ExprKind::Error
                    },
                    ExprKind::Int,
                )
            }
        }
    }

    /// Joins adjacent literals, resolves escapes, parses the `{…}` inside.
    pub(super) fn string(&mut self, pair: &Pair) -> StringLiteral {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let parts: Vec<Pair> = all(pair, Rule::string_part).collect();
        let span = match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => self.span(first).to(self.span(last)),
            _ => self.span(pair),
        };
        for part in parts {
            self.string_part(&part, &mut text, &mut pieces);
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(StringPiece::Text(text));
        }
        StringLiteral { pieces, span }
    }

    /// Reports a brace in a string that does not enclose an expression.
    fn report_brace(&mut self, location: usize, message: &str, help: &str) {
        let span = self.span_at(location, location + 1);
        let before = self.span_at(location, location);
        self.sink.report(Diagnostic::error(&STRING, span, message).with_fix(help, before, "\\"));
    }

    fn string_part(&mut self, part: &Pair, text: &mut String, pieces: &mut Vec<StringPiece>) {
        let start = part.as_span().start();
        let written = part.as_str();
        let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        let mut at = 0;
        while let Some(c) = inside.get(at..).and_then(|rest| rest.chars().next()) {
            // The offset of `c` in the parsed text.
            let location = start + 1 + at;
            match c {
                '\\' => {
                    let escaped = inside.get(at + 1..).and_then(|rest| rest.chars().next());
                    let length = 1 + escaped.map_or(0, char::len_utf8);
                    match escaped {
                        Some('n') => text.push('\n'),
                        Some('t') => text.push('\t'),
                        Some('r') => text.push('\r'),
                        Some(e @ ('\\' | '"' | '\'' | '{' | '}')) => text.push(e),
                        other => self.error_with_help(
                            &STRING,
                            self.span_at(location, location + length),
                            format!("`\\{}` is not an escape sequence", other.unwrap_or(' ')),
                            "there are `\\\\`, `\\\"`, `\\'`, `\\{`, `\\}`, `\\n`, `\\r`, `\\t`",
                        ),
                    }
                    at += length;
                }
                '{' => match closing_brace(inside, at) {
                    Some(end) => {
                        if !text.is_empty() {
                            pieces.push(StringPiece::Text(std::mem::take(text)));
                        }
                        let expr =
                            self.format_piece(inside.get(at + 1..end).unwrap_or_default(), location + 1);
                        pieces.push(StringPiece::Format(expr));
                        at = end + 1;
                    }
                    None => {
                        let message = "this `{` is not closed in its string";
                        let help = "a brace that is text is written `\\{`";
                        self.report_brace(location, message, help);
                        return;
                    }
                },
                '}' => {
                    let message = "this `}` has no opening bracket";
                    let help = "a brace that is text is written `\\}`";
                    self.report_brace(location, message, help);
                    at += 1;
                }
                other => {
                    text.push(other);
                    at += other.len_utf8();
                }
            }
        }
    }

    /// `offset`: the position of the piece in the parsed text.
    fn format_piece(&mut self, piece: &str, offset: usize) -> Expr {
        let span: Span = self.span_at(offset, offset + piece.len());
        let outer = self.base;
        self.base += offset;
        let expr = read_piece(self, Rule::format_entry, piece, |builder, pair| builder.first_expr(&pair));
        self.base = outer;
        expr.unwrap_or(Expr { kind: ExprKind::Error, span })
    }
}

/// The offset of the brace that closes the brace at `open`; braces in inner strings are ignored.
fn closing_brace(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text.get(open..)?.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}
