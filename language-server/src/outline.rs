// SPDX-License-Identifier: Apache-2.0
//! The symbols of a file: definitions, and the declarations in their blocks.

use crate::analysis::Analysis;
use crate::names::declared_in;
use crate::workspace::url_of;
use lsp_types::{DocumentSymbol, Location, Range, SymbolInformation, SymbolKind};
use skript_frontend::ast::{Definition, DefinitionKind, Module};
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
        let (kind, detail) = kind(definition);
        let locations = (location(definition.span), location(definition.name.span));
        let children = Some(children.collect());
        symbol(definition.name.name.clone(), detail, kind, locations, children)
    });
    definitions.collect()
}

/// The definitions of the model's files whose names contain a text, in any case.
#[allow(deprecated, reason = "the field is part of the type")]
pub(crate) fn definitions(analysis: &Analysis, query: &str) -> Vec<SymbolInformation> {
    let query = query.to_lowercase();
    let modules = analysis.program.modules.values().filter(|module| !module.file.is_library());
    let all = modules.flat_map(|module| module.definitions.iter().map(move |d| (module, d)));
    let matching = all.filter(|(_, definition)| definition.name.name.to_lowercase().contains(&query));
    let symbols = matching.filter_map(|(module, definition)| {
        let (path, _) = analysis.location(definition.span)?;
        Some(SymbolInformation {
            name: definition.name.name.clone(),
            kind: kind(definition).0,
            tags: None,
            deprecated: None,
            location: Location::new(url_of(path)?, analysis.range(definition.name.span)),
            container_name: Some(module.name.clone()),
        })
    });
    symbols.collect()
}

/// The kind of a definition, for symbols.
pub(crate) fn kind(definition: &Definition) -> (SymbolKind, &'static str) {
    match definition.kind {
        DefinitionKind::Operator => (SymbolKind::FUNCTION, "operator"),
        DefinitionKind::Graph => (SymbolKind::CLASS, "graph"),
    }
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
