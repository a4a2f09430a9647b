// SPDX-License-Identifier: Apache-2.0
//! Converts between positions of the protocol (line, UTF-16 unit) and of the frontend (byte).

use lsp_types::{Position, Range};

/// An index of the lines of a text, which avoids scanning the text, or a long line, from its beginning.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The byte offset of each line.
    starts: Vec<usize>,
    /// Byte offsets, one about every [`STEP`] bytes, with the number of UTF-16 units before them.
    units: Vec<(usize, usize)>,
}

const STEP: usize = 512;

impl Lines {
    /// Builds the index in linear time.
    pub(crate) fn new(text: &str) -> Lines {
        let mut lines = Lines { starts: vec![0], units: vec![(0, 0)] };
        let (mut next, mut units) = (STEP, 0);
        for (at, c) in text.char_indices() {
            if at >= next {
                lines.units.push((at, units));
                next = at + STEP;
            }
            units += c.len_utf16();
            if c == '\n' {
                lines.starts.push(at + 1);
            }
        }
        lines
    }

    /// The position of a byte offset in this text. An offset inside a character counts as its beginning.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let (starts, _) = self.starts.split_at(self.starts.partition_point(|start| *start <= offset));
        let Some((start, above)) = starts.split_last() else { unreachable!("the first line begins at 0") };
        let column = self.units(text, offset) - self.units(text, *start);
        Position::new(number(above.len()), number(column))
    }

    pub(crate) fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }

    /// The number of UTF-16 units before a byte offset.
    fn units(&self, text: &str, offset: usize) -> usize {
        let after = self.units.partition_point(|(at, _)| *at <= offset);
        let known = self.units.get(after.saturating_sub(1));
        let (at, before) = known.copied().unwrap_or_default();
        let rest = text.get(at..offset).unwrap_or_default();
        before + rest.chars().map(char::len_utf16).sum::<usize>()
    }
}

/// The byte offset of a position; a position beyond the end of a line is its end.
pub(crate) fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text.get(start..).and_then(|rest| rest.find('\n')) {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let mut units = 0;
    for (at, c) in text.split_at(start).1.char_indices() {
        if c == '\n' || units >= position.character as usize {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, offset: usize) -> Position {
        Lines::new(text).position(text, offset)
    }

    /// Scanning from the beginning for each position would take minutes for the symbols of 20 000 operators.
    #[test]
    fn positions_of_long_texts_are_computed_fast() {
        for line in ["operator f { }\n", "operator f { } "] {
            let text = line.repeat(1 << 17);
            let begun = std::time::Instant::now();
            let lines = Lines::new(&text);
            let columns = (0..1 << 17).map(|n| lines.position(&text, n * line.len()).character);
            let sum: u64 = columns.map(u64::from).sum();
            assert_eq!(sum == 0, line.ends_with('\n'));
            let took = begun.elapsed();
            assert!(took.as_secs() < 10, "{took:?}");
        }
    }

    #[test]
    fn long_lines_are_counted_in_steps() {
        let text = "\u{1F600}é".repeat(STEP) + "\n" + &"x".repeat(3 * STEP);
        for (at, _) in text.char_indices() {
            let before = &text[..at];
            let line = before.matches('\n').count();
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let column = before[start..].encode_utf16().count();
            assert_eq!(position(&text, at), Position::new(number(line), number(column)));
        }
    }

    const TEXT: &str = "ab\nx\u{1F600}y\n\nend";

    #[test]
    fn offsets_and_positions_are_inverse() {
        for (at, _) in TEXT.char_indices() {
            assert_eq!(offset(TEXT, position(TEXT, at)), at, "{at}");
        }
        assert_eq!(offset(TEXT, position(TEXT, TEXT.len())), TEXT.len());
    }

    #[test]
    fn positions_count_utf_16_units() {
        assert_eq!(position(TEXT, 3 + 1 + 4), Position::new(1, 3));
        assert_eq!(offset(TEXT, Position::new(1, 3)), 8);
    }

    #[test]
    fn out_of_range_positions_are_clamped() {
        assert_eq!(offset(TEXT, Position::new(0, 99)), 2);
        assert_eq!(offset(TEXT, Position::new(99, 0)), TEXT.len());
        assert_eq!(position(TEXT, 5), Position::new(1, 1));
        assert_eq!(position(TEXT, 999), Position::new(3, 3));
    }
}
