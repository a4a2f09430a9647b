// SPDX-License-Identifier: Apache-2.0
//! Results of composite operators that depend on no data and that the storage types cannot represent.
//!
//! Inside of a composite operator, ints have 64 bits and reals are f32: any constant and any index fits. The values that reach
//! the surrounding graph, directly or combined with each other, must fit the storage types.

use std::collections::HashMap;

use crate::compose::quantization::narrow_ints::{range, too_narrow};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::CONSTANT_VALUE;
use crate::eval::ranges::Interval;
use crate::model::storage_range::{made, unheld};
use crate::model::{
    Block, Body, ConstantData, Expr, Formula, Function, FunctionId, Invoke, Loop, Model, Node, Operation,
    Port, Target, ValueId,
};
use skript_semantics::{Scalar, ScalarKind};

/// The maximum number of analysed functions, once for each set of arguments; beyond it nothing is known.
const CALLS: usize = 1 << 16;
/// The maximum nesting of operators that is analysed.
const DEPTH: usize = 256;

/// What is known about the elements of a tensor.
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
    let mut found = Vec::new();
    if model.numbers.work() == model.numbers {
        return found;
    }
    for function in &model.functions {
        let Body::Block(block) = &function.body else {
            continue;
        };
        block.visit(&mut |operation| {
            if let Operation::Invoke(invoke) = operation {
                found.extend(reader.constant_results(function, invoke));
            }
        });
    }
    found
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
        let say = |(id, decided): (Option<ValueId>, Option<Decided>)| {
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
        given.into_iter().zip(results).filter_map(say).collect()
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
        if depth >= DEPTH || self.known.len() >= CALLS {
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
        let found: Vec<_> = results(function).iter().map(|id| fact(&facts, *id)).collect();
        self.known.insert(key, found.clone());
        found
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

    /// The values that an iteration reads from earlier ones are unknown.
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
        let mut made = made(formula, target).into_iter();
        let own = made.find_map(|s| match s {
            Scalar::Real(x) if unheld(self.model.numbers, s).is_some() => Some(Decided::Unheld(x.to_bits())),
            _ => None,
        });
        own.or_else(|| moved(&target.value, formula, facts))
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

/// From zero to a last int.
fn natural(last: u64) -> Interval {
    Interval { low: 0, high: i64::try_from(last).unwrap_or(i64::MAX) }
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

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers, RealType};

    const PARTS: &str = "operator pass { @input { a: int[n]; } @output { b: int[n]; } @lower { b[i,] = a[i,], i < n; } } \
        operator real_pass { @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; } } \
        operator sum { @input { a: int[n]; c: int[n]; } @output { b: int[n]; } @lower { b[i,] = a[i,] + c[i,], i < n; } } \
        operator third { @input { a: int[n]; } @output { b: int[n]; } @lower { b[i,] = a[i,] / 3, i < n; } } \
        operator upto { @attrib { m: int; } @output { b: int[m]; } @lower { b[i,] = i, i < m; } } ";

    /// The messages for a graph of one composite operator with this body, in i8 and f16.
    fn messages(rest: &str, body: &str) -> Vec<String> {
        let text = format!(
            "{PARTS} operator f {{ @input {{ x: int[3]; r: real[3]; c: bool[]; }} {rest} @compose {{ {body} }} }} \
             graph G {{ @input {{ x: int[3]; r: real[3]; c: bool[]; }} @output {{ y: int[3]; z: real[3]; }} \
             @compose {{ y, z = f(x, r, c); }} }}"
        );
        let options = ComposeOptions {
            numbers: Numbers { real: RealType::F16, int: IntType::I8 },
            ..ComposeOptions::default()
        };
        match composed_with(&text, &options, &Limits::default()) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|d| format!("{}: {}", d.code.id, d.message)).collect(),
        }
    }

    const ADDED: &str = "@constant { k: int[3] = 125; } @output { y: int[3]; z: real[3]; }";
    const LARGE: &str = "@constant { k: int[3] = [300, 44, 1]; } @output { y: int[3]; z: real[3]; }";

    #[test]
    fn what_an_operator_returns_is_checked() {
        let y300 = ["SK3004: `y` may be 300, which does not fit i8"];
        assert_eq!(messages(LARGE, "y = k; w = sum(x, k); z = r;"), y300);
        assert_eq!(messages(LARGE, "y = pass(k); w = sum(x, y); z = r;"), y300);
        let branch = "w = sum(x, k); y = if c then w else k; z = r;";
        assert_eq!(messages(LARGE, branch), y300);
        let steps = "z = r; y = with s: int[3] = x do..(2) { t = sum(s, x); yield k; };";
        assert_eq!(messages(LARGE, steps), y300);
        assert_eq!(
            messages(ADDED, "u = upto{m=3}(); v = sum(u, u); y = sum(v, k); z = r;"),
            ["SK3004: `y` may be 129, which does not fit i8"]
        );
        let real = "@constant { k: real[3] = 1e5; } @output { y: int[3]; z: real[3]; }";
        assert_eq!(
            messages(real, "y = x; w = real_pass(k); z = real_pass(w);"),
            ["SK0750: `z` gets 1e5, which does not fit f16 (at most 6.5504e4 in size); --real=f32 holds it"]
        );
    }

    #[test]
    fn what_stays_inside_or_rests_on_data_is_not() {
        assert!(messages(LARGE, "w = sum(x, k); y = third(w); z = r;").is_empty());
        assert!(messages(LARGE, "w = sum(k, k); v = third(w); y = third(v); z = r;").is_empty());
        assert!(messages(ADDED, "u = upto{m=3}(); y = sum(u, k); z = r;").is_empty());
    }
}
