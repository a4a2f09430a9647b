// SPDX-License-Identifier: Apache-2.0
//! Results of composite operators that depend on no data and that the storage types cannot represent.
//!
//! Inside of a composite operator, ints have 64 bits and reals are f32: any constant and any index fits. The values that reach
//! the surrounding graph, directly or combined with each other, must fit the storage types.

use std::collections::HashMap;

use crate::compose::quantization::narrow_ints::{range, too_narrow};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::CONSTANT_VALUE;
use crate::eval::ranges::{Interval, signed};
use crate::model::storage_range::{computed_reals, unheld};
use crate::model::{
    Block, Body, ConstantData, Expr, Formula, Function, FunctionId, Invoke, Loop, Model, Node, Operation,
    Port, Target, ValueId,
};
use skript_semantics::{Scalar, ScalarKind};

/// The maximum number of analysed functions, once for each set of arguments; beyond it nothing is known.
const MAX_CALLS: usize = 1 << 16;
/// The maximum nesting of operators that is analysed.
const MAX_DEPTH: usize = 256;

/// Facts about the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Decided {
    /// The interval of the ints that do not depend on data, and whether these are all elements.
    Ints { range: Interval, is_all: bool },
    /// The bits of one of the reals that the storage type cannot represent.
    Unheld(u64),
}

impl Decided {
    /// The range of a tensor whose elements all are known.
    pub(crate) fn all(self) -> Option<Interval> {
        match self {
            Decided::Ints { range, is_all: true } => Some(range),
            _ => None,
        }
    }

    /// The range of the elements that are known.
    pub(crate) fn some(self) -> Option<Interval> {
        match self {
            Decided::Ints { range, .. } => Some(range),
            Decided::Unheld(_) => None,
        }
    }
}

/// Combines the knowledge about elements from two sources.
pub(crate) fn either(a: Option<Decided>, b: Option<Decided>) -> Option<Decided> {
    let part = |d| match d {
        Decided::Ints { range, .. } => Decided::Ints { range, is_all: false },
        real => real,
    };
    match (a, b) {
        (Some(Decided::Ints { range: a, is_all: x }), Some(Decided::Ints { range: b, is_all: y })) => {
            Some(Decided::Ints { range: a.hull(b), is_all: x && y })
        }
        (a, b) => a.or(b).map(part),
    }
}

/// Knowledge by [`ValueId`]; no entry means unknown.
pub(crate) type Facts = [Option<Decided>];

pub(crate) fn fact(facts: &Facts, id: ValueId) -> Option<Decided> {
    facts.get(id.0 as usize).copied().flatten()
}

/// Reports every tensor that an operator in compute types returns to a caller in storage types and that does not fit.
///
/// `positions`: the largest index that an intrinsic may return.
pub fn misfits(model: &Model, positions: &dyn Fn(&Function) -> Option<u64>) -> Vec<Diagnostic> {
    let mut reader = Reader { model, positions, known: HashMap::new() };
    let mut diagnostics = Vec::new();
    if model.numbers.work() == model.numbers {
        return diagnostics;
    }
    for function in &model.functions {
        let Body::Block(block) = &function.body else {
            continue;
        };
        block.visit(&mut |operation| {
            if let Operation::Invoke(invoke) = operation {
                diagnostics.extend(reader.constant_results(function, invoke));
            }
        });
    }
    diagnostics
}

/// A function, and the knowledge about its inputs.
type Call = (FunctionId, Vec<Option<Decided>>);

struct Reader<'m> {
    model: &'m Model,
    positions: &'m dyn Fn(&Function) -> Option<u64>,
    /// The knowledge about the outputs and updates of calls.
    known: HashMap<Call, Vec<Option<Decided>>>,
}

