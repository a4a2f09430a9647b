// SPDX-License-Identifier: Apache-2.0
//! Completion at a position.

use crate::analysis::Analysis;
use crate::hover;
use crate::names::{Entity, Names, declared_in, definition_at};
use crate::signature_help;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, Documentation, MarkupContent,
    MarkupKind,
};
use skript_frontend::ast::{Definition, DefinitionKind, Module};
use skript_frontend::eval::spelling::builtin;
use skript_frontend::library;
use skript_frontend::syntax::block_names;
use skript_frontend::syntax::token::{Bracket, Token, TokenKind, enclosing, lex, path};
use skript_semantics::ScalarOp;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The words with which a file's parts begin.
const HEADS: [&str; 3] = ["import", "operator", "graph"];

const WORDS: [&str; 18] = [
    "if", "then", "elif", "else", "with", "for", "while", "do", "unroll", "yield", "optional", "int", "real",
    "bool", "str", "true", "false", "inf",
];

/// The context before the position.
enum Context<'t> {
    Comment,
    /// Between definitions.
    File,
    Block,
    Import,
    BuiltIn,
    /// After `path.`.
    Member(&'t str),
    /// Inside `path{…`, with the text between the braces.
    Attribute(&'t str, &'t str),
    Anything,
}

/// Maximum number of items in an answer. Editors ask again while one types if there are more.
const MAX_ITEMS: usize = 1000;

/// A name that completes the text.
struct Offer<'a> {
    label: Cow<'a, str>,
    source: Source<'a>,
}

/// The declaration of an offered name.
enum Source<'a> {
    Plain(CompletionItemKind),
    /// A name that the definition declares.
    Declared(&'a Definition, &'static str),
    /// An operator, with the path of its module.
    Operator(&'a Definition, Option<&'a str>),
    /// An attribute, with the text of its declaration.
    Attribute(&'a str),
}

/// The completions at an offset of a module's text.
pub(crate) fn completions(names: &Names, offset: usize) -> CompletionResponse {
    let mut offers = offers(names, offset);
    let is_incomplete = offers.len() > MAX_ITEMS;
    if is_incomplete {
        let before = before(names, offset);
        let (_, word) = before.split_at(without_word(before).len());
        let is_operator = |offer: &Offer| matches!(offer.source, Source::Operator(..));
        offers.sort_by_cached_key(|offer| (distance(&offer.label, word), is_operator(offer)));
        offers.truncate(MAX_ITEMS);
    }
    let items = offers.into_iter().map(|offer| offer.item(names)).collect();
    if is_incomplete {
        CompletionResponse::List(CompletionList { is_incomplete, items })
    } else {
        CompletionResponse::Array(items)
    }
}

/// How far a label is from a word, as editors match them: 0 if the label begins with it, then without regard to case, if it
/// contains the word, and if it contains the letters of the word in their order.
fn distance(label: &str, word: &str) -> u8 {
    if label.starts_with(word) {
        return 0;
    }
    let (label, word) = (label.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut letters = label.chars();
    match label.find(&word) {
        Some(0) => 1,
        Some(_) => 2,
        None if word.chars().all(|wanted| letters.any(|letter| letter == wanted)) => 3,
        None => 4,
    }
}

impl Offer<'_> {
    /// The item of the answer. [`resolved`] adds comments of operators.
    fn item(self, names: &Names) -> CompletionItem {
        let label = self.label.into_owned();
        let (kind, detail) = match self.source {
            Source::Plain(kind) => (kind, None),
            Source::Declared(definition, role) => {
                let composed = names.analysis.latest_type(definition, &label);
                (CompletionItemKind::VARIABLE, Some(composed.unwrap_or_else(|| role.to_owned())))
            }
            Source::Operator(definition, _) => {
                (CompletionItemKind::FUNCTION, Some(signature_help::detail(names, definition)))
            }
            Source::Attribute(declaration) => (CompletionItemKind::PROPERTY, Some(declaration.to_owned())),
        };
        let insert_text = matches!(self.source, Source::Attribute(_)).then(|| format!("{label}="));
        let data = match self.source {
            Source::Operator(_, Some(path)) => Some(format!("{path}.{label}").into()),
            Source::Operator(_, None) => Some(label.clone().into()),
            _ => None,
        };
        CompletionItem { label, kind: Some(kind), detail, insert_text, data, ..CompletionItem::default() }
    }
}

