// SPDX-License-Identifier: Apache-2.0
//! The sources of `load`: a path, or an ONNX model in memory.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use skript_host::format::is_onnx;
use skript_python_runtime::options::shown;

/// The name of an ONNX model in memory, in messages.
pub const IN_MEMORY: &str = "ONNX model";

/// A model that `load` reads.
pub enum Source {
    File(PathBuf),
    /// The bytes of an ONNX model.
    Bytes(Vec<u8>),
}

impl Source {
    /// # Errors
    /// TypeError for another object, ValueError for bytes that are not an ONNX model.
    pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Source> {
        let py = value.py();
        if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            return onnx(value.extract()?);
        }
        if let Ok(path) = value.extract() {
            return Ok(Source::File(path));
        }
        if value.hasattr(intern!(py, "SerializeToString"))? {
            let bytes = value.call_method0(intern!(py, "SerializeToString"))?;
            return onnx(bytes.extract()?);
        }
        let is_module = value.hasattr(intern!(py, "state_dict"))?;
        let remedy = if is_module { "; skript.from_torch converts a torch.nn.Module" } else { "" };
        Err(PyTypeError::new_err(format!(
            "skript.load reads a path, the bytes of an ONNX model, or an onnx.ModelProto, not {}{remedy}",
            shown(value)
        )))
    }
}

fn onnx(bytes: Vec<u8>) -> PyResult<Source> {
    if is_onnx(&bytes) {
        return Ok(Source::Bytes(bytes));
    }
    Err(PyValueError::new_err(format!(
        "the {} bytes are not an ONNX model; other models are read from files, by their paths",
        bytes.len()
    )))
}
