// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript quantize`.

use super::{ModelArguments, ThreadArguments, WeightsArguments};
use crate::target_arguments::TargetArguments;
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct QuantizeArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or an ONNX model
    pub model: PathBuf,
    /// Calibration data: a .npz file with an array for each input, whose first axis is that of the samples, or a folder with such
    /// files or with NAME.npy for each input
    #[arg(long, required = true, value_name = "FILE.npz|DIR")]
    pub data: Vec<PathBuf>,
    /// Folder to write: the model with @quantize, and its weights
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// Write into a folder that is not empty
    #[arg(long)]
    pub force: bool,
    /// How the ranges of tensors that depend on inputs are selected; those of weights are their minima and maxima
    #[arg(long, value_enum, default_value_t = MethodName::MinMax)]
    pub method: MethodName,
    /// With --method=percentile: the percentage of elements below the upper limit; the lower limit is the percentile of 100 - P [default: 99.99]
    #[arg(long, value_name = "P", value_parser = percentile)]
    pub percentile: Option<f64>,
    /// Whether each output channel of weights has its own scale
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub per_channel: bool,
    /// Number of bits of the integers
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=8))]
    pub bits: u32,
    /// Use 0 as the zero point of all tensors; otherwise only of weights
    #[arg(long)]
    pub symmetric: bool,
    /// Fraction of the samples, the last ones, that measure the accuracy and do not calibrate
    #[arg(long, default_value_t = 0.2, value_name = "FRACTION", value_parser = fraction)]
    pub holdout: f64,
    /// Warn of quantized tensors and outputs with a lower signal-to-noise ratio
    #[arg(long, default_value_t = 20.0, value_name = "DB", value_parser = decibels, allow_negative_numbers = true)]
    pub min_snr: f64,
    #[command(flatten)]
    pub reading: ModelArguments,
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub weights: WeightsArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// Values of `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// From the smallest to the largest element
    MinMax,
    /// Without the fraction of elements that --percentile excludes on each side
    Percentile,
    /// The range whose quantized distribution has the least Kullback-Leibler divergence from that of the elements
    Entropy,
}

fn percentile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 50.0 && value <= 100.0 => Ok(value),
        _ => Err("a percentile is a number above 50, and at most 100".to_owned()),
    }
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("a fraction is a number from 0 to 1, without 1".to_owned()),
    }
}

fn decibels(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a signal-to-noise ratio is a finite number of decibels".to_owned()),
    }
}
