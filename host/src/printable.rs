// SPDX-License-Identifier: Apache-2.0
//! Escapes file contents and file names, so that a terminal does not interpret them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes as `\u{…}` every character that controls a terminal, reorders text or is invisible.
///
/// Line feeds (with a preceding carriage return) and tabs are unchanged. The result for a prefix of the text is a prefix
/// of the result, unless the prefix ends between a carriage return and a line feed.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes the text as [`printable`] does, and replaces line ends by spaces.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        let line = text.replace("\r\n", " ").replace('\n', " ");
        Cow::Owned(escaped(&line, |c| c == '\t').into_owned())
    } else {
        escaped(text, |c| c == '\t')
    }
}

fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_hidden = |c: char| is_hidden(c) && !is_kept(c);
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n') && is_kept('\n');
        if is_hidden(c) && !ends_line {
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and characters of Unicode's categories Cf, Zl and Zp: direction marks, joiners, tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, shown) in [
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("\u{9b}2J\u{7f}\0\u{8}", "\\u{9b}2J\\u{7f}\\u{0}\\u{8}"),
            ("over\rwritten", "over\\u{d}written"),
            ("a\u{200b}\u{feff}\u{2028}b", "a\\u{200b}\\u{feff}\\u{2028}b"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(one_line(text), shown);
        }
    }

    #[test]
    fn other_text_is_unchanged() {
        for text in ["", "größer ≤ 3\tπ", "日本語 🙂", "two\nlines\r\n"] {
            assert!(matches!(printable(text), Cow::Borrowed(_)) || text.contains('\r'));
            assert_eq!(printable(text), text);
        }
        assert_eq!(one_line("a\r\nb\nc"), "a b c");
    }

    #[test]
    fn results_for_prefixes_are_prefixes() {
        let text = "x\u{1b}ä\u{202e}\n\u{e0001}y";
        let whole = printable(text);
        for (at, _) in text.char_indices() {
            assert!(whole.starts_with(&*printable(&text[..at])), "{at}");
        }
    }
}
