use crate::diagnostics::Code;

/// A run-time check or limit.
pub static RUN_FAILED: Code = Code {
    id: "SK9201",
    title: "the run failed",
    explanation: r#"What a model promises about shapes and counts that only a run can know did not hold, or a loop ran too long.
"#,
};

pub(super) use RUN_FAILED as CODE_ENTRY;

// Tested in test/tools/run/collected.test
