use crate::diagnostics::Code;

/// An engine that was not built in.
pub static ENGINE_MISSING: Code = Code {
    id: "SK9106",
    title: "this build has no such engine",
    explanation: r#"`--engine=compiled` needs a build with MLIR; `--engine=reference` is always there.
"#,
};

pub(super) use ENGINE_MISSING as CODE_ENTRY;
