// SPDX-License-Identifier: Apache-2.0
//! `skript-split-scatters`: parallelizes loops that accumulate into elements at computed positions, such as histograms.
//!
//! Two iterations may change the same element, so the iterations cannot run in parallel. If the combination is exact in any order, as for
//! sums of integers, minima and maxima, the loop is split into eight parts. Each part accumulates into a separate array, which is
//! initialized with the identity; then the arrays are combined. The parts do not depend on the number of threads. Loops that sum reals
//! are not changed.
//!
//! Requires: buffers, loops with static bounds. Guarantees: results do not change.

use super::body::Combine;
use crate::ir::copy::with_operands;
use crate::ir::effects::Effects;
use crate::ir::generic::{Access, all_loops, generic};
use crate::ir::memref::{extents, may_overlap, root_of};
use crate::ir::scf::Bounds;
use crate::ir::walk::{named, nested, parent};
use crate::ir::{self, Builder, Copier, attributes, func, ops, scf, types};
use crate::schedule::counts::as_i64;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use skript_symbolic::Affine;

/// The pass `skript-split-scatters`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-scatters",
    summary: "parallelize loops that accumulate integers at computed positions",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        let mut effects = Effects::new(func::functions(root));
        for op in named(root, ops::scf::FOR) {
            if let Some(scatter) = Scatter::from_loop(op, &mut effects) {
                scatter.split(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Number of parts of a loop, independent of the number of threads.
const PARTS: i64 = 8;

/// Minimum number of iterations of a loop that is split: fewer iterations take less time than waking a thread.
const MIN_ITERATIONS: i64 = 1 << 15;

/// Minimum number of iterations per element of the arrays of the parts: filling and combining the arrays costs time.
const MIN_REUSE: i64 = 4;

/// A loop that accumulates values into elements of an array at computed positions.
struct Scatter<'c, 'a> {
    op: OperationRef<'c, 'a>,
    iterations: i64,
    array: Value<'c, 'a>,
    shape: Vec<i64>,
    /// The operation that combines an element and a value.
    combination: OperationRef<'c, 'a>,
    identity: Attribute<'c>,
}

impl<'c: 'a, 'a> Scatter<'c, 'a> {
    /// `None` for other loops, for inner loops, and for loops that would not be faster.
    fn from_loop(op: OperationRef<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Option<Self> {
        let is_outermost = parent(op).is_some_and(|parent| ir::name(parent) == ops::func::FUNC);
        if !is_outermost || op.operand_count() != 3 {
            return None;
        }
        let [bounds] = *Bounds::all(op).as_slice() else {
            return None;
        };
        let iterations = ir::integer(bounds.upper).filter(|_| bounds.are_numbers())?;

        let payload = nested(op);
        let is_plain = |op: &OperationRef| ir::name(*op) != ops::func::CALL;
        if !payload.iter().all(is_plain) {
            return None;
        }
        let mut stores = payload.iter().copied().filter(|inner| op::is(inner, ops::memref::STORE));
        let store = stores.next().filter(|_| stores.next().is_none())?;
        let (value, array) = (ir::operand_at(store, 0)?, ir::operand_at(store, 1)?);
        if effects.written(op).len() != 1 {
            return None;
        }

        let (combination, _) = ir::definition(value)?;
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let element = memref.element();
        let combine = Combine::read(combination)?;
        if combine.rounds(element) {
            return None;
        }
        let [left, right] = ir::both_operands(combination).ok()?;
        let loaded = |value: Value<'c, 'a>| {
            let (load, _) = ir::definition(value)?;
            let is_element = op::is(&load, ops::memref::LOAD)
                && load.operands().eq(store.operands().skip(1))
                && ir::users(value).len() == 1;
            is_element.then_some(load)
        };
        let load = match (loaded(left), loaded(right)) {
            (Some(load), None) | (None, Some(load)) => load,
            _ => return None,
        };
        // No other operation may read the array.
        let is_other = |inner: &&OperationRef<'c, 'a>| **inner != load && **inner != store;
        let mut others = payload.iter().filter(is_other).flat_map(|inner| inner.operands());
        let reads_it = others.any(|operand| {
            MemRefType::try_from(operand.r#type()).is_ok()
                && (root_of(operand) == root_of(array) || may_overlap(operand, array))
        });
        let shape = extents(array.r#type());
        let is_static = shape.iter().all(|extent| *extent >= 0);
        if !is_static || reads_it {
            return None;
        }

        let total = payload.iter().filter(|inner| op::is(*inner, ops::scf::FOR));
        let total = total.fold(iterations, |all, inner| all.saturating_mul(iterations_inside(*inner)));
        let elements = shape.iter().product::<i64>();
        let copied = elements.saturating_mul(PARTS * MIN_REUSE);
        if total < MIN_ITERATIONS || total < copied || iterations < PARTS {
            return None;
        }
        Some(Scatter { op, iterations, array, shape, combination, identity: combine.identity })
    }

    /// Creates the parallel loop over the parts, and combines their arrays.
    fn split(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let element = MemRefType::try_from(self.array.r#type())?.element();
        let shape = [&[PARTS], self.shape.as_slice()].concat();
        let segments = attributes::i32s(at.context, &[0, 0]);
        let segments = [("operandSegmentSizes", segments)];
        let kind = types::memref(&shape, element);
        let partial = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
        let value = [("value", self.identity)];
        let identity = at.value(ops::arith::CONSTANT, &[], &value, element)?;
        at.fill_into(identity, partial)?;

        let size = (self.iterations + PARTS - 1) / PARTS;
        let operations = as_i64(nested(self.op).len());
        scf::parallel(at, &[PARTS], size.saturating_mul(operations), |at, part| {
            let part = *part.first().ok_or(Error::OperationBuild)?;
            let from = at.muli(part, at.idx(size));
            let to = at.addi(from, at.idx(size));
            let end = at.idx(self.iterations);
            let from = at.minsi(from, end);
            let to = at.minsi(to, end);
            self.copy_to(partial, part, [from, to], at)
        })?;
        self.combine(partial, at)
    }

    /// Copies the loop for one part, which accumulates into its slice of the array `partial`.
    fn copy_to(
        &self,
        partial: Value<'c, 'a>,
        part: Value<'c, 'a>,
        [from, to]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let bounds = [from, to, self.op.operand(2)?];
        let block = ir::builder::only_block(self.op.region(0)?)?;
        let variable = *ir::arguments(block).first().ok_or(Error::OperationBuild)?;
        let (region, inner, arguments) = at.region(&[variable.r#type()]);
        let mut copier = Copier::from_pairs(&[variable], &arguments);
        for op in ir::operations(block) {
            let inner = inner.with_location(op.location());
            copier.copy(op, &inner, &mut |copier, op, to| {
                let position = match ir::name(op).as_str() {
                    ops::memref::LOAD => 0,
                    ops::memref::STORE => 1,
                    _ => return Ok(false),
                };
                if op.operand(position)? != self.array {
                    return Ok(false);
                }
                let operands = op.operands().map(|value| copier.get(value));
                let mut operands: Vec<Value> = operands.collect();
                operands.splice(position..=position, [partial, part]);
                let results: Vec<_> = op.results().map(|result| result.r#type()).collect();
                let new = to.create(&ir::name(op), &operands, &[], &results, Vec::new())?;
                for (old, new) in op.results().zip(new.results()) {
                    copier.set(old, new.into());
                }
                Ok(true)
            })?;
        }
        at.create(ops::scf::FOR, &bounds, &[], &[], vec![region])?;
        Ok(())
    }

    /// Combines the arrays of the parts into the array of the original loop.
    fn combine(&self, partial: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let rank = self.shape.len();
        let parts = Access(partial, all_loops(rank + 1));
        let sums = Access(self.array, (1..=rank).map(Affine::index).collect());
        let reduced: Vec<bool> = (0..=rank).map(|l| l == 0).collect();
        generic(at, &[parts], &[sums], &reduced, |inner, elements| {
            let [part, all] = elements else {
                return Err(Error::OperationBuild);
            };
            let combined = with_operands(self.combination, &[*all, *part], inner)?;
            Ok(vec![combined.result(0)?.into()])
        })?;
        Ok(())
    }
}

/// Returns the number of iterations of an inner loop; 1 if it is unknown.
fn iterations_inside(op: OperationRef) -> i64 {
    let bounds = Bounds::all(op);
    bounds.first().and_then(Bounds::iterations).unwrap_or(1).max(1)
}
