use crate::diagnostics::Code;

/// Tokens of both editions in one module.
pub static EDITIONS_MIXED: Code = Code {
    id: "SK1514",
    title: "a module mixes two editions of the language",
    explanation: r#"The module has syntax that only the draft has and syntax that only the Khronos edition has. It is read as draft 6;
say `--edition=khronos` or write one of the two tokens the other way.
"#,
};

pub(super) use EDITIONS_MIXED as CODE_ENTRY;
