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
    Group(Vec<Layout>),
    /// The first if it fits on the line, else the second.
    Either(Vec<Layout>, Vec<Layout>),
    /// A group that is broken even if it fits.
    Lines(Vec<Layout>),
    /// Parts with a [`Layout::Line`] between any two.
    Fill(Vec<Layout>),
    /// Lines begin at the current column.
    Align(Vec<Layout>),
    /// Lines begin one level further in.
    Indent(Vec<Layout>),
    /// Lines after the first begin one level further in; blocks inside are indented from there.
    Statement(Vec<Layout>),
    /// Lines begin one level further in than the enclosing statement.
    Block(Vec<Layout>),
}

impl Layout {
    /// The same without possible line breaks.
    pub(crate) fn rigid(self) -> Layout {
        let all = |parts: Vec<Layout>| parts.into_iter().map(Layout::rigid).collect();
        match self {
            Layout::Line => Layout::Space,
            Layout::Soft => Layout::Group(Vec::new()),
            Layout::Group(parts) => Layout::Group(all(parts)),
            Layout::Either(parts, _) | Layout::Align(parts) => Layout::Group(all(parts)),
            Layout::Fill(parts) => {
                let mut row = Vec::new();
                for (at, part) in parts.into_iter().enumerate() {
                    if at > 0 {
                        row.push(Layout::Space);
                    }
                    row.push(part.rigid());
                }
                Layout::Group(row)
            }
            other => other,
        }
    }
}

/// The width on one line; `None` if it must be broken.
fn flat(layout: &Layout) -> Option<usize> {
    match layout {
        Layout::Token { text, gap } if gap.comments.is_empty() => Some(text.chars().count()),
        Layout::Token { .. } | Layout::End | Layout::Restart | Layout::Lines(_) => None,
        Layout::Space | Layout::Line => Some(1),
        Layout::Soft => Some(0),
        Layout::Fill(parts) => {
            let width = flat_all(parts)?;
            Some(width + parts.len().saturating_sub(1))
        }
        Layout::Group(parts)
        | Layout::Either(parts, _)
        | Layout::Align(parts)
        | Layout::Indent(parts)
        | Layout::Statement(parts)
        | Layout::Block(parts) => flat_all(parts),
    }
}

