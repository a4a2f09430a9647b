// SPDX-License-Identifier: Apache-2.0
//! Repairs one token that is missing, superfluous or mistyped.
//!
//! One brace more or less changes the meaning of everything after it. If a region of a file (a definition, or the text
//! between two) has errors, the edits of one token that could explain them are tried. The edit with the fewest
//! remaining errors is reported instead of the errors that it explains, and the region is parsed with it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::build::Builder;
use super::grammar::Rule;
use super::splitter::{DEFINITION_WORDS, Splitter, begins_definition, block_named, from_import};
use super::token::{Bracket, Token, TokenKind, enclosing, nest, scan};
use super::{MAX_ERRORS, SHALLOW, StatementCache, nesting, read};
use crate::ast::Module;
use crate::diagnostics::codes::{BRACKET, MISSING_SEMICOLON, SYNTAX};
use crate::diagnostics::{Code, Diagnostic, Sink, closest};
use crate::limits::Limits;
use crate::source::{FileId, Span};

/// The maximum number of tokens that all trials of a file may scan.
const TOKENS_LOOKED_AT: usize = 4_000_000;
/// The maximum number of statement bytes that all trials of a file may parse.
const BYTES_READ: usize = 400_000;
/// The maximum number of repairs of one region.
const MOST_EDITS: usize = 4;

/// Placeholders for a name or a value, and for an operator.
const ANY_OPERAND: &str = "_x";
const ANY_OPERATOR: &str = "+";

/// A replacement, insertion or deletion of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The byte offset in the file.
    pub(super) at: usize,
    /// The number of bytes that are skipped.
    pub(super) removed: usize,
    /// The replacement text; a space for a deletion.
    pub(super) inserted: &'static str,
}

impl Edit {
    fn insertion(at: usize, inserted: &'static str) -> Edit {
        Edit { at, removed: 0, inserted }
    }

    pub(super) fn is_deletion(&self) -> bool {
        self.inserted == " "
    }

    /// Whether the inserted text is a placeholder.
    pub(super) fn is_placeholder(&self) -> bool {
        [ANY_OPERAND, ANY_OPERATOR].contains(&self.inserted)
    }

    /// Whether a token of the edited list is the inserted one.
    pub(super) fn inserts(&self, token: &Token) -> bool {
        !self.is_deletion() && token.start == self.at && token.end == self.at + self.removed
    }

    /// Whether the edit lies within consecutive tokens.
    pub(super) fn is_among(&self, tokens: &[Token]) -> bool {
        if !self.is_deletion() {
            return tokens.iter().any(|token| self.inserts(token));
        }
        let inside = |first: &Token, last: &Token| first.start < self.at && self.at < last.end;
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => inside(first, last),
            _ => false,
        }
    }
}

/// Parses a file region by region; errors in one region do not affect the others. Definitions whose names `keep` refuses
/// are left out.
pub(super) fn read_regions(
    text: &str,
    keep: &dyn Fn(&str) -> bool,
    limits: &Limits,
    sink: &mut Sink,
    cache: Option<&StatementCache>,
    module: &mut Module,
) {
    let tokens = scan(text);
    // A byte order mark may begin a file and is not a token of the language.
    let (_, after_mark) = tokens.split_at(usize::from(text.starts_with('\u{feff}')));
    if let Some(version) = first_edition(text, after_mark) {
        let span = Span::of_bytes(module.file, version.start, version.end);
        let message = "this is a document of NNEF 1; SkriptND is the language of NNEF 2";
        let diagnostic = Diagnostic::error(&SYNTAX, span, message)
            .with_help("convert the model again, by a converter that writes SkriptND");
        sink.report(diagnostic);
        module.unread = true;
        return;
    }
    let errors_before = sink.error_count();
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut trials = Trials::default();
    for (region, after) in regions(text, after_mark) {
        let errors = sink.error_count() - errors_before;
        if errors >= MAX_ERRORS {
            break;
        }
        if defined(region).is_some_and(|name| !keep(name)) {
            continue;
        }
        let most_errors = MAX_ERRORS - errors;
        let file = module.file;
        let reader =
            Reader { text, lines: &lines, tokens: &tokens, region, after, limits, file, most_errors, cache };
        reader.read(&mut trials, sink, module);
    }
}

