// SPDX-License-Identifier: Apache-2.0
//! Generates text with language models in GGUF files.
//!
//! A [`LanguageModel`] is the compiled model of a file, with its [`Tokenizer`], its [`ChatTemplate`] and a cache of keys and values.
//! A [`Generation`] computes a text token by token:
//!
//! ```no_run
//! use skript::{Activations, Compiler, Target};
//! use skript_generate::{Generation, GenerationOptions, LanguageModel};
//!
//! let compiler = Compiler::new(&Target::host()).for_this_executable(true);
//! let mut model = LanguageModel::open("model.gguf".as_ref(), None, Activations::default(), compiler)?;
//! let prompt = model.tokenizer().encode_prompt("Once upon a time")?;
//! let mut generation = Generation::new(&model, &prompt, &GenerationOptions::default())?;
//! while let Some(text) = generation.advance(&mut model)? {
//!     print!("{text}");
//! }
//! # Ok::<(), skript_generate::Error>(())
//! ```
#![warn(missing_docs)]
mod cache;
mod chat;
mod error;
mod generation;
mod metadata;
mod model;
mod pieces;
mod sampler;
mod splits;
mod template;
mod text;
mod tokenizer;
mod vocabulary;

pub use chat::Chat;
pub use error::Error;
pub use generation::{Ending, Generation, GenerationOptions, Statistics};
pub use model::LanguageModel;
pub use sampler::{Sampler, Sampling};
pub use template::{ChatTemplate, Message};
pub use text::TextStream;
pub use tokenizer::Tokenizer;
pub use vocabulary::Vocabulary;
