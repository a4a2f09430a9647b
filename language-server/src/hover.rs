// SPDX-License-Identifier: Apache-2.0
//! Hover text for the name at a position.

use crate::analysis::Analysis;
use crate::names::Entity;
use skript_frontend::ast::{Declaration, Definition, DefinitionKind, Module};
use skript_frontend::documentation::lines_above;
use skript_frontend::source::Span;

/// The Markdown text: the declaration, the composed shape of a tensor, and the comment above a definition.
pub(crate) fn text(analysis: &Analysis, entity: &Entity) -> String {
    match entity {
        Entity::Declared { definition, declared } => {
            let written = one_line(analysis, declared.whole);
            let mut text = format!("({}) {written}", declared.role);
            if let Some(composed) = analysis.composed_type(definition, &declared.name) {
                text.push_str(&format!("\n# here: {}: {composed}", declared.name));
            }
            fenced(&text)
        }
        Entity::Attribute { operator, declared } => {
            let written = one_line(analysis, declared.whole);
            fenced(&format!("(attribute of {}) {written}", operator.name.name))
        }
        Entity::Operator { module, definition } => {
            let mut text = fenced(&signature(analysis, module, definition));
            if let Some(comment) = comment_above(analysis.text(module.file), definition.span) {
                text.push_str(&format!("\n\n{comment}"));
            }
            text
        }
        Entity::Module(module) => {
            let names = module.definitions.iter().map(|d| d.name.name.as_str());
            let names: Vec<&str> = names.filter(|n| !n.starts_with('_')).collect();
            format!("{}\n\n{}", fenced(&format!("module {}", module.name)), names.join(", "))
        }
        Entity::Block(kind) => kind.description().to_owned(),
        Entity::BuiltIn(function) => {
            let name = function.mnemonic();
            format!("{}\n\nA built-in function, of each element.", fenced(&format!("`{name}`(x)")))
        }
    }
}

/// The name of a module with a dot. A text that is not saved has no name.
fn qualifier(module: &Module) -> String {
    if module.name.contains(':') { String::new() } else { format!("{}.", module.name) }
}

/// `operator nn.linear` with types, attributes, inputs and outputs, one per line.
pub(crate) fn signature(analysis: &Analysis, module: &Module, definition: &Definition) -> String {
    let kind = match definition.kind {
        DefinitionKind::Operator => "operator",
        DefinitionKind::Graph => "graph",
    };
    let mut text = format!("{kind} {}{}", qualifier(module), definition.name.name);
    let types: Vec<String> = definition.dtypes.iter().map(|t| one_line(analysis, t.span)).collect();
    let mut list = |name: &str, items: Vec<String>| {
        if !items.is_empty() {
            text.push_str(&format!("\n@{name}"));
            for item in items {
                text.push_str(&format!("\n    {}", item.trim_end_matches(';')));
            }
        }
    };
    let spans = |list: &[Declaration]| list.iter().map(|d| one_line(analysis, d.span)).collect();
    list("dtype", types);
    list("attrib", spans(&definition.attributes));
    list("input", spans(&definition.inputs));
    list("output", spans(&definition.outputs));
    text
}

fn fenced(text: &str) -> String {
    format!("```sknd\n{text}\n```")
}

/// The source text of a span with whitespace collapsed, up to a maximum length.
pub(crate) fn one_line(analysis: &Analysis, span: Span) -> String {
    const MAX_CHARACTERS: usize = 200;
    let text = analysis.program.sources.text(span);
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((at, _)) => format!("{} …", text.split_at(at).0),
        None => text,
    }
}

/// The comment lines directly above a definition, without comment marks.
pub(crate) fn comment_above(text: &str, span: Span) -> Option<String> {
    let lines = lines_above(text, span.start as usize).into_iter();
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let comment = lines.join("\n");
    (!comment.trim().is_empty()).then_some(comment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_frontend::source::FileId;

    #[test]
    fn only_the_comment_that_touches_the_definition_counts() {
        let text = "# of the file\n\n# First line,\n#   second.\noperator f { }\n";
        let start = u32::try_from(text.find("operator").unwrap()).unwrap();
        let span = Span::new(FileId(0), start, start + 14);
        assert_eq!(comment_above(text, span).unwrap(), "First line,\n  second.");
        assert_eq!(comment_above("operator f { }", Span::new(FileId(0), 0, 14)), None);
    }
}
