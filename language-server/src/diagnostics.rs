// SPDX-License-Identifier: Apache-2.0
//! Converts diagnostics of the frontend to those of the protocol.

use crate::analysis::Analysis;
use crate::workspace::url_of;
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Url};
use skript_frontend::diagnostics::{Diagnostic, Severity};
use skript_frontend::source::Span;
use std::collections::BTreeMap;
use std::path::Path;

/// Diagnostics per file of the model, including files without diagnostics, so that editors remove outdated diagnostics.
pub(crate) fn by_file(analysis: &Analysis) -> BTreeMap<Url, Vec<lsp_types::Diagnostic>> {
    let mut by_file = BTreeMap::new();
    let files = analysis.program.sources.files().map(|(_, file)| file.path.as_path());
    for path in files.chain([analysis.main()]).filter(|path| !is_library(path)) {
        if let Some(url) = url_of(path) {
            by_file.entry(url).or_insert_with(Vec::new);
        }
    }
    for diagnostic in analysis.diagnostics() {
        let (url, converted) = convert(analysis, diagnostic);
        if let Some(list) = url.and_then(|url| by_file.get_mut(&url)) {
            list.push(converted);
        }
    }
    by_file
}

fn is_library(path: &Path) -> bool {
    path.to_string_lossy().starts_with("<stdlib")
}

/// The range of a span, if it is in a file of the model.
fn location(analysis: &Analysis, span: Span) -> Option<Location> {
    let (path, _) = analysis.location(span)?;
    if is_library(path) {
        return None;
    }
    Some(Location::new(url_of(path)?, analysis.range(span)))
}

/// Converts a diagnostic. A diagnostic in the library moves to the first location of its notes in a file of the user.
pub(crate) fn convert(analysis: &Analysis, diagnostic: &Diagnostic) -> (Option<Url>, lsp_types::Diagnostic) {
    let notes = diagnostic.notes.iter().filter_map(|note| note.span);
    let mut spans = diagnostic.span.into_iter().chain(notes);
    let start_of_main = || Some(Location::new(url_of(analysis.main())?, Range::default()));
    let shown_at = spans.find_map(|span| location(analysis, span)).or_else(start_of_main);

    let mut message = diagnostic.message.clone();
    if !diagnostic.label.is_empty() {
        message.push_str(&format!("\n{}", diagnostic.label));
    }
    if let Some(help) = &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let labels = diagnostic.labels.iter().map(|l| (Some(l.span), l.text.as_str()));
    let notes = diagnostic.notes.iter().map(|n| (n.span, n.text.as_str()));
    let mut related = Vec::new();
    for (span, text) in labels.chain(notes) {
        match span.and_then(|span| location(analysis, span)) {
            Some(location) => {
                related.push(DiagnosticRelatedInformation { location, message: text.to_owned() })
            }
            None => message.push_str(&format!("\nnote: {text}")),
        }
    }
    let converted = lsp_types::Diagnostic {
        range: shown_at.as_ref().map_or_else(Range::default, |location| location.range),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(diagnostic.code.id.to_owned())),
        source: Some("skript".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    };
    (shown_at.map(|location| location.uri), converted)
}
