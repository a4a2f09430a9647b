// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript tune`.

use super::values::{InputArgument, Pipeline, WeightsArgument, input_argument, weights_argument};
use super::{ModelArguments, ThreadArguments};
use crate::target_arguments::TargetArguments;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TuneArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, or a single file
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Lowering of formulas
    #[arg(long, value_enum, default_value_t = Pipeline::Linalg)]
    pub pipeline: Pipeline,
    #[command(flatten)]
    pub target: TargetArguments,
    /// An input, as for `run`; the default of an input is random:1
    #[arg(long = "input", value_name = "NAME=FILE.npy", value_parser = input_argument)]
    pub inputs: Vec<InputArgument>,
    /// A file with weights (.safetensors, .npz, .tgz), or the values of missing weights: zero or random:SEED
    #[arg(long, value_name = "FILE|zero|random:SEED", value_parser = weights_argument)]
    pub weights: Option<WeightsArgument>,
    /// Folder of the weights, or a file as for --weights; the default is the model's folder
    #[arg(long, value_name = "DIR|FILE")]
    pub variables: Option<PathBuf>,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Timed calls with each plan, in turn with as many with the plans that the cost model selects
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
