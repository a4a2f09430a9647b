// SPDX-License-Identifier: Apache-2.0
//! `grad` and `training_step`.

use pyo3::prelude::*;
use skript::{Mode, Training};

use crate::model::Model;
use crate::options::{self, Outputs};
use crate::problems::exception;

/// Differentiates an output of a model. Returns a Model with the same inputs, whose outputs are the output and one gradient NAME_grad
/// for each name. With `forward`, the Model has an additional input NAME_tangent for each name, and returns the outputs `of` and their
/// tangents: the products of their Jacobians and these inputs.
///
/// Parameters
/// ----------
/// model
///     a Model whose dimensions are static
/// wrt
///     names of inputs and variables; 'variables' means all variables
/// of
///     the output; the default is the only one. If it is not a scalar, the gradient has an input NAME_grad that scales the gradients.
///     With `forward`, an output or a list of outputs; the default is all real ones
/// forward
///     whether to compute tangents in place of gradients
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
/// >>> loss, loss_tangent = skript.grad(model, ["x"], forward=True)(x, direction)
#[pyfunction]
#[pyo3(signature = (model, wrt, *, of = None, forward = false))]
pub fn grad(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    #[pyo3(from_py_with = options::wrt)] wrt: Vec<String>,
    #[pyo3(from_py_with = options::of)] of: Option<Outputs>,
    #[pyo3(from_py_with = options::forward)] forward: bool,
) -> PyResult<Model> {
    let mode = if forward { Mode::Tangents } else { Mode::Gradients };
    derived(py, model, &wrt, of.as_ref(), &mode)
}

/// A model whose calls are steps of training. Its outputs are those of the model; each call updates the variables, so that an output
/// becomes less. The variables of the optimizer are zero at first. `compile()` returns an object whose `variables` has the values.
///
/// Parameters
/// ----------
/// model
///     a Model whose dimensions are static
/// optimizer
///     an operator that maps a variable and its gradient to the next value, with its attributes
/// of
///     the output to reduce, which has one element; the default is the only one
/// wrt
///     names of variables; the default is all real ones that the model does not update
/// schedule
///     an operator without inputs that computes a factor of the rate in each call
/// clip_norm
///     the largest norm of all gradients together
/// clip_value
///     the largest magnitude of the elements of the gradients
///
/// Raises
/// ------
/// skript.Error
///     the model cannot be differentiated, or the optimizer does not fit; `diagnostics` lists the reasons
///
/// Examples
/// --------
/// >>> step = skript.training_step(model, "optim.adam{rate=1e-3}").compile()
/// >>> for x, t in batches:
/// ...     loss = step(x, t)
#[pyfunction]
#[pyo3(signature = (model, optimizer, *, of = None, wrt = vec!["variables".to_owned()], schedule = None, clip_norm = None, clip_value = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn training_step(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    #[pyo3(from_py_with = options::optimizer)] optimizer: String,
    #[pyo3(from_py_with = options::of)] of: Option<Outputs>,
    #[pyo3(from_py_with = options::wrt)] wrt: Vec<String>,
    #[pyo3(from_py_with = options::schedule)] schedule: Option<String>,
    #[pyo3(from_py_with = options::clip_norm)] clip_norm: Option<f64>,
    #[pyo3(from_py_with = options::clip_value)] clip_value: Option<f64>,
) -> PyResult<Model> {
    let training = Training { optimizer, schedule, clip_norm, clip_value };
    derived(py, model, &wrt, of.as_ref(), &Mode::Training(training))
}

/// The derivatives of a model by these names.
fn derived(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    names: &[String],
    of: Option<&Outputs>,
    mode: &Mode,
) -> PyResult<Model> {
    let model = model.get();
    let whole = model.whole(py)?;
    let weights = model.weights();
    let derived = py.detach(|| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        whole.derivatives(&Outputs::names(of), &names, mode)?.model(whole, weights)
    });
    let (derived, weights) = derived.map_err(|error| exception(py, &error))?;
    let name = derived.name().to_owned();
    Model::new(py, Ok(derived), None, weights, Vec::new(), name, model.calls())
}