impl<'m> Reader<'m> {
    fn constant_results(&mut self, function: &Function, invoke: &Invoke) -> Vec<Diagnostic> {
        let is_wide = |f: &Function, id: ValueId| {
            let value = f.values.get(id.0 as usize);
            value.is_some_and(|v| v.wide)
        };
        let Some(callee) = self.model.function(invoke.callee) else {
            return Vec::new();
        };
        let given = invoke.outputs.iter().chain(&invoke.updates).copied();
        let crosses = |(inner, outer)| is_wide(callee, inner) && !is_wide(function, outer);
        let pairs = results(callee).into_iter().zip(given);
        let given: Vec<_> = pairs.map(|p| crosses(p).then_some(p.1)).collect();
        if given.iter().all(Option::is_none) {
            return Vec::new();
        }
        let results = self.results(invoke.callee, Vec::new(), 0);
        let numbers = self.model.numbers;
        let diagnostic = |(id, decided): (Option<ValueId>, Option<Decided>)| {
            let value = function.values.get(id?.0 as usize)?;
            let name = value.name.as_deref();
            match decided? {
                Decided::Ints { range, .. } => {
                    let what = name.map_or("an int".to_owned(), |n| format!("`{n}`"));
                    let mut ends = [range.high, range.low].into_iter();
                    ends.find_map(|end| too_narrow(numbers.int, &what, end.into(), invoke.span))
                }
                Decided::Unheld(bits) => {
                    let (value, refusal) = unheld(numbers, Scalar::Real(f64::from_bits(bits)))?;
                    let name = name.map_or("an operator".to_owned(), |n| format!("`{n}`"));
                    let message = format!("{name} gets {value}, {refusal}");
                    Some(Diagnostic::error(&CONSTANT_VALUE, invoke.span, message))
                }
            }
        };
        given.into_iter().zip(results).filter_map(diagnostic).collect()
    }

    /// The outputs and updates of a function, from the knowledge about its inputs.
    fn results(
        &mut self,
        id: FunctionId,
        inputs: Vec<Option<Decided>>,
        depth: usize,
    ) -> Vec<Option<Decided>> {
        let key = (id, inputs);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let Some(function) = self.model.function(id) else {
            return Vec::new();
        };
        if depth >= MAX_DEPTH || self.known.len() >= MAX_CALLS {
            return Vec::new();
        }
        let mut facts = vec![None; function.values.len()];
        for (id, decided) in tensors(&function.inputs).into_iter().zip(&key.1) {
            learn(&mut facts, id, *decided);
        }
        for (id, data) in &function.constants {
            learn(&mut facts, *id, self.constant(data));
        }
        match &function.body {
            Body::Formulas(formulas) => self.formulas(formulas, &mut facts),
            Body::Block(block) => self.block(block, &mut facts, depth),
            Body::Intrinsic => {
                let last = (self.positions)(function);
                for id in tensors(&function.outputs) {
                    let value = function.values.get(id.0 as usize);
                    let is_int = value.is_some_and(|v| v.tensor.kind == ScalarKind::Int);
                    let range = last.filter(|_| is_int).map(natural);
                    let decided = range.map(|range| Decided::Ints { range, is_all: true });
                    learn(&mut facts, id, decided);
                }
            }
        }
        let decided: Vec<_> = results(function).iter().map(|id| fact(&facts, *id)).collect();
        self.known.insert(key, decided.clone());
        decided
    }

    fn constant(&self, data: &ConstantData) -> Option<Decided> {
        let numbers = self.model.numbers;
        if data.kind() == ScalarKind::Real {
            let mut scalars = data.scalars();
            return scalars.find_map(|s| match s {
                Scalar::Real(x) if unheld(numbers, s).is_some() => Some(Decided::Unheld(x.to_bits())),
                _ => None,
            });
        }
        ints(data)
    }

    fn block(&mut self, block: &'m Block, facts: &mut Facts, depth: usize) {
        for operation in &block.operations {
            match operation {
                Operation::Invoke(invoke) => {
                    let inputs = invoke.inputs.iter().map(|id| fact(facts, *id)).collect();
                    let results = self.results(invoke.callee, inputs, depth + 1);
                    let given = invoke.outputs.iter().chain(&invoke.updates);
                    for (id, decided) in given.zip(results) {
                        learn(facts, *id, decided);
                    }
                }
                Operation::Constant { value, data } => learn(facts, *value, self.constant(data)),
                Operation::If { arms, otherwise, outputs, .. } => {
                    for block in operation.blocks() {
                        self.block(block, facts, depth);
                    }
                    for (position, id) in outputs.iter().enumerate() {
                        let branches = arms.iter().map(|a| &a.consequent).chain([otherwise]);
                        let of = |b: &Block| fact(facts, *b.results.get(position)?);
                        let decided = branches.map(of).reduce(either).flatten();
                        learn(facts, *id, decided);
                    }
                }
                Operation::Loop(l) => self.iterate(l, facts, depth),
                Operation::Cut { whole, output, .. } => {
                    let decided = fact(facts, *whole);
                    learn(facts, *output, decided);
                }
            }
        }
    }

