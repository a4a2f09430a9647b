// SPDX-License-Identifier: Apache-2.0
//! The arguments of the commands that compile a model and call it.

use super::stop::StopArguments;
use super::values::{InputArgument, Pipeline, WeightsArgument, input_argument, weights_argument};
use super::{ModelArguments, ThreadArguments};
use crate::target_arguments::TargetArguments;
use clap::Args;
use skript::Compiler;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct WeightsArguments {
    /// A file with weights (.safetensors, .npz, .gguf, .tgz), or the values of missing weights: zero or random:SEED
    #[arg(long, value_name = "FILE|zero|random:SEED", value_parser = weights_argument)]
    pub weights: Option<WeightsArgument>,
    /// Folder of the weights, or a file as for --weights; the default is the model's folder
    #[arg(long, value_name = "DIR|FILE")]
    pub variables: Option<PathBuf>,
}

/// The arguments of `skript compare`, `skript bench` and `skript tune`.
#[derive(Debug, Args)]
pub struct CallArguments {
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
    #[command(flatten)]
    pub weights: WeightsArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub stop: StopArguments,
}

impl CallArguments {
    /// The compiler for the target.
    pub fn compiler(&self) -> Compiler {
        self.target.compiler(self.pipeline, &self.reading)
    }
}
