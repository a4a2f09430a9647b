// SPDX-License-Identifier: Apache-2.0
//! `mlir-lsp-server` with the `skript` dialect.

fn main() {
    std::process::exit(skript_dialect::tools::lsp_server_main(std::env::args()));
}
