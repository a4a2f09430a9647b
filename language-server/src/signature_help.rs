// SPDX-License-Identifier: Apache-2.0
//! Signature help within the attributes and arguments of an invocation.

use crate::hover;
use crate::names::{Entity, Names};
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};
use skript_frontend::ast::{Declaration, Definition};
use skript_frontend::syntax::token::{Bracket, Token, TokenKind, enclosing, path, scan};

/// An invocation that is being written.
struct Started<'t> {
    operator: &'t str,
    /// The bracket around the position: `{` of attributes or `(` of arguments.
    bracket: Bracket,
    /// The tokens after it.
    given: &'t [Token<'t>],
}

/// The signature of the operator that is invoked around an offset.
pub(crate) fn help(names: &Names, offset: usize) -> Option<SignatureHelp> {
    let text = names.text();
    let before = text.get(..offset)?;
    let tokens = scan(before);
    let started = Started::around(before, &tokens)?;
    let Entity::Operator { module, definition } = names.operator(started.operator)? else { return None };
    let (label, parameters) = signature(names, started.operator, definition);
    let comment = hover::comment_above(names.analysis.text(module.file), definition.span);
    let information = SignatureInformation {
        label,
        documentation: comment
            .map(|value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })),
        parameters: Some(parameters),
        active_parameter: None,
    };
    Some(SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter: started.parameter(definition).and_then(|at| u32::try_from(at).ok()),
    })
}

impl<'t> Started<'t> {
    /// The innermost invocation whose brackets are open after some tokens.
    fn around(text: &'t str, mut tokens: &'t [Token<'t>]) -> Option<Self> {
        while let Some(open) = enclosing(tokens) {
            let (before, inside) = tokens.split_at(open);
            let (sign, given) = inside.split_first()?;
            let bracket = match sign.kind {
                TokenKind::Open(bracket @ (Bracket::Round | Bracket::Curly)) => Some(bracket),
                _ => None,
            };
            if let Some((operator, bracket)) = operator_before(text, before).zip(bracket) {
                return Some(Started { operator, bracket, given });
            }
            tokens = before;
        }
        None
    }

    /// The index of the parameter that is being written: attributes precede inputs.
    fn parameter(&self, definition: &Definition) -> Option<usize> {
        let depth = self.given.first().map_or(0, |t| t.depth);
        let is_comma = |t: &&Token| t.kind == TokenKind::Comma && t.depth == depth;
        if self.bracket == Bracket::Round {
            return Some(definition.attributes.len() + self.given.iter().filter(is_comma).count());
        }
        let after_comma = self.given.iter().rposition(|t| is_comma(&t)).map_or(0, |at| at + 1);
        let name = self.given.get(after_comma)?.text;
        definition.attributes.iter().position(|a| a.name.name == name)
    }
}

/// The operator that is invoked by the bracket after some tokens: attributes and types may stand between them.
fn operator_before<'t>(text: &'t str, mut tokens: &[Token<'t>]) -> Option<&'t str> {
    if tokens.last().is_some_and(|t| t.kind == TokenKind::Close(Bracket::Curly)) {
        let depth = tokens.last()?.depth;
        let is_open = |t: &Token| t.kind == TokenKind::Open(Bracket::Curly) && t.depth == depth;
        tokens = tokens.split_at(tokens.iter().rposition(is_open)?).0;
    }
    if tokens.last().is_some_and(|t| t.text == ">") {
        tokens = tokens.split_at(tokens.iter().rposition(|t| t.text == "<")?).0;
    }
    path(text, tokens)
}

/// `nn.conv{stride: int = 1}(input: real[b, c], filter: real[o, c])`, and its parameters.
fn signature(names: &Names, path: &str, definition: &Definition) -> (String, Vec<ParameterInformation>) {
    let mut label = path.to_owned();
    let mut parameters = Vec::new();
    let mut list = |open: char, items: &[Declaration], close: char| {
        label.push(open);
        for (at, item) in items.iter().enumerate() {
            label.push_str(if at == 0 { "" } else { ", " });
            let written = hover::one_line(names.analysis, item.span);
            let written = written.trim_end_matches(';');
            label.push_str(written);
            parameters.push(ParameterInformation {
                label: ParameterLabel::Simple(written.to_owned()),
                documentation: None,
            });
        }
        label.push(close);
    };
    if !definition.attributes.is_empty() {
        list('{', &definition.attributes, '}');
    }
    list('(', &definition.inputs, ')');
    (label, parameters)
}

/// The signature of an operator without its path, for lists of operators.
pub(crate) fn detail(names: &Names, definition: &Definition) -> String {
    signature(names, "", definition).0
}

#[cfg(test)]
mod tests {
    use crate::testing::analysed;

    #[test]
    fn the_parameter_follows_the_position() {
        let head = "operator f { @attrib { a: int; b: int = 2; } @input { x: real[n]; y: real[n]; } @output { z: real[n]; } \
                    @lower { z[i,] = x[i,] + y[i,], i < n; } }\ngraph G { @input { p: real[2]; } @output { q: real[2]; } @compose { q = ";
        for (written, wanted) in [
            ("f{", Some((None, "f{a: int, b: int = 2}(x: real[n], y: real[n])"))),
            ("f{b=", Some((Some(1), ""))),
            ("f{b=[1, 2][0], a", Some((Some(0), ""))),
            ("f{a=1}(", Some((Some(2), ""))),
            ("f{a=1}(p, ", Some((Some(3), ""))),
            ("f{a=1}([p, p][", Some((Some(2), ""))),
            ("f{a=1}(p, p)", None),
            ("g(", None),
        ] {
            let text = format!("{head}{written}");
            let help = super::help(&analysed(&text).names(), text.len());
            let shown = help.as_ref().map(|help| (help.active_parameter, help.signatures[0].label.as_str()));
            match (shown, wanted) {
                (Some((at, label)), Some((wanted_at, wanted_label))) => {
                    assert_eq!(at, wanted_at, "{written}");
                    assert!(label.contains(wanted_label), "{label}");
                }
                (shown, wanted) => assert_eq!(shown.is_some(), wanted.is_some(), "{written}: {shown:?}"),
            }
        }
    }
}
