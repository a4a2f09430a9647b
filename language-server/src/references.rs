// SPDX-License-Identifier: Apache-2.0
//! Occurrences of a name, and new names.

use crate::analysis::Analysis;
use crate::names::{Entity, Names};
use skript_frontend::source::Span;
use skript_frontend::syntax::is_name;

/// The occurrences of the entity whose name is declared at a location, in the files of the model.
pub(crate) fn occurrences(analysis: &Analysis, declaration: Span, name: &str) -> Vec<Span> {
    let modules = analysis.program.modules.iter().filter(|(_, module)| !module.file.is_library());
    let all =
        modules.flat_map(|(key, module)| in_module(&Names::new(analysis, key, module), declaration, name));
    all.collect()
}

/// The occurrences in one file, in textual order.
pub(crate) fn in_module(names: &Names, declaration: Span, name: &str) -> Vec<Span> {
    let spelled = names.tokens.iter().enumerate().filter(|(_, token)| token.text == name);
    let meant =
        spelled.filter(|(at, _)| names.entity(*at).and_then(|e| e.declaration()) == Some(declaration));
    meant.map(|(at, _)| names.span(at)).collect()
}

/// The reason why an entity cannot be renamed.
pub(crate) fn refusal(entity: &Entity) -> Option<String> {
    let declaration = entity.declaration();
    match entity {
        Entity::Module(module) => Some(format!("the module `{}` is named after its file", module.name)),
        Entity::Block(_) | Entity::BuiltIn(_) => Some("this name belongs to the language".to_owned()),
        _ if declaration.is_some_and(|span| span.file.is_library()) => {
            Some("this name belongs to the library".to_owned())
        }
        _ => None,
    }
}

/// The reason why a name cannot be the new name of an entity.
pub(crate) fn conflict(names: &Names, entity: &Entity, name: &str) -> Option<String> {
    if !is_name(name) {
        return Some(format!(
            "`{name}` is not a name: names have letters, digits and `_`, and are not keywords"
        ));
    }
    match entity {
        Entity::Declared { definition: around, .. } | Entity::Attribute { operator: around, .. } => {
            let scope = names.analysis.names_of(around.span.file)?;
            let message = format!("`{}` already has the name `{name}`", around.name.name);
            scope.declares(around, name).then_some(message)
        }
        Entity::Operator { module, .. } => {
            let mut definitions = module.definitions.iter();
            let message = format!("this file already has a definition with the name `{name}`");
            definitions.any(|d| d.name.name == name).then_some(message)
        }
        _ => None,
    }
}
