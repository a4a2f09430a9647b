// SPDX-License-Identifier: Apache-2.0
//! `skript-block-scatters`: computes the positions of a block of elements before it changes the elements.
//!
//! In `counts[a, b] += 1` with positions `a` and `b` that follow from data, two iterations may change the same element, so LLVM does not
//! vectorize the loop, with the arithmetic of the positions in it. One loop computes the positions of 256 iterations in vectors,
//! another one changes the elements in order.
//!
//! Requires: `scf` loops on buffers. Guarantees: elements change in the same order.

use super::buffer_uses::has_own_buffer;
use crate::ir::generic;
use crate::ir::memref::root_of;
use crate::ir::scf::Bounds;
use crate::ir::walk::{named, parents};
use crate::ir::{self, Builder, Copier, ValueKey, ops, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};
use std::collections::HashSet;

/// The pass `skript-block-scatters`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-block-scatters",
    summary: "compute the positions of a block of elements before the elements change",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        for op in named(root, ops::scf::FOR) {
            if let Some(scatter) = Scatter::new(op) {
                scatter.emit(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The number of iterations of a block, whose positions remain in the nearest cache.
const BLOCK: i64 = 256;

/// Minimum number of operations that compute the positions: the positions are stored and read once.
const MIN_OPERATIONS: usize = 6;

/// An innermost loop that changes elements at positions that follow from data.
struct Scatter<'c, 'a> {
    op: OperationRef<'c, 'a>,
    bounds: Bounds<'c, 'a>,
    index: Value<'c, 'a>,
    /// The operations that only read, in order, and the others.
    computed: Vec<OperationRef<'c, 'a>>,
    changing: Vec<OperationRef<'c, 'a>>,
    /// The computed values that the others use.
    values: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Scatter<'c, 'a> {
    /// `None` for a loop that is kept.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let bounds = *Bounds::all(op).first()?;
        let is_long = op.result_count() == 0 && bounds.iterations().is_some_and(|n| n >= BLOCK / 4);
        let block = ir::first_block(op).filter(|_| is_long && ir::integer(bounds.step) == Some(1))?;
        let index = *ir::arguments(block).first()?;
        let mut body = ir::operations(block);
        body.pop();
        let mut stores = body.iter().filter(|op| op::is(*op, ops::memref::STORE));
        let store = *stores.next().filter(|_| stores.next().is_none())?;
        let array = store.operand(1).ok()?;
        if !has_own_buffer(array) || !body.iter().all(|op| is_step(*op)) {
            return None;
        }
        // The operations that depend on the array change it, and those that only they need.
        let mut changed: HashSet<ValueKey> = HashSet::new();
        let (mut computed, mut changing) = (Vec::new(), Vec::new());
        for op in body {
            let reads = op::is(&op, ops::memref::LOAD) && root_of(op.operand(0).ok()?) == root_of(array);
            let depends = op.operands().any(|operand| changed.contains(&ValueKey::of(operand)));
            if reads || depends || op == store {
                changed.extend(op.results().map(ValueKey::of));
                changing.push(op);
            } else {
                computed.push(op);
            }
        }
        let made: HashSet<ValueKey> = computed.iter().flat_map(|op| op.results()).map(ValueKey::of).collect();
        let mut values: Vec<Value> = Vec::new();
        for operand in changing.iter().flat_map(|op| op.operands()) {
            if made.contains(&ValueKey::of(operand)) && !values.contains(&operand) {
                values.push(operand);
            }
        }
        let is_from_data =
            store.operands().skip(2).any(|subscript| follows_data(subscript, index, &computed));
        let arithmetic = computed.iter().filter(|op| !op::is(*op, ops::memref::LOAD)).count();
        let are_scalars = values.iter().all(|value| types::bits(value.r#type()) != Some(1));
        let is_blocked = is_from_data && are_scalars && arithmetic >= MIN_OPERATIONS;
        is_blocked.then_some(Scatter { op, bounds, index, computed, changing, values })
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let arrays = self.arrays(at)?;
        let Bounds { lower, upper, step } = self.bounds;
        let mut outcome = Ok(());
        at.each([lower, upper, at.idx(BLOCK)], |at, first| {
            let count = at.minsi(at.subi(upper, first), at.idx(BLOCK));
            let bounds = [at.idx(0), count, step];
            at.each(bounds, |at, number| {
                let mut copier = Copier::new();
                copier.set(self.index, at.addi(first, number));
                outcome = copier.copy_all(&self.computed, &at);
                for (value, array) in self.values.iter().zip(&arrays) {
                    at.store(copier.get(*value), *array, &[number]);
                }
            });
            at.each(bounds, |at, number| {
                let mut copier = Copier::new();
                copier.set(self.index, at.addi(first, number));
                for (value, array) in self.values.iter().zip(&arrays) {
                    copier.set(*value, at.load(*array, &[number]));
                }
                let copied = copier.copy_all(&self.changing, &at);
                if outcome.is_ok() {
                    outcome = copied;
                }
            });
        });
        outcome
    }

    /// Arrays for the values of a block, which are allocated outside of sequential loops.
    fn arrays(&self, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Error> {
        let is_outside =
            |op: &OperationRef| [ops::func::FUNC, ops::scf::PARALLEL].iter().any(|n| op::is(op, n));
        let outermost = parents(self.op).take_while(|op| !is_outside(op)).last().unwrap_or(self.op);
        let at = &Builder::before(at.context, outermost)?;
        Ok(self.values.iter().map(|value| at.alloca(types::memref(&[BLOCK], value.r#type()))).collect())
    }
}

/// Whether a value is computed from an element at a position that varies along the loop.
fn follows_data<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    index: Value<'c, 'a>,
    computed: &[OperationRef<'c, 'a>],
) -> bool {
    let mut variant: HashSet<ValueKey> = HashSet::from([ValueKey::of(index)]);
    let (mut data, needed) = (HashSet::new(), generic::needed(computed, [value], &[]));
    for op in needed {
        let uses = |known: &HashSet<ValueKey>| op.operands().any(|x| known.contains(&ValueKey::of(x)));
        let is_variant = uses(&variant);
        if is_variant && op::is(&op, ops::memref::LOAD) || uses(&data) {
            data.extend(op.results().map(ValueKey::of));
        }
        if is_variant {
            variant.extend(op.results().map(ValueKey::of));
        }
    }
    data.contains(&ValueKey::of(value))
}

/// Whether an operation may be in a loop that is split.
fn is_step(op: OperationRef) -> bool {
    let name = ir::name(op);
    let is_access = [ops::memref::LOAD, ops::memref::STORE].contains(&name.as_str());
    is_access || op.region_count() == 0 && (name.starts_with("arith.") || name.starts_with("math."))
}
