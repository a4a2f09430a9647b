// SPDX-License-Identifier: Apache-2.0
//! Reads ONNX models, and language models in GGUF files, and writes them as SkriptND.
//!
//! [`convert`] reads the file ([`proto`]), walks its graph with a rule for each operator ([`operators`]), evaluates shapes and
//! small integer tensors on the way ([`evaluate`], [`fold`]), and writes the document ([`write`]). An import returns a
//! [`Refusal`] for each unsupported part of the model.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
mod call;
mod contradiction;
mod convert;
mod declared;
mod dependence;
mod evaluate;
mod extent;
mod external;
mod fold;
mod folds;
mod gguf;
mod imported;
mod importer;
mod library;
mod literals;
mod model_file;
pub mod names;
pub mod operators;
mod origin;
mod proto;
mod reals;
mod refusal;
mod shared_tensors;
mod statement;
mod structure;
mod tensor;
mod value;
mod write;

pub use convert::convert;
pub use gguf::{Activations, GgufCache, GgufOptions, convert_gguf};
pub use imported::{ImportError, Imported, Options, Weight};
pub use model_file::{Declaration, DeclaredExtent, ForCall, ModelFile};
pub use origin::{Input, Origin, Output};
pub use refusal::Refusal;
pub use write::Port;
