// SPDX-License-Identifier: Apache-2.0
//! Code generation for GPUs: kernels in PTX, SPIR-V or AMDGPU code objects, and the host code that launches them.

pub(crate) mod emit;
mod kernel_calls;
mod kernel_comparisons;
pub(crate) mod kernel_math;
pub(crate) mod kernel_memory;
mod kernel_vectors;
pub(crate) mod launches;
mod layout;
