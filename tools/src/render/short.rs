// SPDX-License-Identifier: Apache-2.0
//! Renders `path:line:col: error[CODE]: message`, and notes in the same form. If the error is in the library, the
//! first line has the location of the innermost call outside of the library.

use std::fmt::Write as _;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::render::{location, shown};
use skript_frontend::source::{SourceMap, Span};
use skript_host::one_line;

pub(super) fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = String::new();
    let diagnostic = &shown(diagnostic);
    let mut line = |span: Option<Span>, message: &str| {
        // A message may quote text with line breaks.
        let message = one_line(message);
        let _ = match span.and_then(|s| location(sources, s)) {
            Some(p) => writeln!(text, "{}:{}:{}: {message}", p.path, p.line, p.column),
            None => writeln!(text, "{message}"),
        };
    };
    let code = diagnostic.code.id;
    let head = format!("{}[{code}]: {}", diagnostic.severity.name(), diagnostic.message);
    let user_span = diagnostic.own_location();
    line(user_span, &head);
    if user_span != diagnostic.span {
        line(diagnostic.span, "note: found here");
    }
    for label in diagnostic.labels.iter().take(Diagnostic::MAX_LABELS) {
        line(Some(label.span), &format!("note: {}", label.text));
    }
    if let Some(more) = diagnostic.more_locations() {
        line(None, &format!("note: {more}"));
    }
    for note in &diagnostic.notes {
        line(note.span, &format!("note: {}", note.text));
    }
    if let Some(help) = &diagnostic.help {
        line(None, &format!("help: {help}"));
    }
    text
}
