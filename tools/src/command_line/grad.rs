// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript grad`.

use super::{ModelArguments, WeightsFormat};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct GradArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or an ONNX model
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Output to differentiate; the default is the only one. If it is not a scalar, an input NAME_grad scales the gradients
    #[arg(long, value_name = "OUTPUT")]
    pub of: Option<String>,
    /// Inputs and variables to differentiate by; `variables` means all variables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    pub wrt: Vec<String>,
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
