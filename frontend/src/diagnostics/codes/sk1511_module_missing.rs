use crate::diagnostics::Code;

/// A module that is neither in the model folder nor in the library (2.15).
pub static MODULE_MISSING: Code = Code {
    id: "SK1511",
    title: "a module cannot be found",
    explanation: r#"An imported module is a file of the model folder, `a.b` being `a/b.sknd`, or a module of the standard library.
"#,
};

pub(super) use MODULE_MISSING as CODE_ENTRY;
