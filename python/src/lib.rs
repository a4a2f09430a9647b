// SPDX-License-Identifier: Apache-2.0
//! The compiler in Python: models from files and text, compiled and called with numpy arrays.
//!
//! The extension module of the package `skript`. Compiled models are executed by `skript-python-runtime`, which links
//! neither MLIR nor LLVM.
mod choices;
mod gradient;
mod interruptible;
mod language;
mod loading;
mod model;
mod operators;
mod options;
mod pickles;
mod problems;
mod sources;

mod program;
mod shaped;

use pyo3::prelude::*;
use skript_python_runtime::{errors, install};

/// The extension module of the package skript.
#[pymodule]
fn _skript(module: &Bound<'_, PyModule>) -> PyResult<()> {
    install(module)?;
    errors::install(module, c"skript.Error")?;
    module.add_class::<model::Model>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<operators::Operator>()?;
    module.add_class::<language::LanguageModel>()?;
    module.add_class::<language::Generation>()?;
    module.add_function(wrap_pyfunction!(loading::load, module)?)?;
    module.add_function(wrap_pyfunction!(loading::from_text, module)?)?;
    module.add_function(wrap_pyfunction!(gradient::grad, module)?)?;
    module.add_function(wrap_pyfunction!(gradient::training_step, module)?)?;
    module.add_function(wrap_pyfunction!(operators::operators, module)?)
}
