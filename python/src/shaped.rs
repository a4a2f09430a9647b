// SPDX-License-Identifier: Apache-2.0
//! Calls of imported models with code that is specialized to shapes, or to values that decide shapes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use skript::{CallCodes, CallModel, ComposeOptions, Document, Key, Selection, Tensor, Weights};
use skript_python_runtime::{CompiledModel, Inputs, Port, arrays, groups};
use skript_runtime::artifact;

use crate::interruptible::interruptible;
use crate::model::Model;
use crate::problems::exception;

/// The code of an imported model, by the shapes of its calls.
pub struct ShapedCalls {
    document: Arc<Document>,
    options: ComposeOptions,
    /// Weights that replace the weights of the document.
    weights: Option<Weights>,
    inputs: Vec<artifact::Port>,
    outputs: Vec<artifact::Port>,
    codes: Mutex<CallCodes<Arc<Selected>>>,
}

/// The code that serves a call.
pub struct Selected {
    pub code: Py<CompiledModel>,
    /// Whether it supports other shapes, too.
    is_dynamic: bool,
    /// The inputs whose values became constants when the code was specialized; they are not passed to the code.
    constants: Vec<String>,
}

impl Selected {
    fn call<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let code = self.code.bind(py);
        match self.arguments(model.call_inputs(), args, kwargs)? {
            Some(others) => code.call((), Some(&others)),
            None => code.call(args, kwargs),
        }
    }

    /// The arguments of the code by name; `None` if they are the arguments of the call.
    ///
    /// # Errors
    /// TypeError for unknown, missing and repeated inputs.
    pub fn arguments<'py>(
        &self,
        inputs: Inputs<'_>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.constants.is_empty() {
            return Ok(None);
        }
        let passed = PyDict::new(args.py());
        inputs.converted(args, kwargs, |_, value, port| {
            let name = imported_name(port);
            if self.constants.iter().any(|constant| constant == name) {
                Ok(())
            } else {
                passed.set_item(name, value)
            }
        })?;
        Ok(Some(passed))
    }
}

/// Whether a check of the code refused a call.
fn is_refused(py: Python<'_>, error: &PyErr) -> bool {
    let code = error.value(py).getattr("code");
    let code = code.and_then(|code| code.extract::<String>());
    code.is_ok_and(|code| code.starts_with("SK92"))
}

impl ShapedCalls {
    /// The calls of a document; `None` unless it is imported and has dynamic dimensions or values that decide shapes.
    pub fn new(document: Document, options: ComposeOptions, weights: Option<Weights>) -> Option<ShapedCalls> {
        Some(ShapedCalls {
            inputs: document.declared_inputs()?,
            outputs: document.declared_outputs()?,
            document: Arc::new(document),
            options,
            weights,
            codes: Mutex::default(),
        })
    }

    /// Returns a copy without the code, which the copy compiles separately.
    pub fn copied(&self) -> ShapedCalls {
        ShapedCalls {
            document: Arc::clone(&self.document),
            options: self.options.clone(),
            weights: self.weights.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            codes: Mutex::default(),
        }
    }

    /// The inputs as Python objects, with the names of dynamic dimensions.
    pub fn shown_inputs(&self) -> Vec<Port> {
        shown(&self.inputs, self.document.declared_dimensions())
    }

    /// The outputs as Python objects, with the names of dynamic dimensions.
    pub fn shown_outputs(&self) -> Vec<Port> {
        shown(&self.outputs, None)
    }

    /// The inputs that the model declares.
    pub fn inputs(&self) -> &[artifact::Port] {
        &self.inputs
    }

    /// The outputs that the model declares.
    pub fn outputs(&self) -> &[artifact::Port] {
        &self.outputs
    }

    /// Returns the code for the arrays of a call, and compiles it if needed.
    ///
    /// # Errors
    /// TypeError and ValueError for unsuitable arguments, and the exception for code that cannot be compiled.
    pub fn select(
        &self,
        py: Python<'_>,
        model: &Model,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Arc<Selected>> {
        self.select_for(py, model, &self.arrays(py, model, args, kwargs)?)
    }

    fn select_for(&self, py: Python<'_>, model: &Model, arrays: &[Tensor]) -> PyResult<Arc<Selected>> {
        let selection = self.locked().select(arrays);
        match selection {
            Selection::Known(code) => Ok(code),
            Selection::Specialize => self.specialize(py, model, arrays),
            Selection::Replace(dynamic) => match self.specialize(py, model, arrays) {
                Err(error) if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => {
                    self.locked().forbid_replacement();
                    Ok(dynamic)
                }
                specialized => specialized,
            },
            Selection::Bound(bounds) => match self.within(py, model, &bounds)? {
                Some(code) => Ok(code),
                None => {
                    self.locked().forbid_dynamic();
                    self.specialize(py, model, arrays)
                }
            },
        }
    }

    /// Executes a call. Code with dynamic dimensions requires equal extents where code for the shapes of the call may broadcast an extent
    /// of 1, so a call that it refuses is executed by specialized code.
    ///
    /// # Errors
    /// The errors of [`ShapedCalls::select`] and of the call.
    pub fn call<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.arrays(py, model, args, kwargs)?;
        let selected = self.select_for(py, model, &arrays)?;
        let start = Instant::now();
        let called = selected.call(py, model, args, kwargs);
        self.locked().record(&arrays, selected.is_dynamic, start.elapsed());
        match called {
            Err(error) if selected.is_dynamic && is_refused(py, &error) => {
                self.specialize(py, model, &arrays)?.call(py, model, args, kwargs)
            }
            called => called,
        }
    }

