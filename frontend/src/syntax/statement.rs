// SPDX-License-Identifier: Apache-2.0
//! Parses one statement, or several if only semicolons are missing.

use std::borrow::Cow;

use super::build::{Builder, Splice};
use super::grammar::{Pair, Rule};
use super::repair::Edit;
use super::splitter::{Deferred, End, Splitter, Statement};
use super::token::{Token, TokenKind};
use super::{Failure, SHALLOW, STACK_PER_LEVEL, expectation, nesting, on_stack, read, too_deep};
use crate::ast::{BlockKind, Definition, Relocate};
use crate::diagnostics::codes::NESTING;

/// The text of a statement that pest parses.
pub(super) struct StatementText<'t> {
    pub(super) written: Cow<'t, str>,
    pub(super) splices: Vec<Splice>,
}

/// The tree of a statement.
pub(super) trait Tree: Clone + Relocate + Send + 'static {}

impl<T: Clone + Relocate + Send + 'static> Tree for T {}

/// The result of parsing a text.
enum Attempt<T> {
    Built(Option<T>),
    /// Not in the grammar; not reported yet.
    Failed(Failure),
    /// Nests too deep; reported.
    Refused,
}

impl<'t> Splitter<'t, '_> {
    pub(super) fn read_into(
        &mut self,
        definition: &mut Definition,
        (kind, entry): (BlockKind, Rule),
        statement: &Statement<'t>,
    ) {
        use BlockKind::*;
        let d = definition;
        match kind {
            Dtype => self.read_all(entry, statement, &mut d.dtypes, |b, p| b.dtype(p)),
            Attrib => self.read_all(entry, statement, &mut d.attributes, |b, p| b.declaration(p)),
            Input => self.read_all(entry, statement, &mut d.inputs, |b, p| b.declaration(p)),
            Constant => self.read_all(entry, statement, &mut d.constants, |b, p| b.declaration(p)),
            Variable => self.read_all(entry, statement, &mut d.variables, |b, p| b.declaration(p)),
            Output => self.read_all(entry, statement, &mut d.outputs, |b, p| b.declaration(p)),
            Using => self.read_all(entry, statement, &mut d.usings, |b, p| b.using(p)),
            Assert => self.read_all(entry, statement, &mut d.asserts, |b, p| Some(b.assertion(p))),
            Lower => self.read_all(entry, statement, &mut d.lowers, |b, p| b.lowering(p)),
            Compose => self.read_all(entry, statement, &mut d.composes, |b, p| b.component_entry(p)),
            Update => self.read_all(entry, statement, &mut d.updates, |b, p| b.component_entry(p)),
            Quantize => self.read_all(entry, statement, &mut d.quantizations, |b, p| b.quantization(p)),
        }
    }

    /// Parses a statement, or several if only their semicolons are missing.
    fn read_all<T: Tree>(
        &mut self,
        entry: Rule,
        statement: &Statement<'t>,
        list: &mut Vec<T>,
        build: impl Fn(&mut Builder, &Pair) -> Option<T> + Sync,
    ) {
        if statement.broken {
            return;
        }
        let mut tokens = statement.tokens;
        if let Some(deferred) = &mut self.deferred {
            return deferred.push(Deferred { entry, tokens });
        }
        while !self.too_many_errors() {
            let failure = match self.attempt(entry, tokens, &build) {
                Attempt::Built(item) => return list.extend(item),
                Attempt::Refused => return,
                Attempt::Failed(failure) => failure,
            };
            // Two statements, if the text before the line break is a statement.
            let split = self.next_line(tokens, failure.at).filter(|at| {
                tokens.split_at_checked(*at).is_some_and(|(head, rest)| {
                    self.is_statement(entry, head) && self.begins_statement(entry, rest)
                })
            });
            let Some((head, rest)) = split.and_then(|at| tokens.split_at_checked(at)) else {
                if !(entry == Rule::component_entry && self.report_inner(tokens)) {
                    self.report_failure(entry, tokens, statement.end, &failure);
                }
                return;
            };
            if let Some(last) = head.last() {
                self.missing_semicolon(last, "every statement ends with `;`");
            }
            if let Attempt::Built(item) = self.attempt(entry, head, &build) {
                list.extend(item);
            }
            tokens = rest;
        }
    }

    fn is_statement(&self, entry: Rule, tokens: &[Token]) -> bool {
        let text = self.statement_text(tokens);
        text.is_some_and(|text| read(entry, &text.written).is_ok())
    }

    /// Whether the tokens begin like a statement, regardless of the rest.
    fn begins_statement(&self, entry: Rule, tokens: &[Token]) -> bool {
        let Some(text) = self.statement_text(tokens) else {
            return false;
        };
        match read(entry, &text.written) {
            Ok(_) => true,
            Err(failure) => {
                let before = text.written.get(..failure.at).unwrap_or_default();
                before.contains(['\n', '=', ':'])
            }
        }
    }

    /// Parses one statement and reports its errors.
    pub(super) fn read_statement<T: Send>(
        &mut self,
        entry: Rule,
        statement: &Statement<'t>,
        build: impl Fn(&mut Builder, &Pair) -> Option<T> + Sync,
    ) -> Option<T> {
        if statement.broken {
            return None;
        }
        let text = self.statement_text(statement.tokens)?;
        match self.attempt_text(entry, statement.tokens, text, build) {
            Attempt::Built(item) => item,
            Attempt::Refused => None,
            Attempt::Failed(failure) => {
                self.report_failure(entry, statement.tokens, statement.end, &failure);
                None
            }
        }
    }

    /// Parses a text, on a separate stack if it nests deep.
    fn attempt<T: Tree>(
        &mut self,
        entry: Rule,
        tokens: &[Token],
        build: impl Fn(&mut Builder, &Pair) -> Option<T> + Sync,
    ) -> Attempt<T> {
        let (Some(text), Some(first)) = (self.statement_text(tokens), tokens.first()) else {
            return Attempt::Built(None);
        };
        let Some(cache) = self.cache.filter(|_| text.splices.is_empty()) else {
            return self.attempt_text(entry, tokens, text, build);
        };
        let (file, written) = (self.builder.file, text.written.clone());
        if let Some((tree, marks)) = cache.get(entry, &written, file, first.start) {
            self.note_repair(tokens);
            self.builder.marks.add(marks);
            return Attempt::Built(Some(tree));
        }
        let marks = std::mem::take(&mut self.builder.marks);
        let errors = self.builder.sink.diagnostics().len();
        let attempt = self.attempt_text(entry, tokens, text, build);
        let later = std::mem::replace(&mut self.builder.marks, marks);
        let is_shallow = nesting::depth(tokens, self.builder.limits).is_ok_and(|depth| depth <= SHALLOW);
        if let Attempt::Built(Some(tree)) = &attempt
            && self.builder.sink.diagnostics().len() == errors
            && is_shallow
        {
            cache.put((entry, &written), (tree, &later), first.start);
        }
        self.builder.marks.add(later);
        attempt
    }

    /// Parses the text of a statement.
    fn attempt_text<T: Send>(
        &mut self,
        entry: Rule,
        tokens: &[Token],
        text: StatementText,
        build: impl Fn(&mut Builder, &Pair) -> Option<T> + Sync,
    ) -> Attempt<T> {
        let Some(first) = tokens.first() else {
            return Attempt::Built(None);
        };
        self.note_repair(tokens);
        let builder = &mut self.builder;
        let depth = match nesting::depth(tokens, builder.limits) {
            Ok(depth) => depth,
            Err(deep) => {
                builder.base = 0;
                builder.splices.clear();
                too_deep(builder, &deep);
                return Attempt::Refused;
            }
        };
        builder.base = first.start;
        builder.splices = text.splices;
        let text = text.written.as_ref();
        let run = |builder: &mut Builder| match read(entry, text) {
            Ok(pair) => Attempt::Built(build(builder, &pair)),
            Err(failure) => Attempt::Failed(failure),
        };
        if depth <= SHALLOW {
            return run(builder);
        }
        let stack = (builder.limits.nesting + 1).saturating_mul(STACK_PER_LEVEL);
        let result = on_stack(stack, || run(&mut *builder));
        result.unwrap_or_else(|| {
            let span = builder.span_at(0, text.len());
            let message = "there is not enough memory to parse a statement that nests so deep";
            builder.error(&NESTING, span, message);
            Attempt::Refused
        })
    }

    /// Records the position of a statement that contains edits.
    fn note_repair(&mut self, tokens: &[Token]) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return;
        };
        let edited = &self.tokens;
        let begin = edited.partition_point(|t| t.end <= first.start);
        let begin = begin.checked_sub(1).and_then(|at| edited.get(at));
        let begin = begin.map_or(0, |t| t.end);
        let end = edited.get(edited.partition_point(|t| t.start < last.end));
        let end = end.map_or(usize::MAX, |t| t.start);
        let is_part = |e: &Edit| e.is_among(tokens) || e.is_deletion() && e.at >= begin && e.at < end;
        if self.edits.iter().any(is_part) {
            self.repaired.push(self.location(first.start, last.end));
        }
    }

    /// Reports the errors in the blocks of a composition's statement, one nested statement at a time; returns whether
    /// there are any. The recursion depth is the nesting of blocks.
    fn report_inner(&mut self, tokens: &'t [Token<'t>]) -> bool {
        let errors = self.builder.sink.error_count();
        // The depth of the open block's statements, and the index of its current statement's first token.
        let (mut inside, mut first) = (None, 0);
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Open(_) if inside.is_none() && self.opens_block(token) => {
                    (inside, first) = (Some(token.depth + 1), at + 1);
                }
                TokenKind::Close(_) if inside == Some(token.depth + 1) => inside = None,
                TokenKind::Semicolon if inside == Some(token.depth) => {
                    let Some(statement) = tokens.get(first..at) else {
                        unreachable!("internal compiler error: a statement that ends before it begins")
                    };
                    first = at + 1;
                    let is_yield = statement.first().is_some_and(|t| t.text == "yield");
                    if is_yield || self.too_many_errors() {
                        continue;
                    }
                    let entry = Rule::component_entry;
                    let built = self.attempt(entry, statement, |builder, pair| builder.component_entry(pair));
                    if let Attempt::Failed(failure) = built
                        && !self.report_inner(statement)
                    {
                        self.report_failure(entry, statement, End::Semicolon, &failure);
                    }
                }
                _ => {}
            }
        }
        self.builder.sink.error_count() > errors
    }

    fn report_failure(&mut self, entry: Rule, tokens: &[Token], end: End, failure: &Failure) {
        let (Some(text), Some(first)) = (self.statement_text(tokens), tokens.first()) else {
            return;
        };
        let terminator = match end {
            End::Semicolon => ";",
            End::Brace => "}",
            End::Cut | End::BrokenString => self.peek().map_or("", |t| t.text),
        };
        let expects_name = expectation::expects_name(&failure.expected);
        self.failure = Some((first.start + failure.at, expects_name));
        self.builder.base = first.start;
        self.builder.splices = text.splices;
        failure.report(&mut self.builder, entry, &text.written, terminator);
    }

    /// The text from the first of some tokens to the last, with their edits.
    pub(super) fn statement_text(&self, tokens: &[Token]) -> Option<StatementText<'t>> {
        let (mut start, end) = (tokens.first()?.start, tokens.last()?.end);
        let mut edits = self.edits.iter().filter(|e| e.is_among(tokens)).peekable();
        if edits.peek().is_none() {
            let written = Cow::Borrowed(self.text.get(start..end)?);
            let splices = Vec::new();
            return Some(StatementText { written, splices });
        }
        let (base, mut written, mut splices) = (start, String::new(), Vec::new());
        for edit in edits {
            written.push_str(self.text.get(start..edit.at)?);
            splices.push(Splice {
                at: base + written.len(),
                written: edit.inserted.len(),
                replaced: edit.removed,
            });
            written.push_str(edit.inserted);
            start = edit.at + edit.removed;
        }
        written.push_str(self.text.get(start..end)?);
        let written = Cow::Owned(written);
        Some(StatementText { written, splices })
    }

    /// The index of the token at offset `at`, if it is a name that begins a line.
    fn next_line(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let at = tokens.first()?.start + at;
        let index = tokens.partition_point(|t| t.start < at);
        let (before, token) = (tokens.get(index.checked_sub(1)?)?, tokens.get(index)?);
        let gap = self.text.get(before.end..token.start)?;
        (gap.contains('\n') && token.kind == TokenKind::Word).then_some(index)
    }
}
