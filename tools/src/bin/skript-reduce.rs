//! `mlir-reduce` with the `skript` dialect, its passes and its pipelines.

fn main() {
    skript_passes::register();
    std::process::exit(skript_dialect::tools::reduce_main(std::env::args()));
}
