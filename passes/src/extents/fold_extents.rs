// SPDX-License-Identifier: Apache-2.0
//! `skript-fold-extents`: replaces extents by existing values that are equal.
//!
//! Each operator clamps the extents of its inputs and queries the extents of its results. In a long model, these
//! clamps are deeply nested. This pass replaces a redundant clamp by its operand; a repeated
//! computation by the first one, which it hoists out of branches and loops that it does not depend on; and the extent
//! of a tensor by the value that the tensor was created with, also across branches and loops that preserve it.
//!
//! Clamps that may change their operand remain, and checks too. An upper clamp also remains if the memory plan cannot find the
//! upper bound of its operand within a few operations.
//!
//! Guarantees: the replacement of a value dominates it.

use crate::facts::{Definition, definition, end, interval};
use crate::ir;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::key;
use crate::ir::ops;
use crate::ir::{ValueKey, types};
use crate::ir::{blocks, erase, inherent, move_before, nested, operations, replace_uses};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::Pass;
use skript_symbolic::Interval;
use std::collections::HashMap;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-fold-extents",
    summary: "replace extents by existing values that are equal",
    run: |root, _, _| {
        fold_extents(root);
        Ok(())
    },
    ..Pass::NONE
};

/// The maximum number of nested loops whose extents are analyzed, because a loop is analyzed again if the extents of a loop-carried
/// tensor change.
const MAX_LOOPS: usize = 4;

/// The maximum number of operations between a value and the clamps that bound it.
const MAX_STEPS: usize = 8;

/// The values of an extent, without an upper bound that the memory plan could use.
const EXTENT: Interval = Interval { low: 0, high: i64::MAX };

/// Rewrites all operations in the regions of an operation.
fn fold_extents<'c: 'a, 'a>(root: OperationRef<'c, 'a>) {
    let mut extents = Extents::default();
    for block in blocks(root) {
        extents.block(block);
    }
    let mut named = Vec::new();
    for op in nested(root) {
        let result = op.results().next().map(Value::from);
        let name = result.and_then(|r| Some((r, *extents.names.get(&ValueKey::of(r))?)));
        if let Some((result, name)) = name {
            named.push((op, result, name));
        } else if let Some(index) = extents.moves.get(&key(op)) {
            move_before(op, *index);
        }
    }
    for (_, result, name) in &named {
        replace_uses(*result, *name);
    }
    for (op, ..) in named {
        erase(op);
    }
}

/// The interval of an integer, and the number of operations that its upper bound depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounded {
    range: Interval,
    steps: usize,
}

impl Bounded {
    const ANY: Bounded = Bounded::new(Interval::ALL);

    const fn new(range: Interval) -> Self {
        Bounded { range, steps: 0 }
    }
}

/// The values that hold the extents of a tensor.
type Dimensions<'c, 'a> = Vec<Option<Value<'c, 'a>>>;

/// The extents of a tensor, if some are known.
type Known<'c, 'a> = Option<Dimensions<'c, 'a>>;

