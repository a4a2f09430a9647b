// SPDX-License-Identifier: Apache-2.0
//! Accumulation over the operators of a graph, in reversed order for gradients, in order for tangents: a list of calls that compute
//! outputs and derivatives.

use crate::adjoint::adjoint;
use crate::builder::{Derived, Source};
use crate::flatten::{Graph, Step, Tensor, TensorId};
use crate::intrinsics::with_formulas;
use crate::refusal::Refusal;
use crate::tangent::tangent;
use skript_frontend::model::{Function, FunctionId, Model, ValueId};
use skript_semantics::ScalarKind;
use std::collections::{HashMap, HashSet};

/// A computation of the gradient model.
#[derive(Debug)]
pub enum Call {
    /// An operator of the model, by the position of its step.
    Forward(usize),
    /// An operator of derivatives, by its position, with the tensors of its inputs and outputs.
    Derived { operator: usize, arguments: Vec<TensorId>, results: Vec<TensorId> },
    /// The sum of tensors of one shape.
    Sum { parts: Vec<TensorId>, result: TensorId },
}

/// An operator of derivatives that calls share.
#[derive(Debug)]
pub struct Shared {
    /// The differentiated operator.
    pub function: FunctionId,
    /// The tensors by which it is differentiated.
    pub wrt: Vec<ValueId>,
    /// The operator.
    pub derived: Derived,
}

/// The calls that compute outputs and their derivatives.
#[derive(Debug, Default)]
pub struct Accumulated {
    /// The operators of derivatives.
    pub operators: Vec<Shared>,
    /// The calls in execution order.
    pub calls: Vec<Call>,
    /// For each requested tensor its gradient, or for each output its tangent; `None` if it is zero.
    pub derivatives: Vec<Option<TensorId>>,
}

/// The operator, the tensors by which it is differentiated, and the outputs with adjoints.
type Key = (FunctionId, Vec<ValueId>, Vec<ValueId>);

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
    let mut state = State::new(model, graph, "grad");
    state.contributions.insert(of, vec![seed]);
    state.accumulated.calls = (0..state.graph.steps.len()).map(Call::Forward).collect();
    for at in (0..state.graph.steps.len()).rev() {
        let Some(step) = state.graph.steps.get(at).cloned() else { continue };
        state.step(&step, &active, wrt);
    }
    state.accumulated.derivatives = wrt.iter().map(|tensor| state.total(*tensor)).collect();
    state.finish(kept.iter().copied().chain([of]))
}

/// The tangents of the tensors `of` for those of inputs and variables: `tangents` maps these to their tangents.
///
/// # Errors
/// The operators that cannot be differentiated.
pub fn advance(
    model: &Model,
    graph: &mut Graph,
    of: &[TensorId],
    tangents: HashMap<TensorId, TensorId>,
) -> Result<Accumulated, Vec<Refusal>> {
    let steps = (0..graph.steps.len()).map(Call::Forward).collect();
    let steps = needed_calls(graph, steps, of.iter().copied().collect());
    let mut state = State::new(model, graph, "tangent");
    state.tangents = tangents;
    for call in steps {
        let step = match call {
            Call::Forward(at) => state.graph.steps.get(at).cloned(),
            Call::Derived { .. } | Call::Sum { .. } => None,
        };
        state.accumulated.calls.push(call);
        if let Some(step) = step {
            state.advance(&step);
        }
    }
    state.accumulated.derivatives = of.iter().map(|tensor| state.tangents.get(tensor).copied()).collect();
    state.finish(of.iter().copied())
}

/// The real tensors that depend on the requested ones.
fn active(graph: &Graph, wrt: &[TensorId]) -> HashSet<TensorId> {
    let mut active: HashSet<TensorId> = wrt.iter().copied().collect();
    for step in &graph.steps {
        let tensors = |values: &[ValueId]| -> Vec<TensorId> {
            values.iter().filter_map(|value| step.tensors.get(value)).copied().collect()
        };
        if tensors(&step.inputs).iter().any(|tensor| active.contains(tensor)) {
            active.extend(real_outputs(graph, step));
        }
    }
    active
}

fn real_outputs(graph: &Graph, step: &Step) -> impl Iterator<Item = TensorId> {
    let tensors = step.outputs.iter().filter_map(|value| step.tensors.get(value)).copied();
    tensors.filter(|tensor| {
        graph.tensors.get(*tensor).is_some_and(|known| known.tensor.kind == ScalarKind::Real)
    })
}

struct State<'a> {
    model: &'a Model,
    graph: &'a mut Graph,
    accumulated: Accumulated,
    /// The tensors whose sum is the adjoint of a tensor.
    contributions: HashMap<TensorId, Vec<TensorId>>,
    tangents: HashMap<TensorId, TensorId>,
    known: HashMap<Key, Option<usize>>,
    refusals: Vec<Refusal>,
    /// The suffix of the names of derivatives: `grad`, `tangent`.
    suffix: &'static str,
}

impl<'a> State<'a> {
    fn new(model: &'a Model, graph: &'a mut Graph, suffix: &'static str) -> Self {
        State {
            model,
            graph,
            accumulated: Accumulated::default(),
            contributions: HashMap::new(),
            tangents: HashMap::new(),
            known: HashMap::new(),
            refusals: Vec::new(),
            suffix,
        }
    }

