// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript view`.

use super::ModelArguments;
use super::stop::StopArguments;
use super::values::{WeightsArgument, weights_argument};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ViewArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or an ONNX model
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// File to write: a page (.html), or a graph for Graphviz (.dot); `-` is stdout. The default is the name of the model
    /// with .html
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a graph for Graphviz; the default for -o is stdout
    #[arg(long)]
    pub dot: bool,
    /// Colour the boxes by the times in a file of `skript run --profile=FILE.json` or `skript bench --profile=FILE.json`
    #[arg(long, value_name = "FILE.json", conflicts_with = "dot")]
    pub profile: Option<PathBuf>,
    /// A file with weights (.safetensors, .npz, .gguf, .tgz), or the values of missing weights: zero or random:SEED
    #[arg(long, value_name = "FILE|zero|random:SEED", value_parser = weights_argument, conflicts_with = "dot")]
    pub weights: Option<WeightsArgument>,
    /// Do not read weights: the page has no histograms
    #[arg(long, conflicts_with = "weights")]
    pub no_weights: bool,
    #[command(flatten)]
    pub stop: StopArguments,
}
