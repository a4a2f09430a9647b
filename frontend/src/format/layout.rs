// SPDX-License-Identifier: Apache-2.0
//! Line breaking: a tree of tokens, possible breaks and indentations → text of a given width.
//!
//! The rules are those of Oppen and Wadler: a group is written on one line if it fits, else its breaks become line ends; in
//! a fill each break is independent. Comments belong to the token before them and end their line.

/// The number of spaces by which a block, or the rest of a broken statement, is indented.
const STEP: usize = 4;

/// Comments and blank lines between a token and the next token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    pub(crate) comments: Vec<Comment>,
    /// Whether a blank line stands before the next token.
    pub(crate) blank: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// The comment from its `#`.
    pub text: String,
    /// Whether it is on the line of the token before it.
    pub(crate) trailing: bool,
    /// Whether a blank line stands before it.
    pub(crate) blank: bool,
}

#[derive(Debug)]
pub(super) enum Layout {
    Token {
        text: String,
        gap: Gap,
    },
    /// A space, if the line continues.
    Space,
    /// A space, or a line end if the group is broken.
    Line,
    /// Nothing, or a line end if the group is broken.
    Soft,
    /// A line end, and an empty line if one was written.
    End,
    /// A line end at the indentation of the statement.
    Restart,
    Node {
        kind: Kind,
        parts: Parts,
        width: Option<usize>,
    },
}

pub(super) type Parts = Vec<Layout>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Group,
    /// A group that is broken even if it fits.
    Lines,
    /// Parts with a [`Layout::Line`] between any two.
    Fill,
    /// Parts without anything between them if they fit on the line, else a fill that is aligned.
    Tight,
    /// Lines begin at the current column.
    Align,
    /// Lines begin one level further in.
    Indent,
    /// Lines after the first begin one level further in; blocks inside are indented from there.
    Statement,
    /// Lines begin one level further in than the enclosing statement.
    Block,
}

pub(super) fn node(kind: Kind, parts: Parts) -> Layout {
    let widths = parts.iter().try_fold(0, |sum, part| Some(sum + part.width()?));
    let width = match kind {
        Kind::Lines => None,
        Kind::Fill => widths.map(|width| width + parts.len().saturating_sub(1)),
        _ => widths,
    };
    Layout::Node { kind, parts, width }
}

impl Layout {
    /// The width on one line; `None` if it must be broken.
    fn width(&self) -> Option<usize> {
        match self {
            Layout::Token { text, gap } => gap.comments.is_empty().then(|| text.chars().count()),
            Layout::End | Layout::Restart => None,
            Layout::Space | Layout::Line => Some(1),
            Layout::Soft => Some(0),
            Layout::Node { width, .. } => *width,
        }
    }

    /// The same without possible line breaks.
    pub(crate) fn rigid(self) -> Layout {
        match self {
            Layout::Line => Layout::Space,
            Layout::Soft => node(Kind::Group, Vec::new()),
            Layout::Node {
                kind: kind @ (Kind::Group | Kind::Fill | Kind::Tight | Kind::Align),
                parts,
                ..
            } => {
                let mut row = Vec::new();
                for part in parts {
                    if kind == Kind::Fill && !row.is_empty() {
                        row.push(Layout::Space);
                    }
                    row.push(part.rigid());
                }
                node(Kind::Group, row)
            }
            other => other,
        }
    }
}

/// A part that is still to be written.
#[derive(Clone, Copy)]
struct Work<'l> {
    layout: &'l Layout,
    indent: usize,
    /// The indentation of the enclosing statement.
    base: usize,
    broken: bool,
}

