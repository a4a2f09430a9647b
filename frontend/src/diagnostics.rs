// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of the frontend: one list per document, complete and in source order.
//!
//! Every code has a separate file under [`codes`]. [`render`] prints a diagnostic for users; the tools print other formats.

pub mod calls;
pub mod codes;
mod json;
mod nearest;
pub mod nodes;
mod page;
pub mod render;

pub use json::json;
pub use nearest::closest;
pub use page::page;

use crate::source::Span;
use rustc_hash::FxHashMap;

/// The identity of a diagnostic: `SKccnn`, cc = section of chapter 2 (02–16), 30 composition, 40 library, 80 `.mlir`
/// and passes, 90 model folders and weights, 91 command line, 92 run-time checks.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// The id that users see and that `skript explain` accepts, `SK0651`.
    pub id: &'static str,
    /// One line, lower case, no full stop.
    pub title: &'static str,
    /// The text of `skript explain`: the rule, an example with the error, the corrected example.
    pub explanation: &'static str,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used.
    Warning,
}

impl Severity {
    /// The word in messages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A secondary span with its label.
#[derive(Clone, Debug)]
pub struct Label {
    /// The source text that is underlined.
    pub span: Span,
    /// The text beside it.
    pub text: String,
}

/// A note on its own line, often one frame of the operator call stack.
#[derive(Clone, Debug)]
pub struct Note {
    /// The source text that the note is about, if any.
    pub span: Option<Span>,
    /// The text of the note.
    pub text: String,
}

/// An edit of the source text that carries out the help of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The text that is replaced; empty for an insertion.
    pub span: Span,
    /// The text that replaces it.
    pub text: String,
}

/// One message.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The diagnostic's identity.
    pub code: &'static Code,
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// The specific message, with names and values.
    pub message: String,
    /// The primary span; `None` only without a source (a missing folder).
    pub span: Option<Span>,
    /// Text under the caret of the primary span; may be empty.
    pub label: String,
    /// Secondary locations.
    pub labels: Vec<Label>,
    /// Notes, in order of printing.
    pub notes: Vec<Note>,
    /// How to fix it.
    pub help: Option<String>,
    /// The edit that the help describes, if it is exactly one.
    pub fix: Option<Fix>,
    /// If an error about a name in another definition is the cause of this diagnostic: that definition and the name.
    pub(crate) cause: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error at a location.
    pub fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: shortened(message.into()),
            span: Some(span),
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            cause: None,
        }
    }

    /// A warning at a location.
    pub fn warning(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// An error without a location in a source file.
    pub fn without_location(code: &'static Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: shortened(message.into()),
            span: None,
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
            cause: None,
        }
    }

    /// A warning without a location in a source file.
    pub fn warning_without_location(code: &'static Code, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::without_location(code, message) }
    }

    /// Sets the text under the primary location.
    pub fn with_label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a secondary location with its text.
    pub fn with_label_at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: shortened(text.into()) });
        self
    }

    /// The maximum number of secondary locations that are written for people.
    pub const MAX_LABELS: usize = 8;

    /// Adds another location of the same error.
    pub(crate) fn and_at(&mut self, span: Span) {
        self.labels.push(Label { span, text: "and here".to_string() });
    }

    /// `and 3 more locations`, if there are more than are written.
    pub fn more_locations(&self) -> Option<String> {
        let more = self.labels.len().checked_sub(Self::MAX_LABELS).filter(|more| *more > 0)?;
        Some(format!("and {}", counted(more, "more location")))
    }

    /// Adds a note.
    pub fn with_note(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        self.notes.push(Note { span, text: shortened(text.into()) });
        self
    }

    /// The location in the user's text: for a diagnostic in a library file, the innermost call outside of the library.
    pub fn own_location(&self) -> Option<Span> {
        let labels = self.labels.iter().map(|label| label.span);
        let notes = self.notes.iter().filter_map(|note| note.span);
        let mut locations = self.span.into_iter().chain(labels).chain(notes);
        locations.find(|span| !span.file.is_library()).or(self.span)
    }

    /// Suggests `did you mean …?` if a known name is similar to the unknown name, else lists all known names, if any.
    pub fn with_names(self, unknown: &str, what: &str, known: &[&str]) -> Self {
        match closest(unknown, known.iter().copied()) {
            Some(near) => self.with_meant(near),
            None if known.is_empty() => self,
            None => self.with_help(format!("{what} {}", known.join(", "))),
        }
    }

    pub(crate) fn with_cause(mut self, definition: Span, name: &str) -> Self {
        self.cause = Some((definition, name.to_string()));
        self
    }

    /// Suggests a known name in place of the unknown name at the primary span.
    pub(crate) fn with_meant(self, name: &str) -> Self {
        match self.span {
            Some(span) => self.with_fix(format!("did you mean `{name}`?"), span, name),
            None => self.with_help(format!("did you mean `{name}`?")),
        }
    }

    /// Sets the help, and the edit that it describes.
    pub(crate) fn with_fix(mut self, help: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { span, text: text.into() });
        self.with_help(help)
    }

    /// Sets the help.
    pub fn with_help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(shortened(text.into()));
        self
    }
}

