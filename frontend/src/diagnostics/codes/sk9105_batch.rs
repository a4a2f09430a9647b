// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The file of `--batch`.
pub static BATCH: Code = Code {
    id: "SK9105",
    title: "a batch file is malformed",
    explanation: r#"A batch file has one JSON list of strings per line: the arguments of one `skript run`.
"#,
};

pub(super) use BATCH as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
