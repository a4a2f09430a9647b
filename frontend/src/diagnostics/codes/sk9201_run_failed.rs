// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A run-time check or limit.
pub static RUN_FAILED: Code = Code {
    id: "SK9201",
    title: "the run failed",
    explanation: r#"A condition on dynamic shapes or counts did not hold, or a loop exceeded its iterations.
"#,
};

pub(super) use RUN_FAILED as CODE_ENTRY;

// Tested in test/tools/run/collected.test
