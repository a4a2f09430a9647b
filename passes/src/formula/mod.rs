// SPDX-License-Identifier: Apache-2.0
//! Formulas to `linalg`, `affine` or `scf`.

pub mod block;
pub mod border;
pub mod covered_fills;
pub mod domain;
pub mod dynamic_extents;
pub mod equal_extents;
pub mod formula_to_linalg;
pub mod formula_to_loops;
pub mod linalg;
pub mod loops;
pub mod operand;
pub mod payload;
pub mod refusal;
pub mod reshape;
pub mod scalar_to_arith;
pub mod split_guards;
pub mod structured;
pub mod widen_accumulators;

pub use refusal::Refusal;
