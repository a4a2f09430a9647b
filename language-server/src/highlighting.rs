// SPDX-License-Identifier: Apache-2.0
//! Semantic tokens: what the words of a file stand for.

use crate::names::{Entity, Names};
use crate::positions::Lines;
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use skript_frontend::ast::DefinitionKind;
use skript_frontend::syntax::is_name;
use skript_frontend::syntax::token::{Token, TokenKind, lex};
use std::ops::Range;

const TYPES: [SemanticTokenType; 13] = [
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::TYPE,
    SemanticTokenType::TYPE_PARAMETER,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::CLASS,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::DECORATOR,
];

const MODIFIERS: [SemanticTokenModifier; 3] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::DEFAULT_LIBRARY,
];

/// The types and modifiers that [`tokens`] numbers.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// The tokens that begin in a range of bytes.
pub(crate) fn tokens(names: &Names, within: Range<usize>) -> Vec<SemanticToken> {
    let text = names.text();
    let lines = names.analysis.lines(names.module.file);
    let mut encoder = Encoder { text, lines: &lines, line: 0, column: 0, tokens: Vec::new() };
    let mut words = names.tokens.iter().enumerate().peekable();
    for token in lex(text).iter().filter(|token| within.contains(&token.start)) {
        let kind = match token.kind {
            TokenKind::Comment => Some((SemanticTokenType::COMMENT, Vec::new())),
            TokenKind::String | TokenKind::OpenString => Some((SemanticTokenType::STRING, Vec::new())),
            TokenKind::At => Some((SemanticTokenType::DECORATOR, Vec::new())),
            TokenKind::Word => {
                while words.next_if(|(_, word)| word.start < token.start).is_some() {}
                words.peek().and_then(|(at, _)| of_word(names, *at, token))
            }
            _ => None,
        };
        if let Some((kind, modifiers)) = kind {
            encoder.add(token, &kind, &modifiers);
        }
    }
    encoder.tokens
}

/// The type of a word and its modifiers.
fn of_word(
    names: &Names,
    at: usize,
    token: &Token,
) -> Option<(SemanticTokenType, Vec<SemanticTokenModifier>)> {
    if token.text.starts_with(|c: char| c.is_ascii_digit()) {
        return Some((SemanticTokenType::NUMBER, Vec::new()));
    }
    let Some(entity) = names.entity(at) else {
        return match token.text {
            "int" | "real" | "bool" | "str" => Some((SemanticTokenType::TYPE, Vec::new())),
            word if !is_name(word) => Some((SemanticTokenType::KEYWORD, Vec::new())),
            _ => None,
        };
    };
    let library = |is_library: bool| is_library.then_some(SemanticTokenModifier::DEFAULT_LIBRARY);
    let (kind, modifier) = match &entity {
        Entity::Block(_) => (SemanticTokenType::DECORATOR, None),
        Entity::BuiltIn(_) => (SemanticTokenType::FUNCTION, library(true)),
        Entity::Module(module) => (SemanticTokenType::NAMESPACE, library(module.file.is_library())),
        Entity::Attribute { .. } => (SemanticTokenType::PROPERTY, None),
        Entity::Operator { module, definition } => match definition.kind {
            DefinitionKind::Operator => (SemanticTokenType::FUNCTION, library(module.file.is_library())),
            DefinitionKind::Graph => (SemanticTokenType::CLASS, None),
        },
        Entity::Declared { declared, .. } => match declared.role {
            "type" => (SemanticTokenType::TYPE_PARAMETER, None),
            "input" => (SemanticTokenType::PARAMETER, None),
            "attribute" => (SemanticTokenType::PARAMETER, Some(SemanticTokenModifier::READONLY)),
            "output" | "variable" | "tensor" | "local tensor" | "carried tensor" => {
                (SemanticTokenType::VARIABLE, None)
            }
            _ => (SemanticTokenType::VARIABLE, Some(SemanticTokenModifier::READONLY)),
        },
    };
    let is_declaration = entity.declaration().is_some_and(|span| span == names.span(at));
    let declaration = is_declaration.then_some(SemanticTokenModifier::DECLARATION);
    Some((kind, declaration.into_iter().chain(modifier).collect()))
}

/// Writes each token relative to the one before.
struct Encoder<'t> {
    text: &'t str,
    lines: &'t Lines,
    line: u32,
    column: u32,
    tokens: Vec<SemanticToken>,
}

impl Encoder<'_> {
    fn add(&mut self, token: &Token, kind: &SemanticTokenType, modifiers: &[SemanticTokenModifier]) {
        let range = self.lines.range(self.text, token.start, token.end);
        let index = |found: Option<usize>| found.and_then(|at| u32::try_from(at).ok());
        let Some(token_type) = index(TYPES.iter().position(|t| t == kind)) else {
            unreachable!("internal compiler error: a token type that the legend lacks")
        };
        let bits = |(at, modifier)| if modifiers.contains(modifier) { 1_u32 << at } else { 0 };
        let delta_line = range.start.line - self.line;
        let from = if delta_line == 0 { self.column } else { 0 };
        self.tokens.push(SemanticToken {
            delta_line,
            delta_start: range.start.character - from,
            length: range.end.character.saturating_sub(range.start.character),
            token_type,
            token_modifiers_bitset: MODIFIERS.iter().enumerate().map(bits).sum(),
        });
        (self.line, self.column) = (range.start.line, range.start.character);
    }
}
