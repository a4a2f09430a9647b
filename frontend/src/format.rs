// SPDX-License-Identifier: Apache-2.0
//! Formats a program in the style of the standard library.
//!
//! The formatter changes only whitespace, line ends, the positions of comments, and semicolons that do not end a
//! statement. It writes all other tokens unchanged in their order, and verifies this before it returns a text. Line
//! breaks depend on the tokens, the comments and a few choices of the author: blank lines (one at a time), blocks on one
//! line, and whether commas in brackets are followed by a space.

mod file;
mod layout;
mod source;
mod statement;
#[cfg(test)]
mod tests;

use crate::diagnostics::{Diagnostic, Sink, codes};
use crate::limits::Limits;
use crate::source::{FileId, Span};
use crate::syntax::{STACK_PER_LEVEL, on_stack, parse_module, token};
use source::Source;

/// The maximum width of lines that can be broken.
pub(crate) const WIDTH: usize = 100;

/// The formatted text of a file; `None` if it is not valid SkriptND, which is reported.
pub fn format(file: FileId, text: &str, limits: &Limits, sink: &mut Sink) -> Option<String> {
    let mut parse_sink = Sink::default();
    parse_module(file, text, "main", limits, &mut parse_sink);
    let broken = parse_sink.has_errors();
    for diagnostic in parse_sink.into_sorted() {
        sink.report(diagnostic);
    }
    if broken {
        return None;
    }
    // A stack for the maximum nesting of statements, independent of the caller's.
    let stack = (limits.nesting + 64).saturating_mul(2 * STACK_PER_LEVEL);
    let formatted = on_stack(stack, || layout_of(text)).flatten();
    if formatted.is_none() {
        sink.report(Diagnostic::error(
            &codes::INTERNAL,
            Span::new(file, 0, 0),
            "formatting this file would change its tokens or comments; the file is left unchanged",
        ));
    }
    formatted
}

fn layout_of(text: &str) -> Option<String> {
    // A byte order mark is not a token of the language.
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let body = &source::without_empty_statements(body);
    let source = Source::new(body);
    let walk = file::Walk { source: &source, at: 0 };
    let formatted = layout::write(&walk.file()?, &source.opening(), WIDTH);
    has_same_tokens(body, &formatted).then(|| format!("{mark}{formatted}"))
}

/// Whether two texts have the same tokens and the same comments.
fn has_same_tokens(before: &str, after: &str) -> bool {
    let written = |text, comments: bool| {
        let tokens = token::lex(text).into_iter();
        let of_kind = tokens.filter(move |t| (t.kind == token::TokenKind::Comment) == comments);
        of_kind.map(|t| t.text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}'))
    };
    [false, true].into_iter().all(|comments| written(before, comments).eq(written(after, comments)))
}
