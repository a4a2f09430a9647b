// SPDX-License-Identifier: Apache-2.0
//! Lowers formulas to `linalg`, `affine` or `scf`.

pub(crate) mod block;
pub(crate) mod border;
pub(crate) mod covered_fills;
pub(crate) mod domain;
pub(crate) mod drop_fast_math;
pub(crate) mod dynamic_extents;
pub(crate) mod finite;
pub(crate) mod formula_to_linalg;
pub(crate) mod formula_to_loops;
pub(crate) mod linalg;
pub(crate) mod loops;
pub(crate) mod operand;
pub(crate) mod payload;
pub(crate) mod raise_accumulations;
pub(crate) mod refusal;
pub(crate) mod reshape;
pub(crate) mod scalar_to_arith;
pub(crate) mod split_choices;
pub(crate) mod split_guards;
pub(crate) mod structured;
pub(crate) mod widen_accumulators;
pub(crate) use refusal::Refusal;
