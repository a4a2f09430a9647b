use crate::diagnostics::Code;

/// A file that cannot be read, or that a link outside the model folder stands for (2.15).
pub static UNREADABLE: Code = Code {
    id: "SK1512",
    title: "a source file cannot be read",
    explanation: r#"There is no such file, reading it failed, or it is reached through a link that leads out of the model folder.
"#,
};

pub(super) use UNREADABLE as CODE_ENTRY;