    /// Composes the model for the arrays of a call, in the order of the inputs.
    ///
    /// # Errors
    /// The exception for a model that cannot be composed for these arrays.
    pub fn composed(&self, py: Python<'_>, arrays: &[Tensor]) -> PyResult<CallModel> {
        let names = self.inputs.iter().map(imported_name);
        let named = names.map(str::to_owned).zip(arrays.iter().cloned());
        let named: Vec<(String, Tensor)> = named.collect();
        let (document, options) = (Arc::clone(&self.document), self.options.clone());
        let composed = interruptible(py, move || document.compose_for(&options, &named))?;
        let composed = composed.ok_or_else(|| no_import(py))?;
        composed.map_err(|e| exception(py, &e))
    }

    /// Composes the model for these shapes of inputs, by name.
    ///
    /// # Errors
    /// The exception for a model that cannot be composed for these shapes.
    pub fn with_shapes(&self, py: Python<'_>, shapes: Vec<(String, Vec<Vec<u64>>)>) -> PyResult<CallModel> {
        let shapes: Vec<(String, Vec<u64>)> = shapes
            .into_iter()
            .filter_map(|(name, shapes)| Some((name, shapes.into_iter().next()?)))
            .collect();
        let (document, options) = (Arc::clone(&self.document), self.options.clone());
        let composed = interruptible(py, move || document.compose_shaped(&options, &shapes))?;
        composed.ok_or_else(|| no_import(py))?.map_err(|e| exception(py, &e))
    }

    /// Weights that replace the weights of the document.
    pub fn weights(&self) -> Option<&Weights> {
        self.weights.as_ref()
    }

    /// The arrays of a call. Their shapes, and the values of small arrays, select the code of the call.
    ///
    /// # Errors
    /// TypeError and ValueError for unsuitable arguments.
    pub fn arrays(
        &self,
        py: Python<'_>,
        model: &Model,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        let inputs = model.call_inputs();
        inputs.converted(args, kwargs, |what, value, port| {
            let declared = self.inputs.iter().find(|input| input.name == port.name);
            match declared {
                Some(declared) if self.document.has_rank(&port.name) => {
                    arrays::tensor_of(py, what, value, declared)
                }
                _ => arrays::any_tensor(py, what, value),
            }
        })
    }

    fn specialize(&self, py: Python<'_>, model: &Model, arrays: &[Tensor]) -> PyResult<Arc<Selected>> {
        let start = Instant::now();
        let composed = self.composed(py, arrays)?;
        let positions = composed.constants.iter().filter_map(|constant| {
            let mut names = self.inputs.iter().map(imported_name);
            names.position(|name| name == constant)
        });
        let key = Key::new(arrays, &positions.collect::<Vec<_>>());
        let code = self.code(py, model, composed, false)?;
        self.locked().add(key, Arc::clone(&code), start.elapsed());
        Ok(code)
    }

    /// Compiles code for all shapes within upper bounds; `None` if it cannot be compiled.
    fn within(&self, py: Python<'_>, model: &Model, bounds: &[Vec<u64>]) -> PyResult<Option<Arc<Selected>>> {
        let names = self.inputs.iter().map(imported_name);
        let named = names.map(str::to_owned).zip(bounds.iter().cloned());
        let named: Vec<(String, Vec<u64>)> = named.collect();
        let (document, options) = (Arc::clone(&self.document), self.options.clone());
        let composed = interruptible(py, move || document.compose_within(&options, &named))?;
        let Some(Ok(composed)) = composed else {
            return Ok(None);
        };
        match self.code(py, model, composed, true) {
            Ok(code) => {
                self.locked().add_dynamic(bounds.to_vec(), Arc::clone(&code));
                Ok(Some(code))
            }
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn code(
        &self,
        py: Python<'_>,
        model: &Model,
        composed: CallModel,
        is_dynamic: bool,
    ) -> PyResult<Arc<Selected>> {
        let weights = self.weights.as_ref().unwrap_or(&composed.weights);
        let code = model.compile_for_host(py, &composed.model, weights)?;
        Ok(Arc::new(Selected { code: Py::new(py, code)?, is_dynamic, constants: composed.constants }))
    }

    fn locked(&self) -> MutexGuard<'_, CallCodes<Arc<Selected>>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the names of dimensions to ports.
fn shown(ports: &[artifact::Port], names: Option<Vec<Vec<Option<String>>>>) -> Vec<Port> {
    let padded = names.into_iter().flatten().chain(std::iter::repeat(Vec::new()));
    let pairs = groups(ports).into_iter().zip(padded);
    pairs.map(|(group, dimensions)| Port { dimensions, ..group.port }).collect()
}

/// The name of an input in the imported model.
pub fn imported_name(port: &artifact::Port) -> &str {
    port.aliases.first().unwrap_or(&port.name)
}

fn no_import(py: Python<'_>) -> PyErr {
    skript_python_runtime::errors::plain(py, "the model was not imported".to_owned())
}
