//! `mlir-opt` with the `skript` dialect and its passes.

fn main() {
    std::process::exit(skript_dialect::tools::opt_main(std::env::args()));
}
