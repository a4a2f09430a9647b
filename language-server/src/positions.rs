// SPDX-License-Identifier: Apache-2.0
//! Positions of the protocol (line, UTF-16 unit) and of the frontend (byte).

use lsp_types::{Position, Range};

/// An index of the lines of a text, so that positions are found without scanning the text, or a long line, from its
/// beginning.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Byte offsets of the lines.
    starts: Vec<usize>,
    /// Byte offsets about every [`STEP`] bytes, with the number of UTF-16 units before them.
    units: Vec<(usize, usize)>,
}

const STEP: usize = 512;

impl Lines {
    /// Builds the index in linear time.
    pub(crate) fn of(text: &str) -> Lines {
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

    /// The position of a byte offset in this text; offsets inside a character count as its beginning.
    pub(crate) fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let after = self.starts.partition_point(|start| *start <= offset);
        let line = after.saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = self.units(text, offset) - self.units(text, start);
        Position::new(number(line), number(column))
    }

    pub(crate) fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }

    /// UTF-16 units before a byte offset.
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
    for (at, c) in text.get(start..).unwrap_or_default().char_indices() {
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
        Lines::of(text).position(text, offset)
    }

    /// Positions were once computed by scanning from the beginning: the symbols of 20 000 operators took minutes.
    #[test]
    fn many_positions_of_a_long_text_are_found_soon() {
        for line in ["operator f { }\n", "operator f { } "] {
            let text = line.repeat(1 << 17);
            let begun = std::time::Instant::now();
            let lines = Lines::of(&text);
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
    fn every_offset_comes_back() {
        for (at, _) in TEXT.char_indices() {
            assert_eq!(offset(TEXT, position(TEXT, at)), at, "{at}");
        }
        assert_eq!(offset(TEXT, position(TEXT, TEXT.len())), TEXT.len());
    }

    #[test]
    fn units_are_those_of_utf_16() {
        assert_eq!(position(TEXT, 3 + 1 + 4), Position::new(1, 3));
        assert_eq!(offset(TEXT, Position::new(1, 3)), 8);
    }

    #[test]
    fn positions_that_do_not_exist_are_moved() {
        assert_eq!(offset(TEXT, Position::new(0, 99)), 2);
        assert_eq!(offset(TEXT, Position::new(99, 0)), TEXT.len());
        assert_eq!(position(TEXT, 5), Position::new(1, 1));
        assert_eq!(position(TEXT, 999), Position::new(3, 3));
    }
}
