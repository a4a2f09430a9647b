// SPDX-License-Identifier: Apache-2.0
//! Distributes the iterations of a parallel loop over the threads of a kernel.
//!
//! Iterations are numbered, the last dimension fastest, so that consecutive threads access consecutive elements. Thread t of T
//! computes iterations t, t + T, t + 2T, …

use crate::ir::{self, Builder, ops, regions};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Type, Value};

/// The bounds of a parallel loop.
pub(super) struct Bounds<'c, 'a> {
    lower: Vec<Value<'c, 'a>>,
    upper: Vec<Value<'c, 'a>>,
    step: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Bounds<'c, 'a> {
    /// The bounds of an `scf.parallel` without results.
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Self {
        let operands: Vec<Value> = op.operands().collect();
        let rank = operands.len() / 3;
        let part = |n: usize| operands.iter().skip(n * rank).take(rank).copied().collect();
        Bounds { lower: part(0), upper: part(1), step: part(2) }
    }

    /// Lower bounds, upper bounds and steps.
    pub(super) fn into_parts(self) -> (Vec<Value<'c, 'a>>, Vec<Value<'c, 'a>>, Vec<Value<'c, 'a>>) {
        (self.lower, self.upper, self.step)
    }

    /// The number of iterations of each dimension, and of all.
    ///
    /// # Errors
    /// The builder's error.
    pub(super) fn counts(&self, at: &Builder<'c, 'a>) -> Result<(Vec<Value<'c, 'a>>, Value<'c, 'a>), Error> {
        let index = Type::index(at.context);
        let mut counts = Vec::new();
        for ((lower, upper), step) in self.lower.iter().zip(&self.upper).zip(&self.step) {
            let known = (constant(*lower), constant(*upper), constant(*step));
            if let (Some(lower), Some(upper), Some(step)) = known {
                let extent = upper.saturating_sub(lower).max(0);
                let rest = i64::from(extent % step.max(1) != 0);
                counts.push(at.index(extent / step.max(1) + rest)?);
                continue;
            }
            // Upper bounds below the lower ones are empty loops.
            let mut count = at.value(ops::arith::MAXSI, &[*upper, *lower], &[], index)?;
            if known.0 != Some(0) {
                count = at.value(ops::arith::SUBI, &[count, *lower], &[], index)?;
            }
            if known.2 != Some(1) {
                count = at.value(ops::arith::CEILDIVUI, &[count, *step], &[], index)?;
            }
            counts.push(count);
        }
        let mut known = counts.iter().map(|count| constant(*count));
        let known = known.try_fold(1_i64, |all, count| all.checked_mul(count?));
        let all = match known {
            Some(all) => at.index(all)?,
            None => {
                let one = at.index(1)?;
                counts
                    .iter()
                    .try_fold(one, |all, count| at.value(ops::arith::MULI, &[all, *count], &[], index))?
            }
        };
        Ok((counts, all))
    }
}

/// The value of a constant.
pub(super) fn constant(value: Value) -> Option<i64> {
    ir::arith::Constant::of(value).and_then(ir::arith::Constant::integer)
}

/// Replaces an `scf.parallel` without results, in a kernel of blocks of `block` threads, by loops over the iterations of a thread.
///
/// # Errors
/// The builder's error.
pub(super) fn distribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, block: u32) -> Result<(), Error> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let index = Type::index(context);
    let bounds = Bounds::of(op);
    let (counts, all) = bounds.counts(&at)?;
    let dimension = Attribute::parse(context, "#gpu<dim x>").ok_or(Error::OperationBuild)?;
    let read = |name: &str| at.value(name, &[], &[("dimension", dimension)], index);
    let binary = |at: &Builder<'c, 'a>, name: &str, a, b| at.value(name, &[a, b], &[], index);
    let width = at.index(i64::from(block))?;
    let first = binary(&at, ops::arith::MULI, read(ops::gpu::BLOCK_ID)?, width)?;
    let first = binary(&at, ops::arith::ADDI, first, read(ops::gpu::THREAD_ID)?)?;
    let stride = binary(&at, ops::arith::MULI, read(ops::gpu::GRID_DIM)?, width)?;
    let (region, inside, arguments) = at.region(&[index]);
    let number = arguments.first().copied().ok_or(Error::OperationBuild)?;
    let body = ir::first_block(op).ok_or(Error::OperationBuild)?;
    let indices = positions(number, &bounds, &counts, &inside)?;
    for (old, new) in ir::arguments(body).into_iter().zip(indices) {
        ir::replace_uses(old, new);
    }
    let outer = at.create(ops::scf::FOR, &[first, all, stride], &[], &[], vec![region])?;
    let end = inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    regions::inline(end, &regions::take(op, 0)?)?;
    debug_assert_eq!(outer.region_count(), 1);
    ir::erase(op);
    Ok(())
}

/// The indices of iteration `number`.
pub(super) fn positions<'c: 'a, 'a>(
    number: Value<'c, 'a>,
    bounds: &Bounds<'c, 'a>,
    counts: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let index = Type::index(at.context);
    let mut rest = number;
    let mut found = Vec::new();
    for (dimension, count) in counts.iter().enumerate().rev() {
        let position = match dimension {
            0 => rest,
            _ => {
                let own = at.value(ops::arith::REMUI, &[rest, *count], &[], index)?;
                rest = at.value(ops::arith::DIVUI, &[rest, *count], &[], index)?;
                own
            }
        };
        let bound = |values: &[Value<'c, 'a>]| values.get(dimension).copied();
        let (Some(lower), Some(step)) = (bound(&bounds.lower), bound(&bounds.step)) else {
            continue;
        };
        let scaled = at.value(ops::arith::MULI, &[position, step], &[], index)?;
        found.push(at.value(ops::arith::ADDI, &[lower, scaled], &[], index)?);
    }
    found.reverse();
    Ok(found)
}
