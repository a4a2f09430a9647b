// SPDX-License-Identifier: Apache-2.0
//! Converts the grammar's pairs of statements to spaces and possible line breaks.

use std::cell::Cell;

use super::layout::Layout;
use super::layout::Layout::{Align, Block, End, Fill, Group, Indent, Line, Restart, Space};
use super::source::Source;
use crate::syntax::grammar::{Pair, Rule};

/// Reads pairs of a text that begins at `base` of the file.
pub(super) struct Statement<'s, 't> {
    pub source: &'s Source<'t>,
    pub base: usize,
    /// The number of open brackets in which the author may write `a+b` without spaces.
    pub within: Cell<usize>,
}

type Parts = Vec<Layout>;

/// Items of a list, each with the comma after it.
#[derive(Default)]
struct Items {
    done: Vec<Layout>,
    open: Parts,
}

impl Items {
    fn is_empty(&self) -> bool {
        self.done.is_empty() && self.open.is_empty()
    }

    fn add(&mut self, part: Layout) {
        self.open.push(part);
    }

    fn close(&mut self, comma: Parts) {
        self.open.extend(comma);
        self.done.push(Group(std::mem::take(&mut self.open)));
    }

    fn finish(mut self) -> Vec<Layout> {
        if !self.open.is_empty() {
            self.done.push(Group(self.open));
        }
        self.done
    }
}

fn children<'t>(pair: &Pair<'t>) -> Vec<Pair<'t>> {
    let inner = pair.clone().into_inner();
    inner.filter(|p| p.as_rule() != Rule::EOI).collect()
}

/// Whether one of the parts is a block, which always has separate lines.
fn has_block(pair: &Pair) -> bool {
    let mut inner = pair.clone().into_inner().flatten();
    inner.any(|p| p.as_rule() == Rule::labelled_block)
}

impl Statement<'_, '_> {
    /// The parts of a complete statement.
    pub(super) fn entry(&self, pair: &Pair) -> Parts {
        self.parts(pair)
    }

