// SPDX-License-Identifier: Apache-2.0
//! `skript-expand-stablehlo-calls`: expands composites, and custom calls of matrix factorizations.
//!
//! A composite becomes a call of its decomposition. A call of LAPACK, or of the same routine under another name, becomes operators
//! of the library, already lowered. Meshes and annotations of sharding, placement and layout are erased, as they do not affect results.
//! Other custom calls remain.
//!
//! Guarantees: no `stablehlo.composite` and no operation of `sdy` is left.

use super::{decompose, factorization, to_linalg};
use skript_dialect::Pass;
use skript_passes::ir::ops;

/// The pass `skript-expand-stablehlo-calls`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-expand-stablehlo-calls",
    summary: "expand composites and calls of LAPACK in StableHLO programs, and erase annotations of sharding",
    anchor: Some(ops::builtin::MODULE),
    // Includes the dialects of the passes that lower library operators.
    dependent_dialects: to_linalg::PASS.dependent_dialects,
    run: |root, _, _| {
        decompose::decompose(root)?;
        factorization::expand(root);
        Ok(())
    },
    ..Pass::NONE
};
