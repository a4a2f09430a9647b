// SPDX-License-Identifier: Apache-2.0
//! The stages at which a compilation can stop.

use crate::codegen::Form;

/// The stage at which compilation stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model in the `skript` dialect.
    Skript,
    /// The module after the lowering in the options: `linalg`, `affine` or `scf`.
    Lowered,
    /// Memrefs, before operations are lowered to loops.
    Buffers,
    /// Memrefs, with kernels instead of reductions, and prepared variables.
    Scheduled,
    /// The `llvm` dialect.
    LlvmDialect,
    /// LLVM IR, assembly or an object.
    Code(Form),
}
