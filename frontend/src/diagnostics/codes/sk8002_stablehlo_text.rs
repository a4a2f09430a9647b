// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A `.mlir` file that is not StableHLO.
pub static STABLEHLO_TEXT: Code = Code {
    id: "SK8002",
    title: "the text is not a StableHLO program",
    explanation: r#"`skript run program.mlir` runs a module with a function `main`, or one public function, on tensors, as
`jax.jit(f).lower(…).as_text()` prints it. The message is MLIR's.
"#,
};

pub(super) use STABLEHLO_TEXT as CODE_ENTRY;

// Tested in test/stablehlo/run/refused.test
