//! From a module on tensors to an artifact: outputs as arguments, buffers, memory plan, LLVM, objects.
//!
//! The passes here are what the stages of [`crate::pipeline::stages`] from bufferization on add to upstream's. The driver,
//! [`crate::compile`], runs those stages; [`llvm`] makes code of a module in LLVM's dialect.

pub mod aligned;
pub mod annotations;
pub(crate) mod apart;
pub mod arguments;
pub mod carried;
mod chains;
pub mod checks;
pub mod copies;
pub mod entry;
pub mod error;
pub mod inits;
pub mod interface;
pub mod intrinsics;
pub mod llvm;
pub mod memory;
pub mod mlir;
pub mod offsets;
mod order;
pub mod outputs;
pub mod parts;
pub mod placement;
pub mod pointers;
pub(crate) mod size;
pub mod table;
pub mod target;

pub use error::CodegenError;
pub use interface::Interface;
pub use llvm::{Form, emit};
