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
use skript_frontend::syntax::token::{Bracket, Token, TokenKind, enclosing, path};
use skript_semantics::ScalarOp;

const WORDS: [&str; 18] = [
    "if", "then", "elif", "else", "with", "for", "while", "do", "unroll", "yield", "optional", "int", "real",
    "bool", "str", "true", "false", "inf",
];

/// The context before the position.
enum Context<'t> {
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

/// The completions at an offset of a module's text.
pub(crate) fn completions(names: &Names, offset: usize) -> CompletionResponse {
    let mut items = items(names, offset);
    if items.len() <= MAX_ITEMS {
        return CompletionResponse::Array(items);
    }
    let before = before(names, offset);
    let (_, word) = before.split_at(without_word(before).len());
    let is_operator = |item: &CompletionItem| item.kind == Some(CompletionItemKind::FUNCTION);
    items.sort_by_key(|item| (!item.label.starts_with(word), is_operator(item)));
    items.truncate(MAX_ITEMS);
    CompletionResponse::List(CompletionList { is_incomplete: true, items })
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

fn items(names: &Names, offset: usize) -> Vec<CompletionItem> {
    let (analysis, before) = (names.analysis, before(names, offset));
    let (tokens, _) = names.tokens.split_at(names.tokens.partition_point(|token| token.end <= offset));
    match Context::new(before, tokens) {
        Context::Block => plain(block_names(), CompletionItemKind::KEYWORD),
        Context::Import => plain(library::names(), CompletionItemKind::MODULE),
        Context::BuiltIn => plain(built_ins(), CompletionItemKind::FUNCTION),
        Context::Member(path) => match names.resolve(path) {
            Some(owner) => operators(names, owner, &format!("{path}.")),
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

fn plain<'n>(names: impl IntoIterator<Item = &'n str>, kind: CompletionItemKind) -> Vec<CompletionItem> {
    let item =
        |name: &str| CompletionItem { label: name.to_owned(), kind: Some(kind), ..CompletionItem::default() };
    names.into_iter().map(item).collect()
}

fn built_ins() -> impl Iterator<Item = &'static str> {
    let names = ScalarOp::ALL.into_iter().map(ScalarOp::mnemonic);
    names.filter(|name| builtin(name).is_some())
}

/// Operators of a module except private operators (`_…`), with their signatures. [`resolved`] adds their comments.
fn operators(names: &Names, owner: &Module, prefix: &str) -> Vec<CompletionItem> {
    let shown = owner
        .definitions
        .iter()
        .filter(|d| d.kind == DefinitionKind::Operator && !d.name.name.starts_with('_'));
    let items = shown.map(|definition| CompletionItem {
        label: definition.name.name.clone(),
        kind: Some(CompletionItemKind::FUNCTION),
        detail: Some(signature_help::detail(names, definition)),
        data: Some(format!("{prefix}{}", definition.name.name).into()),
        ..CompletionItem::default()
    });
    items.collect()
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
fn attributes(analysis: &Analysis, operator: &Definition, given: &str) -> Vec<CompletionItem> {
    let given: Vec<&str> = given.split(',').filter_map(|part| Some(part.split_once('=')?.0.trim())).collect();
    let items = operator.attributes.iter().filter(|a| !given.contains(&a.name.name.as_str())).map(|a| {
        CompletionItem {
            label: a.name.name.clone(),
            kind: Some(CompletionItemKind::PROPERTY),
            detail: Some(analysis.program.sources.text(a.span).to_owned()),
            insert_text: Some(format!("{}=", a.name.name)),
            ..CompletionItem::default()
        }
    });
    items.collect()
}

/// The names of the enclosing definition, the operators and modules of the file, and the keywords of the language.
fn anything(names: &Names, offset: usize) -> Vec<CompletionItem> {
    let (analysis, module) = (names.analysis, names.module);
    let mut items = Vec::new();
    // A definition that is being written may lack its closing brace.
    let before = |d: &&Definition| (d.span.start as usize) < offset;
    let around = definition_at(module, offset).or_else(|| module.definitions.iter().rev().find(before));
    if let Some(definition) = around {
        for declared in declared_in(definition) {
            let composed = analysis.latest_type(definition, &declared.name);
            items.push(CompletionItem {
                label: declared.name,
                kind: Some(CompletionItemKind::VARIABLE),
                detail: Some(composed.unwrap_or_else(|| declared.role.to_owned())),
                ..CompletionItem::default()
            });
        }
    }
    items.extend(operators(names, module, ""));
    let imports = module.imports.iter().map(|i| i.path.text()).collect::<Vec<_>>();
    items.extend(plain(imports.iter().map(String::as_str), CompletionItemKind::MODULE));
    items.extend(plain(WORDS, CompletionItemKind::KEYWORD));
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_frontend::syntax::token::scan;

    fn name(before: &str) -> String {
        match Context::new(before, &scan(before)) {
            Context::Block => "block".into(),
            Context::Import => "import".into(),
            Context::BuiltIn => "built-in".into(),
            Context::Member(path) => format!("member of {path}"),
            Context::Attribute(path, given) => format!("attribute of {path} after `{given}`"),
            Context::Anything => "anything".into(),
        }
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
            ("", "anything"),
        ] {
            assert_eq!(name(before), want, "{before}");
        }
    }
}
