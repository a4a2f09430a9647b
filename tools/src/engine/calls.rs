// SPDX-License-Identifier: Apache-2.0
//! The chain of operator calls to a location, as notes of a diagnostic.

use skript_frontend::diagnostics::{Code, Diagnostic};
use skript_frontend::model::Model;
use skript_frontend::source::Span;

/// The name of the graph that runs.
pub fn entry(model: &Model) -> &str {
    model.function(model.entry).map_or("", |f| &f.name)
}

/// What failed in a run: where, in which function, then the calls that led there.
pub fn failed_at(
    code: &'static Code,
    message: String,
    places: &[(&str, Option<Span>)],
    entry: &str,
) -> Diagnostic {
    match places.split_first() {
        Some(((name, Some(span)), calls)) => {
            let diagnostic = Diagnostic::error(code, *span, message);
            let diagnostic = diagnostic.with_label(format!("in `{}`", own(name, entry)));
            with_calls(diagnostic, calls, entry)
        }
        _ => Diagnostic::without_place(code, message),
    }
}

/// A note for each call, the innermost first: whom it calls, and where.
pub fn with_calls(
    mut diagnostic: Diagnostic,
    calls: &[(&str, Option<Span>)],
    entry: &str,
) -> Diagnostic {
    for (position, (callee, place)) in calls.iter().enumerate() {
        let caller = match calls.get(position + 1) {
            Some((caller, _)) => format!("operator `{}`", own(caller, entry)),
            None => format!("graph `{}`", own(entry, entry)),
        };
        let callee = own(callee, entry);
        let text = format!("in operator `{callee}`, called from {caller}");
        diagnostic = diagnostic.with_note(*place, text);
    }
    diagnostic
}

/// A name as the main module says it: its own without the module.
fn own<'n>(name: &'n str, entry: &str) -> &'n str {
    let module = entry.rsplit_once('.').map_or("", |(module, _)| module);
    let rest = name.strip_prefix(module).and_then(|n| n.strip_prefix('.'));
    rest.unwrap_or(name)
}
