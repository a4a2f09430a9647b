// SPDX-License-Identifier: Apache-2.0
//! Prints diagnostics with source lines and carets, notes with their locations, and help.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use skript_host::printable;

use super::{Diagnostic, Note, Severity};
use crate::source::{SourceFile, SourceMap, Span};

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
        head = view.shown(head);
    }
    if let Some(more) = diagnostic.more_locations() {
        head = head.element(Level::NOTE.message(more));
    }
    let mut groups = vec![head];
    // Among the calls that lead here, the innermost one in the user's own text is shown with its line.
    let is_outside_library = |note: &Note| note.span.is_some_and(|s| !s.file.is_library());
    let shown = diagnostic.notes.iter().position(is_outside_library);
    for (position, note) in diagnostic.notes.iter().enumerate() {
        let group = Group::with_title(Level::NOTE.secondary_title(note.text.as_str()));
        let view = note.span.filter(|_| shown == Some(position));
        groups.push(match view.and_then(|s| marked(sources, s)) {
            Some(view) => view.shown(group),
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

/// The maximum number of bytes of one excerpt. A longer line is shown only around the span.
const MAX_EXCERPT: usize = 4096;

/// The number of bytes around a span in such a line.
const SURROUNDINGS: usize = 200;

/// The excerpt of one file: only the lines with spans, because a file may be large.
struct View<'s> {
    file: &'s SourceFile,
    /// The byte range of the lines, or a part of a long line.
    window: Range<usize>,
    is_part: bool,
    marks: Vec<(AnnotationKind, Range<usize>, &'s str)>,
}

impl<'s> View<'s> {
    /// A span with its lines.
    fn new(file: &'s SourceFile, span: Span, kind: AnnotationKind, label: &'s str) -> Self {
        let range = within(file, span);
        let whole = lines(file, &range);
        let is_part = whole.len() > MAX_EXCERPT;
        let near = |at: usize| character_before(&file.text, at);
        let (mut window, mut marked) = (whole, range);
        if is_part {
            marked.end = marked.end.min(near(marked.start + MAX_EXCERPT / 2)).max(marked.start);
            let first = near(marked.start.saturating_sub(SURROUNDINGS)).max(window.start);
            window = first..near(marked.end + SURROUNDINGS).min(window.end);
        }
        View { file, window, is_part, marks: vec![(kind, marked, label)] }
    }

    /// Adds the marks of another view of the same file if both are full lines and near each other.
    fn join(&mut self, other: View<'s>) -> Option<View<'s>> {
        let start = self.window.start.min(other.window.start);
        let end = self.window.end.max(other.window.end);
        let is_same = std::ptr::eq(self.file, other.file);
        if !is_same || self.is_part || other.is_part || end - start > 4 * MAX_EXCERPT {
            return Some(other);
        }
        self.window = start..end;
        self.marks.extend(other.marks);
        None
    }

    fn shown(self, group: Group<'s>) -> Group<'s> {
        // A file that could not be read has nothing to show.
        if self.file.text.is_empty() {
            return group.element(Origin::path(path(&self.file.path)).line(1).char_column(1));
        }
        let at = |offset: usize| self.file.line_column(u32::try_from(offset).unwrap_or(u32::MAX));
        let (first_line, _) = at(self.window.start);
        if !self.is_part {
            let path = path(&self.file.path);
            return group.element(self.snippet(first_line).path(path));
        }
        // The column is that in the full line.
        let start = self.marks.first().map_or(self.window.start, |(_, range, _)| range.start);
        let (line, column) = at(start);
        let origin = Origin::path(path(&self.file.path)).line(line).char_column(column);
        group.element(origin).element(self.snippet(first_line))
    }

    fn snippet(&self, first_line: usize) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
        let Some(text) = self.file.text.get(self.window.clone()) else {
            unreachable!("internal compiler error: lines of another file")
        };
        // Escaped characters move the offsets after them.
        let moved = |offset: usize| printable(text.get(..offset).unwrap_or(text)).len();
        let mut snippet = Snippet::source(printable(text)).line_start(first_line);
        for (kind, range, label) in &self.marks {
            let start = range.start.saturating_sub(self.window.start);
            let end = range.end.saturating_sub(self.window.start);
            let start = moved(start);
            let mark = kind.span(start..moved(end).max(start));
            snippet = snippet.annotation(if label.is_empty() { mark } else { mark.label(*label) });
        }
        snippet
    }
}

/// The lines of one span with marks. `None` if its file has no text.
fn marked(sources: &SourceMap, span: Span) -> Option<View<'_>> {
    let file = sources.get(span.file).filter(|f| !f.text.is_empty())?;
    Some(View::new(file, span, AnnotationKind::Primary, ""))
}

/// The primary location and the labels, by file; the file of the primary location first.
fn views<'s>(diagnostic: &'s Diagnostic, sources: &'s SourceMap) -> Vec<View<'s>> {
    let primary = diagnostic.span.map(|s| (AnnotationKind::Primary, s, diagnostic.label.as_str()));
    let labels = diagnostic.labels.iter().map(|l| (AnnotationKind::Context, l.span, l.text.as_str()));
    let mut views: Vec<View<'s>> = Vec::new();
    for (kind, span, label) in primary.into_iter().chain(labels.take(Diagnostic::MAX_LABELS)) {
        let Some(file) = sources.get(span.file) else {
            continue;
        };
        let mut added = Some(View::new(file, span, kind, label));
        for view in &mut views {
            added = added.and_then(|added| view.join(added));
        }
        views.extend(added);
    }
    views
}

/// The span as a range of full characters of the file.
fn within(file: &SourceFile, span: Span) -> Range<usize> {
    let start = character_before(&file.text, span.start as usize);
    start..character_before(&file.text, span.end as usize).max(start)
}

/// The start of the character at an offset; the end of the text for larger offsets.
fn character_before(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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
