// SPDX-License-Identifier: Apache-2.0
//! `skript-split-loops`: splits loops that are long for one thread into several kernels, for drivers that end a thread's loops early.
//!
//! A sequential loop that would be a kernel of one thread, or that each iteration of a parallel loop consists of, becomes a loop of
//! the host over parts of its iterations: what one part leaves in arrays the next one reads. A part is so short that a thread executes at most
//! `iterations` iterations of all of its loops together. Loops whose bodies alone have more stay on the host, and their inner
//! loops are split; those with loop-carried values are left, as they are.
//!
//! Requires: loops instead of linalg operations. Guarantees: every element is computed by the same operations in the same order.

use super::memory_space::HostMemory;
use super::sequences::{Role, Roles};
use super::threads::{Bounds, constant};
use crate::ir::attribute_names::SPLIT;
use crate::ir::{self, Builder, attributes, definition, ops, uses};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Type, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};

/// The pass `skript-split-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-loops",
    summary: "split loops that are long for one thread into several kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Scf],
    options: &[PassOption {
        name: "iterations",
        summary: "iterations of loops that a thread executes in one kernel at most",
        default: "32768",
    }],
    run: |root, options, _| {
        let most: i64 = options.get("iterations")?;
        if most < 1 {
            return Err(PassError::from("a thread executes at least 1 iteration"));
        }
        let entry = ir::entry(root)?;
        let memory = HostMemory::of(entry);
        let roles = Roles { memory: &memory };
        split_in(ir::body(entry)?, &roles, most)
    },
};

