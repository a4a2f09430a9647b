// SPDX-License-Identifier: Apache-2.0
//! Converts a model to a picture.

use crate::definitions::Definitions;
use crate::interface::Interface;
use crate::layout;
use crate::picture::{
    Constant, Edge, ITERATIONS, Inside, Instance, Kind, Node, Origin, Picture, Scope, Tensor, Variable,
};
use crate::reads;
use crate::text::{self, Digest, Marked, TensorType};
use skript_frontend::model::{
    Block, Body, ConstantData, Function, FunctionId, Invoke, Loop, Model, Operation, PortTensors, ValueId,
};
use skript_frontend::program::Program;
use skript_frontend::source::Span;
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl Picture {
    /// The picture of a model that was composed from a program, without histograms and profile.
    pub fn new(model: &Model, program: &Program) -> Self {
        let mut collector =
            Collector { model, program, definitions: Definitions::new(program), scopes: Vec::new() };
        let functions = model.functions.iter().zip(model.flops_by_function()).zip(0..);
        let instances = functions.map(|((function, flops), id)| {
            let is_entry = model.entry == FunctionId(id);
            collector.instance(function, is_entry, flops)
        });
        let instances: Vec<Instance> = instances.collect();
        let variables = model.variables.iter().map(|variable| Variable {
            name: variable.name.clone(),
            r#type: text::tensor(&variable.tensor, variable.numbers).to_string(),
            histogram: None,
        });
        let cost = model.cost();
        Picture {
            name: model.function(model.entry).map_or_else(String::new, |f| f.name.clone()),
            entry: model.entry.0 as usize,
            instances,
            variables: variables.collect(),
            cost: format!("{}{}", cost.precision.prefix(), cost.flops),
            profile: None,
            differences: Vec::new(),
            interface: Interface::new(model, program, &mut |name| collector.definitions.number(name)),
            definitions: collector.definitions.texts,
            scopes: collector.scopes,
        }
    }
}

struct Collector<'m> {
    model: &'m Model,
    program: &'m Program,
    definitions: Definitions<'m>,
    scopes: Vec<Scope>,
}

/// A graph under construction.
struct Sketch<'m> {
    function: &'m Function,
    /// The names of its tensors.
    names: HashSet<&'m str>,
    scope: Scope,
    /// The box that computes a tensor, and the number of the result.
    makers: BTreeMap<ValueId, (usize, usize)>,
    /// The roles of the tensors that the loop around a block defines.
    roles: BTreeMap<ValueId, String>,
    /// The origins of captures and constants, which have no boxes.
    origins: BTreeMap<ValueId, Origin>,
}

impl<'m> Collector<'m> {
    fn instance(&mut self, function: &'m Function, is_entry: bool, flops: u64) -> Instance {
        let types = function.types.iter().map(|(name, kind)| (name.clone(), kind.name().to_owned()));
        let values: Vec<(String, String)> =
            function.attributes.iter().map(|(name, value)| (name.clone(), text::attribute(value))).collect();
        let digests = function.attributes.iter().zip(&values).map(|((_, v), (_, text))| Digest::new(v, text));
        let digests = function.types.iter().map(|_| Digest::default()).chain(digests).collect();
        let scope = match &function.body {
            Body::Block(block) => Some(self.body(function, block, is_entry)),
            Body::Formulas(_) | Body::Intrinsic => None,
        };
        let captures = function.captures.iter();
        Instance {
            name: function.name.clone(),
            definition: self.definitions.number(function.span),
            attributes: types.chain(values).collect(),
            digests,
            scope,
            captures: captures.map(|value| name(function, *value)).collect(),
            flops,
        }
    }

