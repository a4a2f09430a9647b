// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript grad`.

use super::{ModelArguments, WeightsFormat};
use clap::Args;
use skript::Training;
use std::path::PathBuf;

/// How the rate and the gradients of an optimizer are limited.
#[derive(Clone, Debug, Args)]
pub struct StepArguments {
    /// Operator that computes a factor of the optimizer's rate in each step, such as 'optim.cosine{steps=1000}'
    #[arg(long, value_name = "SCHEDULE")]
    pub schedule: Option<String>,
    /// Largest norm of all gradients together
    #[arg(long, value_name = "NORM", value_parser = limit, allow_negative_numbers = true)]
    pub clip_norm: Option<f64>,
    /// Largest magnitude of the elements of the gradients
    #[arg(long, value_name = "LIMIT", value_parser = limit, allow_negative_numbers = true)]
    pub clip_value: Option<f64>,
}

impl StepArguments {
    /// The training with an optimizer.
    pub fn training(&self, optimizer: &str) -> Training {
        let StepArguments { schedule, clip_norm, clip_value } = self.clone();
        Training { optimizer: optimizer.to_owned(), schedule, clip_norm, clip_value }
    }

    /// The first flag that is given.
    pub fn first(&self) -> Option<&'static str> {
        let flags = [
            ("--schedule", self.schedule.is_some()),
            ("--clip-norm", self.clip_norm.is_some()),
            ("--clip-value", self.clip_value.is_some()),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

fn limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a limit of gradients is a positive number".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct GradArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or an ONNX model
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Output to differentiate; the default is the only one. If it is not a scalar, an input NAME_grad scales the gradients. With
    /// --forward, several outputs; the default is all real ones
    #[arg(long, value_name = "OUTPUT,…", value_delimiter = ',')]
    pub of: Vec<String>,
    /// Inputs and variables to differentiate by; `variables` means all variables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required_unless_present = "train")]
    pub wrt: Vec<String>,
    /// Write a model that computes tangents: an output NAME_tangent for each output, the product of its Jacobian and the tangents, which
    /// are inputs NAME_tangent for the names of --wrt
    #[arg(long, conflicts_with = "train")]
    pub forward: bool,
    /// Write a model that does a step of training in each run: `@update` assigns the variables of --wrt (the default is all of
    /// them) the results of this operator, such as 'optim.adam{rate=1e-3}'
    #[arg(long, value_name = "OPTIMIZER")]
    pub train: Option<String>,
    #[command(flatten)]
    pub steps: StepArguments,
    /// Folder to write; by default the document is printed
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long)]
    pub force: bool,
    /// Files of the weights
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = WeightsFormat::Safetensors)]
    pub weights_format: WeightsFormat,
}
