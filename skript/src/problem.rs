// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as data.

use skript_frontend::diagnostics::render::render;
use skript_frontend::diagnostics::{Diagnostic, nodes};
use skript_frontend::source::{SourceMap, Span};
use std::fmt;

/// The severity of a problem.
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
    /// The path as it was passed, or `<stdlib>/nn.sknd` for a module of the standard library.
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
#[derive(Clone, Debug)]
pub struct Problem {
    /// The code of the rule, such as `SK0412`; `skript explain` describes it.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The message, with the names and values of the document.
    pub message: String,
    /// The location; `None` if it is not in a text, such as for a missing file.
    pub location: Option<Location>,
    /// Further locations and notes, such as the operator calls that lead to the location.
    pub notes: Vec<(Option<Location>, String)>,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// The complete diagnostic as text of several lines, with lines of the document and carets.
    pub rendered: String,
    diagnostic: Diagnostic,
}

/// How messages about a document refer to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locations {
    /// By lines.
    Lines,
    /// By lines, and by nodes of the imported model.
    LinesAndNodes,
    /// Only by nodes: the text is in memory.
    Nodes,
}

impl Locations {
    pub(crate) fn shown(self, diagnostic: Diagnostic, sources: &SourceMap) -> Diagnostic {
        match self {
            Locations::Lines => diagnostic,
            Locations::LinesAndNodes => nodes::with_node(diagnostic, sources),
            Locations::Nodes => nodes::without_memory_locations(diagnostic, sources),
        }
    }
}

impl Problem {
    /// Converts diagnostics.
    pub(crate) fn all(
        diagnostics: Vec<Diagnostic>,
        sources: &SourceMap,
        locations: Locations,
    ) -> Vec<Problem> {
        diagnostics.into_iter().map(|d| Problem::new(d, sources, locations)).collect()
    }

    /// The diagnostic of the compiler's crates, for tools that render it themselves. Its interface changes without notice.
    pub fn into_diagnostic(self) -> Diagnostic {
        self.diagnostic
    }

    pub(crate) fn new(original: Diagnostic, sources: &SourceMap, locations: Locations) -> Problem {
        let diagnostic = locations.shown(original.clone(), sources);
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
            rendered: render(&diagnostic, sources, false).trim_end().to_owned(),
            diagnostic: original,
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
