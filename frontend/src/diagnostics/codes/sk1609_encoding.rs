use crate::diagnostics::Code;

/// Bytes that are no UTF-8.
pub static ENCODING: Code = Code {
    id: "SK1609",
    title: "a source file is not UTF-8",
    explanation: r#"Source files are UTF-8 text. Save the file in that encoding.
"#,
};

pub(super) use ENCODING as CODE_ENTRY;
