// SPDX-License-Identifier: Apache-2.0
//! The mapping of bufferized code to GPUs: kernels of blocks and threads, with the host code that launches them.
//!
//! It starts from the loops that CPUs get as well. A parallel loop becomes a kernel whose threads share its iterations, other code
//! that accesses arrays a kernel of one thread. What decides which kernels run stays on the host: loops and branches around
//! parallel loops, run-time checks, calls of intrinsics. [`crate::schedule::targets::gpus`] has the properties of GPUs as data.

mod alignment;
pub(crate) mod blocks;
mod code;
mod contraction;
mod direct_copies;
pub(crate) mod iterations;
pub(crate) mod lanes;
pub(crate) mod long_loops;
mod matrix_unit;
pub(crate) mod memory_space;
pub(crate) mod outline;
pub(crate) mod reductions;
mod row;
pub(crate) mod row_products;
mod selections;
mod sequences;
mod threads;
mod tiles;
mod works;

use super::targets::gpus::{Gpu, Precision};
use skript_dialect::{Dialect, Options, PassError, PassOption};

/// The dialects of kernels whose threads share memory.
const DIALECTS: &[Dialect] = &[
    Dialect::Arith,
    Dialect::Gpu,
    Dialect::Llvm,
    Dialect::MemRef,
    Dialect::Nvvm,
    Dialect::Scf,
    Dialect::Vector,
];

/// The option that names the GPU.
const GPU: PassOption = PassOption { name: "gpu", summary: "the GPU", default: "sm_80" };

/// The option that lets units for products of matrices round elements.
const PRECISION: PassOption = PassOption {
    name: "precision",
    summary: "how units for products of matrices round f32: f32 (none are used), tf32, f16, bf16",
    default: "f32",
};

/// The precision that the option names.
fn named_precision(options: &Options) -> Result<Precision, PassError> {
    let name = options.text(PRECISION.name);
    let precision = Precision::named(name);
    precision.ok_or_else(|| PassError::from(format!("option precision: {name} is no precision")))
}

/// The GPU that the option names.
pub(crate) fn named_gpu(options: &Options) -> Result<&'static Gpu, PassError> {
    let name = options.text(GPU.name);
    Gpu::named(name).ok_or_else(|| PassError::from(format!("option gpu: {name} is no GPU")))
}
