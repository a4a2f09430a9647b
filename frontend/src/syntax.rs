// SPDX-License-Identifier: Apache-2.0
//! Parses text to [`crate::ast`]; spans cover every byte of the file.
//!
//! [`token`] scans a file to tokens with their nesting depth, for the parser, the formatter and the language server.
//! [`splitter`] splits them into definitions, blocks and statements. Each statement is then parsed separately by the grammar of `skript.pest`, so that an error in one statement
//! does not hide errors in the next. [`repair`] finds a single missing or superfluous token in a definition with errors.
//! [`nesting`] limits the depth of a statement before it is parsed.

mod advice;
mod brackets;
mod build;
mod casts;
mod expectation;
mod formula_advice;
pub(crate) mod grammar;
mod input_helpers;
mod malformed_number;
mod nesting;
mod repair;
pub(crate) mod splitter;
mod statement;
mod statement_cache;
pub mod token;

use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};

use crate::ast::Module;
use crate::diagnostics::{Diagnostic, Sink, codes};
use crate::limits::Limits;
use crate::source::FileId;
pub(crate) use advice::{
    OPEN_EXTENT, builtin_instead, foreign_literal, foreign_type, invocation_advice, literal_instead,
};
use build::Builder;
pub(crate) use build::{open_type_list, precedence};
use expectation::Found;
use grammar::{Pair, Rule, SkriptGrammar};
pub(crate) use input_helpers::expand_input_helpers;
use nesting::TooDeep;
pub(crate) use repair::definitions;
pub use splitter::{block_kind, block_names};
pub use statement_cache::StatementCache;
use token::scan;

/// The maximum nesting for which the stack of any thread suffices.
const SHALLOW: usize = 24;
/// The stack size for deeper nesting, per level of [`Limits::nesting`]: ten times the need of an unoptimized build.
pub(crate) const STACK_PER_LEVEL: usize = 256 << 10;

/// Runs `work` on a separate stack; `None` if there is not enough memory.
pub(crate) fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    skript_host::on_stack("parse", bytes, work).ok()?.ok()
}

/// The maximum number of syntax errors of one file; the remaining text is not parsed.
pub(crate) const MAX_ERRORS: usize = 100;

/// Whether a text is a name, and not a reserved word.
pub fn is_name(text: &str) -> bool {
    SkriptGrammar::parse(Rule::ident, text).is_ok_and(|pairs| pairs.as_str() == text)
}