/// The imports and definitions of a file, each with the text up to the next one, and the token after it.
fn regions<'a, 't>(
    text: &'a str,
    mut rest: &'a [Token<'t>],
) -> impl Iterator<Item = (&'a [Token<'t>], Option<&'a Token<'t>>)> {
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let mut length = from_import(text, rest).unwrap_or(1);
        let is_kind = |t: &Token| matches!(t.text, "operator" | "graph");
        if first.text == "public" && rest.get(length).is_some_and(is_kind) {
            length += 1;
        }
        while rest.get(length).is_some_and(|t| !begins_definition(text, t)) {
            length += 1;
        }
        let (region, after) = rest.split_at(length);
        rest = after;
        Some((region, after.first()))
    })
}

/// The name of the definition in a region; `None` if the region is not a definition.
fn defined<'t>(region: &[Token<'t>]) -> Option<&'t str> {
    let mut words = region.iter().map(|t| t.text);
    let kind = words.find(|word| *word != "public")?;
    matches!(kind, "operator" | "graph").then(|| words.next())?
}

/// The definitions of a file by name, with all words in them, in order.
pub(crate) fn definitions(text: &str) -> Vec<(&str, Vec<&str>)> {
    let tokens = scan(text);
    let mut definitions = Vec::new();
    for (region, _) in regions(text, &tokens) {
        definitions.extend(defined(region).map(|name| (name, words(region).collect())));
    }
    definitions
}

pub(super) fn words<'t>(tokens: &[Token<'t>]) -> impl Iterator<Item = &'t str> {
    let words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
    words.map(|t| t.text)
}

/// The length of `version 1.0;`, with which documents of NNEF 1 begin.
fn first_edition(text: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let end = tokens.iter().position(|t| t.kind == TokenKind::Semicolon)?;
    let (first, number) = tokens.get(..end)?.split_first()?;
    let number = number.first()?.start..number.last()?.end;
    let is_number = text.get(number.clone())?.parse::<f64>().is_ok();
    (first.text == "version" && is_number).then_some(number)
}

/// One region of a file.
struct Reader<'t> {
    text: &'t str,
    /// The beginnings of all lines but the first.
    lines: &'t [usize],
    /// The tokens of the full file.
    tokens: &'t [Token<'t>],
    region: &'t [Token<'t>],
    /// The first token of the next region.
    after: Option<&'t Token<'t>>,
    limits: &'t Limits,
    file: FileId,
    most_errors: usize,
    cache: Option<&'t StatementCache>,
}

/// The cost of the trials of a file, and cached results.
#[derive(Default)]
struct Trials {
    /// Cached results of parsing statements, by their kind, start and end.
    readable: FxHashMap<(Rule, usize, usize), bool>,
    bytes: usize,
    tokens: usize,
}

impl Trials {
    fn are_over(&self) -> bool {
        self.tokens > TOKENS_LOOKED_AT || self.bytes > BYTES_READ
    }
}

impl<'t> Reader<'t> {
    fn read(&self, trials: &mut Trials, sink: &mut Sink, module: &mut Module) {
        let mut region_sink = Sink::default();
        let plain: Vec<Token> = self.region.iter().chain(self.after).copied().collect();
        let mut part = Module::default();
        self.cutter(&plain, &[], &mut region_sink, module, self.most_errors).region(&mut part);
        if region_sink.has_errors() {
            let edits = self.edits(&plain, region_sink.diagnostics(), module, trials);
            if !edits.is_empty() {
                let edited = edited(&plain, &edits);
                part = Module::default();
                region_sink = Sink::default();
                for edit in &edits {
                    region_sink.report(self.explain(edit, &edited));
                }
                self.cutter(&edited, &edits, &mut region_sink, module, self.most_errors).region(&mut part);
            }
        }
        for diagnostic in region_sink.into_sorted() {
            sink.report(diagnostic);
        }
        module.imports.append(&mut part.imports);
        module.definitions.append(&mut part.definitions);
        module.unread |= part.unread;
        module.edition_marks = part.edition_marks;
    }

