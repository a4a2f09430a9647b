//! Places of the protocol (line, UTF-16 unit) and of the frontend (byte).

use lsp_types::{Position, Range};

/// The position of a byte offset; offsets inside a character count as its beginning.
pub fn position(text: &str, offset: usize) -> Position {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column: usize = before
        .get(start..)
        .unwrap_or_default()
        .chars()
        .map(char::len_utf16)
        .sum();
    Position::new(number(line), number(column))
}

/// The byte offset of a position; what is behind the end of a line is its end.
pub fn offset(text: &str, position: Position) -> usize {
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

pub fn range(text: &str, start: usize, end: usize) -> Range {
    Range::new(position(text, start), position(text, end.max(start)))
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn places_that_do_not_exist_are_moved() {
        assert_eq!(offset(TEXT, Position::new(0, 99)), 2);
        assert_eq!(offset(TEXT, Position::new(99, 0)), TEXT.len());
        assert_eq!(position(TEXT, 5), Position::new(1, 1));
        assert_eq!(position(TEXT, 999), Position::new(3, 3));
    }
}
