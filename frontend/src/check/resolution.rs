// SPDX-License-Identifier: Apache-2.0
//! Names of operators: definitions of this file and of imported modules (2.3).

use crate::ast::Path;
use crate::check::checker::Checker;
use crate::check::signatures::{Found, Signature};
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::program::Edition;

/// Looks up an operator; reports the error in the name otherwise.
pub(super) fn find_operator<'a>(checker: &mut Checker<'a>, path: &Path) -> Option<&'a Signature<'a>> {
    let env = checker.env;
    match env.find(checker.module, path) {
        Found::Operator(signature) => {
            require_visible(checker, path, signature);
            Some(signature)
        }
        Found::Broken => None,
        Found::NoModule => {
            let (_, qualifier) = path.parts.split_last()?;
            let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
            let module = parts.join(".");
            let imported = env.imported_names(checker.module);
            let near = closest(&module, imported.iter().map(String::as_str));
            // The import that was probably meant has an error, which is already reported.
            if near.is_some_and(|near| env.program.resolve(checker.module, near).is_none()) {
                return None;
            }
            let exists = env.program.modules.contains_key(&module);
            let mut whole = imported.iter().filter_map(|i| i.strip_suffix(&module));
            let first = path.parts.first().map_or(path.span, |p| p.span);
            let span = qualifier.last().map_or(first, |l| first.to(l.span));
            let message = format!("the module `{module}` is not imported here");
            let unknown = Diagnostic::error(&codes::MODULE_NOT_IMPORTED, span, message);
            let diagnostic = if let Some(folder) = whole.find(|folder| folder.ends_with('.')) {
                let full = format!("{folder}{}", path.text());
                unknown.with_fix(format!("modules are named in full: `{full}`"), path.span, full)
            } else {
                match near {
                    Some(near) if !exists => unknown.with_meant(near),
                    _ => {
                        let import = format!("import {module};");
                        let help = format!("write `{import}` at the beginning of the file");
                        unknown.with_fix(help, checker.first_line(), import + "\n")
                    }
                }
            };
            checker.sink.report(diagnostic);
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
                let parts: Vec<&str> = qualifier.iter().map(|part| part.name.as_str()).collect();
                let module = parts.join(".");
                Diagnostic::error(
                    &codes::UNKNOWN_OPERATOR,
                    operator.span,
                    format!("the module `{module}` has no operator `{}`", operator.name),
                )
            };
            if let Some(near) = checker.sink.closest(&operator.name, || names) {
                diagnostic = diagnostic.with_meant(near);
            } else {
                let homes: Vec<String> = env
                    .imported_names(checker.module)
                    .into_iter()
                    .filter(|m| env.has_operator(checker.module, m, &operator.name))
                    .map(|m| format!("{m}.{}", operator.name))
                    .collect();
                let elsewhere = || crate::library::homes(&operator.name);
                if let (true, Some(home)) = (homes.is_empty(), elsewhere().next()) {
                    diagnostic = diagnostic.with_help(format!(
                        "the library has `{home}.{}`: write `import {home};` at the beginning of the file",
                        operator.name
                    ));
                } else if let [home] = homes.as_slice() {
                    let help = format!("did you mean `{home}`?");
                    diagnostic = diagnostic.with_fix(help, path.span, home);
                } else if !homes.is_empty() {
                    let homes: Vec<String> = homes.iter().map(|home| format!("`{home}`")).collect();
                    diagnostic = diagnostic.with_help(format!("did you mean {}?", homes.join(" or ")));
                }
            }
            checker.sink.report(diagnostic);
            None
        }
    }
}

/// In the edition khronos, operators whose names begin with `_` are private to their module.
pub(crate) fn require_visible(checker: &mut Checker<'_>, path: &Path, signature: &Signature) {
    let Some((operator, qualifier @ [_, ..])) = path.parts.split_last() else {
        return;
    };
    let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
    let module = parts.join(".");
    let program = checker.env.program;
    let key = program.resolve(checker.module, &module).map(|(key, _)| key);
    let is_private = key.is_some_and(|key| key != checker.module && program.edition(key) == Edition::Khronos);
    if !operator.name.starts_with('_') || !is_private {
        return;
    }
    let message = format!(
        "the operator `{}` is private to the module `{module}`: its name begins with `_`",
        operator.name
    );
    checker.sink.report(
        Diagnostic::error(&codes::NAME_NOT_VISIBLE, operator.span, message)
            .with_label_at(signature.definition.name.span, "declared here")
            .with_help(
                "names with `_` are private in the edition khronos; rename it if other modules invoke it",
            ),
    );
}
