// SPDX-License-Identifier: Apache-2.0
//! Pickles of compiled models.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use skript_runtime::Artifact;

use crate::CompiledModel;
use crate::{choice, errors};

/// The result of `__reduce__`: a function and its arguments.
pub type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

static RESTORE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Adds the function that restores compiled models. Pickles refer to this function by module and name.
///
/// # Errors
/// An exception of the interpreter.
pub fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let function = wrap_pyfunction!(_restored, module)?;
    module.add_function(function.clone())?;
    RESTORE.get_or_init(py, || function.into_any().unbind());
    Ok(())
}

/// The restoring function of this module.
///
/// # Errors
/// RuntimeError before [`install`].
pub fn restore(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let function = RESTORE.get(py).map(|function| function.bind(py).clone());
    function.ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("the module is not initialized"))
}

/// A compiled model from its pickle, which contains native code.
#[pyfunction]
fn _restored(
    py: Python<'_>,
    code: &[u8],
    name: &str,
    threads: usize,
    device: &str,
    values: &Bound<'_, PyDict>,
) -> PyResult<CompiledModel> {
    let artifact = Artifact::from_bytes(code).map_err(|e| errors::plain(py, e.to_string()))?;
    let model = CompiledModel::new(py, name, artifact, Vec::new(), threads, choice(device)?)?;
    model.set_values(py, values)?;
    Ok(model)
}
