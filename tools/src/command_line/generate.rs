// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript generate` and `skript chat`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skript::Activations;
use skript_generate::{GenerationOptions, Sampling};

use super::ThreadArguments;
use super::values::MessageFormat;

#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// GGUF file with a language model and its tokenizer
    pub model: PathBuf,
    /// Text to continue; `-` reads it from stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: String,
    #[command(flatten)]
    pub language: LanguageArguments,
}

#[derive(Debug, Args)]
pub struct ChatArguments {
    /// GGUF file with a language model, its tokenizer and its chat template
    pub model: PathBuf,
    /// Instructions at the beginning of the conversation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub system: Option<String>,
    #[command(flatten)]
    pub language: LanguageArguments,
}

/// Options of the commands that generate text.
#[derive(Debug, Args)]
pub struct LanguageArguments {
    /// Divisor of the logits; 0 selects the most probable token
    #[arg(long, value_name = "X", default_value_t = Sampling::default().temperature, allow_negative_numbers = true)]
    temperature: f64,
    /// Consider only the N most probable tokens; 0 considers all
    #[arg(long, value_name = "N", default_value_t = Sampling::default().top_k, allow_negative_numbers = true)]
    top_k: usize,
    /// Consider only the most probable tokens whose probabilities add up to X
    #[arg(long, value_name = "X", default_value_t = Sampling::default().top_p, allow_negative_numbers = true)]
    top_p: f64,
    /// Consider only tokens that are at least X times as probable as the most probable one
    #[arg(long, value_name = "X", default_value_t = Sampling::default().min_p, allow_negative_numbers = true)]
    min_p: f64,
    /// Make the last 64 tokens less probable: the divisor of their positive logits, and the factor of negative ones
    #[arg(long, value_name = "X", default_value_t = Sampling::default().repetition_penalty, allow_negative_numbers = true)]
    repetition_penalty: f64,
    /// Seed of the random selection; equal seeds result in equal texts
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Maximum number of tokens of a text or of an answer; by default, until the context is full
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    max_tokens: Option<usize>,
    /// Text that ends the output, and is not printed; repeatable
    #[arg(long = "stop", value_name = "TEXT", allow_hyphen_values = true)]
    stops: Vec<String>,
    /// Maximum number of tokens of the whole text; the default is that of the model, at most 2048
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub context: Option<u64>,
    /// Type of the values that low-bit matrices multiply: int8 is faster and less exact (docs/numerics.md)
    #[arg(long, value_enum, value_name = "TYPE", default_value_t = ActivationType::Real)]
    pub activations: ActivationType,
    #[command(flatten)]
    pub threads: ThreadArguments,
    /// Print each prompt and the numbers of its tokens on stderr
    #[arg(short, long)]
    pub verbose: bool,
    /// Do not print speed and memory at the end
    #[arg(short, long)]
    pub quiet: bool,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

/// The values that low-bit matrices of a language model multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ActivationType {
    /// 32-bit floats
    Real,
    /// 8-bit integers with a scale for each block of 8
    Int8,
}

impl From<ActivationType> for Activations {
    fn from(activations: ActivationType) -> Self {
        match activations {
            ActivationType::Real => Activations::Real,
            ActivationType::Int8 => Activations::Int8,
        }
    }
}

impl LanguageArguments {
    pub fn options(&self) -> GenerationOptions {
        GenerationOptions {
            sampling: Sampling {
                temperature: self.temperature,
                top_k: self.top_k,
                top_p: self.top_p,
                min_p: self.min_p,
                repetition_penalty: self.repetition_penalty,
                seed: self.seed,
            },
            max_tokens: self.max_tokens,
            stops: self.stops.clone(),
        }
    }
}