    fn cutter<'c>(
        &'c self,
        tokens: &'c [Token<'c>],
        edits: &'c [Edit],
        sink: &'c mut Sink,
        module: &Module,
        most_errors: usize,
    ) -> Splitter<'c, 'c> {
        Splitter {
            text: self.text,
            tokens,
            region: tokens.len() - usize::from(self.after.is_some()),
            edits,
            at: 0,
            builder: Builder {
                file: self.file,
                base: 0,
                tokens: self.tokens,
                splices: Vec::new(),
                limits: self.limits,
                sink,
                marks: module.edition_marks.clone(),
            },
            cache: self.cache,
            after_definitions: !module.definitions.is_empty(),
            most_errors,
            repaired: Vec::new(),
            failure: None,
            skipped: 0,
            swallowed: 0,
            deferred: None,
        }
    }

    /// The edits that explain the most errors.
    fn edits(
        &self,
        plain: &[Token],
        found: &[Diagnostic],
        module: &Module,
        trials: &mut Trials,
    ) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let locations: Vec<usize> = found
            .iter()
            .flat_map(|d| d.span.into_iter().chain(d.labels.iter().map(|l| l.span)))
            .map(|span| span.start as usize)
            .collect();
        // An unclosed string contains any missing token.
        let swallows = plain.iter().any(|t| t.kind == TokenKind::OpenString);
        if swallows || trials.are_over() {
            return edits;
        }
        let Some(mut errors) = self.errors(plain, &edits, module, usize::MAX, trials) else {
            return edits;
        };
        while errors > 0 && edits.len() < MOST_EDITS {
            let tokens = edited(plain, &edits);
            let mut best: Option<(usize, usize, Edit)> = None;
            for edit in candidates(self.text, &tokens, &locations, &edits) {
                if trials.are_over() {
                    break;
                }
                let Some(allowed) = errors.checked_sub(self.least_explained(&edit)) else {
                    continue;
                };
                let allowed = best.as_ref().map_or(allowed, |b| b.0.min(allowed));
                let mut tried = edits.clone();
                tried.push(edit);
                tried.sort_by_key(|e| e.at);
                let tokens = edited(plain, &tried);
                let Some(left) = self.errors(&tokens, &tried, module, allowed, trials) else {
                    continue;
                };
                let misaligned = misaligned_braces(self.text, self.lines, &tokens);
                if best.as_ref().is_none_or(|b| (left, misaligned) < (b.0, b.1)) {
                    best = Some((left, misaligned, edit));
                }
            }
            let Some((left, _, edit)) = best else { break };
            errors = left;
            edits.push(edit);
            edits.sort_by_key(|e| e.at);
        }
        edits
    }

    /// The number of errors that an edit must explain. An uncertain edit must explain two, otherwise a guess would
    /// replace a certain error.
    fn least_explained(&self, edit: &Edit) -> usize {
        let end = edit.at + edit.removed;
        let (written, _) = self.text.split_at(edit.at).1.split_at(edit.removed);
        let ends_line = ends_line(self.text, end);
        let is_bracket = |sign| matches!(sign, "(" | ")" | "[" | "]" | "{" | "}");
        let is_word = |sign: &str| sign.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        // A round or square bracket without its partner may have lost it.
        let is_certain = match (written, edit.inserted) {
            (";", "," | ":" | "=" | " ") => !ends_line,
            (_, "@") => edit.removed > 0,
            (sign, ";") => edit.removed > 0 && ends_line && !is_bracket(sign) && !is_word(sign),
            ("@" | "{" | "}", inserted) => inserted == " ",
            _ => false,
        };
        if is_certain { 1 } else { 2 }
    }

    /// The number of errors of the region with some edits; `None` if more than `allowed`.
    fn errors(
        &self,
        tokens: &[Token],
        edits: &[Edit],
        module: &Module,
        allowed: usize,
        trials: &mut Trials,
    ) -> Option<usize> {
        trials.tokens += tokens.len();
        let mut sink = Sink::default();
        let most = allowed.saturating_add(1).min(MAX_ERRORS);
        let mut cutter = self.cutter(tokens, edits, &mut sink, module, most);
        cutter.deferred = Some(Vec::new());
        cutter.region(&mut Module::default());
        // An edit does not repair an error that it hides.
        let mut errors = cutter.builder.sink.error_count() + cutter.skipped;
        for statement in cutter.deferred.take().into_iter().flatten() {
            if errors > allowed {
                return None;
            }
            let (Some(first), Some(last), Some(text)) =
                (statement.tokens.first(), statement.tokens.last(), cutter.statement_text(statement.tokens))
            else {
                continue;
            };
            let mut is_readable = || {
                trials.bytes += text.written.len();
                let depth = nesting::depth(statement.tokens, self.limits);
                depth.is_ok_and(|depth| depth > SHALLOW) || read(statement.entry, &text.written).is_ok()
            };
            let readable = if text.splices.is_empty() {
                let key = (statement.entry, first.start, last.end);
                *trials.readable.entry(key).or_insert_with(is_readable)
            } else {
                is_readable()
            };
            // Deleting a semicolon merges two statements, so the error of the merged one counts twice.
            let is_joint = |edit: &&Edit| {
                let written = self.text.get(edit.at..edit.at + edit.removed);
                written == Some(";") && edit.is_among(statement.tokens)
            };
            let joints = edits.iter().filter(is_joint).count();
            errors += if readable { 0 } else { 1 + joints };
        }
        (errors <= allowed).then_some(errors)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::of_bytes(self.file, start, end)
    }

    /// The message about an edit; `edited`: the tokens with all edits.
    fn explain(&self, edit: &Edit, edited: &[Token]) -> Diagnostic {
        let span = self.span(edit.at, edit.at + edit.removed);
        let written = self.text.get(edit.at..edit.at + edit.removed).unwrap_or("");
        let index = edited.partition_point(|t| t.start < edit.at);
        let (code, message, help) = match (written, edit.inserted) {
            (")" | "]" | "}", " ") => (
                &BRACKET,
                format!("this `{written}` has no opening bracket"),
                "remove it, or an extra bracket before it".to_string(),
            ),
            ("(" | "[" | "{", " ") => {
                (&BRACKET, format!("this `{written}` is one too many"), "remove it".to_string())
            }
            (_, " ") => (
                &SYNTAX,
                format!("`{written}` does not belong here"),
                self.deletion_help(written, index, edited).to_string(),
            ),
            ("", inserted) => return self.missing(inserted, span, index, edited),
            (_, ANY_OPERAND) => {
                return Diagnostic::error(
                    &SYNTAX,
                    span,
                    format!("expected a name or a value, found `{written}`"),
                )
                .with_help("replace it by the intended token");
            }
            (_, ANY_OPERATOR) => {
                return Diagnostic::error(&SYNTAX, span, format!("expected an operator, found `{written}`"))
                    .with_help("replace it by the intended operator");
            }
            (_, inserted) => (
                match scan(inserted).first().map(|token| token.kind) {
                    Some(TokenKind::Open(_) | TokenKind::Close(_)) => &BRACKET,
                    _ => &SYNTAX,
                },
                format!("expected `{inserted}`, found `{written}`"),
                format!("write `{inserted}`"),
            ),
        };
        Diagnostic::error(code, span, message).with_fix(help, span, edit.inserted.trim())
    }

    /// The help text for deleting the token before the one at `index`.
    fn deletion_help(&self, written: &str, index: usize, edited: &[Token]) -> &'static str {
        match written {
            "@" => "remove it; a block begins with `@` and its name, as in `@compose { … }`",
            ";" if is_in_list(edited, index) => "remove it; items in brackets are separated by commas",
            ";" => "remove it; the statement continues after it",
            _ => "remove it",
        }
    }

    /// The message about the inserted token at `index`.
    fn missing(&self, inserted: &str, span: Span, index: usize, edited: &[Token]) -> Diagnostic {
        let spelled = |at: Option<usize>| at.and_then(|at| edited.get(at)).map(|t| t.text);
        let in_block = spelled(index.checked_sub(2)) == Some("@");
        let block = spelled(index.checked_sub(1)).filter(|_| in_block);
        let code: &'static Code = match inserted {
            ";" => &MISSING_SEMICOLON,
            "@" => &SYNTAX,
            _ => &BRACKET,
        };
        let message = match (inserted, block, spelled(Some(index + 1))) {
            ("{", Some(block), _) => format!("expected `{{` after `@{block}`"),
            ("@", _, Some(name)) => format!("`@` is missing before `{name}`"),
            _ => format!("`{inserted}` is missing here"),
        };
        let mut diagnostic = Diagnostic::error(code, span, message);
        if let Some(other) = partner(edited, index) {
            let text = if other.start < span.start as usize { "opened here" } else { "closed here" };
            diagnostic = diagnostic.with_label_at(self.span(other.start, other.end), text);
        }
        diagnostic.with_fix(format!("write `{inserted}`"), span, inserted)
    }
}

