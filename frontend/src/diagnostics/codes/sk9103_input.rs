// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The arrays of `--input`.
pub static INPUT: Code = Code {
    id: "SK9103",
    title: "an input is missing or does not match its declaration",
    explanation: r#"Every input of the graph needs one array per tensor, of the declared type, rank and extents. Widths are converted;
float, int and bool are not converted into each other.
"#,
};

pub(super) use INPUT as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
