// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A part of an ONNX model that is not imported.
pub static ONNX: Code = Code {
    id: "SK9107",
    title: "an ONNX model is not imported",
    explanation: r#"`skript import`, and every command that reads an `.onnx` file, converts the model to SkriptND. A model with an operator, an
element type or a shape that is not supported is refused as a whole: each reason is an error that names the node. docs/onnx.md
lists the supported operators. A type that the model declares for a value, but its nodes do not compute, is a warning.
"#,
};

pub(super) use ONNX as CODE_ENTRY;

// Tested in test/tools/import/refusals.test
