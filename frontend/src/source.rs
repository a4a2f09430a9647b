// SPDX-License-Identifier: Apache-2.0
//! Source files: their text, names and spans.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl FileId {
    /// Whether it is a file of the standard library.
    pub fn is_library(self) -> bool {
        self.0 >= FIRST_LIBRARY_FILE
    }
}

/// A byte range of one file. Serialized as `start..end`, because a serialized tree belongs to one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Span {
    /// The file in the source map.
    pub file: FileId,
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset after the last character.
    pub end: u32,
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        format!("{}..{}", span.start, span.end)
    }
}

impl Span {
    /// The bytes `start..end` of a file.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Span { file, start, end }
    }

    /// The empty span after this one, for an insertion.
    pub(crate) fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// From the end of this span to the end of a later one.
    pub(crate) fn tail_to(self, later: Span) -> Span {
        Span { start: self.end, end: later.end.max(self.end), ..self }
    }

    /// The bytes `start..end` of a file, which is shorter than 4 GiB.
    pub(crate) fn of_bytes(file: FileId, start: usize, end: usize) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file, start: offset(start), end: offset(end) }
    }

    /// The smallest span that covers both; `other` of another file is ignored.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether the span contains `other`.
    pub fn holds(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }
}

/// One source file.
#[derive(Debug)]
pub struct SourceFile {
    /// As shown in messages: the path given by the user, or `<stdlib>/nn.sknd` for embedded modules.
    pub path: PathBuf,
    /// The contents.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, b)| *b == b'\n')
                .map(|(i, _)| u32::try_from(i + 1).unwrap_or(u32::MAX)),
        );
        SourceFile { path: path.as_ref().to_path_buf(), text, line_starts }
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let (lines, _) = self.line_starts.split_at(self.line_starts.partition_point(|&s| s <= offset));
        let upto = (offset as usize).min(self.text.len());
        let before = lines.last().and_then(|start| self.text.get(*start as usize..upto));
        let column = before.map_or(0, |t| t.chars().count());
        (lines.len(), column + 1)
    }

    /// The byte offset of a 1-based line and column; `None` if the text has no such line. A column past the end of the
    /// line is clamped to the end.
    pub fn offset(&self, line: usize, column: usize) -> Option<u32> {
        let start = *self.line_starts.get(line.checked_sub(1)?)?;
        let rest = self.text.get(start as usize..)?;
        let text = rest.split_once('\n').map_or(rest, |(text, _)| text);
        let within = text.char_indices().nth(column.saturating_sub(1));
        let within = within.map_or(text.len(), |(byte, _)| byte);
        u32::try_from(start as usize + within).ok()
    }
}

/// The number of the first file of the standard library. These files have the same numbers in every [`SourceMap`], so
/// that their syntax trees can be shared.
const FIRST_LIBRARY_FILE: u32 = 1 << 30;

/// All source files of a run.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    library: BTreeMap<FileId, SourceFile>,
}

impl SourceMap {
    /// Adds a file; [`crate::limits`] exclude texts whose length exceeds u32.
    pub fn add(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> FileId {
        self.files.push(SourceFile::new(path, text));
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// Adds the library's file with this index; adding it again changes nothing.
    pub fn add_library(&mut self, index: u32, path: impl AsRef<Path>, text: &str) -> FileId {
        let id = FileId(FIRST_LIBRARY_FILE.saturating_add(index));
        self.library.entry(id).or_insert_with(|| SourceFile::new(path, text));
        id
    }

    /// A file; `None` for an id of another map.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize).or_else(|| self.library.get(&file))
    }

    /// The text a span covers, empty for spans of other source maps.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// All files with their ids, in order of loading.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(u32::try_from(i).unwrap_or(u32::MAX)), f))
            .chain(self.library.iter().map(|(id, f)| (*id, f)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_from_one() {
        let mut map = SourceMap::default();
        let id = map.add("a.sknd", "ab\nçd\n");
        let file = map.get(id).unwrap();
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(3), (2, 1));
        assert_eq!(file.line_column(5), (2, 2));
        assert_eq!(file.line_column(7), (3, 1));
    }

    #[test]
    fn offsets_are_the_way_back() {
        let mut map = SourceMap::default();
        let id = map.add("a.sknd", "ab\nçd\n");
        let file = map.get(id).unwrap();
        for offset in [0, 1, 2, 3, 5, 6, 7] {
            let (line, column) = file.line_column(offset);
            assert_eq!(file.offset(line, column), Some(offset));
        }
        assert_eq!(file.offset(1, 99), Some(2));
        assert_eq!(file.offset(0, 1), None);
        assert_eq!(file.offset(9, 1), None);
    }
}
