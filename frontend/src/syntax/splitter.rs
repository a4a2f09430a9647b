// SPDX-License-Identifier: Apache-2.0
//! Splits a file into imports, definitions, blocks and statements, and parses each statement.

use std::collections::BTreeSet;

use super::StatementCache;
use super::advice::{COMMENT_SIGN, foreign_definition, header};
use super::brackets::Opened;
use super::build::Builder;
use super::grammar::{Rule, find};
use super::repair::{self, Edit};
use super::token::{Bracket, Token, TokenKind};
use crate::ast::{BlockHead, BlockKind, Definition, DefinitionKind, Module};
use crate::diagnostics::codes::{BLOCK_NAME, BRACKET, MISSING_SEMICOLON, STRING, SYNTAX};
use crate::diagnostics::{Diagnostic, closest};
use crate::source::Span;

/// The blocks with the rules of their statements.
const BLOCKS: [(&str, BlockKind, Rule); 12] = [
    ("dtype", BlockKind::Dtype, Rule::dtype_entry),
    ("attrib", BlockKind::Attrib, Rule::declaration_entry),
    ("input", BlockKind::Input, Rule::declaration_entry),
    ("using", BlockKind::Using, Rule::using_entry),
    ("constant", BlockKind::Constant, Rule::declaration_entry),
    ("variable", BlockKind::Variable, Rule::declaration_entry),
    ("output", BlockKind::Output, Rule::declaration_entry),
    ("assert", BlockKind::Assert, Rule::assert_entry),
    ("lower", BlockKind::Lower, Rule::lowering_entry),
    ("compose", BlockKind::Compose, Rule::component_entry),
    ("update", BlockKind::Update, Rule::component_entry),
    ("quantize", BlockKind::Quantize, Rule::quantize_entry),
];

/// The names of the blocks.
pub fn block_names() -> impl Iterator<Item = &'static str> {
    BLOCKS.iter().map(|(name, ..)| *name)
}

/// The kind of the block with this name.
pub fn block_kind(name: &str) -> Option<BlockKind> {
    block_named(name).map(|(kind, _)| kind)
}

/// The kind of a block and the rule of its statements.
pub(crate) fn block_named(word: &str) -> Option<(BlockKind, Rule)> {
    BLOCKS.iter().find(|(name, ..)| *name == word).map(|(_, kind, entry)| (*kind, *entry))
}

/// Marks all blocks as partly unparsed: text that could not be parsed may belong to any of them.
fn leave_unread(definition: &mut Definition) {
    for (_, kind, _) in BLOCKS {
        if !definition.unread.contains(&kind) {
            definition.unread.push(kind);
        }
    }
    definition.unread_words = None;
}

/// The end of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Semicolon,
    /// The brace that closes the block.
    Brace,
    /// The beginning of a block or definition, or the end of the file: something was not closed.
    Cut,
    /// A string that is not closed on its line.
    BrokenString,
}

pub(super) struct Statement<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) end: End,
    /// Whether bracket errors were reported; parsing would only repeat them.
    pub(super) broken: bool,
}

/// A statement to parse as `entry`.
#[derive(Clone, Copy)]
pub(super) struct Deferred<'t> {
    pub(super) entry: Rule,
    pub(super) tokens: &'t [Token<'t>],
}

/// Splits one region of a file: an import or a definition, with the text up to the next one.
pub(super) struct Splitter<'t, 's> {
    pub(super) text: &'t str,
    /// The tokens of the region with `edits` applied, and the token after it.
    pub(super) tokens: &'t [Token<'t>],
    /// The number of `tokens` in the region.
    pub(super) region: usize,
    pub(super) edits: &'t [Edit],
    pub(super) at: usize,
    pub(super) builder: Builder<'s>,
    /// The statements of the text before a change.
    pub(super) cache: Option<&'s StatementCache>,
    /// Whether definitions precede the region.
    pub(super) after_definitions: bool,
    /// The number of errors after which the rest is not parsed.
    pub(super) most_errors: usize,
    /// Statements of the current definition that were parsed with edits.
    pub(super) repaired: Vec<Span>,
    /// Where parsing of the last malformed statement failed, and whether a name is allowed there.
    pub(super) failure: Option<(usize, bool)>,
    /// The number of words outside of statements.
    pub(super) skipped: usize,
    /// The number of closing braces in unclosed strings.
    pub(super) swallowed: usize,
    /// The statements to be parsed, if they are only split.
    pub(super) deferred: Option<Vec<Deferred<'t>>>,
}

