// SPDX-License-Identifier: Apache-2.0
//! Selects the tensors to quantize: the operands of sums of products, in the graph and in the operators that it invokes.

use std::collections::HashMap;

use skript_frontend::model::{
    Body, Function, FunctionId, Invoke, Model, Operation, PortTensors, TensorType, ValueId, VariableId,
};
use skript_frontend::source::Span;
use skript_semantics::ScalarKind;

use super::products::{self, sums_of_products};

/// A tensor of the graph, or of an operator that the graph invokes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The positions of the invocations around the tensor, from the block of the graph inwards.
    pub path: Vec<usize>,
    pub value: ValueId,
    /// The name in `@quantize`; `None` for a tensor that has none, such as a nested invocation.
    pub name: Option<String>,
    pub tensor: TensorType,
    pub span: Span,
    pub source: Source,
}

/// The origin of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Variable(VariableId),
    /// Computed from variables and constants alone.
    Weights,
    /// An input of the graph, by its position.
    Input(usize),
    /// Computed from inputs.
    Computed,
}

impl Source {
    /// Whether all calls have the same elements.
    pub fn is_constant(self) -> bool {
        matches!(self, Source::Variable(_) | Source::Weights)
    }
}

/// A tensor to quantize.
#[derive(Clone, Debug)]
pub struct Selected {
    pub place: Place,
    pub name: String,
    /// The dimension of output channels, if the tensor is constant.
    pub channel: Option<usize>,
}

/// The tensors to quantize, and the sums of products that read them.
#[derive(Debug, Default)]
pub struct Selection {
    pub tensors: Vec<Selected>,
    /// The operators whose products are quantized.
    pub products: usize,
    /// The names of operators with a product of tensors that cannot be named, and the reason.
    pub skipped: Vec<Skipped>,
}

/// A sum of products that remains in reals.
#[derive(Debug)]
pub struct Skipped {
    pub operator: String,
    pub span: Span,
    pub reason: &'static str,
}

/// Selects the operands of all sums of products.
pub fn select(model: &Model) -> Selection {
    let mut selector = Selector { model, known: HashMap::new(), selection: Selection::default() };
    let Some(entry) = model.function(model.entry) else {
        return selector.selection;
    };
    let mut frame = Frame { path: Vec::new(), labels: Some(String::new()), places: HashMap::new() };
    let inputs = entry.inputs.iter().flat_map(|port| port.tensors.values().iter().map(move |id| (port, id)));
    for (position, (port, id)) in inputs.enumerate() {
        let is_single = matches!(port.tensors, PortTensors::Single(_));
        let name = is_single.then(|| port.name.clone());
        frame.define(entry, *id, name, Source::Input(position));
    }
    let updated: Vec<VariableId> = model.updates.iter().map(|(variable, _)| *variable).collect();
    for (id, variable) in entry.captures.iter().zip(&entry.capture_variables) {
        let name = model.variable(*variable).map(|v| v.name.clone()).filter(|name| !name.contains(':'));
        let is_updated = updated.contains(variable);
        let source = if is_updated { Source::Computed } else { Source::Variable(*variable) };
        frame.define(entry, *id, name, source);
    }
    selector.visit(entry, frame);
    selector.selection
}

/// The tensors of one invocation.
struct Frame {
    path: Vec<usize>,
    /// The labels of the invocations, each followed by a dot; `None` if one of them has no label.
    labels: Option<String>,
    places: HashMap<ValueId, Place>,
}

impl Frame {
    fn define(&mut self, function: &Function, id: ValueId, name: Option<String>, source: Source) {
        if let Some(value) = function.values.get(id.0 as usize) {
            let (path, tensor) = (self.path.clone(), value.tensor.clone());
            self.places.insert(id, Place { path, value: id, name, tensor, span: value.span, source });
        }
    }

    /// Defines a tensor that the function computes.
    fn compute(&mut self, function: &Function, id: ValueId, source: Source) {
        let value = function.values.get(id.0 as usize);
        let own = value.and_then(|v| v.name.as_deref()).filter(|name| !name.contains(':'));
        let same = |own: &str| function.values.iter().filter(|v| v.name.as_deref() == Some(own)).count();
        let own = own.filter(|own| same(own) == 1);
        let name = self.labels.as_ref().zip(own).map(|(labels, own)| format!("{labels}{own}"));
        self.define(function, id, name, source);
    }

    fn source<'v>(&self, read: impl IntoIterator<Item = &'v ValueId>) -> Source {
        let mut sources = read.into_iter().map(|id| self.places.get(id).map(|place| place.source));
        let is_constant = sources.all(|source| source.is_some_and(Source::is_constant));
        if is_constant { Source::Weights } else { Source::Computed }
    }
}

