// SPDX-License-Identifier: Apache-2.0
//! Compiles composed models to native code: the `skript` dialect, its lowerings, and code generation.
//!
//! No operator of a library is known by name: lowerings ask [`structure`] what a formula *is*.

pub mod all;
pub mod codegen;
pub mod compile;
pub mod duplicates;
pub mod elementwise;
pub mod emit;
pub mod error;
pub mod extents;
pub mod formula;
pub mod invoke;
pub mod ir;
pub mod named;
pub mod pipeline;
pub mod prepare;
pub mod schedule;
pub mod structure;
pub mod target;

pub use all::{ALL, register};
pub use compile::{
    CompileError, Options, Stop, compile_model, compile_tensors, model_after, pipeline_text,
    tensors_to_llvm,
};
pub use emit::EmitError;
