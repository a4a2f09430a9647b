// SPDX-License-Identifier: Apache-2.0
//! `skript-language-server`: serves the language server protocol on standard input and output.

fn main() -> anyhow::Result<()> {
    skript_language_server::serve_streams(std::io::stdin(), std::io::stdout())
}