    /// The graph of a function's own block.
    fn body(&mut self, function: &'m Function, block: &'m Block, is_entry: bool) -> usize {
        let mut sketch = Sketch::new(function);
        for port in &function.inputs {
            for value in port.tensors.values() {
                let title = match &port.tensors {
                    PortTensors::Pack(_) => name(function, *value),
                    _ => port.name.clone(),
                };
                self.source(&mut sketch, *value, title, port.span);
            }
        }
        self.operations(&mut sketch, block);
        for port in &function.outputs {
            let several = port.tensors.values().len() > 1;
            for (value, number) in port.tensors.values().iter().zip(1..) {
                let title = if several { format!("{}:{number}", port.name) } else { port.name.clone() };
                self.sink(&mut sketch, *value, title, port.span);
            }
        }
        let updates: Vec<(String, ValueId)> = if is_entry {
            let named = self.model.updates.iter().map(|(variable, value)| {
                let variable = self.model.variable(*variable);
                (variable.map_or_else(String::new, |v| v.name.clone()), *value)
            });
            named.collect()
        } else {
            let named = function.updates.iter().map(|(capture, value)| {
                let capture = function.captures.get(*capture);
                (capture.map_or_else(String::new, |c| name(function, *c)), *value)
            });
            named.collect()
        };
        for (name, value) in updates {
            self.sink(&mut sketch, value, format!("{name} ← "), function.span);
        }
        self.finish(sketch)
    }

    /// The graph of a block of a branch or a loop.
    fn block(
        &mut self,
        function: &'m Function,
        block: &'m Block,
        roles: &BTreeMap<ValueId, String>,
    ) -> usize {
        let mut sketch = Sketch { roles: roles.clone(), ..Sketch::new(function) };
        self.operations(&mut sketch, block);
        for (value, number) in block.results.iter().zip(1..) {
            let title = match name(function, *value) {
                empty if empty.is_empty() => format!("result {number}"),
                name => name,
            };
            let span = value_of(function, *value).map_or(function.span, |v| v.span);
            self.sink(&mut sketch, *value, title, span);
        }
        self.finish(sketch)
    }

    fn finish(&mut self, sketch: Sketch<'m>) -> usize {
        let mut scope = sketch.scope;
        layout::arrange(&mut scope);
        self.scopes.push(scope);
        self.scopes.len() - 1
    }

    fn operations(&mut self, sketch: &mut Sketch<'m>, block: &'m Block) {
        for operation in &block.operations {
            if let Operation::Constant { value, data } = operation {
                sketch.origins.insert(*value, constant(data));
                continue;
            }
            let function = sketch.function;
            let mut node = match operation {
                Operation::Invoke(invoke) => self.invoke(sketch, invoke),
                Operation::Loop(looping) => self.looping(function, looping),
                Operation::If { arms, otherwise, span, .. } => {
                    let mut inside = Vec::new();
                    for (arm, number) in arms.iter().zip(1..) {
                        let mut add = |title: &str, block| {
                            let number = if arms.len() > 1 { format!(" {number}") } else { String::new() };
                            let scope = self.block(function, block, &BTreeMap::new());
                            inside.push(Inside { title: format!("{title}{number}"), scope });
                        };
                        add("condition", &arm.condition);
                        add("then", &arm.consequent);
                    }
                    let scope = self.block(function, otherwise, &BTreeMap::new());
                    inside.push(Inside { title: "else".to_owned(), scope });
                    self.control("if", *span, inside)
                }
                Operation::Cut { dimension, span, .. } => {
                    self.control(&format!("first of dimension {dimension}"), *span, Vec::new())
                }
                Operation::Constant { .. } => continue,
            };
            let (read, operands) = reads::operation_reads(operation);
            node.operands = operands;
            let computed = reads::results(operation);
            self.describe(sketch, &mut node, &read, &computed);
            let number = self.append(sketch, node, &read);
            let results = computed.into_iter().enumerate();
            sketch.makers.extend(results.map(|(result, value)| (value, (number, result))));
        }
    }

    fn invoke(&self, sketch: &Sketch<'m>, invoke: &Invoke) -> Node {
        let callee = self.model.function(invoke.callee);
        let captures = invoke.captures.iter().map(|value| match sketch.origins.get(value) {
            Some(Origin::Capture(position)) => Some(*position),
            _ => None,
        });
        let title = callee.map_or_else(String::new, |f| f.name.clone());
        Node {
            label: invoke.label.clone(),
            is_label_implicit: invoke.label.as_deref().is_some_and(|label| sketch.names.contains(label)),
            instance: Some(invoke.callee.0 as usize),
            captures: captures.collect(),
            unseen: callee.map_or_else(Vec::new, |callee| self.passed(callee, invoke)),
            kind: Kind::Operator,
            ..self.node(title, invoke.span)
        }
    }

