// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Evaluator and compiled code disagree.
pub static ANSWERS_DIFFER: Code = Code {
    id: "SK9202",
    title: "the evaluator and the compiled code compute different values",
    explanation: r#"`skript compare` computes a model twice, and a tensor differs by more than --rtol and --atol allow. The message names the
first such tensor in the order of computation: the operands of its operator agree, so the defect is in that operator.
Models that amplify rounding need wider tolerances; anything else is a defect of the compiler.
"#,
};

pub(super) use ANSWERS_DIFFER as CODE_ENTRY;

// Tested in test/tools/compare/broken-lowering.test
