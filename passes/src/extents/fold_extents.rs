// SPDX-License-Identifier: Apache-2.0
//! `skript-fold-extents`: folds extents that an existing value already has.
//!
//! Each operator clamps the extents of its inputs and queries those of its results. In a chain of operators these
//! clamps nest as deep as the model is long. This pass replaces a redundant clamp by its operand; a repeated
//! computation by the first one, which it hoists out of branches and loops that it does not depend on; and the extent
//! of a tensor by the value that the tensor was created with, also across branches and loops that preserve it.
//!
//! Clamps that may change their operand stay, and so do checks. A clamp from above also stays if the upper bound of its
//! operand is not visible within a few operations, as the memory plan reads it.
//!
//! Guarantees: what replaces a value dominates it.

use super::bounds::{constant, end};
use crate::ir::copy::{arguments, operation_name};
use crate::ir::key;
use crate::ir::ops;
use crate::ir::{ValueKey, types};
use crate::ir::{blocks, erase, inherent, move_before, nested, operations, replace_uses};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::{Pass, op};
use std::collections::HashMap;

/// The pass `skript-fold-extents`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fold-extents",
    summary: "fold extents that an existing value already has",
    run: |root, _, _| {
        fold_extents(root);
        Ok(())
    },
    ..Pass::NONE
};

/// The maximum number of nested loops whose extents are analysed: a loop is read again if a loop-carried tensor does
/// not keep its extents.
const MOST_LOOPS: usize = 4;

/// The maximum number of operations between a value and the clamps that bound it.
const MOST_STEPS: usize = 8;

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

/// The closed interval of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    least: i64,
    most: i64,
    /// The number of operations from which the upper bound is derived.
    steps: usize,
}

impl Interval {
    const ANY: Interval = Interval::of(i64::MIN, i64::MAX);
    const EXTENT: Interval = Interval::of(0, i64::MAX);

    const fn of(least: i64, most: i64) -> Self {
        let steps = 0;
        Interval { least, most, steps }
    }

    /// The same, derived from one more operation than either.
    fn after(self, one: Self, other: Self) -> Self {
        let steps = one.steps.max(other.steps) + 1;
        if steps > MOST_STEPS { Interval::of(self.least, i64::MAX) } else { Interval { steps, ..self } }
    }

    /// Computes each bound from the same bounds of the operands; unbounded on overflow.
    fn ends(self, other: Self, of: impl Fn(i64, i64) -> Option<i64>) -> Self {
        match (of(self.least, other.least), of(self.most, other.most)) {
            (Some(least), Some(most)) => Interval::of(least, most),
            _ => Interval::ANY,
        }
    }
}

/// The values that hold the extents of a tensor.
type Dimensions<'c, 'a> = Vec<Option<Value<'c, 'a>>>;

/// The extents of tensors for which some are known.
type Known<'c, 'a> = Option<Dimensions<'c, 'a>>;

/// The key of a computation: the operation and its attributes, and its operands.
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
    intervals: HashMap<ValueKey, Interval>,
    /// The replacement of a repeated computation.
    names: HashMap<ValueKey, Value<'c, 'a>>,
    dimensions: HashMap<ValueKey, Dimensions<'c, 'a>>,
    /// The operations before which others are hoisted.
    moves: HashMap<usize, OperationRef<'c, 'a>>,
    /// The blocks around the current operation, outer ones first.
    scopes: Vec<Scope<'c, 'a>>,
    /// For each value, the number of blocks around its definition.
    levels: HashMap<ValueKey, usize>,
    /// Computations in order, so that those of a loop can be removed before it is read again.
    journal: Vec<(usize, Computed)>,
    /// Number of loops around the current operation.
    depth: usize,
}

