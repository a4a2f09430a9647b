// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript cache` and `skript man`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ManualArguments {
    /// The command; the default is skript itself
    pub command: Option<String>,
    /// Folder for all pages: skript.1, skript-check.1, …; skript-run-model.1 documents `skript run`
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub output_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CacheArguments {
    #[command(subcommand)]
    pub action: Option<CacheAction>,
}

#[derive(Debug, Subcommand)]
pub enum CacheAction {
    /// Remove compiled models from the cache
    Clean {
        /// Only models that were written at least DAYS days ago
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u64>,
    },
}
