// SPDX-License-Identifier: Apache-2.0
//! Tensors in memory and in files.
//!
//! A [`Tensor`] is contiguous and row-major, owned or mapped from a file. Files are untrusted: every size is checked
//! against the file before memory is allocated, and every failure is a [`TensorError`] that names the file.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
pub mod archive;
mod buffer;
pub mod contents;
mod convert;
pub mod dat;
mod element;
pub mod error;
pub mod gguf;
mod held;
pub mod map;
pub mod npy;
#[cfg_attr(target_family = "wasm", path = "npz/none.rs")]
pub mod npz;
mod numbered_files;
mod pages;
pub mod random;
pub mod safetensors;
pub mod saved;
pub mod shape;
pub mod summary;
mod tensor;
pub mod weights;

pub use archive::Archive;
pub use element::ElementType;
pub use error::TensorError;
pub use gguf::Gguf;
pub use held::HeldArrays;
pub use pages::{ALIGNMENT, Pages};
pub use tensor::{Memory, Tensor};
pub use weights::{MissingWeights, VariableRequest, WeightStore, load_each, load_variables};
