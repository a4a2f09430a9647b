// SPDX-License-Identifier: Apache-2.0
//! Ranges by nesting: folding, and selections that grow.

use crate::positions::Lines;
use lsp_types::{FoldingRange, FoldingRangeKind, SelectionRange};
use skript_frontend::syntax::token::{Bracket, Token, TokenKind, lex, scan};
use std::ops::Range;

/// Brackets, comments and imports of several lines.
pub(crate) fn folding(text: &str, lines: &Lines) -> Vec<FoldingRange> {
    let tokens = lex(text);
    let line = |offset: usize| lines.position(text, offset).line;
    let mut ranges = Vec::new();
    let mut fold = |start: u32, end: u32, kind: Option<FoldingRangeKind>| {
        if start < end {
            ranges.push(FoldingRange {
                start_line: start,
                start_character: None,
                end_line: end,
                end_character: None,
                kind,
                collapsed_text: None,
            });
        }
    };
    let mut open = Vec::new();
    for token in &tokens {
        match token.kind {
            TokenKind::Open(_) => open.push(line(token.start)),
            // Editors show the line of the closing bracket.
            TokenKind::Close(_) => {
                if let Some(start) = open.pop() {
                    fold(start, line(token.start).saturating_sub(1), None);
                }
            }
            _ => {}
        }
    }
    let begins_line = |token: &Token| {
        let before = text.split_at(token.start).0;
        before.rsplit_once('\n').map_or(before, |(_, last)| last).trim().is_empty()
    };
    let comments = tokens.iter().filter(|t| t.kind == TokenKind::Comment && begins_line(t));
    for group in groups(comments.map(|t| line(t.start))) {
        fold(group.start, group.end, Some(FoldingRangeKind::Comment));
    }
    let imports = tokens.iter().filter(|t| t.depth == 0 && t.text == "import");
    for group in groups(imports.map(|t| line(t.start))) {
        fold(group.start, group.end, Some(FoldingRangeKind::Imports));
    }
    ranges
}

/// Consecutive lines, as first and last line.
fn groups(lines: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut groups: Vec<Range<u32>> = Vec::new();
    for line in lines {
        match groups.last_mut() {
            Some(group) if group.end + 1 == line => group.end = line,
            _ => groups.push(line..line),
        }
    }
    groups
}

/// The ranges around an offset, from the word to the whole text, each in the next.
pub(crate) fn selection(text: &str, lines: &Lines, offset: usize) -> SelectionRange {
    let mut selection = None;
    for range in around(text, offset) {
        let range = lines.range(text, range.start, range.end);
        selection = Some(SelectionRange { range, parent: selection.map(Box::new) });
    }
    selection.unwrap_or_else(|| unreachable!("internal compiler error: the whole text is a range"))
}

/// The ranges around an offset, from the whole text to the word.
fn around(text: &str, offset: usize) -> Vec<Range<usize>> {
    let tokens = scan(text);
    let mut ranges = Vec::new();
    ranges.push(0..text.len());
    let mut inside = 0..tokens.len();
    while let Some(part) = tokens.get(inside.clone()) {
        if let Some([first, .., last]) = part.get(statement(part, offset)) {
            push(&mut ranges, first.start..last.end, offset);
        }
        let Some((open, close)) = bracket(part, offset) else { break };
        if let Some((start, end)) = part.get(open).zip(part.get(close)) {
            push(&mut ranges, start.start..end.end, offset);
            push(&mut ranges, start.end..end.start, offset);
        }
        inside = inside.start + open + 1..inside.start + close;
    }
    let word = tokens.iter().find(|t| t.kind == TokenKind::Word && t.start <= offset && offset <= t.end);
    if let Some(word) = word {
        push(&mut ranges, word.start..word.end, offset);
    }
    ranges
}

/// The tokens of the statement or definition around an offset, between two ends at the depth of the first token.
fn statement(part: &[Token], offset: usize) -> Range<usize> {
    let depth = part.first().map_or(0, |t| t.depth);
    let ends = |t: &Token| {
        t.depth == depth && matches!(t.kind, TokenKind::Semicolon | TokenKind::Close(Bracket::Curly))
    };
    let next = part.partition_point(|t| t.end < offset);
    let first = part.iter().take(next).rposition(ends).map_or(0, |at| at + 1);
    let last = part.iter().skip(next).position(ends).map_or(part.len(), |at| next + at + 1);
    first..last
}

/// The tokens of the brackets around an offset, at the depth of the first token.
fn bracket(part: &[Token], offset: usize) -> Option<(usize, usize)> {
    let depth = part.first()?.depth;
    let is_open = |t: &Token| t.depth == depth && matches!(t.kind, TokenKind::Open(_)) && t.end <= offset;
    let open = part.iter().rposition(is_open)?;
    let is_close = |t: &Token| t.depth == depth && matches!(t.kind, TokenKind::Close(_));
    let close = open + 1 + part.iter().skip(open + 1).position(is_close)?;
    (part.get(close)?.start >= offset).then_some((open, close))
}

/// Adds a range that is smaller than the last one and contains the offset.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>, offset: usize) {
    let is_inside =
        ranges.last().is_some_and(|r| r.start <= range.start && range.end <= r.end && *r != range);
    if is_inside && range.start <= offset && offset <= range.end {
        ranges.push(range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# One.\n# Two.\nimport a;\nimport b;\ngraph G {\n    @compose {\n        x = f(a, g(b));\n        y = x;\n    }\n}\n";

    #[test]
    fn selections_grow_by_nesting() {
        let offset = TEXT.find("b));").unwrap();
        let texts: Vec<&str> = around(TEXT, offset).into_iter().skip(1).map(|r| &TEXT[r]).collect();
        let lines: Vec<&str> = texts.iter().map(|t| t.trim().lines().next().unwrap()).collect();
        assert_eq!(
            lines,
            [
                "graph G {",
                "{",
                "@compose {",
                "@compose {",
                "{",
                "x = f(a, g(b));",
                "x = f(a, g(b));",
                "(a, g(b))",
                "a, g(b)",
                "(b)",
                "b"
            ]
        );
        for offset in 0..=TEXT.len() {
            let ranges = around(TEXT, offset);
            assert!(ranges.windows(2).all(|w| w[0].start <= w[1].start && w[1].end <= w[0].end), "{offset}");
        }
    }

    #[test]
    fn brackets_comments_and_imports_fold() {
        let ranges = folding(TEXT, &Lines::new(TEXT));
        let mut lines: Vec<(u32, u32)> = ranges.iter().map(|r| (r.start_line, r.end_line)).collect();
        lines.sort_unstable();
        assert_eq!(lines, [(0, 1), (2, 3), (4, 8), (5, 7)]);
    }
}
