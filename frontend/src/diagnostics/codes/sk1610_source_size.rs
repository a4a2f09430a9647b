use crate::diagnostics::Code;

/// A file above [`crate::limits::Limits::source_bytes`].
pub static SOURCE_SIZE: Code = Code {
    id: "SK1610",
    title: "a source file is too large",
    explanation: r#"A source file has at most 64 MiB. Large constants belong into variables, whose values are files of their own.
"#,
};

pub(super) use SOURCE_SIZE as CODE_ENTRY;
