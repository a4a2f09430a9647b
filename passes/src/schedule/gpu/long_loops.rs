// SPDX-License-Identifier: Apache-2.0
//! `skript-split-loops`: splits loops that are too long for one thread into several kernels, for drivers that terminate long loops.
//!
//! A sequential loop that would be a kernel of one thread, or that is the body of a parallel loop, becomes a loop of the host over
//! chunks of its iterations. Each chunk is a kernel, which reads the arrays that the previous chunk wrote. In a chunk, a thread executes
//! at most `iterations` iterations of all of its loops together. If a single iteration exceeds the limit, the loop remains on the host,
//! and its inner loops are split. Loops with loop-carried values are not split.
//!
//! Requires: loops instead of linalg operations. Guarantees: every element is computed by the same operations in the same order.

use super::memory_space::HostMemory;
use super::sequences::{Role, Roles};
use crate::ir::attribute_names::SPLIT;
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, attributes, definition, ops, uses};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Type, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};

/// The pass `skript-split-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-loops",
    summary: "split loops that are too long for one thread into several kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Scf],
    options: &[PassOption {
        name: "iterations",
        summary: "maximum number of loop iterations that a thread executes in one kernel",
        default: "32768",
    }],
    run: |root, options, _| {
        let max_iterations: i64 = options.get("iterations")?;
        if max_iterations < 1 {
            return Err(PassError::from("a thread executes at least 1 iteration"));
        }
        let entry = ir::entry(root)?;
        let memory = HostMemory::new(entry);
        let roles = Roles { memory: &memory };
        split_in(ir::body(entry)?, &roles, max_iterations)
    },
};

