// SPDX-License-Identifier: Apache-2.0
//! Language models in GGUF files.
//!
//! [`convert_gguf`] reads the hyperparameters and the table of tensors ([`model`]), and writes the document ([`text`]). The
//! weights remain in the file: variables of the document have the names of its tensors, and formulas of the library convert
//! their bytes.

mod architecture;
mod attention;
mod experts;
mod model;
mod parameters;
mod text;

use std::path::Path;

use skript_tensor::Gguf;

use crate::imported::{ImportError, Imported};
use crate::refusal::{Reason, Refusal};

/// How a language model is imported.
#[derive(Clone, Copy, Debug, Default)]
pub struct GgufOptions {
    /// The maximum number of tokens; `None` for that of the model, at most 2048.
    pub context: Option<u64>,
    /// Where keys and values of earlier calls are.
    pub cache: GgufCache,
    /// The values that matrices in blocks multiply.
    pub activations: Activations,
}

/// The values that the matrices of a language model multiply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activations {
    /// Reals.
    #[default]
    Real,
    /// Reals that are rounded to 8-bit integers with a scale for each block of 8.
    Int8,
}

/// Where a language model has the keys and values of earlier calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GgufCache {
    /// Nowhere: each call passes the whole text.
    #[default]
    None,
    /// In variables, which each call updates.
    Variables,
    /// In arrays of the caller: inputs have those of earlier tokens, and outputs those of new tokens. Logits are computed for
    /// one of the new tokens only.
    Arrays,
}

/// Reads a file and writes its language model as SkriptND. The weights of the document are those of the file.
///
/// # Errors
/// [`ImportError`] if the file cannot be read, or has a model that is not supported.
pub fn convert_gguf(path: &Path, options: GgufOptions) -> Result<Imported, ImportError> {
    let file = Gguf::open(path)?;
    let refused = |Reason(reason): Reason| ImportError::Refused {
        path: path.to_path_buf(),
        refusals: vec![Refusal { node: String::new(), operator: String::new(), reason }],
        deciding: Vec::new(),
    };
    let model = model::read(&file, options).map_err(refused)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Imported {
        main: text::document(&model, &name),
        onnx: None,
        json: text::json(&model),
        weights: text::caches(&model)?,
        notes: Vec::new(),
        warnings: Vec::new(),
        selecting: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
