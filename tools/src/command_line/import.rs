// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript import`.

use super::{InputShape, MessageFormat, input_shape_argument};
use crate::onnx_model::ImportOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// ONNX model
    pub model: PathBuf,
    /// Folder to write; the default is the name of the model without its extension
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long)]
    pub force: bool,
    /// Shape of an input with dynamic dimensions, which become static: `x=1,3,224,224`; -1 or ? for one that stays dynamic
    #[arg(long = "input-shape", value_name = "NAME=SHAPE", value_parser = input_shape_argument)]
    pub input_shapes: Vec<InputShape>,
    /// Make blocks of the graph that repeat operators of the document
    #[arg(long)]
    pub structure: bool,
    /// Files of the weights
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = WeightsFormat::Safetensors)]
    pub weights_format: WeightsFormat,
    #[command(flatten)]
    pub options: ImportOptions,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

/// The files of a model folder that hold its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsFormat {
    /// One file, main.safetensors
    Safetensors,
    /// One .dat file for each array
    Dat,
}