/// The text before an offset.
fn before<'a>(names: &Names<'a>, offset: usize) -> &'a str {
    let text = names.text();
    text.get(..offset).unwrap_or(text)
}

/// The text without the name at its end.
fn without_word(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn offers<'a>(names: &Names<'a>, offset: usize) -> Vec<Offer<'a>> {
    let (analysis, before) = (names.analysis, before(names, offset));
    let (tokens, _) = names.tokens.split_at(names.tokens.partition_point(|token| token.end <= offset));
    match Context::new(before, tokens) {
        Context::Comment => Vec::new(),
        Context::File => plain(HEADS, CompletionItemKind::KEYWORD),
        Context::Block => plain(block_names(), CompletionItemKind::KEYWORD),
        Context::Import => plain(library::names(), CompletionItemKind::MODULE),
        Context::BuiltIn => plain(built_ins(), CompletionItemKind::FUNCTION),
        Context::Member(path) => match names.resolve(path) {
            Some(owner) => operators(owner, Some(path)).collect(),
            None => Vec::new(),
        },
        Context::Attribute(path, given) => match names.operator(path) {
            Some(Entity::Operator { definition, .. }) => attributes(analysis, definition, given),
            _ => Vec::new(),
        },
        Context::Anything => anything(names, offset),
    }
}

impl<'t> Context<'t> {
    /// The context at the end of a text with these tokens.
    fn new(before: &'t str, tokens: &[Token<'t>]) -> Self {
        let tokens = match tokens.split_last() {
            // The name that is being written.
            Some((last, others)) if last.kind == TokenKind::Word && last.end == before.len() => others,
            _ => tokens,
        };
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        if lex(line).last().is_some_and(|token| token.kind == TokenKind::Comment) {
            return Context::Comment;
        }
        let head = without_word(before);
        if head.ends_with('@') {
            return Context::Block;
        }
        let statement = line.rsplit_once(';').map_or(line, |(_, statement)| statement);
        if statement.trim_start().starts_with("import ") {
            return Context::Import;
        }
        // If the line has an odd number of backticks before the position, the position is inside a pair.
        if line.matches('`').count() % 2 == 1 {
            return Context::BuiltIn;
        }
        if tokens.last().is_none_or(|t| t.depth == 0 && (t.text == "}" || t.kind == TokenKind::Semicolon)) {
            return Context::File;
        }
        if let [owner @ .., point] = tokens
            && head.ends_with('.')
            && point.text == "."
            && let Some(path) = path(before, owner)
        {
            return Context::Member(path);
        }
        let (owner, inside) = tokens.split_at(enclosing(tokens).unwrap_or(tokens.len()));
        let Some(open) = inside.first().filter(|open| open.kind == TokenKind::Open(Bracket::Curly)) else {
            return Context::Anything;
        };
        let generic = owner.last().filter(|t| t.text == ">").and(owner.iter().rposition(|t| t.text == "<"));
        let (owner, _) = owner.split_at(generic.unwrap_or(owner.len()));
        let (_, given) = before.split_at(open.end);
        let is_value = given.rsplit(',').next().is_some_and(|last| last.contains('='));
        let ends = inside.iter().any(|t| t.kind == TokenKind::Semicolon && t.depth == open.depth + 1);
        match path(before, owner) {
            // The brace of a block follows `@name`, and the brace of a definition follows its name: neither is an
            // invocation.
            Some(path) if !is_value && !ends => {
                let length = 2 * path.split('.').count();
                let head = owner.len().checked_sub(length).and_then(|at| owner.get(at));
                match head.map(|t| t.text) {
                    Some("@" | "operator" | "graph") => Context::Anything,
                    _ => Context::Attribute(path, given),
                }
            }
            _ => Context::Anything,
        }
    }
}

fn plain<'a>(names: impl IntoIterator<Item = &'a str>, kind: CompletionItemKind) -> Vec<Offer<'a>> {
    names.into_iter().map(|name| Offer { label: name.into(), source: Source::Plain(kind) }).collect()
}

fn built_ins() -> impl Iterator<Item = &'static str> {
    let names = ScalarOp::ALL.into_iter().map(ScalarOp::mnemonic);
    names.filter(|name| builtin(name).is_some())
}