impl<'c: 'a, 'a> Extents<'c, 'a> {
    fn block(&mut self, block: BlockRef<'c, 'a>) {
        let holder = block.parent_operation().map(operation_name);
        let holder = holder.unwrap_or_default();
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
            // A loop is read again if its loop-carried values change their extents.
            self.names.remove(&ValueKey::of(result));
            self.intervals.remove(&ValueKey::of(result));
        }
        self.moves.remove(&key(op));
        let operands: Vec<Value<'c, 'a>> = op.operands().map(|v| self.name(v)).collect();
        let name = operation_name(op);
        match (name.as_str(), operands.as_slice()) {
            (ops::arith::MAXSI | ops::arith::MINSI, [a, b]) => self.clamp(op, &name, *a, *b),
            (ops::tensor::DIM, [tensor, dimension]) => self.dimension(op, *tensor, *dimension),
            (_, [a, b]) if is_index(*a) && is_index(*b) => {
                let interval = arithmetic(&name, self.interval(*a), self.interval(*b));
                if matches!(name.as_str(), ops::arith::ADDI | ops::arith::SUBI | ops::arith::MULI) {
                    self.once(op, name, &operands);
                }
                self.set(op, interval);
            }
            (ops::tensor::EMPTY, sizes) | (ops::tensor::SPLAT, [_, sizes @ ..]) => self.sized(op, sizes),
            (ops::tensor::CAST | ops::tensor::INSERT_SLICE, [source, ..]) => {
                let of = if name == ops::tensor::CAST { Some(source) } else { operands.get(1) };
                let known = of.and_then(|v| self.known(*v));
                self.know_each(op, &[known]);
            }
            (ops::scf::IF, _) => self.branch(op),
            (ops::scf::FOR, [_, _, _, starts @ ..]) => self.looped(op, starts),
            (ops::scf::WHILE, starts) => self.looped(op, starts),
            _ => {
                // Destination style and elementwise: the extents of the destination, or of any operand.
                for block in blocks(op) {
                    self.block(block);
                }
                let outs = operands.len().checked_sub(op.result_count());
                let known = match (writes(&name), outs) {
                    (true, Some(first)) => operands.get(first..).unwrap_or(&[]),
                    _ if op::has_elementwise_trait(&op) => {
                        let tensor = operands.iter().position(|v| v.r#type().is_ranked_tensor());
                        tensor.and_then(|n| operands.get(n..=n)).unwrap_or(&[])
                    }
                    _ => &[],
                };
                let known: Vec<_> = known.iter().map(|v| self.known(*v)).collect();
                self.know_each(op, &known);
            }
        }
    }

    /// The replacement of a value.
    fn name(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        self.names.get(&ValueKey::of(value)).copied().unwrap_or(value)
    }

    fn interval(&self, value: Value<'c, 'a>) -> Interval {
        let known = self.intervals.get(&ValueKey::of(value)).copied();
        known.or_else(|| constant(value).map(|n| Interval::of(n, n))).unwrap_or(Interval::ANY)
    }

    fn set(&mut self, op: OperationRef<'c, 'a>, interval: Interval) {
        for result in op.results().filter(|_| interval != Interval::ANY) {
            self.intervals.insert(ValueKey::of(result), interval);
        }
    }

    /// Replaces a computation without side effects that is a single instruction by the first equal one, which is
    /// hoisted as far out as its operands are.
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
        let operand = |value: &Value<'c, 'a>| match constant(*value) {
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
        let known = self.levels.get(&ValueKey::of(value)).copied();
        known.unwrap_or(usize::MAX)
    }

    /// Removes the computations since a mark.
    fn forget(&mut self, since: usize) {
        for (level, computed) in self.journal.split_off(since) {
            if let Some(scope) = self.scopes.get_mut(level - 1) {
                scope.computed.remove(&computed);
            }
        }
    }

    /// The minimum or maximum of two values, if it is known which of them it is.
    fn clamp(&mut self, op: OperationRef<'c, 'a>, name: &str, a: Value<'c, 'a>, b: Value<'c, 'a>) {
        if !is_index(a) {
            return;
        }
        let (left, right) = (self.interval(a), self.interval(b));
        let (is_left, is_right, interval) = match name {
            ops::arith::MAXSI => {
                let least = left.least.max(right.least);
                let largest = Interval::of(least, left.most.max(right.most));
                let largest = largest.after(left, right);
                (left.least >= right.most, right.least >= left.most, largest)
            }
            _ => {
                // The nearer of two bounds that are the same.
                let least = left.least.min(right.least);
                let bound = std::cmp::min_by_key(left, right, |side| (side.most, side.steps));
                let smallest = Interval::of(least, bound.most).after(bound, bound);
                (left.most <= right.least, right.most <= left.least, smallest)
            }
        };
        match (is_left || a == b, is_right) {
            (true, _) => self.replace(op, a),
            (_, true) => self.replace(op, b),
            _ => {
                self.once(op, name.to_owned(), &[a, b]);
                self.set(op, interval);
            }
        }
    }

    fn dimension(&mut self, op: OperationRef<'c, 'a>, tensor: Value<'c, 'a>, number: Value<'c, 'a>) {
        let position = constant(number).and_then(|n| usize::try_from(n).ok());
        let known = position.and_then(|n| self.known(tensor)?.get(n).copied().flatten());
        if let Some(extent) = known {
            return self.replace(op, extent);
        }
        if position.is_some() {
            self.once(op, ops::tensor::DIM.to_owned(), &[tensor, number]);
        }
        self.set(op, Interval::EXTENT);
    }

    /// Uses `value` where the operation's result was used.
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

    /// A tensor that is created with its dynamic extents.
    fn sized(&mut self, op: OperationRef<'c, 'a>, sizes: &[Value<'c, 'a>]) {
        let mut sizes = sizes.iter().copied();
        for result in op.results() {
            let extents = types::extents(result.r#type()).unwrap_or_default();
            let known =
                extents.into_iter().map(|e| (e == types::DYNAMIC).then(|| sizes.next()).flatten()).collect();
            self.know(result.into(), Some(known));
        }
    }

    /// Both branches yield tensors with the same existing extents.
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

    /// A loop-carried value keeps its extents if each iteration preserves them.
    fn looped(&mut self, op: OperationRef<'c, 'a>, starts: &[Value<'c, 'a>]) {
        let mut known = self.all_known(starts);
        if self.depth >= MOST_LOOPS {
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

    /// Reads a loop's blocks with `known` extents of loop-carried values; returns the extents that each block yields,
    /// and that the last one does.
    fn step(
        &mut self,
        op: OperationRef<'c, 'a>,
        known: &[Known<'c, 'a>],
    ) -> (Vec<Vec<Known<'c, 'a>>>, Vec<Known<'c, 'a>>) {
        let blocks = blocks(op);
        let (mut handed, mut ends) = (known.to_vec(), Vec::new());
        for (number, block) in blocks.iter().enumerate() {
            // An `scf.for` has its index first.
            let inner = arguments(*block);
            let first = inner.len().saturating_sub(handed.len());
            for (argument, known) in inner.iter().skip(first).zip(&handed) {
                self.know(*argument, known.clone());
            }
            self.block(*block);
            let ended = end(*block);
            // Whether an `scf.while` continues.
            let condition = usize::from(number + 1 < blocks.len());
            handed = self.all_known(ended.get(condition..).unwrap_or(&[]));
            ends.push(handed.clone());
        }
        (ends, handed)
    }

    /// Removes values of inner blocks.
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

/// Whether an op's last operands are its destinations, one for each result.
fn writes(name: &str) -> bool {
    matches!(name, ops::skript::FORMULA | ops::skript::INTRINSIC) || name.starts_with("linalg.")
}

/// The interval of a sum, difference, product or quotient. Only sums and products are bounded from above, because the
/// memory plan reads bounds from those.
fn arithmetic(name: &str, a: Interval, b: Interval) -> Interval {
    let both_natural = a.least >= 0 && b.least >= 0;
    let from_below = |all: Interval| Interval::of(all.least, i64::MAX);
    match name {
        ops::arith::ADDI => a.ends(b, i64::checked_add).after(a, b),
        ops::arith::MULI if both_natural => a.ends(b, i64::checked_mul).after(a, b),
        ops::skript::ADD => from_below(a.ends(b, i64::checked_add)),
        ops::skript::MUL if both_natural => from_below(a.ends(b, i64::checked_mul)),
        ops::arith::SUBI | ops::skript::SUB => {
            let taken = Interval::of(b.most, b.least);
            from_below(a.ends(taken, i64::checked_sub))
        }
        ops::arith::FLOORDIVSI if both_natural && b.least > 0 => Interval::EXTENT,
        _ => Interval::ANY,
    }
}

/// The extents that are the same in both.
fn common<'c: 'a, 'a>(mut known: Dimensions<'c, 'a>, other: &Dimensions<'c, 'a>) -> Dimensions<'c, 'a> {
    for (number, extent) in known.iter_mut().enumerate() {
        *extent = extent.filter(|e| other.get(number) == Some(&Some(*e)));
    }
    known
}

/// The extents that are the same in both lists, tensor by tensor.
fn meet<'c: 'a, 'a>(known: &[Known<'c, 'a>], others: &[Known<'c, 'a>]) -> Vec<Known<'c, 'a>> {
    let others = others.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let both = known.iter().zip(others);
    both.map(|(known, other)| Some(common(known.clone()?, other?))).collect()
}