/// Splits the loops of a block of the host.
fn split_in<'c: 'a, 'a>(block: BlockRef<'c, 'a>, roles: &Roles, most: i64) -> Result<(), PassError> {
    for op in ir::operations(block) {
        match roles.of(op) {
            Role::Writes if ir::name(op) == ops::scf::FOR => alone(op, roles, most)?,
            // Branches that the host decides when their loops are its own.
            Role::Decides | Role::Writes => {
                for inner in ir::blocks(op) {
                    split_in(inner, roles, most)?;
                }
            }
            Role::Parallel if !op.has_attribute(SPLIT) => {
                if let Some(inner) = only_loop(op)
                    && let Some(Length::Parts(part)) = Length::of(inner, most)
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
fn alone<'c: 'a, 'a>(op: OperationRef<'c, 'a>, roles: &Roles, most: i64) -> Result<(), PassError> {
    match Length::of(op, most) {
        Some(Length::Parts(part)) => {
            let around = within_parallel(op)?;
            parts(op, around, part)
        }
        Some(Length::Whole) if op.result_count() == 0 => {
            for inner in ir::blocks(op) {
                split_in(inner, roles, most)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// How a long loop becomes shorter.
enum Length {
    /// By parts of so many indices.
    Parts(i64),
    /// By its inner loops: a single iteration is too long.
    Whole,
}

impl Length {
    /// `None` for loops that are short, that have loop-carried values, or whose iterations have an unknown length.
    fn of(op: OperationRef, most: i64) -> Option<Length> {
        let step = constant(op.operand(2).ok()?).filter(|step| *step > 0)?;
        let each = 1 + body(op)?;
        let all = count(op).map(|count| count.saturating_mul(each));
        if op.result_count() > 0 || all.is_some_and(|all| all <= most) {
            return None;
        }
        Some(match most / each {
            0 => Length::Whole,
            part => Length::Parts(part.checked_mul(step)?),
        })
    }
}

/// The loop that an iteration of a parallel loop consists of, beside computations without effects.
fn only_loop<'c: 'a, 'a>(parallel: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    if ir::name(parallel) != ops::scf::PARALLEL {
        return None;
    }
    let mut operations = ir::operations(ir::first_block(parallel)?);
    operations.pop();
    let mut loops = operations.iter().filter(|op| ir::name(**op) == ops::scf::FOR);
    let found = *loops.next()?;
    let mut others = operations.iter().filter(|op| **op != found);
    if !others.all(|op| op.region_count() == 0 && op::is_pure(op)) {
        return None;
    }
    // The host computes the bounds of parts.
    let own = ir::arguments(ir::first_block(parallel)?);
    let is_outside = |value: Value<'c, 'a>| match definition(value) {
        Some((op, _)) => constant(value).is_some() || op.parent_operation() != Some(parallel),
        None => !own.contains(&value),
    };
    found.operands().take(3).all(is_outside).then_some(found)
}

/// A parallel loop of one iteration that consists of an operation.
fn within_parallel<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?.with_location(op.location());
    let (region, inside, _) = at.region(&[Type::index(context)]);
    let end = inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
    ir::scf::close_parallel(&at, &[at.index(1)?], 1, region)?;
    uses::move_before(op, end);
    ir::walk::parent(op).ok_or_else(|| PassError::at(op, "is in no loop"))
}

/// Executes `around`, in which `op` is the only loop, once for each part of the indices of `op`.
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
        // A constant may be one of the body.
        Ok(match constant(value) {
            Some(known) => outside.index(known)?,
            None => value,
        })
    };
    let (lower, upper) = (bound(0)?, bound(1)?);
    let (region, inside, arguments) = outside.region(&[index]);
    let first = *arguments.first().ok_or("a loop without an index")?;
    let length = inside.index(part)?;
    let end = inside.value(ops::arith::ADDI, &[first, length], &[], index)?;
    let end = inside.value(ops::arith::MINSI, &[end, upper], &[], index)?;
    let finish = inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    let width = outside.index(part)?;
    let operands = [lower, upper, width];
    outside.create(ops::scf::FOR, &operands, &[], &[], vec![region])?;
    uses::move_before(around, finish);
    ir::mutation::set_operand(op, 0, first);
    ir::mutation::set_operand(op, 1, end);
    ir::set_attribute(around, SPLIT, attributes::unit(context));
    Ok(())
}

/// The most iterations of the loops in the regions of an operation, together; `None` if they are not known.
fn body(op: OperationRef) -> Option<i64> {
    let inner = ir::blocks(op).into_iter().flat_map(ir::operations);
    inner.map(iterations).try_fold(0_i64, |all, own| Some(all.saturating_add(own?)))
}

/// The most iterations of loops that an operation executes.
fn iterations(op: OperationRef) -> Option<i64> {
    if op.region_count() == 0 {
        return Some(0);
    }
    let inner = body(op)?;
    Some(match ir::name(op).as_str() {
        ops::scf::FOR => count(op)?.saturating_mul(inner.saturating_add(1)),
        ops::scf::PARALLEL => {
            // A loop for each dimension.
            let bounds = Bounds::of(op).into_parts();
            let loops = bounds.0.iter().zip(&bounds.1).zip(&bounds.2);
            let counts = loops.map(|((lower, upper), step)| length(*lower, *upper, *step));
            counts.rev().try_fold(inner, |all, count| Some(count?.saturating_mul(all.saturating_add(1))))?
        }
        ops::scf::WHILE => return None,
        _ => inner,
    })
}

/// The most iterations of a loop.
fn count(op: OperationRef) -> Option<i64> {
    length(op.operand(0).ok()?, op.operand(1).ok()?, op.operand(2).ok()?)
}

/// The most iterations between bounds.
fn length(lower: Value, upper: Value, step: Value) -> Option<i64> {
    let all = bounded(upper, Side::Most)?.saturating_sub(bounded(lower, Side::Least)?);
    let step = constant(step).filter(|step| *step > 0)?;
    Some(all.max(0).saturating_add(step - 1) / step)
}

/// A side of the range of a number.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Least,
    Most,
}

/// The least or the most that a number is, as far as its computation bounds it.
fn bounded(value: Value, side: Side) -> Option<i64> {
    if let Some(known) = constant(value) {
        return Some(known);
    }
    let (op, _) = definition(value)?;
    let operand = |n: usize| bounded(op.operand(n).ok()?, side);
    let both = || [operand(0), operand(1)];
    match (ir::name(op).as_str(), side) {
        (ops::arith::INDEX_CAST, _) => operand(0),
        // One of two is enough.
        (ops::arith::MINSI, Side::Most) => both().into_iter().flatten().min(),
        (ops::arith::MAXSI, Side::Least) => both().into_iter().flatten().max(),
        // As unsigned numbers: negative ones are large, and the lesser is not negative if one of them is not.
        (ops::arith::MINUI, Side::Most) => {
            let known = (0..2).filter_map(|n| constant(op.operand(n).ok()?));
            known.filter(|known| *known >= 0).min()
        }
        (ops::arith::MINUI, Side::Least) => {
            let mut known = (0..2).filter_map(|n| constant(op.operand(n).ok()?));
            known.any(|known| known >= 0).then_some(0)
        }
        (ops::arith::MINSI, Side::Least) => Some(operand(0)?.min(operand(1)?)),
        (ops::arith::MAXSI, Side::Most) => Some(operand(0)?.max(operand(1)?)),
        _ => None,
    }
}