fn flat_all(parts: &[Layout]) -> Option<usize> {
    parts.iter().try_fold(0, |sum, part| Some(sum + flat(part)?))
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
    let Some(width) = flat(first) else {
        return false;
    };
    let Some(mut columns) = columns.checked_sub(width) else {
        return false;
    };
    let mut next: Vec<(&Layout, bool)> = Vec::new();
    for work in rest.iter().rev() {
        next.push((work.layout, work.broken));
        while let Some((layout, broken)) = next.pop() {
            let parts = match layout {
                Layout::Line | Layout::Soft if broken => return true,
                Layout::End | Layout::Restart => return true,
                Layout::Token { text, gap } => {
                    let Some(less) = columns.checked_sub(text.chars().count()) else {
                        return false;
                    };
                    columns = less;
                    if !gap.comments.is_empty() {
                        return true;
                    }
                    continue;
                }
                Layout::Space | Layout::Line => {
                    let Some(less) = columns.checked_sub(1) else {
                        return false;
                    };
                    columns = less;
                    continue;
                }
                Layout::Soft => continue,
                // The text that follows directly is kept on the line if it fits.
                Layout::Group(parts) | Layout::Either(parts, _) => match flat_all(parts) {
                    Some(width) => {
                        let Some(less) = columns.checked_sub(width) else {
                            return false;
                        };
                        columns = less;
                        continue;
                    }
                    None => {
                        next.extend(parts.iter().rev().map(|p| (p, true)));
                        continue;
                    }
                },
                Layout::Lines(parts) => {
                    next.extend(parts.iter().rev().map(|p| (p, true)));
                    continue;
                }
                // After its first part, a fill may end the line.
                Layout::Fill(parts) => {
                    if parts.len() > 1 {
                        next.push((&Layout::Line, broken));
                    }
                    next.extend(parts.first().map(|p| (p, broken)));
                    continue;
                }
                Layout::Align(parts)
                | Layout::Indent(parts)
                | Layout::Statement(parts)
                | Layout::Block(parts) => parts,
            };
            next.extend(parts.iter().rev().map(|p| (p, broken)));
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
            self.new_line(indent, false);
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
    fn new_line(&mut self, indent: usize, blank: bool) {
        self.new_line_below(indent, indent, blank);
    }

    /// Like [`Self::new_line`], with a separate indentation of comments.
    fn new_line_below(&mut self, comment_indent: usize, indent: usize, blank: bool) {
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
        writer.new_line(0, true);
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
        Layout::Space | Layout::Line | Layout::Soft | Layout::End | Layout::Restart => None,
        Layout::Group(parts)
        | Layout::Either(parts, _)
        | Layout::Lines(parts)
        | Layout::Fill(parts)
        | Layout::Align(parts)
        | Layout::Indent(parts)
        | Layout::Statement(parts)
        | Layout::Block(parts) => parts.first().and_then(first_token),
    }
}

fn step<'l>(writer: &mut Writer, work: Work<'l>, stack: &mut Vec<Work<'l>>) {
    let within = |layout, work: Work<'l>| Work { layout, ..work };
    match work.layout {
        Layout::Token { text, gap } => {
            writer.token(text, work.indent);
            writer.take(gap);
        }
        Layout::Space => writer.space = true,
        Layout::Line if !work.broken => writer.space = true,
        Layout::Soft if !work.broken => {}
        Layout::Line | Layout::Soft => {
            writer.new_line_below(comment_indent(work.indent, stack), work.indent, false);
        }
        Layout::End => writer.new_line_below(comment_indent(work.indent, stack), work.indent, true),
        Layout::Restart => writer.new_line_below(comment_indent(work.base, stack), work.base, false),
        Layout::Group(parts) => {
            let columns = writer.width.saturating_sub(writer.column + usize::from(writer.space));
            let broken = writer.full || !fits(work.layout, stack, columns);
            let inner = Work { broken, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Lines(parts) => {
            let inner = Work { broken: true, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Either(tight, loose) => {
            let columns = writer.width.saturating_sub(writer.column + usize::from(writer.space));
            let broken = work.broken && (writer.full || !fits(work.layout, stack, columns));
            let parts = if broken { loose } else { tight };
            let inner = Work { broken, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Fill(parts) => fill(writer, parts, work, stack),
        Layout::Align(parts) => {
            let indent = if writer.full { work.indent } else { writer.column + usize::from(writer.space) };
            let inner = Work { indent, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Indent(parts) => {
            let indent = work.indent + STEP;
            let inner = Work { indent, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Statement(parts) => {
            let inner = Work { indent: work.indent + STEP, base: work.indent, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
        Layout::Block(parts) => {
            let inner = Work { indent: work.base + STEP, ..work };
            stack.extend(parts.iter().rev().map(|p| within(p, inner)));
        }
    }
}

/// Writes the parts; a break between two parts ends the line if the next part does not fit.
fn fill<'l>(writer: &mut Writer, parts: &'l [Layout], work: Work<'l>, stack: &mut Vec<Work<'l>>) {
    // All breaks are decided here, part by part, because parts are small.
    let mut queue: Vec<Work<'l>> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            // The next break follows this part, or the last part with the text after the fill.
            let last = at + 1 == parts.len();
            let rest: &[Work] = if last { stack } else { &[] };
            let columns = writer.width.saturating_sub(writer.column + 1);
            if writer.full || !fits(part, rest, columns) {
                writer.new_line(work.indent, false);
            } else {
                writer.space = true;
            }
        }
        queue.push(Work { layout: part, ..work });
        // A part is written to its end before the next break is decided.
        let last = at + 1 == parts.len();
        if last {
            stack.append(&mut queue);
            return;
        }
        while let Some(next) = queue.pop() {
            step(writer, next, &mut queue);
        }
    }
}
