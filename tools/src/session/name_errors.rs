// SPDX-License-Identifier: Apache-2.0
//! Errors in the names on the command line.

use skript_frontend::diagnostics::codes::COMMAND_LINE_NAME;
use skript_frontend::diagnostics::{Code, Diagnostic};

/// The distinct names that occur more than once.
pub fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut counts = indexmap::IndexMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    let repeated = counts.into_iter().filter(|(_, count)| *count > 1);
    repeated.map(|(name, _)| name).collect()
}

/// The error for a name that a flag repeats.
pub fn twice(flag: &str, name: &str) -> Diagnostic {
    let message = format!("{flag} gives `{name}` more than once");
    Diagnostic::without_location(&COMMAND_LINE_NAME, message).with_help("remove all but one of them")
}

pub(super) fn unknown(what: &str, name: &str, owner: &str, known: &[&str]) -> Diagnostic {
    let code: &'static Code = &COMMAND_LINE_NAME;
    let message = format!("{owner} has no {what} `{name}`");
    Diagnostic::without_location(code, message).with_names(name, "there is", known)
}
