// SPDX-License-Identifier: Apache-2.0
//! Converts the arguments of calls to tensors.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use skript_runtime::artifact;
use skript_tensor::Tensor;

use crate::arrays;
use crate::ports::Group;

/// The inputs of a model.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'m> {
    /// The inputs as arguments: a tensor or a pack each.
    pub groups: &'m [Group],
    /// The tensors of all groups, in order.
    pub ports: &'m [artifact::Port],
}

impl Inputs<'_> {
    /// The tensors of a call, in the order of the graph.
    ///
    /// # Errors
    /// TypeError or ValueError for unsuitable arguments.
    pub fn tensors(
        self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        self.converted(args, kwargs, |what, value, port| arrays::tensor_of(py, what, value, port))
    }

    /// The input with this name. As in the options of `load`, names of the imported model take precedence over names of the graph.
    fn position(self, name: &str) -> Option<usize> {
        let at = |is_it: &dyn Fn(&Group) -> bool| self.groups.iter().position(is_it);
        let imported = at(&|input| input.port.aliases.iter().any(|alias| alias == name));
        imported.or_else(|| at(&|input| input.port.name == name))
    }

    /// Converts the arrays of a call by `convert`, in the order of the graph.
    ///
    /// # Errors
    /// TypeError for unknown, missing and repeated inputs, and the errors of `convert`.
    pub fn converted<T>(
        self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        mut convert: impl FnMut(&str, &Bound<'_, PyAny>, &artifact::Port) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        let inputs = self.groups;
        if args.len() > inputs.len() {
            return Err(PyTypeError::new_err(format!(
                "the model has {}, but {} were passed",
                counted(inputs.len()),
                args.len()
            )));
        }
        let mut values: Vec<Option<Bound<'_, PyAny>>> = args.iter().map(Some).collect();
        values.resize(inputs.len(), None);
        for (key, value) in kwargs.into_iter().flatten() {
            let key: String = key.extract()?;
            let at = self.position(&key);
            let slot = at.and_then(|at| values.get_mut(at)).ok_or_else(|| {
                let names: Vec<&str> = inputs.iter().map(|i| i.port.shown_name()).collect();
                PyTypeError::new_err(format!("the model has no input `{key}`: it has {}", listed(&names)))
            })?;
            if slot.replace(value).is_some() {
                return Err(PyTypeError::new_err(format!("input `{key}` is passed twice")));
            }
        }
        let mut tensors = Vec::with_capacity(self.ports.len());
        let mut missing = Vec::new();
        for (input, value) in inputs.iter().zip(values) {
            match value {
                Some(value) => self.convert(input, &value, &mut convert, &mut tensors)?,
                None => missing.push(input.port.shown_name()),
            }
        }
        if missing.is_empty() {
            Ok(tensors)
        } else {
            Err(PyTypeError::new_err(format!("no array for {}", listed(&missing))))
        }
    }

    /// Converts one input.
    fn convert<T>(
        self,
        input: &Group,
        value: &Bound<'_, PyAny>,
        convert: &mut impl FnMut(&str, &Bound<'_, PyAny>, &artifact::Port) -> PyResult<T>,
        tensors: &mut Vec<T>,
    ) -> PyResult<()> {
        let name = input.port.shown_name();
        let ports = self.ports.iter().skip(input.first).take(input.count);
        let Some(length) = input.port.pack else {
            for port in ports {
                tensors.push(convert(&format!("input `{name}`"), value, port)?);
            }
            return Ok(());
        };
        let items: Vec<Bound<'_, PyAny>> = value
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("input `{name}` is a pack: pass a list of arrays")))?;
        if items.len() != length {
            return Err(PyValueError::new_err(format!(
                "input `{name}` is a pack of {length}, but {} were passed",
                items.len()
            )));
        }
        for (at, (item, port)) in items.iter().zip(ports).enumerate() {
            tensors.push(convert(&format!("input `{name}[{at}]`"), item, port)?);
        }
        Ok(())
    }
}

fn counted(inputs: usize) -> String {
    match inputs {
        1 => "1 input".to_owned(),
        n => format!("{n} inputs"),
    }
}

/// `` inputs `a`, `b` ``.
fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => format!("input `{one}`"),
        all => format!("inputs `{}`", all.join("`, `")),
    }
}
