use crate::diagnostics::Code;

/// A kernel that `--intrinsic` binds.
pub static INTRINSIC: Code = Code {
    id: "SK9106",
    title: "a kernel cannot be bound to an operator",
    explanation: r#"`--intrinsic NAME=SYMBOL@LIBRARY` gives the operator of this qualified name (`main.sorted`), which has no body, the function
SYMBOL of a shared library as its kernel. docs/intrinsics.md tells what the function must be. Standard operators keep their
kernels, and a name has one kernel in a process.
"#,
};

pub(super) use INTRINSIC as CODE_ENTRY;

// Tested in test/tools/run/user-intrinsics.test
