// SPDX-License-Identifier: Apache-2.0
//! Compiled models: their file format, loading and calls.
//!
//! An [`Artifact`] is object code and its interface. A [`Program`] is an artifact linked into this process; an
//! [`Instance`] is a program with its own arena and executes one call at a time. Neither LLVM, MLIR nor the frontend is needed: a
//! model that was compiled elsewhere runs here, if the processor has the features.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]

pub mod artifact;
pub mod cache;
pub mod device;
mod embed;
mod error;
mod extents;
pub mod files;
mod instance;
mod loader;
pub mod object_header;
mod prepared;
pub mod processor;
pub mod profile;
pub mod program;
pub mod run;
pub mod shared_object;
mod stop;
mod symbols;
pub mod threads;

pub use artifact::{Artifact, ArtifactError};
pub use cache::Cache;
pub use device::DeviceInstance;
pub use embed::embed;
pub use error::{LoadError, RunError, SMALLER};
pub use instance::Instance;
pub use prepared::Prepared;
pub use program::Program;
pub use run::run;
pub use stop::StopHandle;
