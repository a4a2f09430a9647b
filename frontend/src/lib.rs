// SPDX-License-Identifier: Apache-2.0
//! SkriptND text → AST → checked definitions → composed [`model::Model`]. No MLIR.
//!
//! Stages, in order; none imports a later one: [`source`] reads files, [`syntax`] builds the [`ast`], [`check`] proves
//! definitions well formed without any invocation, [`compose`] instantiates a graph with [`eval`]'s compile-time
//! values and normalizes its formulas. All of them report to [`diagnostics`].
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
pub mod ast;
pub mod check;
pub mod compose;
pub mod diagnostics;
pub mod documentation;
pub mod eval;
pub mod foreign;
pub mod format;
pub mod library;
mod library_operators;
pub mod limits;
pub mod meter;
pub mod model;
pub mod program;
pub mod source;
pub mod source_files;
pub mod source_texts;
pub mod syntax;
mod value_types;
