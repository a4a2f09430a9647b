// SPDX-License-Identifier: Apache-2.0
//! Converts the grammar's pairs of statements to spaces and possible line breaks.

use std::cell::Cell;

use super::layout::Kind::{Align, Block, Fill, Group, Indent, Tight};
use super::layout::Layout::{self, End, Line, Restart, Space};
use super::layout::{Kind, Parts, node};
use super::source::Source;
use crate::syntax::grammar::{Pair, Rule};
use crate::syntax::precedence;

/// Reads pairs of a text that begins at `base` of the file.
pub(super) struct Statement<'s, 't> {
    pub source: &'s Source<'t>,
    pub base: usize,
    /// The number of open brackets in which the author may write `a+b` without spaces.
    pub within: Cell<usize>,
}

fn children<'t>(pair: &Pair<'t>) -> Vec<Pair<'t>> {
    let inner = pair.clone().into_inner();
    inner.filter(|p| p.as_rule() != Rule::EOI).collect()
}

/// Splits before the first part of a rule.
fn split_at_rule<'p, 't>(inner: &'p [Pair<'t>], rule: Rule) -> (&'p [Pair<'t>], &'p [Pair<'t>]) {
    let at = inner.iter().position(|p| p.as_rule() == rule);
    inner.split_at(at.unwrap_or(inner.len()))
}

/// Whether one of the parts is a block, which always has separate lines.
fn has_block(pair: &Pair) -> bool {
    let mut inner = pair.clone().into_inner().flatten();
    inner.any(|p| p.as_rule() == Rule::labelled_block)
}

