// SPDX-License-Identifier: Apache-2.0
//! Converts the outputs of a model to the results of calls.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use skript_runtime::artifact;
use skript_tensor::{ElementType, Tensor};

use crate::arrays;
use crate::ports::{Group, groups};

/// The outputs of a model.
#[derive(Debug)]
pub struct Outputs {
    /// The outputs as returned values: a tensor or a pack each.
    pub groups: Vec<Group>,
    /// The element types of returned arrays, if they differ from the element types of the code.
    imported: Vec<Option<ElementType>>,
    /// The class of the returned named tuple, if there are several outputs.
    class: Option<Py<PyAny>>,
}

impl Outputs {
    /// # Errors
    /// An exception of the interpreter.
    pub fn new(py: Python<'_>, ports: &[artifact::Port]) -> PyResult<Outputs> {
        let groups = groups(ports);
        let class = match groups.len() {
            0 | 1 => None,
            _ => Some(outputs_class(py, &groups)?),
        };
        Ok(Outputs { groups, imported: ports.iter().map(|port| port.imported).collect(), class })
    }

    /// Converts the outputs to the value that a call returns.
    ///
    /// # Errors
    /// A numpy exception.
    pub fn results<'py>(&self, py: Python<'py>, values: Vec<Tensor>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = values.into_iter().zip(&self.imported).map(|(tensor, imported)| {
            let array = arrays::array(py, tensor)?;
            match imported {
                None => Ok(array),
                Some(element) => array.call_method1("astype", (arrays::dtype(py, *element)?,)),
            }
        });
        self.grouped(py, &arrays.collect::<PyResult<Vec<_>>>()?)
    }

    /// Groups the arrays of outputs: packs are lists, several outputs a named tuple.
    ///
    /// # Errors
    /// An exception of the interpreter.
    pub fn grouped<'py>(&self, py: Python<'py>, arrays: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        let grouped = self.groups.iter().map(|output| {
            let items = arrays.iter().skip(output.first).take(output.count).cloned();
            match output.port.pack {
                None => Ok(items.into_iter().next().unwrap_or_else(|| py.None().into_bound(py))),
                Some(_) => Ok(PyList::new(py, items.collect::<Vec<_>>())?.into_any()),
            }
        });
        let mut grouped = grouped.collect::<PyResult<Vec<_>>>()?;
        match (&self.class, grouped.len()) {
            (Some(class), _) => class.bind(py).call1(PyTuple::new(py, grouped)?),
            (None, 1) => Ok(grouped.remove(0)),
            (None, _) => Ok(PyTuple::new(py, grouped)?.into_any()),
        }
    }
}

/// A class of named tuples; invalid field names become `_0`, `_1`, ….
///
/// # Errors
/// An exception of the interpreter.
pub fn named_tuple<'n>(
    py: Python<'_>,
    name: &str,
    fields: impl Iterator<Item = &'n str>,
) -> PyResult<Py<PyAny>> {
    let options = PyDict::new(py);
    options.set_item("rename", true)?;
    options.set_item("module", "skript")?;
    let fields: Vec<&str> = fields.collect();
    let class = py.import("collections")?.getattr("namedtuple")?;
    Ok(class.call((name, fields), Some(&options))?.unbind())
}

/// The named tuple class for several outputs. An output of an imported model is also accessible by its name in the imported
/// model, if this is a valid attribute name.
fn outputs_class(py: Python<'_>, outputs: &[Group]) -> PyResult<Py<PyAny>> {
    let names = outputs.iter().map(|output| output.port.name.as_str());
    let class = named_tuple(py, "Outputs", names)?;
    let getter = py.import("operator")?.getattr("itemgetter")?;
    let property = py.import("builtins")?.getattr("property")?;
    for (at, output) in outputs.iter().enumerate() {
        for alias in &output.port.aliases {
            if !alias.starts_with('_') && !class.bind(py).hasattr(alias.as_str())? {
                let item = property.call1((getter.call1((at,))?,))?;
                class.setattr(py, alias.as_str(), item)?;
            }
        }
    }
    Ok(class)
}
