// SPDX-License-Identifier: Apache-2.0
//! The derivatives that are requested: names of outputs, and of inputs and variables.

use crate::flatten::{Graph, TensorId};
use crate::refusal::{Refusal, request};
use crate::training::Training;
use skript_semantics::ScalarKind;
use std::collections::HashSet;

/// The derivatives to compute.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The gradients of an output by inputs and variables.
    #[default]
    Gradients,
    /// The tangents of outputs, for tangents of inputs and variables.
    Tangents,
    /// A step of an optimizer, which updates the variables by their gradients.
    Training(Training),
}

impl Mode {
    /// The optimizer of a step of training.
    pub fn training(&self) -> Option<&Training> {
        match self {
            Mode::Training(training) => Some(training),
            Mode::Gradients | Mode::Tangents => None,
        }
    }
}

/// A request for derivatives.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The outputs to differentiate, one unless tangents are requested; without names, the only one, or all real ones.
    pub of: Vec<String>,
    /// Inputs and variables by name; `variables` means all variables.
    pub wrt: Vec<String>,
    /// The derivatives to compute.
    pub mode: Mode,
}

fn is_real(graph: &Graph, id: TensorId) -> bool {
    graph.tensors.get(id).is_some_and(|known| known.tensor.kind == ScalarKind::Real)
}

/// Names in a message.
pub fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The outputs to differentiate.
pub fn outputs(graph: &Graph, wanted: &Request) -> Result<Vec<(String, TensorId)>, Vec<Refusal>> {
    let is_forward = matches!(wanted.mode, Mode::Tangents);
    let all = || listed(&graph.outputs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    let named = |of: &String| {
        let known = graph.outputs.iter().find(|(name, _)| name == of);
        known.cloned().ok_or_else(|| request(format!("the model has no output `{of}`, only {}", all())))
    };
    let selected: Vec<(String, TensorId)> = match (wanted.of.as_slice(), graph.outputs.as_slice()) {
        ([], outputs) if is_forward && outputs.len() > 1 => {
            outputs.iter().filter(|(_, id)| is_real(graph, *id)).cloned().collect()
        }
        ([], [single]) => vec![single.clone()],
        ([], [_, ..]) => {
            let message = format!("the model has several outputs, {}: --of selects one", all());
            return Err(vec![request(message)]);
        }
        ([_, _, ..], _) if !is_forward => {
            let message = "a gradient is that of one output; only tangents are those of several";
            return Err(vec![request(message.to_owned())]);
        }
        (names, _) => {
            let named: Result<Vec<(String, TensorId)>, Refusal> = names.iter().map(named).collect();
            named.map_err(|refusal| vec![refusal])?
        }
    };
    let mut seen = HashSet::new();
    let selected: Vec<(String, TensorId)> =
        selected.into_iter().filter(|(name, _)| seen.insert(name.clone())).collect();
    let unreal = selected.iter().filter(|(_, id)| !is_real(graph, *id));
    let refusals: Vec<Refusal> = unreal
        .map(|(name, _)| request(format!("the output `{name}` is not real, so it has no gradient")))
        .collect();
    if selected.is_empty() {
        return Err(vec![request("the model has no real output to differentiate".to_owned())]);
    }
    if refusals.is_empty() { Ok(selected) } else { Err(refusals) }
}

/// The tensors to differentiate by.
pub fn requested(graph: &Graph, wanted: &Request) -> Result<Vec<TensorId>, Vec<Refusal>> {
    let updated = || graph.updates.iter().filter(|_| wanted.mode.training().is_some());
    let is_free = |id: &TensorId| updated().all(|(variable, _)| variable != id);
    let variables = || graph.variables.iter().map(|(tensor, _)| *tensor).filter(is_free);
    let sources = || graph.sources.iter().map(|(name, _)| name.as_str());
    let mut selected: Vec<TensorId> = Vec::new();
    let mut refusals = Vec::new();
    for name in &wanted.wrt {
        let matching = sources_of(graph, name);
        match matching.as_slice() {
            [] if name == "variables" => selected.extend(variables().filter(|id| is_real(graph, *id))),
            [(_, id)] if is_real(graph, *id) => selected.push(*id),
            [_] => refusals.push(request(format!("`{name}` is not real, so it has no gradient"))),
            [] => {
                let all: Vec<&str> = sources().collect();
                let message = format!("the model has no input or variable `{name}`, only {}", listed(&all));
                refusals.push(request(message));
            }
            several => {
                let all: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
                refusals.push(request(format!("`{name}` may be {}; write one of these names", listed(&all))));
            }
        }
    }
    let mut seen = HashSet::new();
    selected.retain(|id| seen.insert(*id));
    if selected.is_empty() && refusals.is_empty() {
        refusals.push(request(
            "the model has only int and bool inputs and variables, which have no gradient".to_owned(),
        ));
    }
    if refusals.is_empty() { Ok(selected) } else { Err(refusals) }
}

/// The inputs and variables with this name; without one, those with this name in the document, where `a.b` and `a:b` are `a_b`.
fn sources_of<'g>(graph: &'g Graph, name: &str) -> Vec<&'g (String, TensorId)> {
    let like = |is_like: &dyn Fn(&str) -> bool| -> Vec<&(String, TensorId)> {
        graph.sources.iter().filter(|(source, _)| is_like(source)).collect()
    };
    let flat = |name: &str| name.replace(['.', ':'], "_");
    let exact = like(&|source| source == name);
    if exact.is_empty() { like(&|source| flat(source) == flat(name)) } else { exact }
}