/// The tokens with the edits applied; edits are in order.
fn edited<'t>(tokens: &[Token<'t>], edits: &[Edit]) -> Vec<Token<'t>> {
    let mut result = Vec::with_capacity(tokens.len() + edits.len());
    let mut rest = tokens;
    for edit in edits {
        // An insertion follows a token that ends at its position, and precedes a token that begins there.
        let (before, after) = rest.split_at(rest.partition_point(|t| t.start < edit.at));
        result.extend_from_slice(before);
        rest = match after {
            [_, after @ ..] if edit.removed > 0 => after,
            _ => after,
        };
        let (start, end) = (edit.at, edit.at + edit.removed);
        result.extend(scan(edit.inserted).first().map(|token| Token { start, end, ..*token }));
    }
    result.extend_from_slice(rest);
    nest(&mut result);
    result
}

/// Every edit of one token that could explain errors at `locations`, nearest ones first; `edits` were applied.
fn candidates(text: &str, tokens: &[Token], locations: &[usize], edits: &[Edit]) -> Vec<Edit> {
    /// The number of tokens around an error that are searched for a wrong token other than a bracket.
    const NEAR: usize = 12;
    let near: Vec<usize> =
        locations.iter().map(|location| tokens.partition_point(|t| t.end <= *location)).collect();
    // The numbers of brackets that are opened minus closed.
    let unpaired = [Bracket::Round, Bracket::Square, Bracket::Curly].map(|bracket| {
        let count =
            |kind| isize::try_from(tokens.iter().filter(|t| t.kind == kind).count()).unwrap_or(isize::MAX);
        (bracket, count(TokenKind::Open(bracket)) - count(TokenKind::Close(bracket)))
    });
    let mut edits_by_distance: Vec<(usize, Edit)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let distance = near.iter().map(|n| n.abs_diff(at)).min().unwrap_or(0);
        let replaced =
            |inserted: &'static str| Edit { at: token.start, removed: token.end - token.start, inserted };
        let deletion = replaced(" ");
        let mut add = |edit: Edit| edits_by_distance.push((distance, edit));
        // There are too many brackets of this kind and direction: any of them may be the wrong one.
        let is_lone = unpaired.iter().any(|(bracket, surplus)| match token.kind {
            TokenKind::Open(b) => b == *bracket && *surplus > 0,
            TokenKind::Close(b) => b == *bracket && *surplus < 0,
            _ => false,
        });
        // A bracket in place of another bracket or of another sign.
        if is_lone || distance <= NEAR && may_be_bracket(text, tokens, at) {
            for (bracket, surplus) in unpaired.iter().filter(|(_, surplus)| *surplus != 0) {
                add(replaced(if *surplus > 0 { bracket.closing() } else { bracket.opening() }));
            }
        }
        for (bracket, surplus) in unpaired {
            let (opening, closing) = (TokenKind::Open(bracket), TokenKind::Close(bracket));
            if surplus > 0 {
                add(Edit::insertion(token.end, bracket.closing()));
                if token.kind == opening {
                    add(deletion);
                }
            } else if surplus < 0 {
                add(Edit::insertion(token.start, bracket.opening()));
                if token.kind == closing {
                    add(deletion);
                }
            }
        }
        match token.kind {
            _ if distance > NEAR => {}
            TokenKind::Semicolon | TokenKind::At => add(deletion),
            TokenKind::Word => {
                if distance <= 1 && !begins_definition(text, token) {
                    add(deletion);
                    let meant = closest(token.text, DEFINITION_WORDS);
                    if let Some(meant) = meant {
                        add(replaced(meant));
                    }
                    if ends_statement(text, tokens, at) {
                        add(replaced(";"));
                    }
                }
                if block_named(token.text).is_some() {
                    add(Edit::insertion(token.start, "@"));
                }
            }
            _ => {}
        }
        if distance <= NEAR {
            for sign in signs_in_place_of(text, tokens, at, is_lone) {
                add(replaced(sign));
            }
        }
    }
    // An inserted token has no width, so it cannot be deleted again; a replaced token is not edited again.
    let was_replaced = |at| edits.iter().any(|e| e.removed > 0 && e.at == at);
    edits_by_distance.retain(|(_, edit)| match edit.removed {
        0 => !edit.is_deletion(),
        _ => !was_replaced(edit.at),
    });
    edits_by_distance.sort_by_key(|(distance, _)| *distance);
    edits_by_distance.into_iter().map(|(_, edit)| edit).collect()
}

