// SPDX-License-Identifier: Apache-2.0
//! Converts errors of compilation to diagnostics with locations and the chain of operator calls.

use skript_dialect::Frame;
use skript_dialect::pipeline::Message;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::calls::{entry, with_calls};
use skript_frontend::diagnostics::codes::NOT_COMPILED;
use skript_frontend::model::Model;
use skript_frontend::source::{SourceMap, Span};

use crate::compile::CompileError;
use crate::emit::EmitError;
use crate::error::CodegenError;

/// The diagnostics of a model that was not compiled. There is at least one.
pub fn of_compilation(error: &CompileError, model: &Model, sources: &SourceMap) -> Vec<Diagnostic> {
    let error = match error {
        CompileError::Emit(error) => return vec![of_emission(error)],
        CompileError::Codegen(error) | CompileError::Lowering { error, .. } => error,
    };
    match error {
        CodegenError::Stage { messages, .. } => {
            messages.iter().map(|message| at_location(message, model, sources)).collect()
        }
        other => vec![Diagnostic::without_location(&NOT_COMPILED, other.to_string())],
    }
}

/// The diagnostic of a model that cannot be represented in the dialect.
pub fn of_emission(error: &EmitError) -> Diagnostic {
    match error.span() {
        Some(span) => Diagnostic::error(&NOT_COMPILED, span, error.to_string()),
        None => Diagnostic::without_location(&NOT_COMPILED, error.to_string()),
    }
}

/// A message at the location of its operation, with the operator calls around it as notes.
pub fn at_location(message: &Message, model: &Model, sources: &SourceMap) -> Diagnostic {
    at_frames(message, entry(model), sources)
}

fn at_frames(message: &Message, entry: &str, sources: &SourceMap) -> Diagnostic {
    let text = without_operation(&message.text);
    let source_positions: Vec<(&Frame, Option<Span>)> =
        message.frames.iter().map(|frame| (frame, span(frame, sources))).collect();
    let Some((_, Some(innermost))) = source_positions.first() else {
        return Diagnostic::without_location(&NOT_COMPILED, format!("{}: {text}", message.location));
    };
    // The location of a call has the name of the callee.
    let calls: Vec<_> =
        source_positions.iter().skip(1).map(|(callee, call)| (callee.name.as_str(), *call)).collect();
    with_calls(Diagnostic::error(&NOT_COMPILED, *innermost, text), &calls, entry)
}

/// Removes MLIR's prefix, `'skript.formula' op `, which does not help the author of a model.
fn without_operation(text: &str) -> &str {
    let operation = text.strip_prefix('\'');
    operation.and_then(|text| text.split_once("' op ")).map_or(text, |(_, message)| message)
}

fn span(frame: &Frame, sources: &SourceMap) -> Option<Span> {
    let (file, source) = sources.files().find(|(_, file)| file.path.to_string_lossy() == frame.path)?;
    let start = source.offset(frame.line, frame.column)?;
    let end = source.offset(frame.end_line, frame.end_column)?;
    Some(Span::new(file, start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, line: usize, column: usize) -> Frame {
        Frame {
            name: name.to_string(),
            path: "m.sknd".to_string(),
            line,
            column,
            end_line: line,
            end_column: column + 1,
        }
    }

    fn message(frames: Vec<Frame>) -> Message {
        Message {
            severity: "error",
            location: "somewhere".to_string(),
            frames,
            text: "'skript.formula' op cannot become loops".to_string(),
        }
    }

    #[test]
    fn calls_become_notes() {
        let mut sources = SourceMap::default();
        sources.add("m.sknd", "abc\ndef\nghi\n");
        let frames = vec![frame("nn.f", 1, 2), frame("nn.f", 2, 2), frame("m.g", 3, 2)];
        let diagnostic = at_frames(&message(frames), "m.G", &sources);
        assert_eq!(diagnostic.message, "cannot become loops");
        assert_eq!(diagnostic.span.map(|s| (s.start, s.end)), Some((1, 2)));
        let notes: Vec<_> = diagnostic.notes.iter().map(|n| n.text.as_str()).collect();
        assert_eq!(
            notes,
            ["in operator `nn.f`, called from operator `g`", "in operator `g`, called from graph `G`"]
        );
    }

    #[test]
    fn a_message_without_a_known_location_has_that_of_mlir() {
        let sources = SourceMap::default();
        for frames in [vec![frame("f", 1, 1)], Vec::new()] {
            let diagnostic = at_frames(&message(frames), "G", &sources);
            assert_eq!(diagnostic.message, "somewhere: cannot become loops");
            assert!(diagnostic.span.is_none());
        }
    }
}
