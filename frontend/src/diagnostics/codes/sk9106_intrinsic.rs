// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A kernel that `--intrinsic` binds.
pub static INTRINSIC: Code = Code {
    id: "SK9106",
    title: "a kernel cannot be bound to an operator",
    explanation: r#"`--intrinsic NAME=SYMBOL@LIBRARY` binds the function SYMBOL of a shared library as the kernel of the operator with this
qualified name (`main.sorted`), which has no body. docs/intrinsics.md describes the function's signature. Operators of the
standard library keep their kernels, and a name has one kernel per process.
"#,
};

pub(super) use INTRINSIC as CODE_ENTRY;

// Tested in test/tools/run/user-intrinsics.test
