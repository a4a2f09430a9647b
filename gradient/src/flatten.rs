// SPDX-License-Identifier: Apache-2.0
//! The operators of a model in execution order: composite operators are inlined, loops are unrolled.

use crate::branches::Branching;
use crate::extents::{extent_in_terms_of, in_terms_of, symbol};
use crate::names::Names;
use crate::refusal::{Refusal, refused};
use skript_frontend::model::{
    Block, Body, ConstantData, Extent, Function, FunctionId, Invoke, Model, Operation, PortTensors,
    TensorType, ValueId,
};
use skript_frontend::source::Span;
use std::collections::{BTreeMap, HashMap};

/// A tensor of the flat graph.
pub type TensorId = usize;

/// A tensor of the flat graph, with a unique name.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub name: String,
    pub tensor: TensorType,
}

/// An invocation of an operator that is not composed of others.
#[derive(Clone, Debug)]
pub struct Step {
    pub function: FunctionId,
    /// The tensors of the operator's inputs, captured variables and outputs.
    pub tensors: HashMap<ValueId, TensorId>,
    /// The inputs and captured variables of the operator, in order.
    pub inputs: Vec<ValueId>,
    /// The outputs of the operator, in order.
    pub outputs: Vec<ValueId>,
    /// The location of the invocation.
    pub span: Span,
}

/// The operators of a model in execution order.
#[derive(Debug, Default)]
pub struct Graph {
    pub tensors: Vec<Tensor>,
    pub steps: Vec<Step>,
    pub inputs: Vec<TensorId>,
    /// The variables, with their positions in the model.
    pub variables: Vec<(TensorId, usize)>,
    /// The inputs and variables by their names in the model, such as `layer.w` and `xs:1`.
    pub sources: Vec<(String, TensorId)>,
    pub constants: BTreeMap<TensorId, ConstantData>,
    /// The outputs, with their names in the model.
    pub outputs: Vec<(String, TensorId)>,
    /// The variables that the model updates, each with its new value.
    pub updates: Vec<(TensorId, TensorId)>,
    /// The operators that select the results of branches; their numbers follow those of the model's functions.
    pub selections: Vec<Function>,
    pub names: Names,
}

/// The most operations of a graph with unrolled loops. An iteration without operations counts as one.
pub const MAX_STEPS: usize = 1 << 16;

pub const TOO_MANY: &str = "with its loops unrolled, it has more than 65536 steps";

/// Flattens the entry of a model.
///
/// # Errors
/// The model has run-time checks, extents that data decide, or loops that data end without a bound.
pub fn flatten(model: &Model) -> Result<Graph, Vec<Refusal>> {
    let mut flattening = Flattening {
        model,
        graph: Graph::default(),
        extents: HashMap::new(),
        operations: 0,
        refusals: Vec::new(),
    };
    if let Some(entry) = model.function(model.entry) {
        flattening.entry(entry);
    }
    if flattening.refusals.is_empty() { Ok(flattening.graph) } else { Err(flattening.refusals) }
}

/// The option that makes the dynamic extents of a model's inputs static, as a help.
pub fn static_shapes(model: &Model) -> Option<String> {
    let entry = model.function(model.entry)?;
    let shapes = entry.inputs.iter().filter_map(|port| {
        let tensors = port.tensors.values().iter();
        let tensors: Vec<_> = tensors.filter_map(|value| tensor_of(entry, *value)).collect();
        let bounds = |tensor: &&TensorType| {
            tensor.shape.iter().map(|extent| extent.bound().to_string()).collect::<Vec<_>>().join(",")
        };
        let shapes: Vec<String> = tensors.iter().map(bounds).collect();
        let is_dynamic = tensors.iter().any(|tensor| tensor.fixed_shape().is_none());
        is_dynamic.then(|| format!("--input-shape {}={}", port.name, shapes.join(";")))
    });
    let shapes: Vec<String> = shapes.collect();
    (!shapes.is_empty()).then(|| format!("an option makes extents static: {}", shapes.join(" ")))
}

fn tensor_of(function: &Function, value: ValueId) -> Option<&TensorType> {
    function.values.get(value.0 as usize).map(|value| &value.tensor)
}

pub type Environment = HashMap<ValueId, TensorId>;

pub struct Flattening<'a> {
    pub model: &'a Model,
    pub graph: Graph,
    /// The dynamic extents of the inlined function, in terms of the entry's; those of the entry itself are missing.
    extents: HashMap<String, Extent>,
    /// The number of operations in all blocks so far.
    operations: usize,
    pub refusals: Vec<Refusal>,
}

