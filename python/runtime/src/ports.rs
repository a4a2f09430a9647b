// SPDX-License-Identifier: Apache-2.0
//! Inputs, variables and outputs as Python objects.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skript_runtime::artifact::{self, LARGEST, PortExtent};
use skript_tensor::ElementType;

use crate::arrays;

/// An input, output or variable of a model.
///
/// str() is `x: float32(2, n≤8)`: the name (in the ONNX model, if it is imported), the element type and the shape.
#[pyclass(frozen, module = "skript")]
#[derive(Clone, Debug)]
pub struct Port {
    /// The name in the graph.
    #[pyo3(get)]
    pub name: String,
    /// Its names in the ONNX model, which keyword arguments and attributes of outputs may use, too.
    #[pyo3(get)]
    pub aliases: Vec<String>,
    /// The element type for callers: the type in the imported model, if it differs.
    pub element: ElementType,
    pub shape: Vec<PortExtent>,
    /// The names of dynamic dimensions that the model declares; empty if they are unknown.
    pub dimensions: Vec<Option<String>>,
    /// The number of tensors of a pack, which is passed as a list of arrays; None for one tensor.
    #[pyo3(get)]
    pub pack: Option<usize>,
}

#[pymethods]
impl Port {
    /// The element type as a numpy dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrays::dtype(py, self.element)
    }

    /// The size of each dimension; None for dynamic dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let extents = self.shape.iter().map(|extent| match extent {
            PortExtent::Fixed(n) => Some(*n),
            PortExtent::Dynamic(_) => None,
        });
        PyTuple::new(py, extents.collect::<Vec<_>>())
    }

    /// The name of each dynamic dimension, such as 'batch', by which `bounds` of `load` sets its upper bound; None for other dimensions,
    /// and in compiled models.
    #[getter]
    fn dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = (0..self.shape.len()).map(|at| self.dimension(at));
        PyTuple::new(py, names.collect::<Vec<_>>())
    }

    /// The maximum size of each dimension.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let extents = self.shape.iter().map(|extent| extent.bound());
        PyTuple::new(py, extents.collect::<Vec<_>>())
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.text())
    }
}

impl Port {
    /// The name for callers: in the ONNX model if it is imported, else in the graph.
    pub fn shown_name(&self) -> &str {
        self.aliases.first().unwrap_or(&self.name)
    }

    fn dimension(&self, at: usize) -> Option<&str> {
        self.dimensions.get(at)?.as_deref()
    }

    /// `x: float32(2, n≤8)`.
    pub fn text(&self) -> String {
        format!("{}: {}", self.shown_name(), self.shown())
    }

    /// `float32(2, n≤8)`.
    pub fn shown(&self) -> String {
        let extents = self.shape.iter().enumerate().map(|(at, extent)| {
            let text = arrays::extent_text(extent);
            match (extent, self.dimension(at)) {
                (PortExtent::Dynamic(LARGEST), Some(name)) => name.to_owned(),
                (PortExtent::Dynamic(_), Some(name)) => format!("{name}{text}"),
                _ => text,
            }
        });
        let shape = arrays::listed(&extents.collect::<Vec<_>>());
        let count = self.pack.map_or(String::new(), |n| format!(" × {n}"));
        format!("{}{shape}{count}", arrays::type_name(self.element))
    }
}

/// The tensors of a port: one tensor, or the items of a pack.
#[derive(Clone, Debug)]
pub struct Group {
    pub port: Port,
    /// The index of the first tensor.
    pub first: usize,
    /// The number of tensors.
    pub count: usize,
}

/// Groups tensors to the ports of the graph; each pack is one group.
pub fn groups(ports: &[artifact::Port]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, port) in ports.iter().enumerate() {
        let pack = port.pack.as_ref();
        if let Some(last) = groups.last_mut()
            && pack.is_some_and(|pack| last.port.pack.is_some() && last.port.name == pack.name)
        {
            last.count += 1;
            continue;
        }
        groups.push(Group {
            port: Port {
                name: pack.map_or(&port.name, |pack| &pack.name).clone(),
                aliases: port.aliases.clone(),
                element: port.imported.unwrap_or(port.element),
                shape: port.shape.clone(),
                dimensions: Vec::new(),
                pack: pack.map(|pack| pack.length as usize),
            },
            first: at,
            count: 1,
        });
    }
    groups
}
