// SPDX-License-Identifier: Apache-2.0
//! Lookup of operators by name, and the diagnostics for unknown ones (2.15).

use super::definition::Checker;
use super::signatures::{Found, Signature};
use crate::ast::Path;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::program::Edition;

impl<'a> Checker<'a> {
    /// Looks up an operator; reports the error in the name otherwise.
    pub(super) fn find_operator(&mut self, path: &Path) -> Option<&'a Signature<'a>> {
        let env = self.env;
        match env.find(self.module, path) {
            Found::Operator(signature) => {
                self.require_visible(path, signature);
                Some(signature)
            }
            Found::Broken => None,
            Found::NoModule => {
                let (_, qualifier) = path.parts.split_last()?;
                let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
                let module = parts.join(".");
                let imported = env.imported_names(self.module);
                let near = closest(&module, imported.iter().map(String::as_str));
                // The meant import has an error itself, which is reported.
                if near.is_some_and(|near| env.program.resolve(self.module, near).is_none()) {
                    return None;
                }
                let exists = env.program.modules.contains_key(&module);
                let mut whole = imported.iter().filter_map(|i| i.strip_suffix(&module));
                let help = if let Some(folder) = whole.find(|folder| folder.ends_with('.')) {
                    format!("modules are named in full: `{folder}{}`", path.text())
                } else {
                    match near {
                        Some(near) if !exists => format!("did you mean `{near}`?"),
                        _ => format!("write `import {module};` at the beginning of the file"),
                    }
                };
                let first = path.parts.first().map_or(path.span, |p| p.span);
                let span = qualifier.last().map_or(first, |l| first.to(l.span));
                self.sink.report(
                    Diagnostic::error(
                        &codes::MODULE_NOT_IMPORTED,
                        span,
                        format!("the module `{module}` is not imported here"),
                    )
                    .with_help(help),
                );
                None
            }
            Found::NoOperator(names) => {
                let (operator, qualifier) = path.parts.split_last()?;
                let mut diagnostic = if qualifier.is_empty() {
                    Diagnostic::error(
                        &codes::UNKNOWN_OPERATOR,
                        path.span,
                        format!("there is no operator `{}` in this file", operator.name),
                    )
                } else {
                    let module = path.text();
                    let module = module.strip_suffix(&format!(".{}", operator.name)).unwrap_or_default();
                    Diagnostic::error(
                        &codes::UNKNOWN_OPERATOR,
                        operator.span,
                        format!("the module `{module}` has no operator `{}`", operator.name),
                    )
                };
                if let Some(near) = self.sink.closest(&operator.name, || names) {
                    diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
                } else {
                    let homes: Vec<String> = env
                        .imported_names(self.module)
                        .into_iter()
                        .filter(|m| env.has_operator(self.module, m, &operator.name))
                        .map(|m| format!("`{m}.{}`", operator.name))
                        .collect();
                    let elsewhere = || crate::library::homes(&operator.name);
                    if let (true, Some(home)) = (homes.is_empty(), elsewhere().next()) {
                        diagnostic = diagnostic.with_help(format!(
                            "the library has `{home}.{}`: write `import {home};` at the beginning of the file",
                            operator.name
                        ));
                    } else if !homes.is_empty() {
                        diagnostic = diagnostic.with_help(format!("did you mean {}?", homes.join(" or ")));
                    }
                }
                self.sink.report(diagnostic);
                None
            }
        }
    }

    /// In the edition khronos, operators whose names begin with `_` are private to their module.
    fn require_visible(&mut self, path: &Path, signature: &Signature) {
        let Some((operator, qualifier @ [_, ..])) = path.parts.split_last() else {
            return;
        };
        let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
        let module = parts.join(".");
        let program = self.env.program;
        let key = program.resolve(self.module, &module).map(|(key, _)| key);
        let is_private =
            key.is_some_and(|key| key != self.module && program.edition(key) == Edition::Khronos);
        if !operator.name.starts_with('_') || !is_private {
            return;
        }
        self.sink.report(
            Diagnostic::error(
                &codes::NAME_NOT_VISIBLE,
                operator.span,
                format!(
                    "the operator `{}` is private to the module `{module}`: its name begins with `_`",
                    operator.name
                ),
            )
            .with_label_at(signature.definition.name.span, "declared here")
            .with_help(
                "names with `_` are private in the edition khronos; rename it if other modules invoke it",
            ),
        );
    }
}
