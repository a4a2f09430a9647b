// SPDX-License-Identifier: Apache-2.0
//! Compiles composed models to native code: the `skript` dialect, its lowerings, and code generation.
//!
//! No operator of a library is known by name. Lowerings use [`structure`] to classify formulas.
//!
//! This crate is internal to the compiler, and its interface changes without notice. Programs embed the crate `skript`.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
#![allow(
    clippy::indexing_slicing,
    reason = "positions come from verified IR; one that is out of bounds is a bug, which entry points report as one"
)]

mod all;
pub mod code_cache;
pub mod codegen;
pub mod compile;
pub mod diagnostics;
mod duplicates;
mod elementwise;
pub mod emit;
mod error;
pub mod extents;
mod facts;
pub mod fast_math;
mod formula;
mod integers;
mod invoke;
pub mod ir;
mod layout;
mod named;
pub mod observer;
pub mod pipeline;
pub(crate) mod prepare;
mod profile;
mod recurrence;
pub mod schedule;
mod sets;
pub mod structure;
pub mod target;

pub use all::{ALL, register};
pub use compile::{
    CompileError, Options, Stop, compile_model, compile_model_for_profile, compile_tensors,
    compile_tensors_for_profile, model_after, model_as_c, pipeline_text, report_passes, sums_of_products,
    tensors_to_llvm,
};
pub use emit::EmitError;
pub use integers::SumsOfProducts;
