// SPDX-License-Identifier: Apache-2.0
//! From a module on tensors to an artifact: outputs as arguments, buffers, memory plan, LLVM, objects.
//!
//! The passes here complement upstream's in the stages of [`crate::pipeline::stages`] from bufferization on. The
//! driver, [`crate::compile`], runs those stages; [`llvm`] compiles a module in the LLVM dialect.

pub mod annotations;
pub mod arguments;
pub mod checks;
pub(crate) mod conflict_copies;
pub mod copies;
pub mod entry;
pub mod inits;
pub mod interface;
pub mod intrinsics;
pub mod llvm;
pub mod loop_carried;
pub mod memory;
mod order;
pub mod outlined_functions;
pub mod outputs;
pub mod parallel_calls;
pub mod placement;
pub mod pointer_table;
pub mod shared_loops;
pub mod table;
pub mod target;
pub mod vector_math;
pub mod view_offsets;
pub mod while_arguments;
mod write_chains;

pub use crate::error::CodegenError;
pub use interface::Interface;
pub use llvm::{Form, emit};
