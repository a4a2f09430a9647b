// SPDX-License-Identifier: Apache-2.0
//! The options of composing a graph.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use skript::{ComposeOptions, Value};

use crate::loading::computes_integers;
use crate::model::Calls;
use crate::pickles;

/// Options of composing a graph.
pub struct Choices {
    pub graph: Option<String>,
    pub attributes: Option<Py<PyDict>>,
    pub shapes: Option<Py<PyDict>>,
    pub real: Option<String>,
    pub int: Option<String>,
    pub given: Vec<String>,
    pub absent: Vec<String>,
    pub quantize: Option<String>,
}

impl Choices {
    /// Whether no option is set.
    pub fn are_none(&self) -> bool {
        self.graph.is_none()
            && self.attributes.is_none()
            && self.shapes.is_none()
            && self.real.is_none()
            && self.int.is_none()
            && self.given.is_empty()
            && self.absent.is_empty()
            && self.quantize.is_none()
    }

    /// The options of calls.
    ///
    /// # Errors
    /// ValueError for an unknown value of `quantize`.
    pub fn calls(&self, threads: usize, cache: bool, specialize: bool) -> PyResult<Calls> {
        Ok(Calls {
            threads,
            cache,
            specialize,
            computes_integers: computes_integers(self.quantize.as_deref())?,
        })
    }

    /// The options, the weights and the options of calls as keyword arguments; those that are `None` are left out.
    ///
    /// # Errors
    /// An exception of the interpreter.
    pub fn to_python<'py>(
        &self,
        py: Python<'py>,
        weights: Option<&Bound<'py, PyAny>>,
        calls: Calls,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = PyDict::new(py);
        let texts =
            [("graph", &self.graph), ("real", &self.real), ("int", &self.int), ("quantize", &self.quantize)];
        for (name, text) in texts {
            if let Some(text) = text {
                options.set_item(name, text)?;
            }
        }
        for (name, dict) in [("attributes", &self.attributes), ("shapes", &self.shapes)] {
            if let Some(dict) = dict {
                options.set_item(name, dict.bind(py).copy()?)?;
            }
        }
        options.set_item("given", &self.given)?;
        options.set_item("absent", &self.absent)?;
        if let Some(weights) = weights {
            options.set_item("weights", pickles::weights(weights)?)?;
        }
        options.set_item("threads", calls.threads)?;
        options.set_item("cache", calls.cache)?;
        options.set_item("specialize", calls.specialize)?;
        Ok(options)
    }

    /// The options of the composition. The shapes of the inputs of an imported model are options of its import.
    ///
    /// # Errors
    /// An exception for an unsuitable value.
    pub fn options(&self, py: Python<'_>, is_imported: bool) -> PyResult<ComposeOptions> {
        let mut options = ComposeOptions::default();
        if let Some(graph) = &self.graph {
            options = options.graph(graph);
        }
        for (name, value) in self.attributes.iter().flat_map(|dict| dict.bind(py)) {
            options = options.attribute(name.extract()?, attribute(&value)?);
        }
        for dict in self.shapes.iter().filter(|_| !is_imported) {
            for (name, shapes) in shapes(dict.bind(py))? {
                options = options.pack_shapes(&name, &shapes);
            }
        }
        for name in &self.given {
            options = options.given(name);
        }
        for name in &self.absent {
            options = options.absent(name);
        }
        if self.quantize.is_some() {
            options = options.quantize();
        }
        let wrong = |e: skript::Error| PyValueError::new_err(e.to_string());
        if let Some(real) = &self.real {
            options = options.real(real).map_err(wrong)?;
        }
        if let Some(int) = &self.int {
            options = options.int(int).map_err(wrong)?;
        }
        Ok(options)
    }
}

/// The shapes of inputs by name: one shape, or the shapes of the items of a pack.
///
/// # Errors
/// ValueError for any other value.
pub fn shapes(dict: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Vec<Vec<u64>>)>> {
    let shapes = dict.iter().map(|(name, shape)| {
        let name: String = name.extract()?;
        let shapes = match shape.extract::<Vec<u64>>() {
            Ok(shape) => Ok(vec![shape]),
            Err(_) => shape.extract::<Vec<Vec<u64>>>(),
        };
        let shapes = shapes.map_err(|_| {
            PyValueError::new_err(format!(
                "the shape of `{name}` is {shape}: it must be a list of all extents, or of such lists for a pack"
            ))
        })?;
        Ok((name, shapes))
    });
    shapes.collect()
}

/// A value of an attribute.
fn attribute(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::from(value.extract::<bool>()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Value::from(value.extract::<i64>()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::from(value.extract::<f64>()?));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Value::from(text.as_str()));
    }
    let items = value.try_iter().map_err(|_| {
        PyTypeError::new_err("an attribute is a bool, an int, a float, a str, or a list of these")
    })?;
    let values: Vec<Value> = items.map(|item| attribute(&item?)).collect::<PyResult<_>>()?;
    Ok(Value::from(values))
}
