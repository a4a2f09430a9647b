// SPDX-License-Identifier: Apache-2.0
//! `mlir-reduce` with the `skript` dialect, its passes and its pipelines.

/// MLIR allocates through it too: an operation takes an allocation of its own, and modules of many operations stay together in
/// memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    skript_stablehlo::register();
    std::process::exit(skript_dialect::tools::reduce_main(std::env::args()));
}