impl Flattening<'_> {
    pub fn refuse(&mut self, function: &Function, span: Span, reason: &str) {
        self.refusals.push(refused(function, span, reason));
    }

    pub fn tensor(&mut self, name: &str, tensor: TensorType) -> TensorId {
        let name = self.graph.names.fresh(name);
        self.graph.tensors.push(Tensor { name, tensor });
        self.graph.tensors.len() - 1
    }

    /// A new tensor for a value of a function.
    fn value(&mut self, function: &Function, value: ValueId, prefix: &str) -> Option<TensorId> {
        let known = function.values.get(value.0 as usize)?;
        let name = known.name.as_deref().unwrap_or("t");
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}_{name}") };
        Some(self.tensor(&name, in_terms_of(&known.tensor, &self.extents)))
    }

    fn entry(&mut self, entry: &Function) {
        let mut environment = Environment::new();
        for value in entry.inputs.iter().flat_map(|port| port.tensors.values()) {
            if let Some(tensor) = self.value(entry, *value, "") {
                environment.insert(*value, tensor);
                self.graph.inputs.push(tensor);
                let name = entry.values.get(value.0 as usize).and_then(|value| value.name.clone());
                self.graph.sources.extend(name.map(|name| (name, tensor)));
            }
        }
        for (value, variable) in entry.captures.iter().zip(&entry.capture_variables) {
            let Some(known) = self.model.variable(*variable) else { continue };
            let name = known.name.strip_prefix(&format!("{}.", entry.name)).unwrap_or(&known.name);
            let tensor = self.tensor(name, known.tensor.clone());
            environment.insert(*value, tensor);
            self.graph.variables.push((tensor, variable.0 as usize));
            self.graph.sources.push((name.to_owned(), tensor));
        }
        self.body(entry, &mut environment, "");
        for (variable, value) in &self.model.updates {
            let mut variables = self.graph.variables.iter();
            let known = variables.find(|(_, at)| *at == variable.0 as usize).map(|(tensor, _)| *tensor);
            self.graph.updates.extend(known.zip(environment.get(value).copied()));
        }
        for port in &entry.outputs {
            for (at, value) in port.tensors.values().iter().enumerate() {
                let name = match port.tensors {
                    PortTensors::Pack(_) => format!("{}_{}", port.name, at + 1),
                    _ => port.name.clone(),
                };
                if let Some(tensor) = environment.get(value) {
                    self.graph.outputs.push((name, *tensor));
                }
            }
        }
    }

    /// The constants and operations of a composite function.
    fn body(&mut self, function: &Function, environment: &mut Environment, prefix: &str) {
        if function.checks.iter().chain(&function.result_checks).next().is_some() {
            self.refuse(function, function.span, "a condition is checked at run time");
        }
        for (value, data) in &function.constants {
            self.constant(function, *value, data, environment, prefix);
        }
        if let Body::Block(block) = &function.body {
            self.block(function, block, environment, prefix);
        }
    }

    pub fn constant(
        &mut self,
        function: &Function,
        value: ValueId,
        data: &ConstantData,
        environment: &mut Environment,
        prefix: &str,
    ) {
        if let Some(tensor) = self.value(function, value, prefix) {
            let is_static = self.graph.tensors.get(tensor).is_some_and(|t| t.tensor.fixed_shape().is_some());
            if !is_static {
                self.refuse(function, function.span, "a constant has dynamic extents");
            }
            self.graph.constants.insert(tensor, data.clone());
            environment.insert(value, tensor);
        }
    }

    pub fn block(&mut self, function: &Function, block: &Block, environment: &mut Environment, prefix: &str) {
        let before = self.operations;
        self.operations += block.operations.len().max(1);
        if self.operations > MAX_STEPS {
            if before <= MAX_STEPS {
                self.refuse(function, function.span, TOO_MANY);
            }
            return;
        }
        for operation in &block.operations {
            match operation {
                Operation::Invoke(invoke) => self.invoke(function, invoke, environment, prefix),
                Operation::Constant { value, data } => {
                    self.constant(function, *value, data, environment, prefix);
                }
                Operation::If { arms, otherwise, outputs, span } => {
                    let branching = Branching { arms, otherwise, outputs, span: *span };
                    self.branch(function, &branching, environment, prefix);
                }
                Operation::Cut { span, .. } => self.refuse(function, *span, "data decide an extent"),
                Operation::Loop(looping) => self.unroll(function, looping, environment, prefix),
            }
        }
    }

    fn invoke(&mut self, function: &Function, invoke: &Invoke, environment: &mut Environment, prefix: &str) {
        let Some(callee) = self.model.function(invoke.callee) else { return };
        let inner = |port: &PortTensors| port.values().to_vec();
        let inputs: Vec<ValueId> = callee.inputs.iter().flat_map(|port| inner(&port.tensors)).collect();
        let outputs: Vec<ValueId> = callee.outputs.iter().flat_map(|port| inner(&port.tensors)).collect();
        let arguments = inputs.iter().zip(&invoke.inputs).chain(callee.captures.iter().zip(&invoke.captures));
        let mut tensors = Environment::new();
        for (value, argument) in arguments {
            if let Some(tensor) = environment.get(argument) {
                tensors.insert(*value, *tensor);
            }
        }
        if let Body::Block(_) = callee.body {
            let label = invoke.label.as_deref();
            let label = label.map_or(prefix.to_owned(), |label| match prefix {
                "" => label.to_owned(),
                prefix => format!("{prefix}_{label}"),
            });
            let steps = self.graph.steps.len();
            let inner = self.callee_extents(callee, invoke, &tensors);
            let outer = std::mem::replace(&mut self.extents, inner);
            self.body(callee, &mut tensors, &label);
            self.extents = outer;
            updates(callee, invoke, &tensors, environment);
            for (value, result) in outputs.iter().zip(&invoke.outputs) {
                if let Some(tensor) = tensors.get(value) {
                    environment.insert(*result, *tensor);
                    self.rename(function, *result, *tensor, prefix, steps);
                }
            }
            return;
        }
        for (value, result) in outputs.iter().zip(&invoke.outputs) {
            if let Some(tensor) = self.value(function, *result, prefix) {
                tensors.insert(*value, tensor);
                environment.insert(*result, tensor);
            }
        }
        updates(callee, invoke, &tensors, environment);
        let inputs = inputs.into_iter().chain(callee.captures.iter().copied()).collect();
        self.graph.steps.push(Step { function: invoke.callee, tensors, inputs, outputs, span: invoke.span });
    }

    /// The dynamic extents of a function that is inlined, in terms of the entry's.
    fn callee_extents(
        &self,
        callee: &Function,
        invoke: &Invoke,
        tensors: &Environment,
    ) -> HashMap<String, Extent> {
        let mut extents = HashMap::new();
        let passed = invoke.extents.iter().map(|extent| extent_in_terms_of(extent, &self.extents));
        extents.extend(callee.extents.iter().cloned().zip(passed));
        for value in callee.inputs.iter().flat_map(|port| port.tensors.values()) {
            let argument = tensors.get(value).and_then(|tensor| self.graph.tensors.get(*tensor));
            let (Some(argument), Some(declared)) = (argument, tensor_of(callee, *value)) else { continue };
            for (declared, extent) in declared.shape.iter().zip(&argument.tensor.shape) {
                if let Some(symbol) = symbol(declared) {
                    extents.entry(symbol.to_owned()).or_insert_with(|| extent.clone());
                }
            }
        }
        extents
    }

    /// Gives the result of an inlined operator the name that the caller gave it.
    fn rename(&mut self, function: &Function, value: ValueId, tensor: TensorId, prefix: &str, steps: usize) {
        let computed =
            self.graph.steps.iter().skip(steps).any(|step| step.tensors.values().any(|t| *t == tensor));
        let name = function.values.get(value.0 as usize).and_then(|value| value.name.as_deref());
        if let (true, Some(name)) = (computed, name) {
            let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}_{name}") };
            let is_input =
                self.graph.inputs.contains(&tensor) || self.graph.variables.iter().any(|(v, _)| *v == tensor);
            if !is_input && self.graph.tensors.get(tensor).is_some_and(|known| known.name != name) {
                let fresh = self.graph.names.fresh(&name);
                if let Some(known) = self.graph.tensors.get_mut(tensor) {
                    known.name = fresh;
                }
            }
        }
    }
}

/// Adds the new values of the callee's variables to the environment of the caller.
fn updates(callee: &Function, invoke: &Invoke, inner: &Environment, outer: &mut Environment) {
    for ((_, value), result) in callee.updates.iter().zip(&invoke.updates) {
        outer.extend(inner.get(value).map(|tensor| (*result, *tensor)));
    }
}
