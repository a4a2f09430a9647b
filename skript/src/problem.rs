// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as data.

use skript_frontend::diagnostics::render::render;
use skript_frontend::diagnostics::{Diagnostic, Sink, nodes};
use skript_frontend::source::{SourceMap, Span};
use std::fmt;

/// How serious a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// The document can be used, but probably does not mean what its author intended.
    Warning,
}

/// A range of text; lines and columns count from 1, columns in characters, the end is exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path as it was given, or `<stdlib>/nn.sknd` for a module of the standard library.
    pub path: String,
    /// Line of the first character.
    pub line: usize,
    /// Column of the first character.
    pub column: usize,
    /// Line of the end.
    pub end_line: usize,
    /// Column after the last character.
    pub end_column: usize,
}

/// An error or a warning in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The code of the rule, such as `SK0412`; `skript explain` describes it.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The message, with the names and values of the document.
    pub message: String,
    /// The location; `None` if it is not in a text, such as for a missing file.
    pub location: Option<Location>,
    /// Further locations and remarks, such as the operator calls that lead to the location.
    pub notes: Vec<(Option<Location>, String)>,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// All of it as text for people, with lines of the document and carets; on several lines.
    pub rendered: String,
}

impl Problem {
    /// All diagnostics, in the order of the text. Those of a document in memory, which was imported, name nodes of the imported model.
    pub(crate) fn all(sink: Sink, sources: &SourceMap, in_memory: bool) -> Vec<Problem> {
        Problem::of_all(sink.into_sorted(), sources, in_memory)
    }

    /// The diagnostics in this order.
    pub(crate) fn of_all(diagnostics: Vec<Diagnostic>, sources: &SourceMap, in_memory: bool) -> Vec<Problem> {
        let shown = diagnostics
            .into_iter()
            .map(|diagnostic| if in_memory { nodes::of_memory(diagnostic, sources) } else { diagnostic });
        shown.map(|d| Problem::of(&d, sources)).collect()
    }

    fn of(diagnostic: &Diagnostic, sources: &SourceMap) -> Problem {
        let locate = |span: Span| location(span, sources);
        let labels = diagnostic.labels.iter().map(|label| (locate(label.span), label.text.clone()));
        let notes = diagnostic.notes.iter().map(|note| (note.span.and_then(locate), note.text.clone()));
        Problem {
            code: diagnostic.code.id,
            severity: match diagnostic.severity {
                skript_frontend::diagnostics::Severity::Error => Severity::Error,
                skript_frontend::diagnostics::Severity::Warning => Severity::Warning,
            },
            message: diagnostic.message.clone(),
            location: diagnostic.span.and_then(locate),
            notes: labels.chain(notes).collect(),
            help: diagnostic.help.clone(),
            rendered: render(diagnostic, sources, false).trim_end().to_owned(),
        }
    }
}

/// `path:line:column: error[CODE]: message`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.location {
            write!(f, "{}:{}:{}: ", at.path, at.line, at.column)?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)
    }
}

fn location(span: Span, sources: &SourceMap) -> Option<Location> {
    let file = sources.get(span.file)?;
    let (line, column) = file.line_column(span.start);
    let (end_line, end_column) = file.line_column(span.end);
    Some(Location { path: file.path.to_string_lossy().into_owned(), line, column, end_line, end_column })
}
