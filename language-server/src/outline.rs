// SPDX-License-Identifier: Apache-2.0
//! The symbols of a file: definitions, and the declarations in their blocks.

use crate::analysis::Analysis;
use crate::names::declared_in;
use lsp_types::{DocumentSymbol, Range, SymbolKind};
use skript_frontend::ast::{DefinitionKind, Module};
use skript_frontend::source::Span;

pub(crate) fn symbols(analysis: &Analysis, module: &Module) -> Vec<DocumentSymbol> {
    let location = |span: Span| analysis.range(span);
    let definitions = module.definitions.iter().map(|definition| {
        let listed = ["type", "attribute", "input", "constant", "variable", "output"];
        let declarations = declared_in(definition).into_iter().filter(|d| listed.contains(&d.role));
        let children = declarations.map(|declared| {
            let kind = match declared.role {
                "type" => SymbolKind::TYPE_PARAMETER,
                "attribute" => SymbolKind::PROPERTY,
                "constant" => SymbolKind::CONSTANT,
                _ => SymbolKind::VARIABLE,
            };
            let locations = (location(declared.whole), location(declared.span));
            symbol(declared.name, declared.role, kind, locations, None)
        });
        let (kind, detail) = match definition.kind {
            DefinitionKind::Operator => (SymbolKind::FUNCTION, "operator"),
            DefinitionKind::Graph => (SymbolKind::CLASS, "graph"),
        };
        let locations = (location(definition.span), location(definition.name.span));
        let children = Some(children.collect());
        symbol(definition.name.name.clone(), detail, kind, locations, children)
    });
    definitions.collect()
}

#[allow(deprecated, reason = "the field is part of the type")]
fn symbol(
    name: String,
    detail: &str,
    kind: SymbolKind,
    (whole, name_range): (Range, Range),
    children: Option<Vec<DocumentSymbol>>,
) -> DocumentSymbol {
    DocumentSymbol {
        name,
        detail: Some(detail.to_owned()),
        kind,
        tags: None,
        deprecated: None,
        range: whole,
        selection_range: name_range,
        children,
    }
}