    fn layout(&self, pair: &Pair) -> Layout {
        let mut parts = self.parts(pair);
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                Group(parts)
            }
        }
    }

    fn parts(&self, pair: &Pair) -> Parts {
        let inner = children(pair);
        if inner.is_empty() {
            let span = pair.as_span();
            let (start, end) = (self.base + span.start(), self.base + span.end());
            return if span.start() == span.end() { Vec::new() } else { vec![self.source.token(start, end)] };
        }
        let opens = matches!(
            pair.as_rule(),
            Rule::index | Rule::shape_spec | Rule::list | Rule::pack_spec | Rule::expand
        );
        self.within.set(self.within.get() + usize::from(opens));
        let parts = self.parts_of(pair, &inner);
        self.within.set(self.within.get() - usize::from(opens));
        parts
    }

    fn parts_of(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        match pair.as_rule() {
            Rule::expr => self.expr(pair),
            Rule::chain => self.chain(inner),
            Rule::lowering_entry => self.lowering(inner),
            Rule::assert_entry => self.assertion(inner),
            Rule::branching => self.branching(pair, inner),
            Rule::looping => self.looping(pair, inner),
            Rule::labelled_block => self.block(inner),
            Rule::declaration_entry => self.declaration(inner),
            Rule::list | Rule::index | Rule::shape_spec | Rule::target_list | Rule::using_list => {
                self.brackets(pair, inner)
            }
            Rule::tuple | Rule::call | Rule::attributes | Rule::type_arguments => self.bracketed(inner),
            Rule::target_zip | Rule::using_zip => self.bracketed(inner),
            Rule::invocation => self.invocation(inner),
            Rule::string => vec![Fill(inner.iter().map(|p| self.layout(p)).collect())],
            Rule::count => self.count(inner),
            Rule::access => {
                let parts = self.row(pair, inner).into_iter();
                parts.map(Layout::rigid).collect()
            }
            _ => self.row(pair, inner),
        }
    }

    /// All parts in sequence; `blanks` states whether a space precedes and follows a part.
    fn each(&self, inner: &[Pair], blanks: impl Fn(&Pair) -> (bool, bool)) -> Parts {
        let mut parts = Vec::new();
        for (at, pair) in inner.iter().enumerate() {
            let (before, behind) = blanks(pair);
            if before && at > 0 {
                parts.push(Space);
            }
            parts.extend(self.parts(pair));
            if behind && at + 1 < inner.len() {
                parts.push(Space);
            }
        }
        parts
    }

    /// The parts in sequence, with the usual spaces.
    fn row(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        let parent = pair.as_rule();
        self.each(inner, |pair| blanks(parent, pair.as_rule()))
    }

    fn expr(&self, pair: &Pair) -> Parts {
        // A chain of selects is one column of branches.
        let mut arms: Vec<Parts> = Vec::new();
        let mut next = pair.clone();
        loop {
            let inner = children(&next);
            let Some((chain, tail)) = inner.split_first() else {
                return Vec::new();
            };
            let head = self.layout(chain);
            let Some(tail) = tail.first() else {
                return self.arms(arms, vec![head]);
            };
            let parts = children(tail);
            if tail.as_rule() == Rule::coalesce {
                let mut rest = vec![head, Line];
                rest.extend(self.each(&parts, |p| (false, p.as_rule() == Rule::coalesces)));
                return self.arms(arms, vec![Group(rest)]);
            }
            let [question, then, rest @ ..] = parts.as_slice() else {
                return Vec::new();
            };
            let mut arm = vec![head, Space];
            arm.extend(self.parts(question));
            arm.push(Space);
            arm.push(self.layout(then));
            let [colon, otherwise] = rest else {
                return self.arms(arms, arm);
            };
            arm.push(Space);
            arm.extend(self.parts(colon));
            arms.push(arm);
            next = otherwise.clone();
        }
    }

    /// Selects with their alternative, which is on the line of the last branch if it fits.
    fn arms(&self, mut arms: Vec<Parts>, otherwise: Parts) -> Parts {
        let Some(last) = arms.pop() else {
            return otherwise;
        };
        let mut parts = Vec::new();
        for arm in arms {
            parts.push(Group(arm));
            parts.push(Line);
        }
        parts.push(Group(vec![Group(last), Line, Group(otherwise)]));
        vec![Align(vec![Group(parts)])]
    }

    /// Operands and operators; lines end before operators of the lowest precedence.
    fn chain(&self, inner: &[Pair]) -> Parts {
        // Folds count as operators without a right side.
        let binding = |pair: &Pair| match pair.as_rule() {
            Rule::infix => Some(precedence(pair.as_str())),
            Rule::fold => Some(precedence(children(pair).first().map_or("", |p| p.as_str()))),
            _ => None,
        };
        let Some(least) = inner.iter().filter_map(binding).min() else {
            return inner.iter().flat_map(|p| self.parts(p)).collect();
        };
        let is_least = |pair: &&Pair| binding(pair) == Some(least);
        if self.within.get() > 0 && inner.iter().filter(is_least).all(|p| self.is_tight(p)) {
            return inner.iter().flat_map(|p| self.parts(p)).collect();
        }
        let mut parts: Vec<Layout> = Vec::new();
        let mut from = 0;
        let mut part: Parts = Vec::new();
        for (at, pair) in inner.iter().enumerate() {
            if binding(pair) != Some(least) {
                continue;
            }
            if let Some(operand @ [_, ..]) = inner.get(from..at) {
                part.push(Group(self.chain(operand)));
            }
            if pair.as_rule() == Rule::fold {
                part.push(Space);
                part.extend(self.each(&children(pair), |p| (false, p.as_rule() == Rule::fold_op)));
            } else {
                parts.push(Group(std::mem::take(&mut part)));
                part.extend(self.parts(pair));
                part.push(Space);
            }
            from = at + 1;
        }
        if let Some(operand @ [_, ..]) = inner.get(from..) {
            part.push(Group(self.chain(operand)));
        }
        parts.push(Group(part));
        vec![Fill(parts)]
    }

    /// Whether an operator is arithmetic and written without blanks.
    fn is_tight(&self, pair: &Pair) -> bool {
        let span = pair.as_span();
        let (start, end) = (self.base + span.start(), self.base + span.end());
        let around = |at: Option<usize>| {
            let at = at.unwrap_or(0);
            let near = self.source.slice(at, at + 1);
            !near.is_empty() && !near.starts_with(|c: char| c.is_ascii_whitespace() || c == '#')
        };
        matches!(pair.as_str(), "+" | "-" | "*" | "/") && around(start.checked_sub(1)) && around(Some(end))
    }

    /// `[a,b]` or `[a, b]`, as the author writes it.
    fn brackets(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        let span = pair.as_span();
        let (start, end) = (self.base + span.start(), self.base + span.end());
        if self.source.is_tight(start, end) { self.list(inner, true) } else { self.list(inner, false) }
    }

    fn bracketed(&self, inner: &[Pair]) -> Parts {
        self.list(inner, false)
    }

    /// The text before the opening bracket, the bracket, items and commas, the closing bracket.
    fn list(&self, inner: &[Pair], tight: bool) -> Parts {
        let opens =
            |p: &Pair| matches!(p.as_rule(), Rule::lpar | Rule::lbracket | Rule::lbrace | Rule::langle);
        let closes =
            |p: &Pair| matches!(p.as_rule(), Rule::rpar | Rule::rbracket | Rule::rbrace | Rule::rangle);
        let (Some(open), Some(close)) = (inner.iter().position(opens), inner.iter().rposition(closes)) else {
            return self.each(inner, |_| (false, false));
        };
        let (before, rest) = inner.split_at(open + 1);
        let (items, after) = rest.split_at(close.saturating_sub(open + 1).min(rest.len()));
        let mut parts = self.each(before, |_| (false, false));
        let lines = |items: &[Pair]| {
            let mut lines: Vec<Layout> = Vec::new();
            let mut line: Parts = Vec::new();
            for item in items {
                line.extend(self.parts(item));
                if item.as_rule() == Rule::comma {
                    lines.push(Group(std::mem::take(&mut line)));
                }
            }
            if !line.is_empty() {
                lines.push(Group(line));
            }
            lines
        };
        let loose = Align(vec![Fill(lines(items))]);
        parts.push(if tight {
            // Too long for a line, so it also gets spaces.
            Layout::Either(lines(items), vec![loose])
        } else {
            loose
        });
        parts.extend(self.each(after, |_| (false, false)));
        vec![Group(parts)]
    }

    /// `..(n)`, `..(i -> n)`, `..(i ->)`.
    fn count(&self, inner: &[Pair]) -> Parts {
        let mut parts = Vec::new();
        let mut named = false;
        for pair in inner {
            if named && pair.as_rule() == Rule::expr {
                parts.push(Space);
            }
            named = pair.as_rule() == Rule::count_index;
            parts.extend(self.parts(pair));
        }
        parts
    }

    fn invocation(&self, inner: &[Pair]) -> Parts {
        let at = inner.iter().position(|p| p.as_rule() == Rule::lpar);
        let (callee, arguments) = inner.split_at(at.unwrap_or(inner.len()));
        let mut parts = self.each(callee, |p| (false, p.as_rule() == Rule::label));
        parts.extend(self.bracketed(arguments));
        parts
    }

    fn declaration(&self, inner: &[Pair]) -> Parts {
        let mut parts = Vec::new();
        let mut bounds = Items::default();
        for pair in inner {
            match pair.as_rule() {
                Rule::colon => {
                    parts.extend(self.parts(pair));
                    parts.push(Space);
                }
                Rule::assign => {
                    parts.push(Space);
                    parts.extend(self.parts(pair));
                    parts.push(Space);
                }
                Rule::comma if bounds.is_empty() => parts.extend(self.parts(pair)),
                Rule::comma => bounds.close(self.parts(pair)),
                Rule::loop_bound => bounds.add(self.layout(pair)),
                _ => parts.extend(self.parts(pair)),
            }
        }
        if !bounds.is_empty() {
            parts.extend([Line, Fill(bounds.finish())]);
        }
        vec![Group(parts)]
    }

    /// `condition: "message", value, …`: parts that do not fit on the line of the condition follow below it.
    fn assertion(&self, inner: &[Pair]) -> Parts {
        let mut condition: Parts = Vec::new();
        let mut message: Parts = Vec::new();
        let mut values = Items::default();
        for (at, pair) in inner.iter().enumerate() {
            match pair.as_rule() {
                Rule::expr if at == 0 => condition.push(self.layout(pair)),
                Rule::colon => condition.extend(self.parts(pair)),
                Rule::string => message.push(self.layout(pair)),
                Rule::comma if values.is_empty() => {
                    let first = if message.is_empty() { &mut condition } else { &mut message };
                    first.extend(self.parts(pair));
                }
                Rule::comma => values.close(self.parts(pair)),
                _ => values.add(self.layout(pair)),
            }
        }
        let mut parts = condition;
        let mut rest = message;
        if !values.is_empty() {
            if !rest.is_empty() {
                rest.push(Line);
            }
            rest.push(Fill(values.finish()));
        }
        if !rest.is_empty() {
            parts.extend([Line, Group(rest)]);
        }
        vec![Group(parts)]
    }

    /// Locals have separate lines; bounds and condition follow below a formula that needs the full line.
    fn lowering(&self, inner: &[Pair]) -> Parts {
        let mut parts: Parts = Vec::new();
        let mut formula: Parts = Vec::new();
        let mut bounds = Items::default();
        let mut condition = None;
        for pair in inner {
            match pair.as_rule() {
                Rule::local => {
                    parts.push(Group(self.row(pair, &children(pair))));
                    parts.push(Restart);
                }
                Rule::with_locals => {
                    parts.push(Group(self.clause(&children(pair))));
                    parts.push(Line);
                }
                Rule::kw_unroll => parts.extend(self.parts(pair)),
                Rule::count => {
                    parts.extend(self.parts(pair));
                    parts.push(Space);
                }
                Rule::lowering_op => {
                    formula.push(Space);
                    formula.extend(self.parts(pair));
                    formula.push(Space);
                }
                Rule::comma if bounds.is_empty() => formula.extend(self.parts(pair)),
                Rule::comma => bounds.close(self.parts(pair)),
                Rule::loop_bound => bounds.add(self.layout(pair)),
                Rule::formula_condition => condition = Some(pair),
                _ => formula.push(self.layout(pair)),
            }
        }
        let mut rest: Parts = Vec::new();
        if !bounds.is_empty() {
            rest.extend([Line, Fill(bounds.finish())]);
        }
        if let Some(pair) = condition {
            rest.push(Line);
            let (bar, condition) = match children(pair).as_slice() {
                [bar, condition @ ..] => (self.parts(bar), self.each(condition, |_| (false, false))),
                [] => (Vec::new(), Vec::new()),
            };
            rest.extend(bar);
            rest.push(Space);
            rest.push(Align(condition));
        }
        formula.extend(rest);
        let locals = inner.iter().any(|p| p.as_rule() == Rule::with_locals);
        parts.push(Group(formula));
        if locals { vec![Group(parts)] } else { parts }
    }

    /// `with a = x, b = y`, `for x : xs`: items in a fill after the word.
    fn clause(&self, inner: &[Pair]) -> Parts {
        let Some((word, items)) = inner.split_first() else {
            return Vec::new();
        };
        let mut parts = self.parts(word);
        parts.push(Space);
        let mut lines: Vec<Layout> = Vec::new();
        let mut line: Parts = Vec::new();
        for item in items {
            line.extend(self.parts(item));
            if item.as_rule() == Rule::comma {
                lines.push(Group(std::mem::take(&mut line)));
            }
        }
        lines.push(Group(line));
        parts.push(Align(vec![Fill(lines)]));
        parts
    }

    fn branching(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        let blocks = has_block(pair);
        let mut parts: Parts = Vec::new();
        let mut opened = Rule::kw_if;
        for (at, part) in inner.iter().enumerate() {
            let rule = part.as_rule();
            match rule {
                Rule::kw_if | Rule::kw_elif | Rule::kw_else | Rule::kw_then => {
                    if at > 0 {
                        // A branch ends its line; `then` does not begin one.
                        let ends = rule != Rule::kw_then && !blocks;
                        parts.push(if ends { Line } else { Space });
                    }
                    parts.extend(self.parts(part));
                    opened = rule;
                }
                _ if blocks || matches!(opened, Rule::kw_if | Rule::kw_elif) => {
                    parts.push(Space);
                    parts.push(self.layout(part));
                }
                _ => parts.push(Indent(vec![Line, self.layout(part)])),
            }
        }
        if blocks { parts } else { vec![Align(vec![Group(parts)])] }
    }

    fn looping(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        let between = || if has_block(pair) { Space } else { Line };
        let mut parts: Parts = Vec::new();
        for (at, part) in inner.iter().enumerate() {
            match part.as_rule() {
                Rule::count => parts.extend(self.parts(part)),
                Rule::part => {
                    parts.push(Space);
                    parts.push(self.layout(part));
                }
                Rule::with_clause | Rule::for_clause | Rule::while_clause => {
                    if at > 0 {
                        parts.push(between());
                    }
                    parts.extend(self.clause(&children(part)));
                }
                _ => {
                    if at > 0 {
                        parts.push(between());
                    }
                    parts.extend(self.parts(part));
                }
            }
        }
        if has_block(pair) { parts } else { vec![Group(parts)] }
    }

    fn block(&self, inner: &[Pair]) -> Parts {
        let mut parts: Parts = Vec::new();
        let mut body: Parts = Vec::new();
        for pair in inner {
            match pair.as_rule() {
                Rule::label => {
                    parts.extend(self.parts(pair));
                    parts.push(Space);
                }
                Rule::lbrace => parts.extend(self.parts(pair)),
                Rule::component => {
                    body.push(End);
                    body.push(Layout::Statement(self.parts(pair)));
                }
                Rule::yield_line => {
                    body.push(End);
                    body.push(Layout::Statement(self.yields(&children(pair))));
                }
                Rule::semicolon => body.extend(self.parts(pair)),
                Rule::rbrace => {
                    parts.push(Block(std::mem::take(&mut body)));
                    parts.push(Restart);
                    parts.extend(self.parts(pair));
                }
                _ => {}
            }
        }
        parts
    }

    fn yields(&self, inner: &[Pair]) -> Parts {
        let Some((end, items)) = inner.split_last() else {
            return Vec::new();
        };
        let mut parts = self.clause(items);
        parts.extend(self.parts(end));
        parts
    }
}

/// Whether a space precedes and follows a part of a rule.
fn blanks(parent: Rule, child: Rule) -> (bool, bool) {
    match (parent, child) {
        (Rule::guard | Rule::guarded | Rule::scan, Rule::colon) => (true, true),
        (Rule::slice_tail | Rule::range_tail | Rule::label, Rule::colon) => (false, false),
        (Rule::operand, Rule::substitute) => (true, false),
        (Rule::substitute, Rule::larrow) => (false, true),
        (Rule::count_index, Rule::arrow) => (true, false),
        (_, Rule::assign | Rule::remap | Rule::less) => (true, true),
        (_, Rule::colon | Rule::comma | Rule::label | Rule::modifier | Rule::marker) => (false, true),
        (_, Rule::kw_import | Rule::kw_public | Rule::kw_operator | Rule::kw_graph) => (false, true),
        _ => (false, false),
    }
}

fn precedence(op: &str) -> u8 {
    match op {
        "=>" => 1,
        "&&" | "||" | "^" => 2,
        "<<" | ">>" | "<?" | ">?" => 4,
        "+" | "-" => 5,
        "*" | "/" | "\\" | "%" => 6,
        "**" => 8,
        _ => 3,
    }
}