    /// The dynamic extents that an invocation passes, or the expressions of a function that the composer adds.
    fn passed(&self, callee: &Function, invoke: &Invoke) -> Vec<(&'static str, Marked)> {
        let extents: Vec<String> = invoke.extents.iter().map(text::extent).collect();
        let is_added = !callee.name.contains('.');
        let (part, values) = if is_added {
            let symbol = |name: &str| {
                let passed = callee.extents.iter().position(|own| own == name).and_then(|at| extents.get(at));
                passed.map_or_else(|| name.to_owned(), |extent| in_parentheses(extent))
            };
            ("value", callee.expressions(self.model, &symbol))
        } else {
            ("dynamic extents", extents)
        };
        if values.is_empty() { Vec::new() } else { vec![(part, Marked::new(values.join(", ")))] }
    }

    fn looping(&mut self, function: &'m Function, looping: &'m Loop) -> Node {
        let blocks = [
            ("while", looping.before.as_ref()),
            ("body", Some(&looping.body)),
            ("while, after the body", looping.after.as_ref()),
        ];
        let roles = reads::roles(looping);
        let mut inside = Vec::new();
        for (title, block) in blocks {
            if let Some(block) = block {
                let scope = self.block(function, block, &roles);
                inside.push(Inside { title: title.to_owned(), scope });
            }
        }
        let title = match looping.static_count {
            Some(count) => format!("loop, at most {count} times"),
            None => "loop".to_owned(),
        };
        let limits = [
            (ITERATIONS, looping.static_count),
            ("length of results", looping.capacity),
            ("maximum number of iterations", looping.max_steps),
        ];
        let exist = limits.into_iter().filter_map(|(name, limit)| Some((name, limit?)));
        let unseen = exist.map(|(name, limit)| (name, Marked::new(limit.to_string()))).collect();
        Node { unseen, ..self.control(&title, looping.span, inside) }
    }

    fn control(&self, title: &str, span: Span, inside: Vec<Inside>) -> Node {
        Node { kind: Kind::Control, inside, ..self.node(title.to_owned(), span) }
    }

    fn node(&self, title: String, span: Span) -> Node {
        let sources = &self.program.sources;
        Node {
            kind: Kind::Input,
            title,
            label: None,
            is_label_implicit: false,
            change: None,
            note: text::comment(span, sources),
            instance: None,
            location: text::location(span, sources),
            call: text::call(span, sources),
            inputs: Vec::new(),
            operands: 0,
            role: None,
            outputs: Vec::new(),
            captures: Vec::new(),
            unseen: Vec::new(),
            inside: Vec::new(),
            width: 0,
            height: 0,
            layer: 0,
            x: 0,
        }
    }

