// SPDX-License-Identifier: Apache-2.0
//! Generates an object from a module on tensors: results as arguments, buffers, memory plan, LLVM.
//!
//! The passes complement upstream passes in the stages of [`crate::pipeline::stages`] from bufferization on. The driver,
//! [`crate::compile`], runs these stages; [`llvm`] compiles a module in the LLVM dialect.

pub(crate) mod accesses;
pub(crate) mod annotations;
pub(crate) mod arguments;
pub(crate) mod bool_bytes;
pub mod c;
pub(crate) mod check_to_cf;
pub(crate) mod checks;
pub(crate) mod conflict_copies;
pub(crate) mod copies;
pub(crate) mod entry;
pub(crate) mod extremes;
pub mod gpu;
pub(crate) mod inits;
pub(crate) mod interface;
pub(crate) mod intrinsics;
pub(crate) mod library_math;
pub(crate) mod line_tables;
pub mod llvm;
mod llvm_targets;
pub(crate) mod loop_carried;
pub(crate) mod memory;
pub(crate) mod merged_functions;
mod merged_object;
pub(crate) mod narrow_reals;
mod order;
pub(crate) mod outlined_functions;
pub(crate) mod outputs;
pub(crate) mod parallel_calls;
mod partition;
pub(crate) mod parts;
pub(crate) mod placement;
pub(crate) mod pointer_table;
pub(crate) mod shared_loops;
pub(crate) mod streams;
pub(crate) mod table;
pub(crate) mod target;
pub(crate) mod vector_math;
pub(crate) mod view_offsets;
pub(crate) mod while_arguments;
mod write_chains;

pub use crate::error::CodegenError;
pub use interface::Interface;
pub use llvm::{Form, emit};
