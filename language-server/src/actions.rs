// SPDX-License-Identifier: Apache-2.0
//! Code actions: the edits that diagnostics suggest.

use crate::analysis::Analysis;
use crate::diagnostics::convert;
use crate::workspace::url_of;
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Url, WorkspaceEdit};
use std::collections::HashMap;

/// The fixes of the diagnostics that touch a range of a file.
pub(crate) fn fixes(analysis: &Analysis, uri: &Url, range: Range) -> Vec<CodeActionOrCommand> {
    let with_fixes = analysis.diagnostics().iter().filter_map(|d| Some((d, d.fix.as_ref()?)));
    let actions = with_fixes.filter_map(|(diagnostic, fix)| {
        let (shown_at, converted) = convert(analysis, diagnostic);
        let touches = converted.range.start <= range.end && range.start <= converted.range.end;
        if shown_at.as_ref() != Some(uri) || !touches || fix.span.file.is_library() {
            return None;
        }
        let (path, _) = analysis.location(fix.span)?;
        let edit = TextEdit::new(analysis.range(fix.span), fix.text.clone());
        let changes = HashMap::from([(url_of(path)?, vec![edit])]);
        Some(CodeActionOrCommand::CodeAction(CodeAction {
            title: title(analysis.program.sources.text(fix.span), &fix.text),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![converted]),
            edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
            is_preferred: Some(true),
            ..CodeAction::default()
        }))
    });
    actions.collect()
}

/// The title of a fix that replaces a text.
fn title(old: &str, new: &str) -> String {
    match (old.trim(), new.trim()) {
        (old, "") => format!("Remove `{old}`"),
        ("", new) => format!("Insert `{new}`"),
        (_, new) => format!("Change to `{new}`"),
    }
}
