// SPDX-License-Identifier: Apache-2.0
//! Errors of programs that cannot be compiled.

use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::codegen::CodegenError;

/// The reason for which a program cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whether the text is not valid StableHLO, as opposed to unsupported StableHLO.
    pub malformed: bool,
    /// The message, including the operation.
    pub message: String,
    /// Line and column, counted from 1.
    pub source_position: Option<(usize, usize)>,
}

impl Refusal {
    /// The error for text that is not valid StableHLO, at a byte offset.
    pub(crate) fn malformed_at(text: &str, at: usize, message: String) -> Self {
        let before = text.get(..at).unwrap_or_default();
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        Self {
            malformed: true,
            message,
            source_position: Some((1 + before.matches('\n').count(), 1 + line.len())),
        }
    }

    /// The error for a valid program that is not supported, without a location.
    pub(crate) fn unsupported(message: String) -> Self {
        Self { malformed: false, message, source_position: None }
    }
}

/// Splits `loc("-":12:3): message` or `-:12:3: message`, where `-` is the text without a name. Of nested locations, the
/// result has the innermost location.
pub(super) fn malformed(message: &str) -> Refusal {
    let (location, message) =
        if message.starts_with("loc(") { message.split_once("): ") } else { message.split_once(": ") }
            .unwrap_or(("", message));
    let source_position = location
        .split_once("\"-\":")
        .or(location.split_once("-:"))
        .map_or("", |(_, source_position)| source_position);
    let mut numbers = source_position.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let source_position = match (numbers.next(), numbers.next()) {
        (Some(Ok(line)), Some(Ok(column))) => Some((line, column)),
        _ => None,
    };
    // The remaining text from MLIR is about flags that this tool does not have.
    let message =
        message.split_once(". If this is intended").map_or(message, |(message, _)| message).trim_end();
    let advice = ADVICE.iter().find(|(what, _)| message.contains(what));
    Refusal {
        malformed: true,
        message: format!("{message}{}", advice.map_or("", |(_, advice)| advice)),
        source_position,
    }
}

/// Remedies for messages of the MLIR parser that contain none.
const ADVICE: &[(&str, &str)] = &[
    ("not found for custom op", ": programs are in func, StableHLO and CHLO"),
    ("unregistered dialect", ": programs are in func, StableHLO and CHLO"),
    (
        "expected hex string blob",
        ": `\"0x`, the alignment in four bytes, the elements; each byte in two digits, the lowest of a number first",
    ),
    ("expected non-function type", ": one such as `tensor<2x3xf32>`, whose extents are numbers from 0"),
    ("failed to verify constraint: region with 1 blocks", ": one block, which ends with `stablehlo.return`"),
    (
        "failed to satisfy constraint: i64 dense array attribute",
        ": such as `array<i64: 0, 1>`, where older programs have `dense<[0, 1]> : tensor<2xi64>`",
    ),
];

/// The error for an operation, at its location.
pub(crate) fn refusal_at(op: OperationRef, message: &str) -> Refusal {
    let location = op.location();
    malformed(&format!("{location}: '{}' op {message}", op::name(&op)))
}

pub(super) fn refused(error: &CodegenError) -> Vec<Refusal> {
    let CodegenError::Stage { messages, .. } = error else {
        return vec![Refusal { malformed: false, message: error.to_string(), source_position: None }];
    };
    let all = messages.iter().map(|m| Refusal {
        malformed: false,
        message: m.text.clone(),
        source_position: m.frames.first().map(|f| (f.line, f.column)),
    });
    all.collect()
}
