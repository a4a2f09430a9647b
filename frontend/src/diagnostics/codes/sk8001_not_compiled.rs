// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A model that compiled code cannot compute.
pub static NOT_COMPILED: Code = Code {
    id: "SK8001",
    title: "the model cannot be compiled",
    explanation: r#"The compiler does not support all of the language; `--engine=reference` runs every model. A message
about a pass that failed is a defect of the compiler, not of the model.
"#,
};

pub(super) use NOT_COMPILED as CODE_ENTRY;

// Tested in test/tools/compile/refused.test
