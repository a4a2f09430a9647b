// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The folder or a file of `--output-dir`.
pub static OUTPUT: Code = Code {
    id: "SK9104",
    title: "an output cannot be written",
    explanation: r#"`--output-dir` names a folder, which is created if it does not exist; each output is written to a file in it.
"#,
};

pub(super) use OUTPUT as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
