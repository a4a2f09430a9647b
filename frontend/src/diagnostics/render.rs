// SPDX-License-Identifier: Apache-2.0
//! Prints diagnostics with source lines and carets, notes with their locations, and help.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use skript_host::printable;

use super::{Diagnostic, Note, Severity};
use crate::source::{FileId, SourceFile, SourceMap, Span};

/// The text of a diagnostic, escaped for terminals, and an empty line.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, colours: bool) -> String {
    let diagnostic = &shown(diagnostic);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.id);
    let mut head = Group::with_title(title);
    for view in views(diagnostic, sources) {
        // A file that could not be read has nothing to show.
        head = if view.file.text.is_empty() {
            head.element(Origin::path(path(&view.file.path)).line(1).char_column(1))
        } else {
            head.element(view.snippet())
        };
    }
    let mut groups = vec![head];
    // Among the calls that lead here, the innermost one in the user's own text is shown with its line.
    let is_outside_library = |note: &Note| note.span.is_some_and(|s| !s.file.is_library());
    let shown = diagnostic.notes.iter().position(is_outside_library);
    for (position, note) in diagnostic.notes.iter().enumerate() {
        let group = Group::with_title(Level::NOTE.secondary_title(note.text.as_str()));
        let view = note.span.filter(|_| shown == Some(position));
        groups.push(match view.and_then(|s| marked(sources, s)) {
            Some(view) => group.element(view.snippet()),
            None => match note.span.and_then(|s| location(sources, s)) {
                Some(p) => group.element(Origin::path(p.path).line(p.line).char_column(p.column)),
                None => group,
            },
        });
    }
    if let Some(help) = &diagnostic.help {
        groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
    }
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n\n", renderer.decor_style(DecorStyle::Ascii).render(&groups))
}

/// The excerpt of one file: only the lines with spans, because a file may be large.
struct View<'s> {
    file: &'s SourceFile,
    /// The byte range of the lines.
    window: Range<usize>,
    first_line: usize,
    marks: Vec<(AnnotationKind, Range<usize>, &'s str)>,
}

impl<'s> View<'s> {
    fn snippet(self) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
        let Some(text) = self.file.text.get(self.window.clone()) else {
            unreachable!("internal compiler error: lines of another file")
        };
        // Escaped characters move the offsets after them.
        let moved = |offset: usize| printable(text.get(..offset).unwrap_or(text)).len();
        let mut snippet =
            Snippet::source(printable(text)).path(path(&self.file.path)).line_start(self.first_line);
        for (kind, range, label) in self.marks {
            let start = range.start.saturating_sub(self.window.start);
            let end = range.end.saturating_sub(self.window.start);
            let start = moved(start);
            let mark = kind.span(start..moved(end).max(start));
            snippet = snippet.annotation(if label.is_empty() { mark } else { mark.label(label) });
        }
        snippet
    }
}

/// The lines of one span with marks. `None` if its file has no text.
fn marked(sources: &SourceMap, span: Span) -> Option<View<'_>> {
    let file = sources.get(span.file).filter(|f| !f.text.is_empty())?;
    let range = within(file, span);
    let window = lines(file, &range);
    let start = u32::try_from(window.start).unwrap_or(u32::MAX);
    Some(View {
        file,
        first_line: file.line_column(start).0,
        window,
        marks: vec![(AnnotationKind::Primary, range, "")],
    })
}

/// The primary location and the labels, by file; the file of the primary location first.
fn views<'s>(diagnostic: &'s Diagnostic, sources: &'s SourceMap) -> Vec<View<'s>> {
    let primary = diagnostic.span.map(|s| (AnnotationKind::Primary, s, diagnostic.label.as_str()));
    let labels = diagnostic.labels.iter().map(|l| (AnnotationKind::Context, l.span, l.text.as_str()));
    let mut views: Vec<(FileId, View<'s>)> = Vec::new();
    for (kind, span, label) in primary.into_iter().chain(labels) {
        let Some(file) = sources.get(span.file) else {
            continue;
        };
        let range = within(file, span);
        let window = lines(file, &range);
        let slot = match views.iter().position(|(id, _)| *id == span.file) {
            Some(at) => at,
            None => {
                let view = View { file, window: window.clone(), first_line: 1, marks: Vec::new() };
                views.push((span.file, view));
                views.len() - 1
            }
        };
        if let Some((_, view)) = views.get_mut(slot) {
            view.window = view.window.start.min(window.start)..view.window.end.max(window.end);
            let start = u32::try_from(view.window.start).unwrap_or(u32::MAX);
            view.first_line = file.line_column(start).0;
            view.marks.push((kind, range, label));
        }
    }
    views.into_iter().map(|(_, view)| view).collect()
}

/// The span as a range of full characters of the file.
fn within(file: &SourceFile, span: Span) -> Range<usize> {
    let boundary = |at: u32| {
        let mut at = (at as usize).min(file.text.len());
        while !file.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

/// The range widened to full lines.
fn lines(file: &SourceFile, range: &Range<usize>) -> Range<usize> {
    let (before, _) = file.text.split_at(range.start);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (_, after) = file.text.split_at(range.end);
    let end = after.find('\n').map_or(file.text.len(), |at| range.end + at);
    start..end
}

/// A location with path, line and column, counted from 1.
pub struct Location {
    /// The path, escaped for terminals.
    pub path: String,
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// The location of the first character of a span.
pub fn location(sources: &SourceMap, span: Span) -> Option<Location> {
    let file = sources.get(span.file)?;
    let (line, column) = file.line_column(span.start);
    Some(Location { path: path(&file.path), line, column })
}

fn path(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// Escapes the texts of a diagnostic for terminals, because they quote documents, files and file names.
pub fn shown(diagnostic: &Diagnostic) -> Diagnostic {
    let mut shown = diagnostic.clone();
    let texts = [&mut shown.message, &mut shown.label].into_iter();
    let labels = shown.labels.iter_mut().map(|label| &mut label.text);
    let notes = shown.notes.iter_mut().map(|note| &mut note.text);
    for text in texts.chain(labels).chain(notes).chain(&mut shown.help) {
        *text = printable(text).into_owned();
    }
    shown
}
