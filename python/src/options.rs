// SPDX-License-Identifier: Apache-2.0
//! The options of `load`, `from_text` and `compile`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use skript_python_runtime::options;

options! {
    graph: Option<String> = "the name of a graph";
    name: String = "the name of the text, a str";
    attributes: Option<Py<PyDict>> = "a dict of values by the names of attributes, such as {'depth': 3}";
    shapes: Option<Py<PyDict>> = "a dict of shapes by the names of inputs, such as {'x': (1, 3, 224, 224)}";
    bounds: Option<Py<PyDict>> = "a dict of upper bounds by the names of dynamic dimensions, such as {'batch': 8}";
    constants: Option<Py<PyDict>> = "a dict of arrays by the names of inputs, such as {'shape': [2, 3]}";
    structure: bool = "True or False";
    trainable: bool = "True or False";
    real: Option<String> = "'f16', 'bf16', 'f32' or 'f64'";
    int: Option<String> = "'i8', 'i16', 'i32' or 'i64'";
    given: Vec<String> = "a list of names of inputs";
    absent: Vec<String> = "a list of names of inputs";
    wrt: Vec<String> = "a list of names of inputs and variables";
    of: Option<Outputs> = "the name of an output, or a list of names";
    forward: bool = "True or False";
    optimizer: String = "an operator with attributes, such as 'optim.adam{rate=1e-3}'";
    schedule: Option<String> = "an operator with attributes, such as 'optim.cosine{steps=1000}'";
    clip_norm: Option<f64> = "the largest norm of all gradients, a positive number";
    clip_value: Option<f64> = "the largest magnitude of an element of a gradient, a positive number";
    quantize: Option<String> = "'simulate' or 'integer'";
    cache: bool = "True or False";
    specialize: bool = "True or False";
    target: String = "'host', or the name of a processor";
    features: String = "features of the processor, such as '+avx512bf16,-avx512vl'";
    fast_math: String = "'none', 'default' or 'winograd'";
    precision: String = "'f32', 'tf32', 'f16' or 'bf16'";
}

/// The names of outputs.
#[derive(FromPyObject)]
pub enum Outputs {
    /// A single one.
    One(String),
    /// Several outputs.
    Several(Vec<String>),
}

impl Outputs {
    /// The names of an option, which may be missing.
    pub fn names(given: Option<&Self>) -> Vec<&str> {
        match given {
            None => Vec::new(),
            Some(Outputs::One(name)) => vec![name],
            Some(Outputs::Several(names)) => names.iter().map(String::as_str).collect(),
        }
    }
}

/// The option `cache` of a function with a different default.
///
/// # Errors
/// The errors of [`cache`].
pub fn other_cache(value: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    options::converted(value, "cache", "True or False")
}