struct Selector<'m> {
    model: &'m Model,
    /// The sums of products of functions with formulas.
    known: HashMap<FunctionId, Vec<[products::Operand; 2]>>,
    selection: Selection,
}

impl<'m> Selector<'m> {
    fn visit(&mut self, function: &'m Function, mut frame: Frame) {
        let Body::Block(block) = &function.body else {
            return;
        };
        for (id, _) in &function.constants {
            frame.compute(function, *id, Source::Weights);
        }
        for (position, operation) in block.operations.iter().enumerate() {
            match operation {
                Operation::Invoke(invoke) => {
                    self.invoke(function, &frame, position, invoke);
                    let source = frame.source(invoke.inputs.iter().chain(&invoke.captures));
                    for id in &invoke.outputs {
                        frame.compute(function, *id, source);
                    }
                }
                Operation::Constant { value, .. } => frame.compute(function, *value, Source::Weights),
                Operation::Cut { output, .. } => frame.compute(function, *output, Source::Computed),
                Operation::If { outputs, .. } => {
                    outputs.iter().for_each(|id| frame.compute(function, *id, Source::Computed));
                }
                Operation::Loop(l) => {
                    let results = l.carried.iter().map(|carried| carried.result);
                    for id in results.chain(l.scan_outputs.iter().flatten().copied()) {
                        frame.compute(function, id, Source::Computed);
                    }
                }
            }
        }
    }

    fn invoke(&mut self, caller: &'m Function, frame: &Frame, position: usize, invoke: &'m Invoke) {
        let Some(callee) = self.model.function(invoke.callee) else {
            return;
        };
        let formal = callee.inputs.iter().flat_map(|port| port.tensors.values()).chain(&callee.captures);
        let actual = invoke.inputs.iter().chain(&invoke.captures);
        let passed = formal
            .zip(actual)
            .filter_map(|(formal, actual)| Some((*formal, frame.places.get(actual)?.clone())));
        let places: HashMap<ValueId, Place> = passed.collect();
        match &callee.body {
            Body::Formulas(_) => {
                let sums = self.known.entry(invoke.callee).or_insert_with(|| sums_of_products(callee));
                for operands in sums.clone() {
                    self.add(callee, invoke, &places, operands);
                }
            }
            Body::Block(_) => {
                let labels = frame.labels.as_ref().zip(label(caller, invoke));
                let labels = labels.map(|(outer, label)| format!("{outer}{label}."));
                let path = frame.path.iter().copied().chain([position]).collect();
                self.visit(callee, Frame { path, labels, places });
            }
            Body::Intrinsic => {}
        }
    }

    /// Selects both operands, or none.
    fn add(
        &mut self,
        callee: &Function,
        invoke: &Invoke,
        places: &HashMap<ValueId, Place>,
        operands: [products::Operand; 2],
    ) {
        let [first, second] = operands.map(|operand| places.get(&operand.tensor));
        let reason = match (first, second) {
            (Some(first), Some(second)) if first.source.is_constant() && second.source.is_constant() => {
                return;
            }
            (Some(first), Some(second)) => {
                let both = [first, second];
                if both.iter().any(|place| place.tensor.kind != ScalarKind::Real) {
                    return;
                }
                if both.iter().all(|place| place.name.is_some()) {
                    for (place, operand) in both.into_iter().zip(operands) {
                        self.selection.insert(place, operand.channel);
                    }
                    self.selection.products += 1;
                    return;
                }
                "an operand has no name that `@quantize` accepts"
            }
            _ => "an operand is neither an input nor a variable of the operator",
        };
        self.selection.skipped.push(Skipped { operator: callee.name.clone(), span: invoke.span, reason });
    }
}

impl Selection {
    fn insert(&mut self, place: &Place, channel: Option<usize>) {
        let Some(name) = place.name.clone() else {
            return;
        };
        if !self.tensors.iter().any(|selected| selected.name == name) {
            let channel = channel.filter(|_| place.source.is_constant());
            self.tensors.push(Selected { place: place.clone(), name, channel });
        }
    }
}

/// The label of an invocation, if no other invocation of the function has it.
fn label<'i>(caller: &Function, invoke: &'i Invoke) -> Option<&'i str> {
    let label = invoke.label.as_deref()?;
    let Body::Block(block) = &caller.body else {
        return None;
    };
    let mut count = 0;
    block.visit(&mut |operation| {
        let is_same = matches!(operation, Operation::Invoke(other) if other.label.as_deref() == Some(label));
        count += usize::from(is_same);
    });
    (count == 1).then_some(label)
}
