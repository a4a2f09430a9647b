// SPDX-License-Identifier: Apache-2.0
//! The mapping of bufferized code to GPUs: kernels of blocks and threads, with the host code that launches them.
//!
//! It starts from the same loops as the CPU schedules. A parallel loop becomes a kernel whose threads divide its iterations; other
//! code that accesses arrays becomes a kernel of one thread. Control flow remains on the host: loops and branches around parallel
//! loops, run-time checks, calls of intrinsics. [`crate::schedule::targets::gpus`] has the GPU properties as data.

mod alignment;
pub(crate) mod blocks;
mod code;
mod direct_copies;
pub(crate) mod iterations;
pub(crate) mod lanes;
mod launch;
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

use super::targets::gpus::{GPU, Precision, named_gpu};
use skript_dialect::{Dialect, Options, PassError, PassOption};

/// The dialects of kernels with shared memory.
const DIALECTS: &[Dialect] = &[
    Dialect::Arith,
    Dialect::Gpu,
    Dialect::Llvm,
    Dialect::MemRef,
    Dialect::Nvvm,
    Dialect::Scf,
    Dialect::Vector,
];

/// The option that permits matrix units (such as tensor cores) to round elements.
const PRECISION: PassOption = PassOption {
    name: "precision",
    summary: "how units for products of matrices round f32: f32 (none are used), tf32, f16, bf16",
    default: "f32",
};

/// Parses the precision of the option.
fn named_precision(options: &Options) -> Result<Precision, PassError> {
    let name = options.text(PRECISION.name);
    let precision = Precision::named(name);
    precision.ok_or_else(|| PassError::from(format!("option precision: {name} is not a precision")))
}