/// Whether the token at an index may have been typed instead of a bracket. Words are intended, except where only a
/// brace can be: alone on its line, or at the end of a line after a block's name.
fn may_be_bracket(text: &str, tokens: &[Token], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    match token.kind {
        TokenKind::Open(_) | TokenKind::Close(_) => false,
        TokenKind::String | TokenKind::OpenString => false,
        TokenKind::Word => {
            let (before, _) = text.split_at(token.start);
            let before = before.rsplit_once('\n').map_or(before, |(_, line)| line).trim();
            ends_line(text, token.end) && (before.is_empty() || before.starts_with('@'))
        }
        _ => true,
    }
}

/// The signs, except brackets, that may be intended instead of the one at an index, judged by the tokens around it.
fn signs_in_place_of(text: &str, tokens: &[Token], at: usize, is_lone: bool) -> Vec<&'static str> {
    let Some(token) = tokens.get(at) else {
        return Vec::new();
    };
    let may_be_another = match token.kind {
        TokenKind::Open(_) | TokenKind::Close(_) => is_lone,
        TokenKind::Word | TokenKind::String | TokenKind::OpenString => false,
        _ => true,
    };
    if !may_be_another {
        return Vec::new();
    }
    let word_at = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        token.filter(|t| t.kind == TokenKind::Word).map(|t| t.text)
    };
    let (before, next) = (word_at(at.checked_sub(1)), word_at(Some(at + 1)));
    let names_block = next.and_then(block_named).is_some();
    // An inserted token is plausible.
    let written = if token.start == token.end { "" } else { token.text };
    let is = |others: &[&str]| others.contains(&written);
    let is_implausible = is_lone || is(&[";", "@"]);
    let signs = [
        (names_block, "@"),
        (ends_statement(text, tokens, at) || is(&[",", ":"]), ";"),
        (before.and(next).is_some() || is_implausible, ":"),
        (is_implausible, ","),
        (is_implausible, "="),
        (is_implausible, ANY_OPERAND),
        (is_implausible, ANY_OPERATOR),
    ];
    signs.into_iter().filter(|(may, sign)| *may && *sign != written).map(|(_, sign)| sign).collect()
}

