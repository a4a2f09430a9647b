// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The value of `--set`.
pub static ATTRIBUTE_TEXT: Code = Code {
    id: "SK9102",
    title: "a value on the command line is malformed",
    explanation: r#"`--set NAME=VALUE` accepts a JSON value: `3`, `0.5`, `true`, `[1, 2]`, `"text"` (quotes included, so quote them for the
shell: --set 'mode="linear"').
"#,
};

pub(super) use ATTRIBUTE_TEXT as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
