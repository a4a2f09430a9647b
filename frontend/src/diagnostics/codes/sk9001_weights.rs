// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A variable's file (2.7, model folders).
pub static WEIGHTS: Code = Code {
    id: "SK9001",
    title: "the weights of a variable are missing or wrong",
    explanation: r#"Every variable has a file `<scoped name>.dat` in the model folder, of the declared type and shape.
`run`, `compare` and `bench` fill missing variables with `--weights=zero` or `--weights=random:SEED`.
"#,
};

pub(super) use WEIGHTS as CODE_ENTRY;

// Tested in test/tools/run/weights.test
