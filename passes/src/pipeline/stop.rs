// SPDX-License-Identifier: Apache-2.0
//! Where a compilation can stop.

use crate::codegen::Form;

/// The stage at which compilation stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model in the `skript` dialect.
    Skript,
    /// After the lowering that the options name: `linalg`, `affine` or `scf`.
    Lowered,
    /// Memrefs, before loops.
    Buffers,
    /// Memrefs, with kernels instead of reductions and prepared variables.
    Scheduled,
    /// LLVM's dialect.
    LlvmDialect,
    /// LLVM IR, assembly or an object.
    Code(Form),
}
