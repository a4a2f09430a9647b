// SPDX-License-Identifier: Apache-2.0
//! The MLIR dialect `skript`, and passes and tools for it in safe Rust.
//!
//! The dialect itself is C++ (`include/skript/*.td`, `lib/`); [`ops`] are its builders, generated from the same `.td`.
//! [`pass`] describes how to write a pass, with a complete example. All `unsafe` towards MLIR is in this crate.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]

mod boundary;
mod dialects;
mod ffi;
mod registered;
mod stack;

mod error;
pub mod gpu;
pub mod op;
pub mod pass;
pub mod pipeline;
mod rewriter;
pub mod source_location;
pub mod tools;

pub use dialects::{
    Dialect, add_all, context, inlined_elements, register, register_in, register_programs,
    register_stablehlo, stray_element,
};

pub use error::PassError;
pub use melior;
pub use pass::{Options, Pass, PassOption, register_passes};
pub use rewriter::Rewriter;
pub use source_location::Frame;

/// Builders and accessors of the dialect's operations.
#[allow(clippy::all, missing_docs, rustdoc::all)]
mod generated {
    melior::dialect! {
        name: "skript",
        files: ["skript/SkriptOps.td"],
        include_directory_env_vars: ["SKRIPT_INCLUDE"],
    }
}
pub use generated::skript as ops;