/// Whether the text up to the first possible line break fits into `columns`; `rest` are the parts after `first`, last first.
fn fits(first: &Layout, rest: &[Work], columns: usize) -> bool {
    let Some(mut columns) = first.width().and_then(|width| columns.checked_sub(width)) else {
        return false;
    };
    let mut next: Vec<(&Layout, bool)> = Vec::new();
    for work in rest.iter().rev() {
        next.push((work.layout, work.broken));
        while let Some((layout, broken)) = next.pop() {
            let width = match layout {
                Layout::Line | Layout::Soft if broken => return true,
                Layout::End | Layout::Restart => return true,
                Layout::Token { text, .. } => text.chars().count(),
                Layout::Space | Layout::Line => 1,
                Layout::Soft => 0,
                // The text that follows directly is kept on the line if it fits.
                Layout::Node { kind: Kind::Group | Kind::Tight, width: Some(width), .. } => *width,
                // After its first part, a fill may end the line.
                Layout::Node { kind: Kind::Fill, parts, .. } => {
                    if parts.len() > 1 {
                        next.push((&Layout::Line, broken));
                    }
                    next.extend(parts.first().map(|p| (p, broken)));
                    continue;
                }
                Layout::Node { kind, parts, .. } => {
                    let broken = broken || matches!(kind, Kind::Group | Kind::Tight | Kind::Lines);
                    next.extend(parts.iter().rev().map(|p| (p, broken)));
                    continue;
                }
            };
            let Some(less) = columns.checked_sub(width) else {
                return false;
            };
            columns = less;
            if matches!(layout, Layout::Token { gap, .. } if !gap.comments.is_empty()) {
                return true;
            }
        }
    }
    true
}

struct Writer {
    text: String,
    column: usize,
    width: usize,
    /// Whether a space precedes the next token of this line.
    space: bool,
    /// Whether the line ends before the next token, because a comment is at its end.
    full: bool,
    /// Text to write before the next line.
    gap: Gap,
    /// Whether the last token was a number, to which dots would attach.
    number: bool,
}

impl Writer {
    fn token(&mut self, text: &str, indent: usize) {
        if self.full {
            self.new_line(indent, indent, false);
        }
        let sticks =
            self.text.ends_with(is_word) && text.starts_with(is_word) || self.number && text.starts_with('.');
        if self.space || sticks {
            self.put(" ");
        }
        self.put(text);
        self.number = text.starts_with(|c: char| c.is_ascii_digit());
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
        self.space = false;
    }

    /// Records the gap after a token; a trailing comment is written at once.
    fn take(&mut self, gap: &Gap) {
        self.gap = gap.clone();
        if gap.comments.is_empty() {
            return;
        }
        self.full = true;
        if gap.comments.first().is_some_and(|c| c.trailing) {
            let comment = self.gap.comments.remove(0);
            self.text.push_str("  ");
            self.text.push_str(&comment.text);
        }
    }

    /// Ends the line; comments on separate lines follow.
    fn new_line(&mut self, comment_indent: usize, indent: usize, blank: bool) {
        let gap = std::mem::take(&mut self.gap);
        let opened = self.text.is_empty() || self.text.ends_with('{');
        for (at, comment) in gap.comments.iter().enumerate() {
            self.begin(comment_indent, comment.blank && !(at == 0 && opened));
            self.put(&comment.text);
        }
        let opened = gap.comments.is_empty() && opened;
        self.begin(indent, blank && gap.blank && !opened);
        self.full = false;
        self.space = false;
        self.number = false;
    }

