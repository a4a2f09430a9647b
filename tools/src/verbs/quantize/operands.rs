// SPDX-License-Identifier: Apache-2.0
//! Selects the tensors to quantize: the operands of sums of products, in the graph and in the operators that it invokes.

use std::collections::HashMap;

use skript_frontend::model::{
    Body, Function, FunctionId, FunctionRole, Invoke, Model, Operation, PortTensors, TensorType, ValueId,
    VariableId,
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

/// Selects the operands of all sums of products. `@quantize` names the variables of all operators, and other tensors of those that are
/// public, by the qualified name of the operator.
pub fn select(model: &Model, is_public: &dyn Fn(&str) -> bool) -> Selection {
    let mut selector = Selector { model, is_public, known: HashMap::new(), selection: Selection::default() };
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
    let root = format!("{}.", entry.name);
    let updated: Vec<VariableId> = model.updates.iter().map(|(variable, _)| *variable).collect();
    for (id, variable) in entry.captures.iter().zip(&entry.capture_variables) {
        let name = model.variable(*variable).and_then(|variable| variable.name.strip_prefix(&root));
        let name = name.filter(|name| !name.contains(':')).map(str::to_owned);
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
        // Items of packs have no names, and a name that hides another one is ambiguous.
        let count = |name: &str| function.values.iter().filter(|v| v.name.as_deref() == Some(name)).count();
        let written = value.and_then(|v| v.name.as_deref());
        let name = written.filter(|name| !name.contains(':') && count(name) == 1);
        let name = self.labels.as_ref().zip(name).map(|(labels, name)| format!("{labels}{name}"));
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
    is_public: &'m dyn Fn(&str) -> bool,
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
                let is_named = callee.role == FunctionRole::Operator && (self.is_public)(&callee.name);
                let labels = labels.filter(|_| is_named).map(|(outer, label)| format!("{outer}{label}."));
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
                "`@quantize` cannot name an operand; inside of an operator, it names variables, and other tensors if the operator is public"
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

#[cfg(test)]
mod tests {
    use super::*;
    use skript::{ComposeOptions, Document, Limits, Tensor, Weights};

    const OPERATORS: &str = "
        operator product { @input { a: real[m,k]; b: real[k,n]; } @output { c: real[m,n]; }
            @lower { c[i,j] += a[i,l] * b[l,j], i < m, j < n, l < k; } }
        operator grouped { @input { x: real[g,c]; f: real[o,c]; } @output { y: real[o]; }
            @using { m = o / g; }
            @lower { y[p * m + q,] += x[p,r] * f[p * m + q,r], p < g, q < m, r < c; } }
        operator doubled { @input { x: real[m,n]; } @output { y: real[m,n]; } @lower { y[i,j] = x[i,j] * 2.0, i < m, j < n; } }
        public operator inner { @input { x: real[m,2]; } @output { y: real[m,2]; } @variable { w: real[2,2]; }
            @compose { d = doubled(x); y = product(d, w); } }";

    fn composed(graph: &str) -> skript::Model {
        let document = Document::parse("main.sknd", &format!("{OPERATORS}\n{graph}"), &Limits::default());
        assert!(document.problems().is_empty(), "{:?}", document.problems());
        document.compose(&ComposeOptions::default()).unwrap()
    }

    fn selected(model: &skript::Model) -> Selection {
        select(model.ir(), &|name| name == "main.inner")
    }

    fn names(selection: &Selection) -> Vec<(&str, Option<usize>)> {
        selection.tensors.iter().map(|selected| (selected.name.as_str(), selected.channel)).collect()
    }

    #[test]
    fn operands_of_products_have_names_and_channels() {
        let model = composed(
            "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @variable { v: real[2,2]; }
               @compose { t = doubled(x); p = product(t, v); y = inner(p); } }",
        );
        let selection = selected(&model);
        assert_eq!(names(&selection), [("t", None), ("v", Some(1)), ("y.d", None), ("y.w", Some(1))]);
        assert_eq!((selection.products, selection.skipped.len()), (2, 0));
    }

    #[test]
    fn tensors_of_operators_that_are_not_public_have_no_names() {
        let model = composed(
            "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @compose { y = inner(x); } }",
        );
        let selection = select(model.ir(), &|_| false);
        assert_eq!((names(&selection), selection.skipped.len()), (vec![], 1));
    }

    /// By hand: t = 2 x = (2, 4), p = t v = (2, 4), and d = 2 p = (4, 8).
    #[test]
    fn tensors_of_operators_become_outputs() {
        let model = composed(
            "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @variable { v: real[2,2]; }
               @compose { t = doubled(x); p = product(t, v); y = inner(p); } }",
        );
        let selection = selected(&model);
        let places = selection.tensors.iter().filter(|s| s.place.source == Source::Computed);
        let places: Vec<_> = places.map(|s| (s.place.path.clone(), s.place.value)).collect();
        let exposed = model.with_outputs(&places).unwrap();
        let unit = Tensor::from_f32(&[2, 2], &[1.0, 0.0, 0.0, 1.0]).unwrap();
        let weights = ["main.G.v", "main.G.y.w"].map(|name| (name.to_owned(), unit.clone()));
        let x = Tensor::from_f32(&[1, 2], &[1.0, 2.0]).unwrap();
        let outputs = exposed.evaluate(&[("x", &x)], &Weights::arrays(weights)).unwrap();
        let values: Vec<_> = outputs.iter().map(|(name, t)| (name.as_str(), t.as_f32().unwrap())).collect();
        assert_eq!(values, [("t", &[2.0, 4.0][..]), ("d", &[4.0, 8.0][..])]);
    }

    #[test]
    fn channels_of_groups_follow_from_the_subscripts() {
        let model = composed(
            "graph G { @input { x: real[2,3]; } @output { y: real[4]; } @variable { f: real[4,3]; }
               @compose { y = grouped(x, f); } }",
        );
        assert_eq!(names(&selected(&model)), [("x", None), ("f", Some(0))]);
    }

    /// Products of weights alone and elementwise products are not selected.
    #[test]
    fn other_products_are_not_selected() {
        let model = composed(
            "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @variable { v: real[2,2]; }
               @compose { u = product(v, v); y = product(x, u); } }",
        );
        let selection = selected(&model);
        assert_eq!((names(&selection), selection.products), (vec![("x", None), ("u", Some(1))], 1));
        let model = composed(
            "graph G { @input { x: real[1,2]; } @output { y: real[1,2]; } @compose { y = doubled(x); } }",
        );
        assert_eq!(names(&selected(&model)), []);
    }
}
