// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript train`.

use super::{ModelArguments, StepArguments, ThreadArguments, WeightsArguments};
use crate::target_arguments::TargetArguments;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct TrainArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, or a single file
    pub model: PathBuf,
    /// Samples: an array for each input of the graph, with the samples along its first axis
    #[arg(long, value_name = "FILE.npz")]
    pub data: PathBuf,
    /// Other samples, on which the outputs are computed after each epoch
    #[arg(long, value_name = "FILE.npz")]
    pub validation: Option<PathBuf>,
    /// Output to reduce; the default is the only one. It has a single element
    #[arg(long, value_name = "OUTPUT")]
    pub of: Option<String>,
    /// Variables to train; the default is all that the model does not update
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "variables")]
    pub wrt: Vec<String>,
    /// Operator that computes the next value of a variable from its value and its gradient
    #[arg(long, value_name = "OPTIMIZER", default_value = "optim.adam{rate=1e-3}")]
    pub optimizer: String,
    #[command(flatten)]
    pub steps: StepArguments,
    /// Number of passes over the samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub epochs: u32,
    /// Number of samples of a step; the default is the first extent of the inputs, or its upper bound up to 32
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub batch: Option<u64>,
    /// Seed of the order of the samples
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Stop after this number of epochs without a smaller output on the validation samples (without them, on the training
    /// samples), and keep the weights of the best epoch
    #[arg(long, value_name = "EPOCHS", value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: Option<u32>,
    /// Folder to write: the model with its weights, the losses, and checkpoints
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// Write into a folder that is not empty
    #[arg(long, conflicts_with = "resume")]
    pub force: bool,
    /// Continue from the checkpoint in the folder; the result is that of a run without interruption
    #[arg(long)]
    pub resume: bool,
    /// Time between checkpoints; there is also one after each epoch
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = interval, allow_negative_numbers = true)]
    pub checkpoint_interval: Duration,
    #[command(flatten)]
    pub reading: ModelArguments,
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub weights: WeightsArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let interval = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    interval.ok_or_else(|| "write a number of seconds that is not negative".to_owned())
}