impl Statement<'_, '_> {
    fn layout(&self, pair: &Pair) -> Layout {
        let mut parts = self.parts(pair);
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                node(Group, parts)
            }
        }
    }

    pub(super) fn parts(&self, pair: &Pair) -> Parts {
        let inner = children(pair);
        if inner.is_empty() {
            let span = pair.as_span();
            let (start, end) = (self.base + span.start(), self.base + span.end());
            return if start == end { Vec::new() } else { vec![self.source.token(start, end)] };
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
        use Rule::*;
        match pair.as_rule() {
            expr => self.expr(pair),
            chain => self.chain(inner),
            lowering_entry => self.lowering(inner),
            assert_entry => self.assertion(inner),
            branching => self.branching(pair, inner),
            looping => self.looping(pair, inner),
            labelled_block => self.block(inner),
            declaration_entry => self.declaration(inner),
            list | index | shape_spec | target_list | using_list => {
                // `[a,b]` or `[a, b]`, as the author writes it.
                let is_tight = self.source.is_tight(self.base + pair.as_span().start());
                self.list(inner, if is_tight { Tight } else { Fill })
            }
            tuple | call | attributes | type_arguments | target_zip | using_zip => self.list(inner, Fill),
            invocation => {
                let (callee, arguments) = split_at_rule(inner, lpar);
                let mut parts = self.each(callee, |p| (false, p.as_rule() == label));
                parts.extend(self.list(arguments, Fill));
                parts
            }
            string => vec![node(Fill, inner.iter().map(|p| self.layout(p)).collect())],
            count => {
                // `..(n)`, `..(i -> n)`, `..(i ->)`
                let is_named = inner.iter().any(|p| p.as_rule() == count_index);
                self.each(inner, |p| (is_named && p.as_rule() == expr, false))
            }
            access => self.row(access, inner).into_iter().map(Layout::rigid).collect(),
            rule => self.row(rule, inner),
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

    /// The parts in sequence without spaces.
    fn joined(&self, inner: &[Pair]) -> Parts {
        inner.iter().flat_map(|p| self.parts(p)).collect()
    }

    /// The parts in sequence, with the usual spaces.
    fn row(&self, parent: Rule, inner: &[Pair]) -> Parts {
        self.each(inner, |pair| blanks(parent, pair.as_rule()))
    }

    /// Items of a list, each with the comma after it.
    fn items(&self, inner: &[Pair], kind: Kind) -> Layout {
        let lines = inner.split_inclusive(|p| p.as_rule() == Rule::comma);
        node(kind, lines.map(|line| node(Group, self.joined(line))).collect())
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
                return self.arms(arms, vec![node(Group, rest)]);
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
            parts.push(node(Group, arm));
            parts.push(Line);
        }
        parts.push(node(Group, vec![node(Group, last), Line, node(Group, otherwise)]));
        vec![node(Align, vec![node(Group, parts)])]
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
            return self.joined(inner);
        };
        let is_least = |pair: &&Pair| binding(pair) == Some(least);
        if self.within.get() > 0 && inner.iter().filter(is_least).all(|p| self.is_tight(p)) {
            return self.joined(inner);
        }
        let mut parts: Vec<Layout> = Vec::new();
        let mut from = 0;
        let mut part: Parts = Vec::new();
        for (at, pair) in inner.iter().enumerate() {
            if binding(pair) != Some(least) {
                continue;
            }
            if let Some(operand @ [_, ..]) = inner.get(from..at) {
                part.push(node(Group, self.chain(operand)));
            }
            if pair.as_rule() == Rule::fold {
                part.push(Space);
                part.extend(self.each(&children(pair), |p| (false, p.as_rule() == Rule::fold_op)));
            } else {
                parts.push(node(Group, std::mem::take(&mut part)));
                part.extend(self.parts(pair));
                part.push(Space);
            }
            from = at + 1;
        }
        if let Some(operand @ [_, ..]) = inner.get(from..) {
            part.push(node(Group, self.chain(operand)));
        }
        parts.push(node(Group, part));
        vec![node(Fill, parts)]
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

    /// The text before the opening bracket, the bracket, items and commas, the closing bracket.
    fn list(&self, inner: &[Pair], kind: Kind) -> Parts {
        let opens =
            |p: &Pair| matches!(p.as_rule(), Rule::lpar | Rule::lbracket | Rule::lbrace | Rule::langle);
        let closes =
            |p: &Pair| matches!(p.as_rule(), Rule::rpar | Rule::rbracket | Rule::rbrace | Rule::rangle);
        let (Some(open), Some(close)) = (inner.iter().position(opens), inner.iter().rposition(closes)) else {
            return self.joined(inner);
        };
        let (before, rest) = inner.split_at(open + 1);
        let (items, after) = rest.split_at(close.saturating_sub(open + 1).min(rest.len()));
        let mut parts = self.joined(before);
        let items = self.items(items, kind);
        parts.push(if kind == Tight { items } else { node(Align, vec![items]) });
        parts.extend(self.joined(after));
        vec![node(Group, parts)]
    }

    /// Loop bounds follow on separate lines if they do not fit.
    fn declaration(&self, inner: &[Pair]) -> Parts {
        let (head, bounds) = split_at_rule(inner, Rule::loop_bound);
        let mut parts = self.row(Rule::declaration_entry, head);
        if !bounds.is_empty() {
            parts.extend([Line, self.items(bounds, Fill)]);
        }
        vec![node(Group, parts)]
    }

    /// `condition: "message", value, …`: parts that do not fit on the line of the condition follow below it.
    fn assertion(&self, inner: &[Pair]) -> Parts {
        let (head, values) = split_at_rule(inner, Rule::asserted);
        let (condition, message) = split_at_rule(head, Rule::string);
        let mut parts = self.joined(condition);
        let mut rest = self.joined(message);
        if !values.is_empty() {
            if !rest.is_empty() {
                rest.push(Line);
            }
            rest.push(self.items(values, Fill));
        }
        if !rest.is_empty() {
            parts.extend([Line, node(Group, rest)]);
        }
        vec![node(Group, parts)]
    }

    /// Locals have separate lines; bounds and condition follow below a formula that needs the full line.
    fn lowering(&self, inner: &[Pair]) -> Parts {
        let (inner, condition) = split_at_rule(inner, Rule::formula_condition);
        let (inner, bounds) = split_at_rule(inner, Rule::loop_bound);
        let (head, formula) = split_at_rule(inner, Rule::access);
        let mut parts: Parts = Vec::new();
        for pair in head {
            match pair.as_rule() {
                Rule::local => {
                    parts.extend([node(Group, self.row(Rule::local, &children(pair))), Restart]);
                }
                Rule::with_locals => parts.extend([node(Group, self.clause(&children(pair))), Line]),
                Rule::count => {
                    parts.extend(self.parts(pair));
                    parts.push(Space);
                }
                _ => parts.extend(self.parts(pair)),
            }
        }
        let mut formula = self.row(Rule::lowering_entry, formula);
        if !bounds.is_empty() {
            formula.extend([Line, self.items(bounds, Fill)]);
        }
        if let Some((bar, condition)) =
            condition.first().map(children).as_deref().and_then(<[_]>::split_first)
        {
            formula.push(Line);
            formula.extend(self.parts(bar));
            formula.extend([Space, node(Align, self.joined(condition))]);
        }
        parts.push(node(Group, formula));
        let has_clause = head.iter().any(|p| p.as_rule() == Rule::with_locals);
        if has_clause { vec![node(Group, parts)] } else { parts }
    }

    /// `with a = x, b = y`, `for x : xs`: items in a fill after the word.
    fn clause(&self, inner: &[Pair]) -> Parts {
        let Some((word, items)) = inner.split_first() else {
            return Vec::new();
        };
        let mut parts = self.parts(word);
        parts.extend([Space, node(Align, vec![self.items(items, Fill)])]);
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
                    parts.extend([Space, self.layout(part)]);
                }
                _ => parts.push(node(Indent, vec![Line, self.layout(part)])),
            }
        }
        if blocks { parts } else { vec![node(Align, vec![node(Group, parts)])] }
    }

    fn looping(&self, pair: &Pair, inner: &[Pair]) -> Parts {
        let blocks = has_block(pair);
        let mut parts: Parts = Vec::new();
        for (at, part) in inner.iter().enumerate() {
            let rule = part.as_rule();
            match rule {
                Rule::count => {}
                Rule::part => parts.push(Space),
                _ if at > 0 => parts.push(if blocks { Space } else { Line }),
                _ => {}
            }
            match rule {
                Rule::part => parts.push(self.layout(part)),
                Rule::with_clause | Rule::for_clause | Rule::while_clause => {
                    parts.extend(self.clause(&children(part)));
                }
                _ => parts.extend(self.parts(part)),
            }
        }
        if blocks { parts } else { vec![node(Group, parts)] }
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
                    body.extend([End, node(Kind::Statement, self.parts(pair))]);
                }
                Rule::yield_line => {
                    let inner = children(pair);
                    let (items, end) = split_at_rule(&inner, Rule::semicolon);
                    let mut parts = self.clause(items);
                    parts.extend(self.joined(end));
                    body.extend([End, node(Kind::Statement, parts)]);
                }
                Rule::semicolon => body.extend(self.parts(pair)),
                Rule::rbrace => {
                    parts.extend([node(Block, std::mem::take(&mut body)), Restart]);
                    parts.extend(self.parts(pair));
                }
                _ => {}
            }
        }
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
        (_, Rule::lowering_op) => (true, true),
        (_, Rule::assign | Rule::remap | Rule::less) => (true, true),
        (_, Rule::colon | Rule::comma | Rule::label | Rule::modifier | Rule::marker) => (false, true),
        (_, Rule::kw_import | Rule::kw_public | Rule::kw_operator | Rule::kw_graph) => (false, true),
        _ => (false, false),
    }
}
