//! `mlir-translate` with the `skript` dialect.

fn main() {
    std::process::exit(skript_dialect::tools::translate_main(std::env::args()));
}