/// Whether a statement may end with the token at an index.
fn ends_statement(text: &str, tokens: &[Token], at: usize) -> bool {
    let closes = |token: &Token| token.kind == TokenKind::Close(Bracket::Curly);
    let is_last = tokens.get(at).is_some_and(|token| ends_line(text, token.end));
    is_last || tokens.get(at + 1).is_some_and(closes)
}

/// Whether at most a comment follows on the line.
fn ends_line(text: &str, at: usize) -> bool {
    let (_, rest) = text.split_at(at);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
    rest.is_empty() || rest.starts_with(['\n', '#'])
}

/// The partner of the bracket at `index`, if all brackets before it match.
fn partner<'a, 't>(tokens: &'a [Token<'t>], index: usize) -> Option<&'a Token<'t>> {
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open(_) => open.push((at, token)),
            TokenKind::Close(bracket) => {
                let (other, opening) = open.pop().filter(|(_, t)| t.kind == TokenKind::Open(bracket))?;
                if [at, other].contains(&index) {
                    return Some(if at == index { opening } else { token });
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the token before `index` is in round or square brackets, or in attributes.
fn is_in_list(tokens: &[Token], index: usize) -> bool {
    let Some(at) = tokens.get(..index).and_then(enclosing) else { return false };
    let closed = partner(tokens, at).map(|close| tokens.partition_point(|t| t.start <= close.start));
    let is_call = closed.and_then(|after| tokens.get(after)).is_some_and(|t| t.text == "(");
    is_call || tokens.get(at).is_some_and(|t| t.kind != TokenKind::Open(Bracket::Curly))
}

/// The number of closing brackets on a later line than their opening bracket that are not the first token of this line,
/// or whose indentation differs from that of the line of the opening bracket.
fn misaligned_braces(text: &str, lines: &[usize], tokens: &[Token]) -> usize {
    let line_of = |at: usize| {
        let before = lines.partition_point(|line| *line <= at).checked_sub(1);
        before.and_then(|line| lines.get(line)).map_or(0, |line| *line)
    };
    let indentation = |line: usize| {
        let (_, rest) = text.split_at(line);
        rest.len() - rest.trim_start().len()
    };
    let mut open = Vec::new();
    let mut count = 0;
    for token in tokens {
        match token.kind {
            TokenKind::Open(_) => open.push(token.start),
            TokenKind::Close(_) => {
                let Some(opened) = open.pop() else { continue };
                let (first, last) = (line_of(opened), line_of(token.start));
                let begins_line = indentation(last) == token.start - last;
                let is_misaligned = !begins_line || indentation(first) != token.start - last;
                count += usize::from(first != last && is_misaligned);
            }
            _ => {}
        }
    }
    count
}
