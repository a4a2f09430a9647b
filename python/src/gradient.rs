// SPDX-License-Identifier: Apache-2.0
//! `grad`.

use pyo3::prelude::*;

use crate::model::Model;
use crate::options;
use crate::problems::exception;

/// Differentiates an output of a model. Returns a Model with the same inputs, whose outputs are the output and one gradient NAME_grad
/// for each name.
///
/// Parameters
/// ----------
/// model
///     a Model whose dimensions are static
/// wrt
///     names of inputs and variables; 'variables' means all variables
/// of
///     the output; the default is the only one. If it is not a scalar, the gradient has an input NAME_grad that scales the gradients
///
/// Raises
/// ------
/// skript.Error
///     the model cannot be differentiated; `diagnostics` lists the reasons with their locations
///
/// Examples
/// --------
/// >>> gradient = skript.grad(model, ["x", "variables"])
/// >>> loss, x_grad, w_grad = gradient(x)
#[pyfunction]
#[pyo3(signature = (model, wrt, *, of = None))]
pub fn grad(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    #[pyo3(from_py_with = options::wrt)] wrt: Vec<String>,
    #[pyo3(from_py_with = options::of)] of: Option<String>,
) -> PyResult<Model> {
    let model = model.get();
    let whole = model.whole(py)?;
    let weights = model.weights();
    let derived = py.detach(|| {
        let names: Vec<&str> = wrt.iter().map(String::as_str).collect();
        whole.gradient(of.as_deref(), &names)?.model(whole, weights)
    });
    let (derived, weights) = derived.map_err(|error| exception(py, &error))?;
    let name = derived.name().to_owned();
    Model::new(py, Ok(derived), None, weights, Vec::new(), name, model.calls())
}
