// SPDX-License-Identifier: Apache-2.0
//! The class `Program`: StableHLO programs with symbolic dimensions.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use skript::{CallCodes, Code, Compiler, DeviceChoice, Key};
use skript_python_runtime::CompiledModel;

use crate::interruptible::interruptible;
use crate::loading::loaded;
use crate::problems::exception;

/// The shapes of all arguments.
type Shapes = Vec<Vec<u64>>;

/// A StableHLO program with symbolic dimensions, as `jax.export` writes it: call it with arrays.
///
/// The first call with arrays of new shapes compiles it for these shapes and keeps the code. Arguments are positional.
#[pyclass(frozen, module = "skript")]
pub struct Program {
    name: String,
    text: String,
    threads: usize,
    compiler: Compiler,
    compiled: Mutex<CallCodes<Arc<Py<CompiledModel>>>>,
}

impl Program {
    pub fn new(name: &str, text: String, threads: usize, compiler: Compiler) -> Self {
        Program { name: name.to_owned(), text, threads, compiler, compiled: Mutex::default() }
    }

    fn compiled_for(&self, py: Python<'_>, shapes: Shapes) -> PyResult<Py<CompiledModel>> {
        let lock = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().known(&shapes, &[]) {
            return Ok(known.clone_ref(py));
        }
        let (text, compiler, wanted) = (self.text.clone(), self.compiler.clone(), shapes.clone());
        let code =
            interruptible(py, move || Code::of_stablehlo_for(&text, &compiler, |_| Some(wanted.clone())))?;
        let code = code.map_err(|e| exception(py, &e))?;
        let (threads, device) = (self.threads, DeviceChoice::Cpu);
        let model = loaded(py, &self.name, code, Vec::new(), threads, device)?;
        let model = Py::new(py, model)?;
        lock().add(Key::from_shapes(shapes), Arc::new(model.clone_ref(py)), Duration::ZERO);
        Ok(model)
    }
}

/// The shape of an array, or of the array that numpy converts another argument to.
fn shape(py: Python<'_>, argument: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Ok(shape) = argument.getattr("shape")
        && let Ok(shape) = shape.extract()
    {
        return Ok(shape);
    }
    let array = py.import("numpy")?.call_method1("asarray", (argument,))?;
    array.getattr("shape")?.extract()
}

#[pymethods]
impl Program {
    /// The name of the file.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Calls the program with an array for each argument.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if kwargs.is_some_and(|named| !named.is_empty()) {
            let text = "the arguments of a StableHLO program have no names: pass them in order";
            return Err(PyTypeError::new_err(text));
        }
        let shapes = args.iter().map(|argument| shape(py, &argument));
        let model = self.compiled_for(py, shapes.collect::<PyResult<_>>()?)?;
        model.bind(py).call1(args)
    }

    /// Compiles the program for the shapes of its arguments.
    #[pyo3(signature = (*shapes))]
    fn compile(&self, py: Python<'_>, shapes: &Bound<'_, PyTuple>) -> PyResult<Py<CompiledModel>> {
        self.compiled_for(py, shapes.extract::<Shapes>()?)
    }

    fn __repr__(&self) -> String {
        format!("<skript.Program {:?}, with symbolic dimensions>", self.name)
    }
}