    fn begin(&mut self, indent: usize, blank: bool) {
        if !self.text.is_empty() {
            self.text.push('\n');
            if blank {
                self.text.push('\n');
            }
        }
        self.text.push_str(&" ".repeat(indent));
        self.column = indent;
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text of a file: `before` is the text before its first token.
pub(super) fn write(file: &[Layout], before: &Gap, width: usize) -> String {
    let mut writer = Writer {
        text: String::new(),
        column: 0,
        width,
        space: false,
        full: false,
        gap: before.clone(),
        number: false,
    };
    if !before.comments.is_empty() {
        writer.new_line(0, 0, true);
    }
    let mut stack: Vec<Work> = Vec::new();
    let top = |layout| Work { layout, indent: 0, base: 0, broken: true };
    stack.extend(file.iter().rev().map(top));
    while let Some(work) = stack.pop() {
        step(&mut writer, work, &mut stack);
    }
    // Comments at the end of the file.
    if !writer.gap.comments.is_empty() {
        writer.gap.blank = false;
        let gap = std::mem::take(&mut writer.gap);
        for comment in &gap.comments {
            writer.begin(0, comment.blank);
            writer.put(&comment.text);
        }
    }
    let mut lines: Vec<&str> = writer
        .text
        .lines()
        // Comments keep their trailing characters, such as non-ASCII spaces.
        .map(|line| line.trim_end_matches(' '))
        .collect();
    while lines.last().is_some_and(|l| l.is_empty()) {
        lines.pop();
    }
    lines.iter().fold(String::new(), |text, line| text + line + "\n")
}

/// The indentation of comments before `rest`: comments before a closing brace are indented like the contents of the
/// block.
fn comment_indent(indent: usize, rest: &[Work]) -> usize {
    match rest.last().and_then(|work| first_token(work.layout)) {
        Some("}") => indent + STEP,
        _ => indent,
    }
}

fn first_token(layout: &Layout) -> Option<&str> {
    match layout {
        Layout::Token { text, .. } => Some(text),
        Layout::Node { parts, .. } => parts.first().and_then(first_token),
        _ => None,
    }
}

fn step<'l>(writer: &mut Writer, work: Work<'l>, stack: &mut Vec<Work<'l>>) {
    let (kind, parts) = match work.layout {
        Layout::Token { text, gap } => {
            writer.token(text, work.indent);
            return writer.take(gap);
        }
        Layout::Space => return writer.space = true,
        Layout::Line if !work.broken => return writer.space = true,
        Layout::Soft if !work.broken => return,
        Layout::Line | Layout::Soft | Layout::End | Layout::Restart => {
            let indent = if matches!(work.layout, Layout::Restart) { work.base } else { work.indent };
            let blank = matches!(work.layout, Layout::End);
            return writer.new_line(comment_indent(indent, stack), indent, blank);
        }
        Layout::Node { kind, parts, .. } => (kind, parts),
    };
    let column = writer.column + usize::from(writer.space);
    let fits = |stack: &[Work]| !writer.full && fits(work.layout, stack, writer.width.saturating_sub(column));
    let mut inner = work;
    let aligned = if writer.full { work.indent } else { column };
    match kind {
        Kind::Group => inner.broken = !fits(stack),
        Kind::Lines => inner.broken = true,
        Kind::Fill => return fill(writer, parts, work, stack),
        Kind::Tight => {
            inner.broken = work.broken && !fits(stack);
            if inner.broken {
                return fill(writer, parts, Work { indent: aligned, ..inner }, stack);
            }
        }
        Kind::Align => inner.indent = aligned,
        Kind::Indent => inner.indent += STEP,
        Kind::Statement => (inner.indent, inner.base) = (work.indent + STEP, work.indent),
        Kind::Block => inner.indent = work.base + STEP,
    }
    stack.extend(parts.iter().rev().map(|layout| Work { layout, ..inner }));
}

/// Writes the parts; a break between two parts ends the line if the next part does not fit.
fn fill<'l>(writer: &mut Writer, parts: &'l [Layout], work: Work<'l>, stack: &mut Vec<Work<'l>>) {
    let Some((last, before)) = parts.split_last() else { return };
    let next = |writer: &mut Writer, part, rest: &[Work]| {
        let columns = writer.width.saturating_sub(writer.column + 1);
        if writer.full || !fits(part, rest, columns) {
            writer.new_line(work.indent, work.indent, false);
        } else {
            writer.space = true;
        }
    };
    // A part is written to its end before the next break is decided; the text after the fill follows its last part.
    for (at, part) in before.iter().enumerate() {
        if at > 0 {
            next(writer, part, &[]);
        }
        let mut queue = vec![Work { layout: part, ..work }];
        while let Some(part) = queue.pop() {
            step(writer, part, &mut queue);
        }
    }
    if !before.is_empty() {
        next(writer, last, stack);
    }
    stack.push(Work { layout: last, ..work });
}
