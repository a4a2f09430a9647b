// SPDX-License-Identifier: Apache-2.0
//! Reverse accumulation over the operators of a graph: a list of calls that compute outputs and gradients.

use crate::adjoint::{Adjoint, Source, adjoint};
use crate::flatten::{Graph, Step, Tensor, TensorId};
use crate::refusal::Refusal;
use skript_frontend::model::{FunctionId, Model, ValueId};
use skript_semantics::ScalarKind;
use std::collections::{HashMap, HashSet};

/// A computation of the gradient model.
#[derive(Debug)]
pub enum Call {
    /// An operator of the model, by the position of its step.
    Forward(usize),
    /// An adjoint operator, by its position, with the tensors of its inputs.
    Adjoint { operator: usize, arguments: Vec<TensorId>, result: TensorId },
    /// The sum of tensors of one shape.
    Sum { parts: Vec<TensorId>, result: TensorId },
}

/// An adjoint operator that calls share.
#[derive(Debug)]
pub struct Shared {
    /// The differentiated operator.
    pub function: FunctionId,
    /// The tensor by which it is differentiated.
    pub wrt: ValueId,
    /// The operator.
    pub adjoint: Adjoint,
}

/// The calls that compute an output and its gradients.
#[derive(Debug, Default)]
pub struct Accumulated {
    /// The adjoint operators.
    pub operators: Vec<Shared>,
    /// The calls in execution order.
    pub calls: Vec<Call>,
    /// For each requested tensor its gradient; `None` if it is zero.
    pub gradients: Vec<Option<TensorId>>,
}

type Key = (FunctionId, ValueId, Vec<ValueId>);

/// Differentiates the tensor `of` with the adjoint `seed` by the tensors `wrt`. The tensors `kept` are computed as well.
///
/// # Errors
/// The operators that cannot be differentiated.
pub fn accumulate(
    model: &Model,
    graph: &mut Graph,
    of: TensorId,
    seed: TensorId,
    wrt: &[TensorId],
    kept: &[TensorId],
) -> Result<Accumulated, Vec<Refusal>> {
    let active = active(graph, wrt);
    let mut state = State {
        model,
        graph,
        accumulated: Accumulated::default(),
        contributions: HashMap::from([(of, vec![seed])]),
        known: HashMap::new(),
        refusals: Vec::new(),
    };
    state.accumulated.calls = (0..state.graph.steps.len()).map(Call::Forward).collect();
    for at in (0..state.graph.steps.len()).rev() {
        let Some(step) = state.graph.steps.get(at).cloned() else { continue };
        state.step(&step, &active, wrt);
    }
    state.accumulated.gradients = wrt.iter().map(|tensor| state.total(*tensor)).collect();
    if !state.refusals.is_empty() {
        return Err(state.refusals);
    }
    let mut accumulated = state.accumulated;
    let results = accumulated.gradients.iter().flatten().chain(kept).copied().chain([of]).collect();
    retain_needed(graph, &mut accumulated, results);
    Ok(accumulated)
}

/// The real tensors that depend on the requested ones.
fn active(graph: &Graph, wrt: &[TensorId]) -> HashSet<TensorId> {
    let mut active: HashSet<TensorId> = wrt.iter().copied().collect();
    for step in &graph.steps {
        let tensors = |values: &[ValueId]| -> Vec<TensorId> {
            values.iter().filter_map(|value| step.tensors.get(value)).copied().collect()
        };
        if tensors(&step.inputs).iter().any(|tensor| active.contains(tensor)) {
            let is_real = |tensor: &TensorId| {
                graph.tensors.get(*tensor).is_some_and(|known| known.tensor.kind == ScalarKind::Real)
            };
            active.extend(tensors(&step.outputs).into_iter().filter(is_real));
        }
    }
    active
}

struct State<'a> {
    model: &'a Model,
    graph: &'a mut Graph,
    accumulated: Accumulated,
    contributions: HashMap<TensorId, Vec<TensorId>>,
    known: HashMap<Key, Option<usize>>,
    refusals: Vec<Refusal>,
}

