// SPDX-License-Identifier: Apache-2.0
//! Evaluates a model on the arrays of a request, and on random ones in place of missing arrays.

use crate::request::{Array, Request};
use serde_json::{Value, json};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{INPUT, WEIGHTS};
use skript_frontend::model::{Extent, Function, Model, Port, TensorType};
use skript_reference::evaluate;
use skript_semantics::Numbers;
use skript_tensor::random::{self, Purpose};
use skript_tensor::{
    ElementType, MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_each,
};
use skript_view::arrays::{listed, scalar};
use std::sync::Arc;

/// The inputs and outputs of a call.
pub(crate) fn values(request: &Request, model: &Model) -> Result<Value, Vec<Diagnostic>> {
    let Some(entry) = model.function(model.entry) else { return Ok(Value::Null) };
    let names = |ports: &[Port]| -> Vec<String> { ports.iter().flat_map(Port::tensor_names).collect() };
    let known = names(&entry.inputs);
    let unknown = request.inputs.keys().filter(|name| !known.contains(name));
    let unknown = unknown.map(|name| format!("the graph has no input `{name}`"));
    let (inputs, mut wrong) = split(inputs(request, entry));
    wrong.extend(unknown);
    let (variables, missing) = split(variables(request, model));
    let wrong = wrong.into_iter().map(|text| Diagnostic::without_location(&INPUT, text));
    let missing = missing.into_iter().map(|text| Diagnostic::without_location(&WEIGHTS, text));
    let wrong: Vec<Diagnostic> = wrong.chain(missing).collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let shared = |arrays: &[Tensor]| -> Vec<Arc<Tensor>> { arrays.iter().cloned().map(Arc::new).collect() };
    let outcome = evaluate(model, &shared(&inputs), &shared(&variables));
    let outcome = outcome.map_err(|error| vec![error.diagnostic(model)])?;
    let outputs: Vec<Tensor> = outcome.outputs.into_iter().map(Arc::unwrap_or_clone).collect();
    Ok(json!({
        "inputs": listed(&known, &inputs, request.values),
        "outputs": listed(&names(&entry.outputs), &outputs, request.values),
    }))
}

fn split<T>(results: Vec<Result<T, String>>) -> (Vec<T>, Vec<String>) {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    (values, errors)
}

fn inputs(request: &Request, entry: &Function) -> Vec<Result<Tensor, String>> {
    let tensors =
        entry.inputs.iter().flat_map(|port| port.tensor_names().into_iter().zip(port.tensors.values()));
    let tensors = tensors.filter_map(|(name, id)| {
        let value = entry.values.get(id.0 as usize)?;
        let numbers = entry.numbers_of(value);
        let array = match request.inputs.get(&name) {
            Some(array) => given(array, &value.tensor, numbers),
            None => {
                let shape: Vec<u64> = value.tensor.shape.iter().map(Extent::bound).collect();
                let element = ElementType::for_kind(value.tensor.kind, numbers);
                random::fill(element, &shape, request.seed, &name, Purpose::Input)
                    .map_err(|error| error.to_string())
            }
        };
        Some(array.map_err(|text| format!("input `{name}`: {text}")))
    });
    tensors.collect()
}

/// An array of the request as a tensor of a declared kind and shape.
fn given(array: &Array, wanted: &TensorType, numbers: Numbers) -> Result<Tensor, String> {
    let fits = array.shape.len() == wanted.shape.len()
        && array.shape.iter().zip(&wanted.shape).all(|(n, extent)| match extent {
            Extent::Fixed(fixed) => n == fixed,
            Extent::Dynamic { bound, .. } => n <= bound,
        });
    if !fits {
        let declared: Vec<String> = wanted.shape.iter().map(|extent| extent.bound().to_string()).collect();
        return Err(format!("the shape is {:?}, but [{}] is declared", array.shape, declared.join(", ")));
    }
    tensor(array, ElementType::for_kind(wanted.kind, numbers))
}

fn tensor(array: &Array, element: ElementType) -> Result<Tensor, String> {
    let mut values = Vec::with_capacity(array.values.len());
    for value in &array.values {
        let scalar = scalar(value).ok_or_else(|| format!("{value} is not a number or a bool"))?;
        values.push(scalar);
    }
    Tensor::from_scalars(element, &array.shape, values.into_iter()).map_err(|error| error.to_string())
}

fn variables(request: &Request, model: &Model) -> Vec<Result<Tensor, String>> {
    let requests = model.variables.iter().map(|variable| VariableRequest {
        name: &variable.name,
        aliases: &variable.aliases,
        element: ElementType::for_kind(variable.tensor.kind, variable.numbers),
        shape: variable.tensor.shape.iter().map(Extent::bound).collect(),
    });
    let requests: Vec<VariableRequest<'_>> = requests.collect();
    let element =
        |name: &str| requests.iter().find(|request| request.name == name).map(|request| request.element);
    let (given, mut loaded) = split(
        request
            .weights
            .iter()
            .map(|(name, array)| {
                let wrong = |text: String| format!("variable `{name}`: {text}");
                let element = element(name)
                    .ok_or_else(|| wrong("the model has no variable of this name".to_owned()))?;
                Ok((name.clone(), tensor(array, element).map_err(wrong)?))
            })
            .collect(),
    );
    let each =
        load_each(&WeightStore::arrays(given), &requests, MissingWeights::Random(request.seed)).into_iter();
    let described = |error: TensorError| error.to_string();
    loaded.drain(..).map(Err).chain(each.map(|tensor| tensor.map_err(described))).collect()
}
