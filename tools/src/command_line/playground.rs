// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript playground`, and of the command by which its page gets values.

use super::values::{EngineName, MessageFormat};
use super::{ModelArguments, StopArguments};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct PlaygroundArguments {
    /// A file whose text the editor shows first; it is never written
    pub file: Option<PathBuf>,
    /// Port on 127.0.0.1; by default, a free one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Time limit of the work on a text, such as its compilation, for each tab
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = super::stop::seconds)]
    pub timeout: Duration,
    /// Format of diagnostics on stderr, such as an error of the port
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub struct ValuesArguments {
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// The seed of the inputs and of the weights
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(long, value_enum, default_value_t = EngineName::Compiled)]
    pub engine: EngineName,
    #[command(flatten)]
    pub stop: StopArguments,
}
