// SPDX-License-Identifier: Apache-2.0
//! Pickles of models, which contain the call that created the model. Reading a pickle repeats the call.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::sources::Source;

/// A call of `load` or `from_text`.
pub struct Call {
    function: &'static str,
    argument: Py<PyAny>,
    options: Py<PyDict>,
    /// The file that the call reads.
    file: Option<PathBuf>,
}

impl Call {
    /// A call of `load`. Its path is made absolute.
    ///
    /// # Errors
    /// An exception of the interpreter.
    pub fn of_load(py: Python<'_>, source: &Source, options: Bound<'_, PyDict>) -> PyResult<Call> {
        let (argument, file) = match source {
            Source::Bytes(bytes) => (PyBytes::new(py, bytes).into_any().unbind(), None),
            Source::File(path) => {
                let path = absolute(path);
                let argument = path.clone().into_pyobject(py)?.into_any().unbind();
                (argument, Some(path))
            }
        };
        Ok(Call { function: "load", argument, options: options.unbind(), file })
    }

    /// A call of `from_text`.
    ///
    /// # Errors
    /// An exception of the interpreter.
    pub fn of_text(py: Python<'_>, text: &str, options: Bound<'_, PyDict>) -> PyResult<Call> {
        Ok(Call {
            function: "from_text",
            argument: text.into_pyobject(py)?.into_any().unbind(),
            options: options.unbind(),
            file: None,
        })
    }

    /// The function with its options, and its argument.
    ///
    /// # Errors
    /// TypeError if the file no longer exists.
    pub fn reduced<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        if let Some(file) = self.file.as_ref().filter(|file| !file.exists()) {
            return Err(PyTypeError::new_err(format!(
                "the model cannot be pickled, because {} no longer exists: pickle the result of its `compile`",
                file.display()
            )));
        }
        let function = py.import("skript._skript")?.getattr(self.function)?;
        let partial = py.import("functools")?.getattr("partial")?;
        let function = partial.call((function,), Some(self.options.bind(py)))?;
        Ok((function, (self.argument.bind(py).clone(),)))
    }

    pub fn clone_ref(&self, py: Python<'_>) -> Call {
        Call {
            function: self.function,
            argument: self.argument.clone_ref(py),
            options: self.options.clone_ref(py),
            file: self.file.clone(),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The option `weights` for pickles: paths are made absolute.
pub fn weights<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_path =
        !given.is_instance_of::<PyDict>() && !given.extract::<String>().is_ok_and(|text| text == "random");
    match given.extract::<PathBuf>() {
        Ok(path) if is_path => Ok(absolute(&path).into_pyobject(given.py())?.into_any()),
        _ => Ok(given.clone()),
    }
}