impl<'t> Splitter<'t, '_> {
    pub(super) fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at)
    }

    /// The tokens from an index to the current token, which is not included.
    fn tokens_since(&self, first: usize) -> &'t [Token<'t>] {
        let tokens = self.tokens.get(first..self.at);
        tokens.unwrap_or_else(|| unreachable!("internal compiler error: a statement beyond the end"))
    }

    pub(super) fn span(&self, token: &Token) -> Span {
        self.location(token.start, token.end)
    }

    pub(super) fn location(&self, start: usize, end: usize) -> Span {
        Span::of_bytes(self.builder.file, start, end)
    }

    pub(super) fn too_many_errors(&self) -> bool {
        self.builder.sink.error_count() >= self.most_errors
    }

    pub(super) fn begins_definition(&self, token: &Token) -> bool {
        begins_definition(self.text, token)
    }

    /// Adds the region's imports and definitions to the module.
    pub(super) fn region(&mut self, module: &mut Module) {
        while self.at < self.region {
            let Some(token) = self.peek() else { break };
            if self.too_many_errors() {
                break;
            }
            match token.text {
                "import" => {
                    let misplaced = self.after_definitions || !module.definitions.is_empty();
                    self.import(module, misplaced);
                }
                "operator" | "graph" | "public" => match self.definition() {
                    Some(definition) => module.definitions.push(definition),
                    None => module.unread = true,
                },
                _ => {
                    module.unread = true;
                    // An extra brace may have ended the previous definition.
                    if let Some(before) = module.definitions.last_mut() {
                        leave_unread(before);
                    }
                    self.stray(token);
                }
            }
        }
        module.edition_marks = self.builder.marks.clone();
    }

    /// Reports text at the top level that is not a definition, and skips it.
    fn stray(&mut self, token: &'t Token<'t>) {
        let span = self.span(token);
        let text = token.text;
        let from = from_import(self.text, self.tokens.split_at(self.at).1);
        if token.kind == TokenKind::Close(Bracket::Curly) {
            let message = "this `}` has no opening bracket";
            let help = "remove it, or an extra `}` before it";
            self.builder.error_with_help(&BRACKET, span, message, help);
            self.at += 1;
            return;
        }
        self.builder.error_with_help(
            &SYNTAX,
            span,
            format!("expected `import`, `operator` or `graph`, found `{text}`"),
            match from {
                Some(_) => {
                    "imports name modules, not their operators: write `import math;`, then `math.neg(x)`"
                }
                None if text.starts_with('/') => COMMENT_SIGN,
                None => {
                    foreign_definition(text).unwrap_or("write statements in blocks of an operator or a graph")
                }
            },
        );
        if let Some(length) = from {
            self.at += length;
            return;
        }
        let mut depth = 0_usize;
        while let Some(token) = self.peek() {
            self.skipped += usize::from(token.kind == TokenKind::Word);
            match token.kind {
                TokenKind::Open(Bracket::Curly) => depth += 1,
                TokenKind::Close(Bracket::Curly) if depth == 0 => return,
                TokenKind::Close(Bracket::Curly) => depth -= 1,
                _ if self.begins_definition(token) => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn import(&mut self, module: &mut Module, misplaced: bool) {
        let first = self.at;
        self.at += 1;
        let line_end = |c: &Self, at: usize| {
            let (Some(before), Some(next)) = (c.tokens.get(at.wrapping_sub(1)), c.tokens.get(at)) else {
                return true;
            };
            next.kind == TokenKind::Word
                && before.kind != TokenKind::Comma
                && c.text.get(before.end..next.start).is_some_and(|gap| gap.contains('\n'))
        };
        // The text after `import` belongs to it, on any line.
        let name = self.at;
        while let Some(token) = self.peek() {
            if token.kind == TokenKind::Semicolon
                || self.begins_definition(token)
                || (self.at > name && line_end(self, self.at))
            {
                break;
            }
            self.at += 1;
        }
        let tokens = self.tokens_since(first);
        let terminated = self.peek().is_some_and(|t| t.kind == TokenKind::Semicolon);
        self.at += usize::from(terminated);
        let imports = self.read_statement(
            Rule::import_line,
            &Statement { tokens, end: End::Semicolon, broken: false },
            |builder, pair| Some(builder.imports(pair, misplaced)),
        );
        if let (Some(last), false, true) = (tokens.last(), terminated, imports.is_some()) {
            self.missing_semicolon(last, "imports end with `;`");
        }
        if imports.is_none() {
            self.skipped += repair::words(tokens).count();
        }
        module.unread |= imports.is_none();
        module.imports.extend(imports.into_iter().flatten());
    }

    pub(super) fn missing_semicolon(&mut self, last: &Token, help: &str) {
        let span = self.location(last.end, last.end);
        let diagnostic = Diagnostic::error(&MISSING_SEMICOLON, span, "`;` is missing here");
        self.builder.sink.report(diagnostic.with_fix(help, span, ";"));
    }

    fn definition(&mut self) -> Option<Definition> {
        let first = self.at;
        let begin = self.peek()?;
        self.at += 1;
        if begin.text == "public" && self.peek().is_some_and(|t| matches!(t.text, "operator" | "graph")) {
            self.at += 1;
        }
        let (_, rest) = self.tokens.split_at(self.at);
        let ends = |t: &Token| {
            let is_outside = matches!(t.kind, TokenKind::Open(Bracket::Curly) | TokenKind::At);
            is_outside || t.kind == TokenKind::Close(Bracket::Curly) || self.begins_definition(t)
        };
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        let all = self.tokens_since(first);
        let before_parameters = self.parameter_list(all);
        let tokens = before_parameters.unwrap_or(all);
        let header = Statement { tokens, end: End::Cut, broken: false };
        let head = self.read_statement(Rule::header, &header, |builder, pair| {
            let is_graph = find(pair, Rule::kw_graph).is_some();
            Some(Definition {
                public: find(pair, Rule::kw_public).is_some(),
                kind: if is_graph { DefinitionKind::Graph } else { DefinitionKind::Operator },
                name: builder.ident(&find(pair, Rule::ident)?),
                ..Definition::default()
            })
        });
        let found_name = head.is_some();
        let mut definition = head.unwrap_or_default();
        definition.span = self.span(begin);
        definition.unread_words = Some(BTreeSet::new());
        if !found_name {
            definition.name.span = definition.span;
        }
        self.contents(&mut definition, found_name, before_parameters.is_some());
        definition.repaired = std::mem::take(&mut self.repaired);
        let statement = self.tokens_since(first);
        definition.tests_identity = statement.iter().any(|token| token.text == "is");
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if let Some(last) = last {
            definition.span = definition.span.to(self.span(last));
        }
        found_name.then_some(definition)
    }

    /// Parses the blocks of a definition. `found_name`: its header could be read; `parameters`: a list of parameters
    /// was reported.
    fn contents(&mut self, definition: &mut Definition, found_name: bool, parameters: bool) {
        match self.peek() {
            Some(open) if open.kind == TokenKind::Open(Bracket::Curly) => {
                self.at += 1;
                if parameters {
                    leave_unread(definition);
                }
                self.body(open, definition, parameters);
            }
            Some(open) if open.kind == TokenKind::At => {
                let span = self.span(open);
                if found_name {
                    let message = format!("expected `{{` before the blocks of `{}`", definition.name.name);
                    let help = "write the blocks of an operator or a graph in braces";
                    self.builder.error_with_help(&BRACKET, span, message, help);
                }
                self.body(open, definition, false);
            }
            next => {
                let at = next.map_or(self.text.len(), |t| t.start);
                let end = next.map_or(at, |t| t.end);
                if found_name {
                    let span = self.location(at, end);
                    self.builder.error(&SYNTAX, span, "expected `{`");
                }
                leave_unread(definition);
                if next.is_some_and(|t| t.kind == TokenKind::Close(Bracket::Curly)) {
                    self.at += 1;
                }
            }
        }
    }

    /// Reports a list of parameters in a header, as in `graph Net(x) -> (y)`; returns the tokens before it.
    fn parameter_list(&mut self, tokens: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
        let is_open = |t: &Token| t.kind == TokenKind::Open(Bracket::Round);
        let at = tokens.iter().position(is_open)?;
        let names_first = |t: &Token| t.kind == TokenKind::Word;
        let (before, list) = tokens.split_at_checked(at)?;
        if before.len() < 2 || !before.iter().all(names_first) {
            return None;
        }
        let span = self.span(list.first()?).to(self.span(list.last()?));
        let message = "inputs and outputs are declared in blocks, not after the name";
        let is_graph = before.iter().any(|token| token.text == "graph");
        self.builder.error_with_help(&SYNTAX, span, message, header(is_graph));
        Some(before)
    }

    /// Parses from after the opening brace to after the closing brace. `reported`: whether text outside of blocks has
    /// been reported.
    fn body(&mut self, open: &Token, definition: &mut Definition, mut reported: bool) {
        while let Some(token) = self.peek() {
            if self.too_many_errors() {
                self.at = self.tokens.len();
                return;
            }
            match token.kind {
                TokenKind::Close(Bracket::Curly) => {
                    self.at += 1;
                    return;
                }
                TokenKind::At => self.block(definition),
                _ if self.begins_definition(token) => break,
                _ => {
                    if !reported {
                        let message = format!("expected a block or `}}`, found `{}`", token.text);
                        let span = self.span(token);
                        self.builder.error_with_help(
                            &SYNTAX,
                            span,
                            message,
                            match token.text {
                                "/" => COMMENT_SIGN,
                                _ => "write statements in a block such as `@compose { … }`",
                            },
                        );
                        reported = true;
                    }
                    leave_unread(definition);
                    self.skip_balanced();
                }
            }
        }
        leave_unread(definition);
        self.unclosed(open, &format!("`{}`", definition.name.name));
    }

    /// Skips one token, or a brace with its contents.
    fn skip_balanced(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.peek() {
            self.skipped += usize::from(token.kind == TokenKind::Word);
            match token.kind {
                TokenKind::Open(Bracket::Curly) => depth += 1,
                TokenKind::Close(Bracket::Curly) => depth = depth.saturating_sub(1),
                TokenKind::At => return,
                _ if self.begins_definition(token) => return,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Reports that a `}` of `what` is missing before the current token.
    fn unclosed(&mut self, open: &Token, what: &str) {
        if self.swallowed > 0 {
            self.swallowed -= 1;
            return;
        }
        let (span, before) = match self.peek() {
            Some(token) => (self.span(token), format!("before `{}`", token.text)),
            None => {
                let end = self.tokens.last().map_or(0, |t| t.end);
                (self.location(end, end), "at the end of the file".to_string())
            }
        };
        let diagnostic = Diagnostic::error(&BRACKET, span, format!("`}}` of {what} is missing"))
            .with_label_at(self.span(open), "opened here")
            .with_fix(format!("write `}}` {before}"), Span { end: span.start, ..span }, "}\n");
        self.builder.sink.report(diagnostic);
    }

    fn block(&mut self, definition: &mut Definition) {
        let Some(sign) = self.peek() else { return };
        self.at += 1;
        let name = self
            .peek()
            .filter(|t| t.kind == TokenKind::Word)
            .filter(|t| t.start == sign.end || block_named(t.text).is_some())
            .filter(|t| !self.begins_definition(t));
        if let Some(name) = name
            && name.start != sign.end
            && !self.edits.iter().any(|e| e.at == sign.end)
        {
            let message = format!("`@` and `{}` are one word", name.text);
            let between = self.location(sign.end, name.start);
            let diagnostic = Diagnostic::error(&BLOCK_NAME, between, message);
            self.builder.sink.report(diagnostic.with_fix("remove the text between them", between, ""));
        }
        if name.is_some() {
            self.at += 1;
        }
        let word = name.map_or("", |t| t.text);
        let span = name.map_or(self.span(sign), |t| self.span(sign).to(self.span(t)));
        let mut kind = block_named(word);
        // The text between `@` and `{` is not a name.
        let is_open = |t: &Token| t.kind == TokenKind::Open(Bracket::Curly);
        let other = self.peek().filter(|_| name.is_none());
        let other = other
            .filter(|t| t.kind != TokenKind::Word && !is_open(t))
            .filter(|_| self.tokens.get(self.at + 1).is_some_and(is_open));
        if let Some(other) = other {
            let message = format!("expected the name of a block after `@`, found `{}`", other.text);
            let help = "write the kind of the block, as in `@input { … }`";
            self.builder.error_with_help(&BLOCK_NAME, self.span(other), message, help);
            self.at += 1;
        } else if kind.is_none() {
            let names: Vec<String> = block_names().map(|name| format!("@{name}")).collect();
            let similar = similar_block(word).or_else(|| closest(word, block_names()));
            let unknown = Diagnostic::error(&BLOCK_NAME, span, format!("there is no block `@{word}`"));
            self.builder.sink.report(match similar {
                Some(similar) => {
                    unknown.with_fix(format!("did you mean `@{similar}`?"), span, format!("@{similar}"))
                }
                None => unknown.with_help(format!("the blocks are {}", names.join(", "))),
            });
            // It is parsed as the intended block, unless there is one already.
            let is_known = |kind: BlockKind| definition.blocks.iter().any(|b| b.kind == kind);
            kind = similar.and_then(block_named).filter(|(kind, _)| !is_known(*kind));
        }
        match kind {
            Some((kind, _)) => definition.blocks.push(BlockHead { kind, span }),
            // The intended block is missing.
            None => leave_unread(definition),
        }
        let Some(open) = self.peek().filter(|t| t.kind == TokenKind::Open(Bracket::Curly)) else {
            let location = self.peek().map_or(span, |t| self.span(t));
            if kind.is_some() {
                let message = format!("expected `{{` after `@{word}`");
                self.builder.error(&BRACKET, location, message);
            }
            return;
        };
        self.at += 1;
        self.statements(definition, kind, (open, word));
    }

    /// The statements of a block up to its closing brace; those of an unknown block are skipped.
    fn statements(
        &mut self,
        definition: &mut Definition,
        kind: Option<(BlockKind, Rule)>,
        (open, word): (&Token, &str),
    ) {
        loop {
            let mut unread = false;
            let statement = self.cut_statement(kind.is_some());
            if kind.is_none() {
                self.skipped += repair::words(statement.tokens).count();
            }
            if let (Some(kind), false) = (kind, statement.tokens.is_empty()) {
                // In other languages, statements may end with a block in braces.
                if statement.end == End::Brace
                    && let Some(last) = statement.tokens.last()
                    && !statement.tokens.first().is_some_and(|t| self.is_control(t))
                {
                    self.missing_semicolon(last, "every statement of a block ends with `;`");
                }
                let errors = self.builder.sink.error_count();
                self.failure = None;
                self.read_into(definition, kind, &statement);
                unread |= self.builder.sink.error_count() > errors;
            }
            unread |= statement.broken || self.has_placeholder(&statement);
            if let (Some((kind, _)), true) = (kind, unread) {
                self.leave_statement_unread(definition, kind, &statement);
            }
            if self.too_many_errors() {
                self.at = self.tokens.len();
                return;
            }
            match statement.end {
                End::Semicolon | End::BrokenString => {}
                End::Brace => return,
                End::Cut => {
                    self.unclosed(open, &format!("block `@{word}`"));
                    return;
                }
            }
        }
    }

    /// Whether the last statement may declare a name that is not among its words, judged by the position at which
    /// parsing failed.
    fn has_lost_name(&self, kind: BlockKind, statement: &Statement) -> bool {
        // Extents of inputs and lengths of attributes declare names as well; values follow `=`.
        let names_extents = matches!(kind, BlockKind::Attrib | BlockKind::Input);
        if self.has_placeholder(statement) || statement.broken && names_extents {
            return true;
        }
        let (Some((ended, wants_name)), Some(first)) = (self.failure, statement.tokens.first()) else {
            return false;
        };
        let before = self.text.get(first.start..ended).unwrap_or_default();
        let declares_inside = match kind {
            BlockKind::Attrib | BlockKind::Input => true,
            // The values after `return` are meant for the outputs.
            BlockKind::Compose => wants_name || first.text == "return",
            BlockKind::Using => wants_name,
            // If a sign is missing after a name, the following text ends it.
            BlockKind::Output | BlockKind::Variable | BlockKind::Constant => !before.contains(':'),
            _ => false,
        };
        // The assignment of a formula follows its locals.
        let assigns = kind == BlockKind::Lower && wants_name && before.trim_end().ends_with(',');
        before.is_empty() || assigns || declares_inside && !before.contains('=')
    }

    /// Whether a statement contains a placeholder.
    fn has_placeholder(&self, statement: &Statement) -> bool {
        let mut edits = self.edits.iter().filter(|edit| edit.is_placeholder());
        edits.any(|edit| edit.is_among(statement.tokens))
    }

    fn leave_statement_unread(&self, definition: &mut Definition, kind: BlockKind, statement: &Statement) {
        if !definition.unread.contains(&kind) {
            definition.unread.push(kind);
        }
        if statement.end == End::BrokenString || self.has_lost_name(kind, statement) {
            definition.unread_words = None;
        }
        if let Some(words) = &mut definition.unread_words {
            words.extend(repair::words(statement.tokens).map(str::to_string));
        }
    }

    /// Advances past the next `;` or `}` that ends a statement. `reporting`: whether unbalanced brackets are reported.
    fn cut_statement(&mut self, reporting: bool) -> Statement<'t> {
        let first = self.at;
        let mut open: Vec<Opened> = Vec::new();
        // Kinds without an open bracket: these are searched once, so that many unmatched brackets take linear time.
        let mut absent: Vec<Bracket> = Vec::new();
        let mut error: Option<Diagnostic> = None;
        let end = loop {
            let Some(token) = self.peek() else {
                break End::Cut;
            };
            match token.kind {
                TokenKind::OpenString => {
                    self.at += 1;
                    break End::BrokenString;
                }
                TokenKind::Open(bracket) => {
                    open.push((token, bracket));
                    absent.retain(|closing| *closing != bracket);
                }
                TokenKind::Close(closing) if absent.contains(&closing) => {
                    error = error.or_else(|| Some(self.unopened(token, open.last())));
                }
                TokenKind::Close(closing) => match open.iter().rposition(|(_, opened)| *opened == closing) {
                    Some(at) => {
                        error = error.or_else(|| self.unclosed_bracket(open.get(at + 1), Some(token)));
                        open.truncate(at);
                    }
                    None if closing == Bracket::Curly => break End::Brace,
                    None => {
                        absent.push(closing);
                        continue;
                    }
                },
                TokenKind::Semicolon if open.last().is_some_and(|opened| self.separates(opened)) => {
                    // The message for its first word is sufficient.
                    let is_loop = self.tokens.get(first).is_some_and(|t| self.is_control(t));
                    error = error.or_else(|| (!is_loop).then(|| self.separator(token)));
                }
                TokenKind::Semicolon => {
                    // A `;` is allowed only in a block that is part of a statement; other brackets are not closed.
                    let inner = open.iter().rposition(|(t, _)| self.opens_block(t)).map_or(0, |at| at + 1);
                    error = error.or_else(|| self.unclosed_bracket(open.get(inner), Some(token)));
                    open.truncate(inner);
                    if inner == 0 {
                        break End::Semicolon;
                    }
                }
                TokenKind::At => break End::Cut,
                _ if self.begins_definition(token) => break End::Cut,
                _ => {}
            }
            self.at += 1;
        };
        let mut tokens = self.tokens_since(first);
        let is_broken = end == End::BrokenString;
        if is_broken {
            if let (true, Some((string, _))) = (reporting, tokens.split_last()) {
                let message = "this string is not closed on its line";
                let help = "close it with its opening quote; split a long text into several strings, one after the other";
                self.builder.error_with_help(&STRING, self.span(string), message, help);
                self.swallowed += swallowed_braces(string.text);
            }
            tokens = &[];
        } else {
            error = error.or_else(|| self.unclosed_bracket(open.first(), self.peek()));
        }
        self.at += usize::from(matches!(end, End::Semicolon | End::Brace));
        let broken = is_broken || error.is_some();
        if let (true, Some(error)) = (reporting, error) {
            self.builder.sink.report(error);
        }
        Statement { tokens, end, broken }
    }
}

/// Words that begin only a definition or an import.
pub(super) const DEFINITION_WORDS: [&str; 4] = ["operator", "graph", "public", "import"];

/// The number of tokens in `from module import name, …;`, the import syntax of other languages.
pub(super) fn from_import(text: &str, tokens: &[Token]) -> Option<usize> {
    const LONGEST: usize = 100;
    let mut near = tokens.iter().take(LONGEST);
    let end = near.position(|t| t.kind == TokenKind::Semicolon)?;
    let line = tokens.get(..end)?;
    let is_from = line.first().is_some_and(|t| t.text == "from");
    let imports = line.iter().filter(|t| begins_definition(text, t));
    (is_from && imports.map(|t| t.text).eq(["import"])).then_some(end + 1)
}

/// Whether a token can only begin a definition or an import: these words are reserved.
pub(super) fn begins_definition(text: &str, token: &Token) -> bool {
    // Used as another kind of name, it is reported at its location.
    let is_name = || {
        let rest = text.split_at(token.end).1.trim_start();
        rest.starts_with([':', '=', ',', ')', ';', '.', ']', '}', '+', '-', '*', '/', '<', '>', '?'])
    };
    // An edit does not begin another definition.
    let word = text.get(token.start..token.end);
    token.kind == TokenKind::Word && word.is_some_and(|word| DEFINITION_WORDS.contains(&word)) && !is_name()
}

/// The number of closing braces without an opening one.
fn swallowed_braces(text: &str) -> usize {
    let mut open = 0_usize;
    let mut swallowed = 0_usize;
    for c in text.chars() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => swallowed += 1,
            '}' => open -= 1,
            _ => {}
        }
    }
    swallowed
}

/// The known block whose name has the longest common prefix with a word, if that is long enough.
fn similar_block(word: &str) -> Option<&'static str> {
    let shared = |name: &&str| {
        let common = name.bytes().zip(word.bytes()).take_while(|(a, b)| a == b);
        common.count()
    };
    // Prefixes also match longer and shorter forms: `lowering`, `attributes`, `in`.
    block_names()
        .max_by_key(shared)
        .filter(|name| shared(name) >= 3 || shared(name) >= name.len().min(word.len()).max(2))
}