/// The key of a computation: the operation with its attributes, and the operands.
type Computed = (String, Vec<Operand>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operand {
    Constant(i64),
    Value(ValueKey),
}

/// A block during the traversal.
struct Scope<'c, 'a> {
    /// Its current operation.
    at: Option<OperationRef<'c, 'a>>,
    /// Whether it belongs to a branch or loop, out of which independent operations can be hoisted.
    is_open: bool,
    computed: HashMap<Computed, Value<'c, 'a>>,
}

#[derive(Default)]
struct Extents<'c, 'a> {
    intervals: HashMap<ValueKey, Bounded>,
    /// The replacement of a repeated computation.
    names: HashMap<ValueKey, Value<'c, 'a>>,
    dimensions: HashMap<ValueKey, Dimensions<'c, 'a>>,
    /// The operations before which others are hoisted.
    moves: HashMap<usize, OperationRef<'c, 'a>>,
    /// The blocks around the current operation, outer ones first.
    scopes: Vec<Scope<'c, 'a>>,
    /// For each value, the number of blocks around its definition.
    levels: HashMap<ValueKey, usize>,
    /// Computations in order. The computations of a loop are removed before it is analyzed again.
    journal: Vec<(usize, Computed)>,
    /// Number of loops around the current operation.
    depth: usize,
}

impl<'c: 'a, 'a> Extents<'c, 'a> {
    fn block(&mut self, block: BlockRef<'c, 'a>) {
        let holder = block.parent_operation().map(operation_name).unwrap_or_default();
        self.scopes.push(Scope {
            at: None,
            is_open: matches!(holder.as_str(), ops::scf::IF | ops::scf::FOR | ops::scf::WHILE),
            computed: HashMap::new(),
        });
        let level = self.scopes.len();
        for argument in arguments(block) {
            self.levels.insert(ValueKey::of(argument), level);
        }
        for op in operations(block) {
            if let Some(scope) = self.scopes.last_mut() {
                scope.at = Some(op);
            }
            for result in op.results() {
                self.levels.insert(ValueKey::of(result), level);
            }
            self.operation(op);
        }
        self.scopes.pop();
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) {
        for result in op.results() {
            // Remove the results of a previous analysis of a loop.
            self.names.remove(&ValueKey::of(result));
            self.intervals.remove(&ValueKey::of(result));
            let extents = self.defined(result.into());
            self.know(result.into(), extents);
        }
        self.moves.remove(&key(op));
        let operands: Vec<Value<'c, 'a>> = op.operands().map(|v| self.name(v)).collect();
        let name = operation_name(op);
        match (name.as_str(), operands.as_slice()) {
            (ops::arith::MAXSI | ops::arith::MINSI, [a, b]) => self.clamp(op, &name, *a, *b),
            (ops::tensor::DIM, [tensor, dimension]) => self.dimension(op, *tensor, *dimension),
            (_, [a, b]) if is_index(*a) && is_index(*b) => {
                let interval = self.computed(op, *a, *b);
                if matches!(name.as_str(), ops::arith::ADDI | ops::arith::SUBI | ops::arith::MULI) {
                    self.once(op, name, &operands);
                }
                self.set(op, interval);
            }
            (ops::scf::IF, _) => self.branch(op),
            (ops::scf::FOR, [_, _, _, starts @ ..]) => self.looped(op, starts),
            (ops::scf::WHILE, starts) => self.looped(op, starts),
            _ => {
                for block in blocks(op) {
                    self.block(block);
                }
            }
        }
    }

    /// The replacement of a value.
    fn name(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        self.names.get(&ValueKey::of(value)).copied().unwrap_or(value)
    }

    fn interval(&self, value: Value<'c, 'a>) -> Bounded {
        let known = self.intervals.get(&ValueKey::of(value)).copied();
        let constant = || ir::integer(value).map(|number| Bounded::new(Interval::point(number)));
        known.or_else(constant).unwrap_or(Bounded::ANY)
    }

    /// The interval of an operation on two indices. Only sums, products, minima and maxima of `arith` are bounded from above, because the
    /// memory plan reads bounds from those.
    fn computed(&self, op: OperationRef<'c, 'a>, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Bounded {
        let sides = [self.interval(a), self.interval(b)];
        let Some(range) = interval::of_result(op, |n| Some(sides.get(n)?.range)) else {
            return Bounded::ANY;
        };
        let steps = match operation_name(op).as_str() {
            // If both bounds are equal, the one that depends on fewer operations.
            ops::arith::MINSI => {
                sides.into_iter().map(|side| (side.range.high, side.steps)).min().map(|(_, steps)| steps)
            }
            ops::arith::MAXSI | ops::arith::ADDI | ops::arith::MULI => {
                sides.iter().map(|side| side.steps).max()
            }
            _ => None,
        };
        let visible = steps
            .map(|steps| Bounded { range, steps: steps + 1 })
            .filter(|bounded| bounded.steps <= MAX_STEPS);
        visible.unwrap_or(Bounded::new(Interval { high: i64::MAX, ..range }))
    }

    fn set(&mut self, op: OperationRef<'c, 'a>, interval: Bounded) {
        for result in op.results().filter(|_| interval != Bounded::ANY) {
            self.intervals.insert(ValueKey::of(result), interval);
        }
    }

    /// Replaces a computation without side effects by the first equal one, which is hoisted out of all loops and branches that its
    /// operands allow. The computation must be a single instruction.
    fn once(&mut self, op: OperationRef<'c, 'a>, name: String, operands: &[Value<'c, 'a>]) {
        let Some(result) = op.results().next().map(Value::from) else {
            return;
        };
        let levels = operands.iter().map(|v| self.level(*v));
        let needed = levels.max().unwrap_or(0);
        let here = self.scopes.len();
        let mut home = here;
        let is_open = |scope: Option<&Scope>| scope.is_some_and(|scope| scope.is_open);
        while home > needed && is_open(self.scopes.get(home - 1)) {
            home -= 1;
        }
        let attributes = match op.attribute_count() {
            0 => String::new(),
            _ => inherent(op).unwrap_or_default(),
        };
        let operand = |value: &Value<'c, 'a>| match ir::integer(*value) {
            Some(number) => Operand::Constant(number),
            None => Operand::Value(ValueKey::of(*value)),
        };
        let computed = (name + &attributes, operands.iter().map(operand).collect());
        let Some(scope) = home.checked_sub(1).and_then(|n| self.scopes.get_mut(n)) else {
            return;
        };
        if let Some(first) = scope.computed.get(&computed).copied() {
            return self.replace(op, first);
        }
        scope.computed.insert(computed.clone(), result);
        if let Some(index) = scope.at.filter(|_| home < here) {
            self.moves.insert(key(op), index);
        }
        self.levels.insert(ValueKey::of(result), home);
        self.journal.push((home, computed));
    }

    /// The number of blocks around the definition of a value.
    fn level(&self, value: Value<'c, 'a>) -> usize {
        self.levels.get(&ValueKey::of(value)).copied().unwrap_or(usize::MAX)
    }

    /// Removes the computations since a mark.
    fn forget(&mut self, since: usize) {
        for (level, computed) in self.journal.split_off(since) {
            if let Some(scope) = self.scopes.get_mut(level - 1) {
                scope.computed.remove(&computed);
            }
        }
    }

    /// Replaces the minimum or maximum of two values by one of them, if it is known which one.
    fn clamp(&mut self, op: OperationRef<'c, 'a>, name: &str, a: Value<'c, 'a>, b: Value<'c, 'a>) {
        if !is_index(a) {
            return;
        }
        let (left, right) = (self.interval(a).range, self.interval(b).range);
        let (is_left, is_right) = match name {
            ops::arith::MAXSI => (left.low >= right.high, right.low >= left.high),
            _ => (left.high <= right.low, right.high <= left.low),
        };
        match (is_left || a == b, is_right) {
            (true, _) => self.replace(op, a),
            (_, true) => self.replace(op, b),
            _ => {
                let interval = self.computed(op, a, b);
                self.once(op, name.to_owned(), &[a, b]);
                self.set(op, interval);
            }
        }
    }

    fn dimension(&mut self, op: OperationRef<'c, 'a>, tensor: Value<'c, 'a>, number: Value<'c, 'a>) {
        let position = ir::integer(number).and_then(|n| usize::try_from(n).ok());
        let known = position.and_then(|n| self.known(tensor)?.get(n).copied().flatten());
        if let Some(extent) = known {
            return self.replace(op, extent);
        }
        if position.is_some() {
            self.once(op, ops::tensor::DIM.to_owned(), &[tensor, number]);
        }
        self.set(op, Bounded::new(EXTENT));
    }

    /// Replaces the results of an operation by `value`.
    fn replace(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) {
        for result in op.results() {
            self.names.insert(ValueKey::of(result), value);
        }
    }

    fn known(&self, tensor: Value<'c, 'a>) -> Known<'c, 'a> {
        self.dimensions.get(&ValueKey::of(tensor)).cloned()
    }

    fn know(&mut self, tensor: Value<'c, 'a>, known: Known<'c, 'a>) {
        self.dimensions.remove(&ValueKey::of(tensor));
        if let Some(known) = known {
            self.dimensions.insert(ValueKey::of(tensor), known);
        }
    }

    fn know_each(&mut self, op: OperationRef<'c, 'a>, known: &[Known<'c, 'a>]) {
        for (result, known) in op.results().zip(known) {
            self.know(result.into(), known.clone());
        }
    }

    /// The extents of a tensor according to its definition.
    fn defined(&self, tensor: Value<'c, 'a>) -> Known<'c, 'a> {
        let rank = types::extents(tensor.r#type())?.len();
        let extent = |dimension| match definition(tensor, dimension) {
            Definition::Value(extent) => Some(self.name(extent)),
            Definition::Same(other, dimension) => {
                self.dimensions.get(&ValueKey::of(other))?.get(dimension).copied().flatten()
            }
            Definition::Fixed(_) | Definition::Product(..) | Definition::Unknown => None,
        };
        Some((0..rank).map(extent).collect())
    }

    /// Analyzes a branch. Results have the extents on which both branches agree.
    fn branch(&mut self, op: OperationRef<'c, 'a>) {
        let mut arms = Vec::new();
        for block in blocks(op) {
            self.block(block);
            arms.push(self.all_known(&end(block)));
        }
        let known: Vec<_> = (0..op.result_count())
            .map(|n| {
                let mut arms = arms.iter().map(|arm| arm.get(n).cloned().flatten());
                let first = arms.next().flatten()?;
                let common = arms.try_fold(first, |known, arm| Some(common(known, &arm?)))?;
                Some(self.outside(common))
            })
            .collect();
        self.know_each(op, &known);
    }

    /// Analyzes a loop. Loop-carried values have their initial extents if each iteration preserves them.
    fn looped(&mut self, op: OperationRef<'c, 'a>, starts: &[Value<'c, 'a>]) {
        let mut known = self.all_known(starts);
        if self.depth >= MAX_LOOPS {
            known.fill(None);
        }
        self.depth += 1;
        let since = self.journal.len();
        let (mut ends, handed) = self.step(op, &known);
        let kept = meet(&known, &handed);
        if kept != known {
            self.forget(since);
            let (again, handed) = self.step(op, &kept);
            (known, ends) = (kept, again);
            if meet(&known, &handed) != known {
                self.forget(since);
                known.fill(None);
                (ends, _) = self.step(op, &known);
            }
        }
        self.depth -= 1;
        // The results of an `scf.while` are the operands of its condition.
        let results = if ends.len() == 2 { ends.swap_remove(0) } else { known };
        let results: Vec<_> =
            results.into_iter().map(|known| known.map(|known| self.outside(known))).collect();
        self.know_each(op, &results);
    }

    /// Analyzes the blocks of a loop with `known` extents of loop-carried values. Returns the extents that each block yields,
    /// and those that the last block yields.
    fn step(
        &mut self,
        op: OperationRef<'c, 'a>,
        known: &[Known<'c, 'a>],
    ) -> (Vec<Vec<Known<'c, 'a>>>, Vec<Known<'c, 'a>>) {
        let blocks = blocks(op);
        let (mut handed, mut ends) = (known.to_vec(), Vec::new());
        for (number, block) in blocks.iter().enumerate() {
            // The first argument of an `scf.for` is its induction variable.
            let inner = arguments(*block);
            let first = inner.len().saturating_sub(handed.len());
            for (argument, known) in inner.iter().skip(first).zip(&handed) {
                self.know(*argument, known.clone());
            }
            self.block(*block);
            let ended = end(*block);
            // The first operand of `scf.condition` is the condition.
            let condition = usize::from(number + 1 < blocks.len());
            handed = self.all_known(ended.get(condition..).unwrap_or(&[]));
            ends.push(handed.clone());
        }
        (ends, handed)
    }

    /// Removes extents that are defined in inner blocks.
    fn outside(&self, mut known: Dimensions<'c, 'a>) -> Dimensions<'c, 'a> {
        for extent in &mut known {
            *extent = extent.filter(|e| self.level(*e) <= self.scopes.len());
        }
        known
    }

    fn all_known(&self, tensors: &[Value<'c, 'a>]) -> Vec<Known<'c, 'a>> {
        tensors.iter().map(|v| self.known(self.name(*v))).collect()
    }
}

fn is_index(value: Value) -> bool {
    value.r#type().is_index()
}

/// The extents that are equal in both.
fn common<'c: 'a, 'a>(mut known: Dimensions<'c, 'a>, other: &Dimensions<'c, 'a>) -> Dimensions<'c, 'a> {
    for (number, extent) in known.iter_mut().enumerate() {
        *extent = extent.filter(|e| other.get(number) == Some(&Some(*e)));
    }
    known
}

/// For each tensor, the extents that are equal in both lists.
fn meet<'c: 'a, 'a>(known: &[Known<'c, 'a>], others: &[Known<'c, 'a>]) -> Vec<Known<'c, 'a>> {
    let padded = others.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    known.iter().zip(padded).map(|(known, other)| Some(common(known.clone()?, other?))).collect()
}
