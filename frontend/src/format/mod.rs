// SPDX-License-Identifier: Apache-2.0
//! Text → the same program in the style of the standard library.
//!
//! The formatter moves blanks, line ends and comments, and removes semicolons that end no statement, and nothing else: the
//! other tokens that it writes are those that it read, in their order, which it checks itself before it returns a text. Which lines there are depends on the tokens, the
//! comments and a few liberties of the author: blank lines (one at a time), blocks on one line, and whether commas in
//! brackets are followed by a blank.

mod file;
mod layout;
mod source;
mod statement;
#[cfg(test)]
mod tests;

use crate::diagnostics::{Diagnostic, Sink, codes};
use crate::limits::Limits;
use crate::source::{FileId, Span};
use crate::syntax::{STACK_PER_LEVEL, parse_module, token};
use source::Source;

/// Columns that a line has where it can be broken.
pub(crate) const WIDTH: usize = 100;

/// The formatted text of a file; `None` if it is no SkriptND, which is then reported.
pub fn format(file: FileId, text: &str, limits: &Limits, sink: &mut Sink) -> Option<String> {
    let mut found = Sink::default();
    parse_module(file, text, "main", limits, &mut found);
    let broken = found.has_errors();
    for diagnostic in found.into_sorted() {
        sink.report(diagnostic);
    }
    if broken {
        return None;
    }
    let formatted = on_deep_stack(limits, || layout_of(text));
    if formatted.is_none() {
        sink.report(Diagnostic::error(
            &codes::INTERNAL,
            Span::new(file, 0, 0),
            "this file cannot be formatted without changing what it says; it is left as it is",
        ));
    }
    formatted
}

/// Statements nest as deep as the limit allows, whatever the caller's stack is.
fn on_deep_stack<T: Send>(limits: &Limits, work: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    let stack = (limits.nesting + 64).saturating_mul(2 * STACK_PER_LEVEL);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack);
        thread.spawn_scoped(scope, work).ok()?.join().ok().flatten()
    })
}

fn layout_of(text: &str) -> Option<String> {
    // A byte order mark is no token of the language.
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let body = &source::without_empty_statements(body);
    let source = Source::new(body);
    let walk = file::Walk {
        source: &source,
        at: 0,
    };
    let formatted = layout::write(&walk.file()?, &source.opening(), WIDTH);
    says_the_same(body, &formatted).then(|| format!("{mark}{formatted}"))
}

/// Whether two texts have the same tokens and the same comments.
fn says_the_same(before: &str, after: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let tokens = token::scan(text).into_iter();
        tokens
            .map(|t| text.get(t.start..t.end).unwrap_or_default().to_string())
            .collect()
    };
    words(before) == words(after) && source::comments(before) == source::comments(after)
}