impl State<'_> {
    /// A tensor for the adjoint of another one.
    fn tensor_like(&mut self, tensor: TensorId) -> Option<TensorId> {
        let known = self.graph.tensors.get(tensor)?.clone();
        let name = self.graph.names.fresh(&format!("{}_grad", known.name));
        self.graph.tensors.push(Tensor { name, tensor: known.tensor });
        Some(self.graph.tensors.len() - 1)
    }

    /// The sum of the contributions to the adjoint of a tensor, which becomes its only one.
    fn total(&mut self, tensor: TensorId) -> Option<TensorId> {
        let parts = self.contributions.get(&tensor)?.clone();
        if let [single] = parts.as_slice() {
            return Some(*single);
        }
        let result = self.tensor_like(tensor)?;
        self.accumulated.calls.push(Call::Sum { parts, result });
        self.contributions.insert(tensor, vec![result]);
        Some(result)
    }

    /// The adjoints of the inputs of a step.
    fn step(&mut self, step: &Step, active: &HashSet<TensorId>, wrt: &[TensorId]) {
        let mut seeds = HashMap::new();
        for output in &step.outputs {
            if let Some(tensor) = step.tensors.get(output).filter(|tensor| active.contains(tensor))
                && let Some(total) = self.total(*tensor)
            {
                if !wrt.contains(tensor) {
                    self.contributions.remove(tensor);
                }
                seeds.insert(*output, total);
            }
        }
        if seeds.is_empty() {
            return;
        }
        let mut seeded: Vec<ValueId> = seeds.keys().copied().collect();
        seeded.sort_unstable();
        for input in &step.inputs {
            let Some(tensor) = step.tensors.get(input).copied().filter(|tensor| active.contains(tensor))
            else {
                continue;
            };
            if let Some(operator) = self.operator(step, *input, &seeded) {
                let arguments = self.arguments(operator, step, &seeds);
                let shared = self.accumulated.operators.get(operator);
                if let (Some(_), [copy]) =
                    (shared.and_then(|shared| shared.adjoint.copied()), arguments.as_slice())
                {
                    self.contributions.entry(tensor).or_default().push(*copy);
                    continue;
                }
                if let Some(result) = self.tensor_like(tensor) {
                    self.accumulated.calls.push(Call::Adjoint { operator, arguments, result });
                    self.contributions.entry(tensor).or_default().push(result);
                }
            }
        }
    }

    /// The adjoint operator of a step by one of its inputs; `None` if the adjoint is zero or refused.
    fn operator(&mut self, step: &Step, wrt: ValueId, seeded: &[ValueId]) -> Option<usize> {
        let key = (step.function, wrt, seeded.to_vec());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let function = self.model.function(step.function)?;
        let operator = match adjoint(function, wrt, seeded) {
            Ok(Some(adjoint)) => {
                self.accumulated.operators.push(Shared { function: step.function, wrt, adjoint });
                Some(self.accumulated.operators.len() - 1)
            }
            Ok(None) => None,
            Err(refusal) => {
                self.refusals.push(Box::new(refusal.with_note(Some(step.span), "it is invoked here")));
                None
            }
        };
        self.known.insert(key, operator);
        operator
    }

    /// The tensors of the inputs of an adjoint operator.
    fn arguments(&self, operator: usize, step: &Step, seeds: &HashMap<ValueId, TensorId>) -> Vec<TensorId> {
        let inputs = self.accumulated.operators.get(operator).map(|shared| &shared.adjoint.inputs);
        let tensor = |(_, source): &(ValueId, Source)| match source {
            Source::Forward(value) => step.tensors.get(value).copied(),
            Source::Adjoint(value) => seeds.get(value).copied(),
        };
        inputs.into_iter().flatten().filter_map(tensor).collect()
    }
}

/// Removes the calls whose results nothing needs.
fn retain_needed(graph: &Graph, accumulated: &mut Accumulated, mut needed: HashSet<TensorId>) {
    let mut kept = Vec::new();
    for call in accumulated.calls.drain(..).rev() {
        let (results, arguments) = tensors(graph, &call);
        if results.iter().any(|result| needed.contains(result)) {
            needed.extend(arguments);
            kept.push(call);
        }
    }
    kept.reverse();
    accumulated.calls = kept;
}

/// The results and the arguments of a call.
pub fn tensors(graph: &Graph, call: &Call) -> (Vec<TensorId>, Vec<TensorId>) {
    match call {
        Call::Forward(at) => graph.steps.get(*at).map_or_else(Default::default, |step| {
            let tensors = |values: &[ValueId]| {
                values.iter().filter_map(|value| step.tensors.get(value)).copied().collect()
            };
            (tensors(&step.outputs), tensors(&step.inputs))
        }),
        Call::Adjoint { arguments, result, .. } => (vec![*result], arguments.clone()),
        Call::Sum { parts, result } => (vec![*result], parts.clone()),
    }
}