/// Splits the loops of a block of the host.
fn split_in<'c: 'a, 'a>(
    block: BlockRef<'c, 'a>,
    roles: &Roles,
    max_iterations: i64,
) -> Result<(), PassError> {
    for op in ir::operations(block) {
        match roles.role(op) {
            Role::Writes if ir::name(op) == ops::scf::FOR => alone(op, roles, max_iterations)?,
            // The host evaluates the condition of a branch, or of a branch whose loops become loops of the host.
            Role::Decides | Role::Writes => {
                for inner in ir::blocks(op) {
                    split_in(inner, roles, max_iterations)?;
                }
            }
            Role::Parallel if !op.has_attribute(SPLIT) => {
                if let Some(inner) = only_loop(op)
                    && let Some(Length::Parts(part)) = Length::from_loop(inner, max_iterations)
                {
                    parts(inner, op, part)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Splits a loop of the host that would be a kernel of one thread.
fn alone<'c: 'a, 'a>(op: OperationRef<'c, 'a>, roles: &Roles, max_iterations: i64) -> Result<(), PassError> {
    match Length::from_loop(op, max_iterations) {
        Some(Length::Parts(part)) => {
            let around = within_parallel(op)?;
            parts(op, around, part)
        }
        Some(Length::Whole) if op.result_count() == 0 => {
            for inner in ir::blocks(op) {
                split_in(inner, roles, max_iterations)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The way in which a long loop is split.
enum Length {
    /// Into chunks; the field is the range of indices of a chunk.
    Parts(i64),
    /// By splitting its inner loops, because a single iteration is too long.
    Whole,
}

impl Length {
    /// `None` for short loops, loops with loop-carried values, and loops whose iterations have an unknown length.
    fn from_loop(op: OperationRef, max_iterations: i64) -> Option<Length> {
        let step = ir::integer(ir::operand_at(op, 2)?).filter(|step| *step > 0)?;
        let each = 1 + body(op)?;
        let count = Bounds::all(op).first().copied().and_then(length);
        let all = count.map(|count| count.saturating_mul(each));
        if op.result_count() > 0 || all.is_some_and(|all| all <= max_iterations) {
            return None;
        }
        Some(match max_iterations / each {
            0 => Length::Whole,
            part => Length::Parts(part.checked_mul(step)?),
        })
    }
}

/// Returns the only loop in the body of a parallel loop, if all other operations of the body are pure.
fn only_loop<'c: 'a, 'a>(parallel: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    if ir::name(parallel) != ops::scf::PARALLEL {
        return None;
    }
    let mut operations = ir::operations(ir::first_block(parallel)?);
    operations.pop();
    let mut loops = operations.iter().filter(|op| ir::name(**op) == ops::scf::FOR);
    let inner = *loops.next()?;
    let mut others = operations.iter().filter(|op| **op != inner);
    if !others.all(|op| op.region_count() == 0 && op::is_pure(op)) {
        return None;
    }
    // The host computes the bounds of chunks, so the bounds of the loop must not depend on the parallel loop.
    let indices = ir::arguments(ir::first_block(parallel)?);
    let is_outside = |value: Value<'c, 'a>| match definition(value) {
        Some((op, _)) => ir::integer(value).is_some() || op.parent_operation() != Some(parallel),
        None => !indices.contains(&value),
    };
    inner.operands().take(3).all(is_outside).then_some(inner)
}

/// Moves an operation into a new parallel loop with one iteration. Returns the parallel loop.
fn within_parallel<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?.with_location(op.location());
    let (region, inside, _) = at.region(&[Type::index(context)]);
    let end = inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
    ir::scf::close_parallel(&at, &[at.idx(1)], 1, region)?;
    uses::move_before(op, end);
    ir::walk::parent(op).ok_or_else(|| PassError::at(op, "is in no loop"))
}

/// Executes `around`, in which `op` is the only loop, once for each chunk of the indices of `op`.
fn parts<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    around: OperationRef<'c, 'a>,
    part: i64,
) -> Result<(), PassError> {
    let context = ir::context::of(op);
    let index = Type::index(context);
    let outside = Builder::before(context, around)?.with_location(op.location());
    let bound = |n: usize| -> Result<Value<'c, 'a>, PassError> {
        let value = op.operand(n)?;
        // A constant may be defined in the body, so it is recreated.
        Ok(match ir::integer(value) {
            Some(known) => outside.idx(known),
            None => value,
        })
    };
    let (lower, upper) = (bound(0)?, bound(1)?);
    let (region, inside, arguments) = outside.region(&[index]);
    let first = *arguments.first().ok_or("a loop without an index")?;
    let length = inside.idx(part);
    let end = inside.addi(first, length);
    let end = inside.minsi(end, upper);
    let finish = inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    let width = outside.idx(part);
    let operands = [lower, upper, width];
    outside.create(ops::scf::FOR, &operands, &[], &[], vec![region])?;
    uses::move_before(around, finish);
    ir::mutation::set_operand(op, 0, first);
    ir::mutation::set_operand(op, 1, end);
    ir::set_attribute(around, SPLIT, attributes::unit(context));
    Ok(())
}

/// Returns the maximum number of iterations of all loops in the regions of an operation together; `None` if it is unknown.
fn body(op: OperationRef) -> Option<i64> {
    let inner = ir::blocks(op).into_iter().flat_map(ir::operations);
    inner.map(iterations).try_fold(0_i64, |all, count| Some(all.saturating_add(count?)))
}

/// Returns the maximum number of loop iterations that an operation executes.
fn iterations(op: OperationRef) -> Option<i64> {
    if op.region_count() == 0 {
        return Some(0);
    }
    let inner = body(op)?;
    if ir::name(op) == ops::scf::WHILE {
        return None;
    }
    // A parallel loop is a nest of loops, one for each dimension.
    let counts = Bounds::all(op).into_iter().rev().map(length);
    counts.into_iter().try_fold(inner, |all, count| Some(count?.saturating_mul(all.saturating_add(1))))
}

/// Returns the maximum number of iterations between bounds.
fn length(bounds: Bounds) -> Option<i64> {
    let all = bounded(bounds.upper, Side::Max)?.saturating_sub(bounded(bounds.lower, Side::Min)?);
    let step = ir::integer(bounds.step).filter(|step| *step > 0)?;
    Some(all.max(0).saturating_add(step - 1) / step)
}

/// A side of the range of an integer.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Min,
    Max,
}

/// Returns the lower or upper bound of an integer that follows from its computation.
fn bounded(value: Value, side: Side) -> Option<i64> {
    if let Some(known) = ir::integer(value) {
        return Some(known);
    }
    let (op, _) = definition(value)?;
    let operand = |n: usize| bounded(ir::operand_at(op, n)?, side);
    let both = || [operand(0), operand(1)];
    match (ir::name(op).as_str(), side) {
        (ops::arith::INDEX_CAST, _) => operand(0),
        // The bound of one operand is sufficient.
        (ops::arith::MINSI, Side::Max) => both().into_iter().flatten().min(),
        (ops::arith::MAXSI, Side::Min) => both().into_iter().flatten().max(),
        // As unsigned integers, negative ones are large. So the minimum is not negative if one operand is not negative.
        (ops::arith::MINUI, Side::Max) => {
            let known = (0..2).filter_map(|n| ir::integer(ir::operand_at(op, n)?));
            known.filter(|known| *known >= 0).min()
        }
        (ops::arith::MINUI, Side::Min) => {
            let mut known = (0..2).filter_map(|n| ir::integer(ir::operand_at(op, n)?));
            known.any(|known| known >= 0).then_some(0)
        }
        (ops::arith::MINSI, Side::Min) => Some(operand(0)?.min(operand(1)?)),
        (ops::arith::MAXSI, Side::Max) => Some(operand(0)?.max(operand(1)?)),
        _ => None,
    }
}
