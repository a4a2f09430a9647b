// SPDX-License-Identifier: Apache-2.0
//! `mlir-reduce` with the `skript` dialect, its passes and its pipelines.

#[allow(dead_code, reason = "only `skript` discards its output, and counts failed writes")]
#[path = "../stdout.rs"]
mod stdout;
#[path = "../version.rs"]
mod version;

/// MLIR allocates through it too. It keeps the many small operations of a module close together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if version::is_asked(std::env::args().skip(1)) {
        stdout::print(&format!("skript-reduce {}\n", version::text()));
        return;
    }
    skript_stablehlo::register();
    std::process::exit(skript_dialect::tools::reduce_main(std::env::args()));
}