    fn tensor(&self, function: &Function, value: ValueId, port: &str) -> Tensor {
        let local = name(function, value);
        let name = match (port.is_empty(), local.is_empty() || local == port) {
            (true, _) => local,
            (false, true) => port.to_owned(),
            (false, false) => format!("{port} = {local}"),
        };
        let structure = value_of(function, value)
            .map_or_else(TensorType::default, |v| text::tensor(&v.tensor, function.numbers_of(v)));
        let r#type = value_of(function, value).map_or_else(String::new, |_| structure.to_string());
        Tensor { name, r#type, origin: None, structure, maker: None }
    }

    /// Sets the inputs and outputs of a box.
    fn describe(&self, sketch: &Sketch<'m>, node: &mut Node, read: &[ValueId], computed: &[ValueId]) {
        let callee = node.instance.and_then(|at| self.model.functions.get(at));
        let ports = |ports: fn(&Function) -> &Vec<skript_frontend::model::Port>| {
            let ports = callee.map(ports).into_iter().flatten();
            let names = ports.flat_map(|port| {
                let count = port.tensors.values().len();
                (0..count).map(move |_| port.name.as_str())
            });
            names.collect::<Vec<_>>()
        };
        let (inputs, outputs) = (ports(|f| &f.inputs), ports(|f| &f.outputs));
        let described = |values: &[ValueId], ports: &[&str]| -> Vec<Tensor> {
            let named = values.iter().zip(ports.iter().copied().chain(std::iter::repeat("")));
            let tensors = named.map(|(value, port)| Tensor {
                origin: sketch.origins.get(value).cloned(),
                ..self.tensor(sketch.function, *value, port)
            });
            tensors.collect()
        };
        node.inputs = described(read, &inputs);
        node.outputs = described(computed, &outputs);
    }

    /// Adds a box, boxes for the tensors that it reads from outside of the graph, and edges from the boxes that compute its inputs.
    /// Returns the number of the box.
    fn append(&self, sketch: &mut Sketch<'m>, mut node: Node, read: &[ValueId]) -> usize {
        let mut seen = BTreeSet::new();
        let mut edges = Vec::new();
        for value in read {
            if sketch.origins.contains_key(value) || !seen.insert(*value) {
                continue;
            }
            let from = match sketch.makers.get(value) {
                Some((maker, _)) => *maker,
                None => {
                    let title = match name(sketch.function, *value) {
                        empty if empty.is_empty() => "item".to_owned(),
                        name => name,
                    };
                    let span = value_of(sketch.function, *value).map_or(sketch.function.span, |v| v.span);
                    self.source(sketch, *value, title, span)
                }
            };
            let tensor = self.tensor(sketch.function, *value, "");
            edges.push(Edge { from, to: 0, name: tensor.name, r#type: tensor.r#type, via: Vec::new() });
        }
        for (tensor, value) in node.inputs.iter_mut().zip(read) {
            tensor.maker = sketch.makers.get(value).copied();
        }
        let number = sketch.scope.nodes.len();
        sketch.scope.edges.extend(edges.into_iter().map(|edge| Edge { to: number, ..edge }));
        sketch.scope.nodes.push(node);
        number
    }

    /// Adds a box for a tensor from outside of the graph. Returns the number of the box.
    fn source(&self, sketch: &mut Sketch<'m>, value: ValueId, title: String, span: Span) -> usize {
        let number = sketch.scope.nodes.len();
        let outputs = vec![self.tensor(sketch.function, value, "")];
        let role = sketch.roles.get(&value).cloned();
        sketch.scope.nodes.push(Node { outputs, role, ..self.node(title, span) });
        sketch.makers.insert(value, (number, 0));
        number
    }

    /// Adds a box for a result of the graph.
    fn sink(&self, sketch: &mut Sketch<'m>, value: ValueId, title: String, span: Span) {
        let mut node = Node { kind: Kind::Output, operands: 1, ..self.node(title, span) };
        node.inputs = vec![Tensor {
            origin: sketch.origins.get(&value).cloned(),
            ..self.tensor(sketch.function, value, "")
        }];
        self.append(sketch, node, &[value]);
    }
}

impl<'m> Sketch<'m> {
    fn new(function: &'m Function) -> Self {
        let captures =
            function.captures.iter().enumerate().map(|(position, value)| (*value, Origin::Capture(position)));
        let constants = function.constants.iter().map(|(value, data)| (*value, constant(data)));
        Sketch {
            function,
            names: function.values.iter().filter_map(|value| value.name.as_deref()).collect(),
            scope: Scope::default(),
            makers: BTreeMap::new(),
            roles: BTreeMap::new(),
            origins: captures.chain(constants).collect(),
        }
    }
}

/// An expression as an operand of another one.
fn in_parentheses(expression: &str) -> String {
    if expression.contains(' ') { format!("({expression})") } else { expression.to_owned() }
}

fn constant(data: &ConstantData) -> Origin {
    let text = text::constant(data);
    let digest = Digest::new(data, &text);
    Origin::Constant(Constant { text, digest })
}

fn value_of(function: &Function, value: ValueId) -> Option<&skript_frontend::model::Value> {
    function.values.get(value.0 as usize)
}

fn name(function: &Function, value: ValueId) -> String {
    let value = value_of(function, value);
    value.and_then(|v| v.name.clone()).unwrap_or_default()
}
