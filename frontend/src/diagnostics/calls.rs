// SPDX-License-Identifier: Apache-2.0
//! The chain of operator calls to a location, as notes of a diagnostic.

use skript_frontend::diagnostics::{Code, Diagnostic};
use skript_frontend::model::Model;
use skript_frontend::source::Span;

/// The name of the graph of the run.
pub fn entry(model: &Model) -> &str {
    model.function(model.entry).map_or("", |f| &f.name)
}

/// A failure in a run: location and function, then the calls that lead there.
pub fn failed_at(
    code: &'static Code,
    message: String,
    locations: &[(&str, Option<Span>)],
    entry: &str,
) -> Diagnostic {
    match locations.split_first() {
        Some(((name, Some(span)), calls)) => {
            let diagnostic = Diagnostic::error(code, *span, message);
            let diagnostic = diagnostic.with_label(format!("in `{}`", own(name, entry)));
            with_calls(diagnostic, calls, entry)
        }
        _ => Diagnostic::without_location(code, message),
    }
}

/// A note for each call, innermost first: the callee, and the location.
pub fn with_calls(
    mut diagnostic: Diagnostic,
    calls: &[(&str, Option<Span>)],
    entry: &str,
) -> Diagnostic {
    for (position, (callee, location)) in calls.iter().enumerate() {
        let caller = match calls.get(position + 1) {
            Some((caller, _)) => format!("operator `{}`", own(caller, entry)),
            None => format!("graph `{}`", own(entry, entry)),
        };
        let callee = own(callee, entry);
        let text = format!("in operator `{callee}`, called from {caller}");
        diagnostic = diagnostic.with_note(*location, text);
    }
    diagnostic
}

/// A name as it is written in the main module: its own names without the module.
fn own<'n>(name: &'n str, entry: &str) -> &'n str {
    let module = entry.rsplit_once('.').map_or("", |(module, _)| module);
    let rest = name.strip_prefix(module).and_then(|n| n.strip_prefix('.'));
    rest.unwrap_or(name)
}
