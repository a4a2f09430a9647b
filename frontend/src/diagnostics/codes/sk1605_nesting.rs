use crate::diagnostics::Code;

/// Nesting above [`crate::limits::Limits::nesting`].
pub static NESTING: Code = Code {
    id: "SK1605",
    title: "a statement nests too deep",
    explanation: r#"Brackets and operators of one statement nest at most 256 levels deep; every operator of a chain is one level.
Name parts of it in @using, or compute them as tensors of their own.
"#,
};

pub(super) use NESTING as CODE_ENTRY;