/// Operators of a module except private operators (`_…`).
fn operators<'a>(owner: &'a Module, path: Option<&'a str>) -> impl Iterator<Item = Offer<'a>> {
    let is_shown = |d: &&Definition| d.kind == DefinitionKind::Operator && !d.name.name.starts_with('_');
    let offer = move |definition: &'a Definition| Offer {
        label: definition.name.name.as_str().into(),
        source: Source::Operator(definition, path),
    };
    owner.definitions.iter().filter(is_shown).map(offer)
}

/// The item with the documentation of its operator, if it is one.
pub(crate) fn resolved(names: &Names, mut item: CompletionItem) -> CompletionItem {
    let operator = item.data.as_ref().and_then(|data| data.as_str()).and_then(|path| names.operator(path));
    item.documentation = operator.map(|operator| {
        let value = hover::text(names.analysis, &operator);
        Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
    });
    item
}

/// The attributes of an operator that have no value yet.
fn attributes<'a>(analysis: &'a Analysis, operator: &'a Definition, given: &str) -> Vec<Offer<'a>> {
    let given: Vec<&str> = given.split(',').filter_map(|part| Some(part.split_once('=')?.0.trim())).collect();
    let missing = operator.attributes.iter().filter(|a| !given.contains(&a.name.name.as_str()));
    let offers = missing.map(|attribute| Offer {
        label: attribute.name.name.as_str().into(),
        source: Source::Attribute(analysis.program.sources.text(attribute.span)),
    });
    offers.collect()
}

/// The names of the enclosing definition, the operators and modules of the file, and the keywords of the language.
fn anything<'a>(names: &Names<'a>, offset: usize) -> Vec<Offer<'a>> {
    let module = names.module;
    let mut offers = Vec::new();
    // A definition that is being written may lack its closing brace.
    let before = |d: &&Definition| (d.span.start as usize) < offset;
    let around = definition_at(module, offset).or_else(|| module.definitions.iter().rev().find(before));
    if let Some(definition) = around {
        offers.extend(declared_in(definition).into_iter().map(|declared| Offer {
            label: declared.name.into(),
            source: Source::Declared(definition, declared.role),
        }));
    }
    offers.extend(operators(module, None));
    let imports = module.imports.iter().map(|i| i.path.text()).collect::<BTreeSet<_>>();
    let imported =
        |label: String| Offer { label: label.into(), source: Source::Plain(CompletionItemKind::MODULE) };
    offers.extend(imports.into_iter().map(imported));
    offers.extend(plain(WORDS, CompletionItemKind::KEYWORD));
    offers
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_frontend::syntax::token::scan;

    fn name(before: &str) -> String {
        match Context::new(before, &scan(before)) {
            Context::Comment => "comment".into(),
            Context::File => "file".into(),
            Context::Block => "block".into(),
            Context::Import => "import".into(),
            Context::BuiltIn => "built-in".into(),
            Context::Member(path) => format!("member of {path}"),
            Context::Attribute(path, given) => format!("attribute of {path} after `{given}`"),
            Context::Anything => "anything".into(),
        }
    }

    #[test]
    fn distances() {
        let labels = ["batch_norm", "Batch", "minibatch", "b_a_t", "norm"];
        assert_eq!(labels.map(|label| distance(label, "bat")), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn contexts() {
        for (before, want) in [
            ("graph G { @in", "block"),
            ("import l", "import"),
            ("import nn; import l", "import"),
            ("import nn; graph G { @compose { y = nn.", "member of nn"),
            ("y = nn.", "member of nn"),
            ("y = nn.co", "member of nn"),
            ("y = ops.mine.f", "member of ops.mine"),
            ("y = nn.conv{", "attribute of nn.conv after ``"),
            ("y = nn.conv{stride=2, pa", "attribute of nn.conv after `stride=2, pa`"),
            ("y = f<real>{a=[1,2], ", "attribute of f after `a=[1,2], `"),
            ("y = nn.conv{stride=", "anything"),
            ("y = nn.conv{stride=2}(x", "anything"),
            ("@compose { ", "anything"),
            ("operator f { ", "anything"),
            ("y[i,] = `ex", "built-in"),
            ("y = x..", "anything"),
            ("y = x; # as in nn.", "comment"),
            ("", "file"),
            ("import nn; gr", "file"),
            ("graph G { } op", "file"),
            ("graph G { @compose { } ", "anything"),
            ("graph ", "anything"),
        ] {
            assert_eq!(name(before), want, "{before}");
        }
    }
}
