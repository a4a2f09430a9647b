// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript import`.

use super::generate::ActivationType;
use super::values::{InputShape, MessageFormat, input_shape_argument};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// ONNX model, or a language model in a GGUF file
    pub model: PathBuf,
    /// Folder to write; the default is the name of the model without its extension
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long)]
    pub force: bool,
    /// Copy a GGUF file into the folder; by default its main.gguf is a hard link
    #[arg(long)]
    pub copy: bool,
    /// Keep keys and values of a language model in variables: a call passes new tokens and the number of earlier ones
    #[arg(long)]
    pub cached: bool,
    /// Maximum number of tokens of a language model; the default is that of the model, at most 2048
    #[arg(long, value_name = "N")]
    pub context: Option<u64>,
    /// Type of the values that low-bit matrices of a language model multiply (docs/numerics.md)
    #[arg(long, value_enum, value_name = "TYPE", default_value_t = ActivationType::Real)]
    pub activations: ActivationType,
    /// Shape of an input with dynamic dimensions, which become static: `x=1,3,224,224`; -1 or ? leaves one dynamic
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

/// Options of an import, for every command that reads an ONNX model.
#[derive(Clone, Debug, Default, Args)]
pub struct ImportOptions {
    /// Upper bound of a dynamic dimension of an ONNX model; the default is 1024
    #[arg(long = "bound", value_name = "NAME=N", value_parser = bound)]
    pub bounds: Vec<(String, u64)>,
    /// An input of an ONNX model that becomes a constant, such as a shape
    #[arg(long = "constant", value_name = "NAME=FILE.npy", value_parser = constant)]
    pub constants: Vec<(String, PathBuf)>,
    /// Keep all real weights of an ONNX model as variables, as training needs; otherwise those of equal elements become constants, and
    /// operations on weights alone are computed by the import
    #[arg(long)]
    pub trainable: bool,
}

fn bound(text: &str) -> Result<(String, u64), String> {
    let wrong = || "write NAME=N".to_owned();
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    match number.parse() {
        Ok(0) => Err("an upper bound is at least 1".to_owned()),
        Ok(number) if !name.is_empty() => Ok((name.to_owned(), number)),
        _ => Err(wrong()),
    }
}

fn constant(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("write NAME=FILE.npy".to_owned()),
    }
}
