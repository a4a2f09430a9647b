// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript tune`.

use super::CallArguments;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TuneArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, or a single file
    pub model: PathBuf,
    #[command(flatten)]
    pub call: CallArguments,
    /// Timed calls with each plan, alternating with calls that use the plans of the cost model
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub calls: u32,
    /// File for all measurements as one JSON object
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Keep these plans, such as the `plans` of --json, and measure nothing
    #[arg(long, value_name = "KEY:NUMBER,…", conflicts_with = "json")]
    pub keep: Option<String>,
    /// Remove the plans that are kept for this model, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "keep"])]
    pub reset: bool,
}
