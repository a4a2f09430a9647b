// SPDX-License-Identifier: Apache-2.0
//! The chain of operator calls to a location, as notes of a diagnostic.

use super::{Code, Diagnostic};
use crate::model::Model;
use crate::source::{SourceMap, Span};

/// The name of the entry graph.
pub fn entry(model: &Model) -> &str {
    model.function(model.entry).map_or("", |f| &f.name)
}

/// A failure at run time: its location and function, then the calls that lead to it.
pub fn failed_at(
    code: &'static Code,
    message: String,
    locations: &[(&str, Option<Span>)],
    entry: &str,
) -> Diagnostic {
    match locations.split_first() {
        Some(((name, Some(span)), calls)) => {
            let diagnostic = Diagnostic::error(code, *span, message);
            let diagnostic = diagnostic.with_label(format!("in `{}`", short_name(name, entry)));
            with_calls(diagnostic, calls, entry)
        }
        _ => Diagnostic::without_location(code, message),
    }
}

/// A note for each call, innermost first: the callee, and the location.
pub fn with_calls(mut diagnostic: Diagnostic, calls: &[(&str, Option<Span>)], entry: &str) -> Diagnostic {
    for (position, (callee, location)) in calls.iter().enumerate() {
        let caller = match calls.get(position + 1) {
            Some((caller, _)) => format!("operator `{}`", short_name(caller, entry)),
            None => format!("graph `{}`", short_name(entry, entry)),
        };
        let callee = short_name(callee, entry);
        let text = format!("in operator `{callee}`, called from {caller}");
        diagnostic = diagnostic.with_note(*location, text);
    }
    diagnostic
}

/// A name as written in the main module, whose names need no module.
fn short_name<'n>(name: &'n str, entry: &str) -> &'n str {
    let module = entry.rsplit_once('.').map_or("", |(module, _)| module);
    let unqualified = name.strip_prefix(module).and_then(|n| n.strip_prefix('.'));
    unqualified.unwrap_or(name)
}

/// Parses a frame of a failed check, `path:line:column-line:column: name`, to the span and the name; the end is optional.
pub fn located<'t>(frame: &'t str, sources: &SourceMap) -> (Option<Span>, &'t str) {
    let (location, name) = frame.rsplit_once(": ").unwrap_or((frame, ""));
    (span(location, sources), name)
}

fn span(location: &str, sources: &SourceMap) -> Option<Span> {
    let row_and_column = |text: &str| {
        let (row, column) = text.split_once(':')?;
        Some((row.parse().ok()?, column.parse().ok()?))
    };
    // File names may contain any of these characters.
    let end = location.rsplit_once('-');
    let end = end.and_then(|(before, end)| Some((before, row_and_column(end)?)));
    let (location, end) = match end {
        Some((before, end)) => (before, Some(end)),
        None => (location, None),
    };
    let (before, _) = location.rsplit_once(':')?;
    let (path, _) = before.rsplit_once(':')?;
    let (row, column) = row_and_column(location.get(path.len() + 1..)?)?;
    let mut files = sources.files();
    let (id, file) = files.find(|(_, f)| f.path.to_string_lossy() == path)?;
    let start = file.offset(row, column)?;
    let end = end.map_or(Some(start), |(row, column)| file.offset(row, column))?;
    Some(Span { file: id, start, end: end.max(start) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_of_failed_checks_have_their_ends() {
        let mut sources = SourceMap::default();
        let text = "graph é {\n    x;\n}\n";
        let main = sources.add("a-1:2/main.sknd", text);
        let parsed = |location: &str| {
            let (span, name) = located(location, &sources);
            (span.map(|s| (s.file == main, s.start, s.end)), name.to_string())
        };
        let wanted = |start, end| (Some((true, start, end)), "f".to_string());
        assert_eq!(parsed("a-1:2/main.sknd:1:7-1:8: f"), wanted(6, 8));
        assert_eq!(parsed("a-1:2/main.sknd:1:7-2:6: f"), wanted(6, 16));
        assert_eq!(parsed("a-1:2/main.sknd:2:5: f"), wanted(15, 15));
        assert_eq!(parsed("a-1:2/other.sknd:2:5: f"), (None, "f".to_string()));
        assert_eq!(parsed("main: f"), (None, "f".to_string()));
        assert_eq!(parsed(": f"), (None, "f".to_string()));
    }
}
