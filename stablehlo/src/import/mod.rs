// SPDX-License-Identifier: Apache-2.0
//! Programs of others: StableHLO as its printers write it becomes `linalg` on tensors, for code generation.
//!
//! The text is untrusted: bounded before MLIR reads it ([`limits`]), read where nothing but programs' dialects is known, and
//! held against the list of what has code afterwards ([`allowed`], [`calls`]); [`survey`] makes messages, and guards nothing.
//! It is read in two spellings ([`reading`]): today's, and the draft's. What has a scalar form goes through the same
//! elementwise pattern as every other op; the rest becomes `linalg`, `tensor` and `scf` ([`to_linalg`]). Scalar ops become
//! `arith`, `math` and `complex` ([`scalar_to_arith`]), then integers lose their signs ([`drop_signs`]).
//! Elementwise programs also become modules in the `skript` dialect ([`to_skript`]).

mod allowed;
mod calls;
mod decompose;
pub(crate) mod drop_signs;
mod element;
mod ends;
mod extents;
mod factorization;
mod limits;
mod literals;
mod operations;
mod program;
mod reading;
mod resources;
pub(crate) mod scalar_to_arith;
mod survey;
mod terms;
pub(crate) mod to_linalg;
pub(crate) mod to_skript;
mod tokens;
mod translate;
mod unreadable;

pub use element::{Element, Float};
pub use program::{Program, Refusal, compile, compile_unless};
pub use to_linalg::Tensor;
pub use translate::to_skript;
