// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A defect of the program itself.
pub static INTERNAL: Code = Code {
    id: "SK9199",
    title: "internal error",
    explanation: r#"This is a defect of skript, not of the model. Please report it with the model.
"#,
};

pub(super) use INTERNAL as CODE_ENTRY;

// Tested in tools/src/verbs.rs
