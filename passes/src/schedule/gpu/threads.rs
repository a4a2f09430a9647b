// SPDX-License-Identifier: Apache-2.0
//! Distributes the iterations of a parallel loop over the threads of a kernel.
//!
//! Iterations are numbered in row-major order, so that consecutive threads access consecutive elements. Thread t of T computes
//! iterations t, t + T, t + 2T, …

use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, attributes, ops, regions};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value};

/// Computes the number of iterations of each dimension of a loop, and their product.
///
/// # Errors
/// The builder's error.
pub(super) fn counts<'c: 'a, 'a>(
    bounds: &[Bounds<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<(Vec<Value<'c, 'a>>, Value<'c, 'a>), Error> {
    let index = Type::index(at.context);
    let mut counts = Vec::new();
    for bounds in bounds {
        if let Some(known) = bounds.iterations() {
            counts.push(at.idx(known));
            continue;
        }
        // A loop whose upper bound is less than its lower bound is empty.
        let mut count = at.maxsi(bounds.upper, bounds.lower);
        if ir::integer(bounds.lower) != Some(0) {
            count = at.subi(count, bounds.lower);
        }
        if ir::integer(bounds.step) != Some(1) {
            count = at.ceildivui(count, bounds.step);
        }
        counts.push(count);
    }
    let mut known = counts.iter().map(|count| ir::integer(*count));
    let known = known.try_fold(1_i64, |all, count| all.checked_mul(count?));
    let all = match known {
        Some(all) => at.idx(all),
        None => {
            let one = at.idx(1);
            let product = |all, count: &Value<'c, 'a>| at.value(ops::arith::MULI, &[all, *count], &[], index);
            counts.iter().try_fold(one, product)?
        }
    };
    Ok((counts, all))
}

/// Replaces an `scf.parallel` without results by a loop over the iterations of one thread, in a kernel with `block` threads per
/// block.
///
/// # Errors
/// The builder's error.
pub(super) fn distribute<'c: 'a, 'a>(op: OperationRef<'c, 'a>, block: u32) -> Result<(), Error> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let index = Type::index(context);
    let bounds = Bounds::all(op);
    let (counts, all) = counts(&bounds, &at)?;
    let dimension = attributes::axis(context, "x");
    let read = |name: &str| at.value(name, &[], &[("dimension", dimension)], index);
    let width = at.idx(i64::from(block));
    let first = at.muli(read(ops::gpu::BLOCK_ID)?, width);
    let first = at.addi(first, read(ops::gpu::THREAD_ID)?);
    let stride = at.muli(read(ops::gpu::GRID_DIM)?, width);
    let (region, inside, arguments) = at.region(&[index]);
    let number = arguments.first().copied().ok_or(Error::OperationBuild)?;
    let body = ir::first_block(op).ok_or(Error::OperationBuild)?;
    let indices = positions(number, &bounds, &counts, &inside);
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

/// Computes the indices of iteration `number`.
pub(super) fn positions<'c: 'a, 'a>(
    number: Value<'c, 'a>,
    bounds: &[Bounds<'c, 'a>],
    counts: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Vec<Value<'c, 'a>> {
    let mut quotient = number;
    let mut positions = Vec::new();
    for (dimension, (count, bounds)) in counts.iter().zip(bounds).enumerate().rev() {
        let position = match dimension {
            0 => quotient,
            _ => {
                let remainder = at.remui(quotient, *count);
                quotient = at.divui(quotient, *count);
                remainder
            }
        };
        let scaled = at.muli(position, bounds.step);
        positions.push(at.addi(bounds.lower, scaled));
    }
    positions.reverse();
    positions
}
