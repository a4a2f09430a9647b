use crate::diagnostics::Code;

/// A chain above [`crate::limits::Limits::import_depth`].
pub static IMPORT_DEPTH: Code = Code {
    id: "SK1513",
    title: "imports are chained too deep",
    explanation: r#"Modules import each other in chains of at most 64. Cycles are no such chain: a module is read once.
"#,
};

pub(super) use IMPORT_DEPTH as CODE_ENTRY;