    /// The calls that compute the derivatives and these tensors.
    fn finish(self, kept: impl Iterator<Item = TensorId>) -> Result<Accumulated, Vec<Refusal>> {
        if !self.refusals.is_empty() {
            return Err(self.refusals);
        }
        let mut accumulated = self.accumulated;
        let results = accumulated.derivatives.iter().flatten().copied().chain(kept).collect();
        accumulated.calls = needed_calls(self.graph, accumulated.calls, results);
        Ok(accumulated)
    }

    /// A tensor for the derivative of another one.
    fn tensor_like(&mut self, tensor: TensorId) -> Option<TensorId> {
        let known = self.graph.tensors.get(tensor)?.clone();
        let name = self.graph.names.fresh(&format!("{}_{}", known.name, self.suffix));
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
            let derive = |function: &Function| adjoint(function, *input, &seeded);
            let key = (step.function, vec![*input], seeded.clone());
            for (_, result) in self.derived(step, key, &derive, &seeds) {
                self.contributions.entry(tensor).or_default().push(result);
            }
        }
    }

    /// The tangents of the outputs of a step.
    fn advance(&mut self, step: &Step) {
        let tangent_of = |input: &ValueId| {
            let tensor = step.tensors.get(input)?;
            Some((*input, *self.tangents.get(tensor)?))
        };
        let seeds: HashMap<ValueId, TensorId> = step.inputs.iter().filter_map(tangent_of).collect();
        if seeds.is_empty() || real_outputs(self.graph, step).next().is_none() {
            return;
        }
        let mut seeded: Vec<ValueId> = seeds.keys().copied().collect();
        seeded.sort_unstable();
        let derive = |function: &Function| tangent(function, &seeded);
        let key = (step.function, seeded.clone(), Vec::new());
        for (output, result) in self.derived(step, key, &derive, &seeds) {
            let tensor = step.tensors.get(&output).copied();
            self.tangents.extend(tensor.map(|tensor| (tensor, result)));
        }
    }

    /// Calls the operator of the derivatives of a step; returns its results with the tensors of the step whose derivatives they are.
    fn derived(
        &mut self,
        step: &Step,
        key: Key,
        derive: &dyn Fn(&Function) -> Result<Option<Derived>, Refusal>,
        seeds: &HashMap<ValueId, TensorId>,
    ) -> Vec<(ValueId, TensorId)> {
        let Some(operator) = self.operator(step, key, derive) else { return Vec::new() };
        let arguments = self.arguments(operator, step, seeds);
        let Some(shared) = self.accumulated.operators.get(operator) else { return Vec::new() };
        let of: Vec<ValueId> = shared.derived.outputs.iter().map(|(_, of)| *of).collect();
        if let (Some(_), [copy], [single]) = (shared.derived.copied(), arguments.as_slice(), of.as_slice()) {
            return vec![(*single, *copy)];
        }
        let result = |of: ValueId| Some((of, self.tensor_like(*step.tensors.get(&of)?)?));
        let results: Vec<(ValueId, TensorId)> = of.into_iter().filter_map(result).collect();
        let tensors = results.iter().map(|(_, result)| *result).collect();
        self.accumulated.calls.push(Call::Derived { operator, arguments, results: tensors });
        results
    }

    /// The operator of the derivatives of a step; `None` if they are zero or refused.
    fn operator(
        &mut self,
        step: &Step,
        key: Key,
        derive: &dyn Fn(&Function) -> Result<Option<Derived>, Refusal>,
    ) -> Option<usize> {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let function = self.model.function(step.function)?;
        let formulas = with_formulas(function);
        let operator = match derive(formulas.as_ref().unwrap_or(function)) {
            Ok(Some(derived)) => {
                let shared = Shared { function: step.function, wrt: key.1.clone(), derived };
                self.accumulated.operators.push(shared);
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

    /// The tensors of the inputs of an operator of derivatives.
    fn arguments(&self, operator: usize, step: &Step, seeds: &HashMap<ValueId, TensorId>) -> Vec<TensorId> {
        let inputs = self.accumulated.operators.get(operator).map(|shared| &shared.derived.inputs);
        let tensor = |(_, source): &(ValueId, Source)| match source {
            Source::Forward(value) => step.tensors.get(value).copied(),
            Source::Derivative(value) => seeds.get(value).copied(),
        };
        inputs.into_iter().flatten().filter_map(tensor).collect()
    }
}

/// The calls that the results `needed` depend on.
fn needed_calls(graph: &Graph, calls: Vec<Call>, mut needed: HashSet<TensorId>) -> Vec<Call> {
    let mut kept = Vec::new();
    for call in calls.into_iter().rev() {
        let (results, arguments) = tensors(graph, &call);
        if results.iter().any(|result| needed.contains(result)) {
            needed.extend(arguments);
            kept.push(call);
        }
    }
    kept.reverse();
    kept
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
        Call::Derived { arguments, results, .. } => (results.clone(), arguments.clone()),
        Call::Sum { parts, result } => (vec![*result], parts.clone()),
    }
}
