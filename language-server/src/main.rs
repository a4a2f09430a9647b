// SPDX-License-Identifier: Apache-2.0
//! `skript-language-server`: serves the language server protocol on standard input and output.

/// Trees of statements are many small allocations, which this allocator places close together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    skript_language_server::serve_streams(std::io::stdin(), std::io::stdout())
}