    /// The values that an iteration reads from earlier iterations are unknown.
    fn iterate(&mut self, l: &'m Loop, facts: &mut Facts, depth: usize) {
        for (item, pack) in &l.scans {
            let items = pack.iter().map(|id| fact(facts, *id));
            let decided = items.reduce(either).flatten();
            learn(facts, *item, decided);
        }
        if let (Some(index), Some(steps)) = (l.index, l.static_count.or(l.capacity)) {
            let range = natural(steps.saturating_sub(1));
            learn(facts, index, Some(Decided::Ints { range, is_all: true }));
        }
        let blocks = [l.before.as_ref(), Some(&l.body), l.after.as_ref()];
        for block in blocks.into_iter().flatten() {
            self.block(block, facts, depth);
        }
        for (position, carried) in l.carried.iter().enumerate() {
            let last = l.body.results.get(position).and_then(|id| fact(facts, *id));
            let decided = either(fact(facts, carried.init), last);
            learn(facts, carried.result, decided);
        }
        let collected = l.body.results.iter().skip(l.carried.len());
        for (item, outputs) in collected.zip(&l.scan_outputs) {
            let decided = fact(facts, *item);
            for id in outputs {
                learn(facts, *id, decided);
            }
        }
    }

    fn formulas(&self, formulas: &[Formula], facts: &mut Facts) {
        let mut written: HashMap<ValueId, Option<Decided>> = HashMap::new();
        for formula in formulas {
            for target in &formula.targets {
                let decided = match target.value.kind {
                    ScalarKind::Int => range(formulas, (formula, target), facts),
                    ScalarKind::Real => self.real(formula, target, facts),
                    ScalarKind::Bool => None,
                };
                let sum = written.entry(target.output);
                sum.and_modify(|d| *d = either(*d, decided)).or_insert(decided);
            }
        }
        for (id, decided) in written {
            learn(facts, id, decided);
        }
    }

    /// A real that the formula produces from constants, or copies, and that the storage type cannot represent.
    fn real(&self, formula: &Formula, target: &Target, facts: &Facts) -> Option<Decided> {
        let mut reals = computed_reals(formula, target).into_iter();
        let computed = reals.find_map(|s| match s {
            Scalar::Real(x) if unheld(self.model.numbers, s).is_some() => Some(Decided::Unheld(x.to_bits())),
            _ => None,
        });
        computed.or_else(|| moved(&target.value, formula, facts))
    }
}

/// The knowledge about a tensor whose elements an expression computes.
fn moved(expr: &Expr, formula: &Formula, facts: &Facts) -> Option<Decided> {
    match &expr.node {
        Node::Access { tensor, .. } => fact(facts, *tensor),
        Node::Local(position) => moved(&formula.locals.get(*position)?.value, formula, facts),
        Node::Select { then, otherwise, .. } => {
            moved(then, formula, facts).or_else(|| moved(otherwise, formula, facts))
        }
        _ => None,
    }
}

/// The knowledge about the int constants of a function.
pub(crate) fn constants(function: &Function) -> Vec<Option<Decided>> {
    let mut facts = vec![None; function.values.len()];
    for (id, data) in &function.constants {
        learn(&mut facts, *id, ints(data));
    }
    facts
}

/// The interval from zero to `last`.
fn natural(last: u64) -> Interval {
    Interval { low: 0, high: signed(last) }
}

fn ints(data: &ConstantData) -> Option<Decided> {
    let ints = data.scalars().filter_map(|s| match s {
        Scalar::Int(i) => Some(Interval::point(i)),
        _ => None,
    });
    let range = ints.reduce(Interval::hull)?;
    let is_all = true;
    Some(Decided::Ints { range, is_all })
}

fn learn(facts: &mut Facts, id: ValueId, decided: Option<Decided>) {
    if let Some(location) = facts.get_mut(id.0 as usize) {
        *location = decided;
    }
}

fn tensors(ports: &[Port]) -> Vec<ValueId> {
    ports.iter().flat_map(|p| p.tensors.values()).copied().collect()
}

/// The outputs and updates of a function for an invocation.
fn results(function: &Function) -> Vec<ValueId> {
    let updates = function.updates.iter().map(|(_, new)| *new);
    tensors(&function.outputs).into_iter().chain(updates).collect()
}
