// SPDX-License-Identifier: Apache-2.0
//! Diagnostics as JSON, for other programs.

use super::Diagnostic;
use crate::source::{SourceMap, Span};
use serde_json::{Value, json};

/// A diagnostic with its texts and locations.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|l| json!({"text": l.text, "location": location(sources, Some(l.span))}))
        .collect();
    let notes: Vec<Value> = diagnostic
        .notes
        .iter()
        .map(|n| json!({"text": n.text, "location": location(sources, n.span)}))
        .collect();
    json!({
        "severity": diagnostic.severity.name(),
        "code": diagnostic.code.id,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "location": location(sources, diagnostic.span),
        "labels": labels,
        "notes": notes,
        "help": diagnostic.help,
    })
}

/// Lines and columns are 1-based, bytes are 0-based; the ends are exclusive.
fn location(sources: &SourceMap, span: Option<Span>) -> Value {
    let Some((span, file)) = span.and_then(|s| Some((s, sources.get(s.file)?))) else {
        return Value::Null;
    };
    let (line, column) = file.line_column(span.start);
    let (end_line, end_column) = file.line_column(span.end);
    json!({
        "path": file.path.display().to_string(),
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "bytes": [span.start, span.end],
    })
}