/// Collects diagnostics.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
    /// The index of the first diagnostic with this location, code and message.
    first: FxHashMap<(Span, &'static str, String), usize>,
    /// The number of messages that were reported elsewhere before.
    before: usize,
    /// The work of the compositions that report here.
    pub(crate) work: u64,
}

impl Sink {
    /// A sink for a part of a program, after `whole` has collected the parts before.
    pub(crate) fn after(whole: &Sink) -> Self {
        Sink { before: whole.before + whole.diagnostics.len(), ..Sink::default() }
    }

    /// Adds a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if let Some(key) = key(&diagnostic) {
            self.first.entry(key).or_insert(self.diagnostics.len());
        }
        self.diagnostics.push(diagnostic);
    }

    /// Whether a diagnostic with the same location, code and message was reported here.
    pub(crate) fn has_reported(&self, diagnostic: &Diagnostic) -> bool {
        key(diagnostic).is_some_and(|key| self.first.contains_key(&key))
    }

    /// Adds a location to a diagnostic of the same file with this code and message; returns whether there is one.
    pub(crate) fn add_location(&mut self, code: &Code, message: &str, span: Span) -> bool {
        let mut reported = self.diagnostics.iter_mut();
        let same = reported
            .find(|d| d.code == code && d.message == message && d.span.is_some_and(|s| s.file == span.file));
        same.map(|d| d.and_at(span)).is_some()
    }

    /// Drops all but the first `kept` messages.
    pub fn take_back(&mut self, kept: usize) {
        self.diagnostics.truncate(kept);
        self.first.retain(|_, index| *index < kept);
    }

    /// The known name that was probably meant. Only the first messages compare names, which takes time.
    pub fn closest<'a>(&self, name: &str, known: impl FnOnce() -> Vec<&'a str>) -> Option<&'a str> {
        const MAX_DIAGNOSTICS: usize = 100;
        if self.before + self.diagnostics.len() < MAX_DIAGNOSTICS { closest(name, known()) } else { None }
    }

    /// The work of the compositions that report here, in the steps of the limit `work`.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// The number of errors.
    pub fn error_count(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// All messages, sorted by file and location in the user's text.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        let location = |d: &Diagnostic| d.own_location().map(|s| (s.file, s.start));
        self.diagnostics.sort_by_key(location);
        self.diagnostics
    }

    /// The reported diagnostics, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

fn key(diagnostic: &Diagnostic) -> Option<(Span, &'static str, String)> {
    Some((diagnostic.span?, diagnostic.code.id, diagnostic.message.clone()))
}

/// `1 input`, `2 inputs`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
/// Truncates a message, because values and names in it may be as long as documents.
fn shortened(mut message: String) -> String {
    const MAX_BYTES: usize = 4000;
    if message.len() > MAX_BYTES {
        let mut end = MAX_BYTES;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push('…');
        message.shrink_to_fit();
    }
    message
}
