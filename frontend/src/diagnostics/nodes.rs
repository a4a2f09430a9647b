// SPDX-License-Identifier: Apache-2.0
//! The nodes of an imported model, which are comments in its document.
//!
//! A document that exists only in memory cannot be opened by the user, so its diagnostics name the node and the file of the model.

use super::calls::located;
use super::{Diagnostic, Note};
use crate::source::{SourceMap, Span};
use std::path::Path;

/// Returns the node of a position in a document: the node on its line, or on the nearest earlier line that has a node.
pub fn node(text: &str, position: usize) -> Option<&str> {
    let before = text.get(..position)?;
    let end = text.get(position..)?.find('\n').map_or(text.len(), |at| position + at);
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(begin..end).into_iter();
    let lines = line.chain(before.get(..begin)?.lines().rev());
    let comments = lines.map(|line| {
        let (code, comment) = line.split_once("# ").unwrap_or((line, ""));
        (code.trim(), comment.trim())
    });
    let mut statements = comments.take_while(|(code, _)| !code.starts_with('@'));
    let (_, node) = statements.find(|(code, comment)| !code.is_empty() && !comment.is_empty())?;
    Some(node)
}

/// Prefixes the message of a diagnostic with the node at its location.
pub fn with_node(mut diagnostic: Diagnostic, sources: &SourceMap) -> Diagnostic {
    let location = diagnostic.own_location();
    if let Some(node) = location.and_then(|span| node_at(span, sources)) {
        diagnostic.message = format!("ONNX node `{node}`: {}", diagnostic.message);
    }
    diagnostic
}

/// Removes a diagnostic's locations that are in a document in memory, and prefixes its message with the model's file and the
/// node instead.
pub fn without_memory_locations(mut diagnostic: Diagnostic, sources: &SourceMap) -> Diagnostic {
    let is_in_memory = |span: &Span| !span.file.is_library();
    let labels = diagnostic.labels.iter().map(|label| label.span);
    let notes = diagnostic.notes.iter().filter_map(|note| note.span);
    let spans = diagnostic.span.into_iter().chain(labels).chain(notes);
    let Some(node_and_file) = node_and_file(spans.filter(is_in_memory), sources) else {
        return diagnostic;
    };
    if diagnostic.span.as_ref().is_some_and(is_in_memory) {
        diagnostic.span = None;
        let label = std::mem::take(&mut diagnostic.label);
        diagnostic.notes.extend(without_location(label));
    }
    for label in std::mem::take(&mut diagnostic.labels) {
        if is_in_memory(&label.span) {
            diagnostic.notes.extend(without_location(label.text))
        } else {
            diagnostic.labels.push(label)
        }
    }
    for note in &mut diagnostic.notes {
        note.span = note.span.filter(|span| !is_in_memory(span));
    }
    diagnostic.message = format!("{node_and_file}: {}", diagnostic.message);
    diagnostic
}

/// A note with the text, if there is one.
fn without_location(text: String) -> Option<Note> {
    (!text.is_empty()).then_some(Note { span: None, text })
}

/// Replaces the frames of a check ([`located`]) in a document in memory by one with the node and the model's file.
pub fn name_frames(frames: &mut Vec<String>, sources: &SourceMap) {
    let span_in_memory = |frame: &String| {
        let (span, _) = located(frame, sources);
        span.filter(|span| !span.file.is_library())
    };
    let spans: Vec<Span> = frames.iter().filter_map(span_in_memory).collect();
    if let Some(node_and_file) = node_and_file(spans.into_iter(), sources) {
        frames.retain(|frame| span_in_memory(frame).is_none());
        frames.push(node_and_file);
    }
}

fn node_at(span: Span, sources: &SourceMap) -> Option<&str> {
    let file = sources.get(span.file)?;
    let is_main = file.path.ends_with("main.sknd");
    is_main.then(|| node(&file.text, usize::try_from(span.start).ok()?))?
}

/// The node of the first position that has one, and the model's file; `None` without positions.
fn node_and_file(spans: impl Iterator<Item = Span> + Clone, sources: &SourceMap) -> Option<String> {
    let file = spans.clone().find_map(|span| sources.get(span.file))?;
    let model = file.path.parent().unwrap_or(Path::new("")).display();
    Some(match spans.into_iter().find_map(|span| node_at(span, sources)) {
        Some(node) => format!("{model}: ONNX node `{node}`"),
        None => model.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::codes::SYNTAX;

    const TEXT: &str =
        "# Imported.\n@compose {\n    a = f(x);    # /a/F\n    b = g(a);\n    c = h(b);    # /c/H\n}\n";

    #[test]
    fn positions_have_their_nodes() {
        let of = |word: &str| node(TEXT, TEXT.find(word).unwrap());
        assert_eq!(of("a = "), Some("/a/F"));
        assert_eq!(of("g(a)"), Some("/a/F"));
        assert_eq!(of("h(b)"), Some("/c/H"));
        assert_eq!(of("@compose"), None);
        assert_eq!(node(TEXT, TEXT.len() + 1), None);
    }

    #[test]
    fn documents_in_memory_have_no_lines() {
        let mut sources = SourceMap::default();
        let file = sources.add("nets/cut.onnx/main.sknd", TEXT);
        let at = u32::try_from(TEXT.find("h(b)").unwrap()).unwrap();
        let span = Span::new(file, at, at + 1);
        let diagnostic = Diagnostic::error(&SYNTAX, span, "it differs")
            .with_label("3 here")
            .with_label_at(span, "2 there")
            .with_note(Some(span), "in operator `h`");
        let shown = without_memory_locations(diagnostic, &sources);
        assert!(shown.span.is_none() && shown.label.is_empty() && shown.labels.is_empty());
        assert!(shown.notes.iter().all(|note| note.span.is_none()));
        let notes: Vec<&str> = shown.notes.iter().map(|note| note.text.as_str()).collect();
        let node_and_file = "nets/cut.onnx: ONNX node `/c/H`";
        assert_eq!(notes, ["in operator `h`", "3 here", "2 there"]);
        assert_eq!(shown.message, format!("{node_and_file}: it differs"));
        sources.add("nets/cut.onnx/onnx.sknd", "operator f {}");
        let [inner, library] = ["nets/cut.onnx/onnx.sknd:1:1-1:3: f", "<stdlib>/nn.sknd:5:9: h"];
        let mut frames = [inner, library, "nets/cut.onnx/main.sknd:5:9-5:13: h"].map(str::to_owned).to_vec();
        name_frames(&mut frames, &sources);
        assert_eq!(frames, [library, node_and_file]);
    }
}
