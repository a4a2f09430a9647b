// SPDX-License-Identifier: Apache-2.0
//! The import of StableHLO programs: converts their text to `linalg` on tensors for code generation.
//!
//! The text is untrusted. [`limits`] bounds it before MLIR parses it, the parsing context registers only the dialects
//! of programs, and [`allowed`] and [`calls`] check the parsed module against the list of supported operations.
//! [`survey`] only improves messages. [`refine`] gives programs with symbolic dimensions the shapes of a call.
//! [`reading`] translates the draft's spelling to the current one. Operations with a scalar form are converted by the
//! same elementwise pattern as all other operations; [`library`] has operators in SkriptND for factorizations,
//! transforms and special functions; [`to_linalg`] converts the remaining operations to `linalg`, `tensor` and `scf`.
//! [`scalar_to_arith`] converts scalar operations to `arith`, `math` and `complex`, and [`drop_signs`] then removes the
//! signedness of integers. [`to_skript`] converts elementwise programs to the `skript` dialect.

mod allowed;
mod calls;
mod decompose;
pub(crate) mod drop_signs;
mod element;
mod ends;
mod entry;
pub(crate) mod expand_calls;
mod extents;
mod factorization;
pub(crate) mod guard_angles;
mod library;
mod limits;
mod literals;
mod operations;
mod parts;
mod program;
mod reading;
mod refine;
mod refusal;
mod resources;
pub(crate) mod scalar_to_arith;
mod survey;
mod terms;
pub(crate) mod to_linalg;
pub(crate) mod to_skript;
mod tokens;
mod translate;
mod unreadable;

pub use element::Element;
pub(crate) use program::PASSES;
pub use program::{Program, compile, compile_for_profile, compile_unless, pipeline_text};
pub use refine::Shapes;
pub use refusal::Refusal;
pub use to_linalg::Tensor;
pub use translate::to_skript;
