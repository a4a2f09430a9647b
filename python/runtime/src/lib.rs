// SPDX-License-Identifier: Apache-2.0
//! Compiled models in Python: numpy arrays as inputs and outputs, errors as exceptions. Calls release the GIL.
//!
//! The extension module of the package `skript-runtime`, which links neither MLIR nor LLVM. The extension module of the
//! package `skript` has the same classes.
// Doc comments of functions are Python docstrings, with `Raises` in place of `# Errors`.
#![allow(clippy::missing_errors_doc)]
mod arguments;
pub mod arrays;
mod compiled;
mod device;
mod dlpack;
pub mod errors;
mod limited;
pub mod options;
mod pickles;
mod ports;
mod results;

use std::path::PathBuf;

use numpy::PyUntypedArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skript_runtime::Artifact;
use skript_runtime::device::DeviceChoice;

pub use arguments::Inputs;
pub use compiled::{CompiledModel, named_as_compiled};
pub use pickles::Reduced;
pub use ports::{Group, Port, groups};
pub use results::Outputs;

/// Loads a compiled model (.skm) with its weights, which `CompiledModel.save` or `skript compile --embed-weights` wrote.
///
/// The file contains native code: load only files that you would execute as a program. It must not be written to while the
/// model is in use.
///
/// Parameters
/// ----------
/// path
///     the file
/// threads
///     the number of threads of a call; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS
/// device
///     the GPU of a model that was compiled for a GPU: 'cuda', 'vulkan', 'cuda:1' for the second one; 'auto' is the first suitable one
///
/// Raises
/// ------
/// FileNotFoundError
///     the path does not exist
/// Error
///     the file is not a compiled model, has no weights, or does not run on this machine
/// ValueError
///     an unknown device
#[pyfunction]
#[pyo3(signature = (path, /, *, threads = 0, device = "auto".to_owned()))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    #[pyo3(from_py_with = options::threads)] threads: usize,
    #[pyo3(from_py_with = options::device)] device: String,
) -> PyResult<CompiledModel> {
    let device = choice(&device)?;
    let artifact = py.detach(|| Artifact::open(&path));
    let artifact = artifact.map_err(|e| errors::artifact(py, &path, &e))?;
    if artifact.embedded.is_none() && !artifact.variables.is_empty() {
        let text = format!(
            "{} has no weights: write it with `CompiledModel.save` or `skript compile --embed-weights`",
            path.display()
        );
        return Err(errors::plain(py, text));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    CompiledModel::new(py, &name, artifact, Vec::new(), threads, device)
}

/// Parses the name of a device.
///
/// # Errors
/// ValueError for an unknown name.
pub fn choice(name: &str) -> PyResult<DeviceChoice> {
    name.parse().map_err(|known| PyValueError::new_err(format!("device is {name:?}: {known}")))
}

/// Adds the classes that both packages share.
///
/// # Errors
/// An exception of the interpreter.
pub fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The first use resolves the numpy interface, which a signal must not interrupt.
    arrays::numpy(module.py())?;
    module.py().get_type::<PyUntypedArray>();
    module.add_class::<CompiledModel>()?;
    module.add_class::<device::PyDeviceArray>()?;
    module.add_class::<Port>()?;
    module.add_class::<errors::Diagnostic>()?;
    pickles::install(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

/// The extension module of the package skript-runtime.
#[pymodule]
fn _runtime(module: &Bound<'_, PyModule>) -> PyResult<()> {
    install(module)?;
    errors::install(module, c"skript_runtime.Error")?;
    module.add_function(wrap_pyfunction!(load, module)?)
}
