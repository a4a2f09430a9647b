// SPDX-License-Identifier: Apache-2.0
//! Code of kernels in the languages of GPUs, and of the host code that launches them.

pub(crate) mod emit;
mod kernel_calls;
mod kernel_comparisons;
pub(crate) mod kernel_math;
pub(crate) mod kernel_memory;
mod kernel_vectors;
pub(crate) mod launches;
mod layout;