/// The words of a file, and the words that follow a point.
pub(crate) fn words(text: &str) -> (Vec<&str>, Vec<&str>) {
    let tokens = scan(text);
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let members = pairs.filter(|(point, _)| point.text == ".").map(|(_, member)| member.text);
    // The digits of a number follow a point, too.
    (
        repair::words(&tokens).collect(),
        members.filter(|member| member.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect(),
    )
}

/// Parses one file; returns everything that could be parsed, even after errors.
///
/// `name` is the dotted name of the module. The text is at most [`Limits::source_bytes`] long (else a diagnostic and an
/// empty module).
pub fn parse_module(file: FileId, text: &str, name: &str, limits: &Limits, sink: &mut Sink) -> Module {
    parse_definitions((file, text), name, &|_| true, limits, sink, None)
}

/// Like [`parse_module`], without the definitions whose names `keep` rejects.
/// Statements that `cache` has are not parsed.
pub(crate) fn parse_definitions(
    (file, text): (FileId, &str),
    name: &str,
    keep: &dyn Fn(&str) -> bool,
    limits: &Limits,
    sink: &mut Sink,
    cache: Option<&StatementCache>,
) -> Module {
    let mut module = Module { file, name: name.to_string(), ..Module::default() };
    if text.len() > limits.source_bytes || u32::try_from(text.len()).is_err() {
        sink.report(Diagnostic::error(
            &codes::SOURCE_SIZE,
            crate::source::Span::new(file, 0, 0),
            format!("the file has {} bytes, {} are accepted", text.len(), limits.source_bytes),
        ));
        return module;
    }
    repair::read_regions(text, keep, limits, sink, cache, &mut module);
    casts::resolve(&mut module);
    module
}

/// Parses the piece `text` of a string, which begins at `builder.base` of the file, with an entry rule, and passes the
/// result to `build`. Reports errors.
fn read_piece<T>(
    builder: &mut Builder,
    entry: Rule,
    text: &str,
    build: impl Fn(&mut Builder, Pair) -> T,
) -> Option<T> {
    let tokens = token::scan(text);
    match nesting::depth(&tokens, builder.limits) {
        Err(deep) => {
            too_deep(builder, &deep);
            None
        }
        Ok(_) => match read(entry, text) {
            Ok(pair) => Some(build(builder, pair)),
            Err(failure) => {
                failure.report(builder, entry, text, "}");
                None
            }
        },
    }
}

fn too_deep(builder: &mut Builder, deep: &TooDeep) {
    let (token, message, limit) = match deep {
        TooDeep::Nesting(token) => {
            let levels = builder.limits.nesting;
            let message = format!("brackets and operators nest deeper than {levels} levels here");
            (token, message, "nesting")
        }
        TooDeep::Chain(token) => {
            let operators = builder.limits.chain;
            (token, format!("there are more than {operators} operators side by side here"), "chain")
        }
    };
    let span = builder.span_at(token.start, token.end);
    builder.error_with_help(
        &codes::NESTING,
        span,
        message,
        format!(
            "split it: name parts of it in @using, or assign parts of it to tensors of their own; `--limit {limit}=N` \
             allows more"
        ),
    );
}

/// The location and reason of a text that could not be parsed.
pub(crate) struct Failure {
    /// The offset relative to the text.
    at: usize,
    expected: Vec<Rule>,
}

pub(crate) fn read(entry: Rule, text: &str) -> Result<Pair<'_>, Failure> {
    match SkriptGrammar::parse(entry, text) {
        Ok(mut pairs) => pairs.next().ok_or(Failure { at: 0, expected: Vec::new() }),
        Err(error) => Err(Failure {
            at: match error.location {
                InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
            },
            expected: match error.variant {
                ErrorVariant::ParsingError { positives, .. } => positives,
                ErrorVariant::CustomError { .. } => Vec::new(),
            },
        }),
    }
}

impl Failure {
    /// `terminator`: the end of the statement in the file.
    fn report(&self, builder: &mut Builder, entry: Rule, text: &str, terminator: &str) {
        let tokens = token::scan(text);
        let (start, end) = match tokens.iter().find(|t| t.end > self.at) {
            Some(token) => (token.start.max(self.at), token.end),
            None => self.terminator_span(builder, entry, text, terminator),
        };
        let before = tokens.iter().rev().find(|t| t.end <= start);
        let stopped_at = Found {
            text: whole_operator(text, start, end),
            before: before.map_or("", |t| t.text),
            terminator,
            statement: text,
            start,
            end,
        };
        expectation::report(builder, entry, &self.expected, &stopped_at);
    }

    /// The end of the text in the file; offsets are relative to the text.
    fn terminator_span(
        &self,
        builder: &Builder,
        entry: Rule,
        text: &str,
        terminator: &str,
    ) -> (usize, usize) {
        let end = text.len();
        if terminator.is_empty() {
            return (end, end);
        }
        if entry == Rule::format_entry {
            return (end, end + terminator.len());
        }
        let next = builder.tokens.partition_point(|t| t.start < builder.base + end);
        builder.tokens.get(next).map_or((end, end), |t| {
            (t.start.saturating_sub(builder.base), t.end.saturating_sub(builder.base))
        })
    }
}

/// The whole operator that begins at a token, because some operators consist of several tokens: `...`, `-=`, `<-`.
fn whole_operator(text: &str, start: usize, end: usize) -> &str {
    let token = text.get(start..end).unwrap_or_default();
    let rest = text.get(start..).unwrap_or_default();
    ["...", "<?=", ">?=", "..", "-=", "/=", "%=", "^=", "<-", "->", ":="]
        .into_iter()
        .find(|op| rest.starts_with(op))
        .unwrap_or(token)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
