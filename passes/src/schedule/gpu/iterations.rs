// SPDX-License-Identifier: Apache-2.0
//! `skript-check-iterations`: checks before a launch that its threads execute no more iterations of loops than the device allows.
//!
//! Drivers may end the loops of a thread after some number of iterations, without an error. The device says after how many; the host
//! computes how many a thread executes at most, from the kernel's loops and the operands of the launch. A launch needs no check if
//! that is a known number up to `iterations`, which every device allows. Where data alone bound a loop, one iteration counts.
//!
//! Requires: `skript-outline-kernels`. Guarantees: kernels are the same.

use super::threads::{Bounds, constant};
use crate::ir::attribute_names::COUNTED;
use crate::ir::func::{declare, symbol};
use crate::ir::{self, Builder, ValueKey, attributes, definition, ops, types};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::HashMap;

/// The pass `skript-check-iterations`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-check-iterations",
    summary: "check that threads execute no more iterations of loops than the device allows",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func],
    options: &[PassOption {
        name: "iterations",
        summary: "iterations of loops that a thread may execute on every device",
        default: "65535",
    }],
    run: |root, options, rewriter| {
        let allowed: i64 = options.get("iterations")?;
        if allowed < 1 {
            return Err(PassError::from("a thread executes at least 1 iteration"));
        }
        let kernels = ir::walk::named(root, ops::gpu::FUNC);
        let kernels: HashMap<String, OperationRef> =
            kernels.into_iter().filter_map(|kernel| Some((symbol(kernel)?, kernel))).collect();
        for launch in ir::walk::named(ir::entry(root)?, ops::gpu::LAUNCH_FUNC) {
            let kernel = launch.attribute("kernel")?.to_string();
            let name = kernel.rsplit('@').next().unwrap_or_default();
            let Some(kernel) = kernels.get(name).filter(|_| !launch.has_attribute(COUNTED)) else {
                continue;
            };
            let most = Counter::of(launch, *kernel).body(*kernel)?;
            if !matches!(most, Count::Known(most) if most <= allowed) {
                let context = rewriter.context();
                declare(root, ALLOWED, &[], &[types::word(context)])?;
                check(launch, &most, context)?;
                ir::set_attribute(launch, COUNTED, attributes::unit(context));
            }
        }
        Ok(())
    },
};

/// `int64_t skript_device_iterations(void)`: after how many iterations the device ends the loops of a thread.
const ALLOWED: &str = "skript_device_iterations";

/// What a failed check says: `most` iterations, of which the device allows some.
const MESSAGE: &str = "a thread of the device executes up to {0} iterations of loops here, and its driver ends them after {1} without an error: \
                       use another device, or the processor";

fn check<'c: 'a, 'a>(
    launch: OperationRef<'c, 'a>,
    most: &Count,
    context: &'c Context,
) -> Result<(), PassError> {
    let at = Builder::before(context, launch)?.with_location(launch.location());
    let callee = FlatSymbolRefAttribute::new(context, ALLOWED).into();
    let word = types::word(context);
    let allowed = at.value(ops::func::CALL, &[], &[("callee", callee)], word)?;
    let most = most.value(launch, &at)?;
    let most = at.value(ops::arith::INDEX_CAST, &[most], &[], word)?;
    let holds = at.compare(LESS_OR_EQUAL, most, allowed)?;
    at.check(holds, "SK9201", MESSAGE, &[most, allowed])?;
    Ok(())
}

/// The predicate `sle` of `arith.cmpi`.
const LESS_OR_EQUAL: i64 = 3;

/// A number that the host computes.
#[derive(Clone)]
enum Count {
    Known(i64),
    /// An operand of the launch.
    Operand(usize),
    /// Of two numbers, by an operation of `arith`.
    Binary(&'static str, Box<[Count; 2]>),
}

impl Count {
    /// Of two numbers: computed here where both are known.
    fn binary(name: &'static str, known: fn(i64, i64) -> i64, one: Count, other: Count) -> Count {
        match (&one, &other) {
            (Count::Known(one), Count::Known(other)) => Count::Known(known(*one, *other)),
            _ => Count::Binary(name, Box::new([one, other])),
        }
    }

    fn plus(self, other: Count) -> Count {
        match (self, other) {
            (Count::Known(0), count) | (count, Count::Known(0)) => count,
            (one, other) => Count::binary(ops::arith::ADDI, i64::saturating_add, one, other),
        }
    }

    fn times(self, other: Count) -> Count {
        match (self, other) {
            (Count::Known(1), count) | (count, Count::Known(1)) => count,
            (Count::Known(0), _) | (_, Count::Known(0)) => Count::Known(0),
            (one, other) => Count::binary(ops::arith::MULI, i64::saturating_mul, one, other),
        }
    }

    fn minus(self, other: Count) -> Count {
        match other {
            Count::Known(0) => self,
            other => Count::binary(ops::arith::SUBI, i64::saturating_sub, self, other),
        }
    }

    fn at_least(self, least: i64) -> Count {
        Count::binary(ops::arith::MAXSI, i64::max, self, Count::Known(least))
    }

    /// The number as a value of type `index`.
    fn value<'c: 'a, 'a>(
        &self,
        launch: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let index = Type::index(at.context);
        Ok(match self {
            Count::Known(known) => at.index(*known)?,
            Count::Operand(number) => {
                let own = launch.operand(*number)?;
                if own.r#type() == index {
                    own
                } else {
                    at.value(ops::arith::INDEX_CAST, &[own], &[], index)?
                }
            }
            Count::Binary(name, operands) => {
                let [one, other] = &**operands;
                let operands = [one.value(launch, at)?, other.value(launch, at)?];
                at.value(name, &operands, &[], index)?
            }
        })
    }
}

/// A side of the range of a number.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Least,
    Most,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Least => Side::Most,
            Side::Most => Side::Least,
        }
    }
}

/// Counts iterations of loops of a launched kernel.
struct Counter<'c, 'a> {
    launch: OperationRef<'c, 'a>,
    /// Arguments of the kernel, by their numbers.
    arguments: HashMap<ValueKey, usize>,
    /// Loops, by their indices.
    loops: HashMap<ValueKey, OperationRef<'c, 'a>>,
}

type Found = Result<Option<Count>, PassError>;

impl<'c: 'a, 'a> Counter<'c, 'a> {
    fn of(launch: OperationRef<'c, 'a>, kernel: OperationRef<'c, 'a>) -> Self {
        let first = |op| ir::first_block(op).map(ir::arguments).unwrap_or_default();
        let arguments = first(kernel).into_iter().map(ValueKey::of);
        let loops = ir::walk::named(kernel, ops::scf::FOR).into_iter();
        Counter {
            launch,
            arguments: arguments.zip(0..).collect(),
            loops: loops.filter_map(|op| Some((ValueKey::of(*first(op).first()?), op))).collect(),
        }
    }

    /// The iterations of all loops in the regions of an operation.
    fn body(&self, op: OperationRef<'c, 'a>) -> Result<Count, PassError> {
        let mut all = Count::Known(0);
        for inner in ir::blocks(op).into_iter().flat_map(ir::operations) {
            all = all.plus(self.iterations(inner)?);
        }
        Ok(all)
    }

    /// The iterations of all loops of an operation.
    fn iterations(&self, op: OperationRef<'c, 'a>) -> Result<Count, PassError> {
        if op.region_count() == 0 {
            return Ok(Count::Known(0));
        }
        let mut all = self.body(op)?;
        let bounds = match ir::name(op).as_str() {
            ops::scf::FOR => vec![[op.operand(0)?, op.operand(1)?, op.operand(2)?]],
            ops::scf::PARALLEL => {
                let (lower, upper, step) = Bounds::of(op).into_parts();
                let bounds = lower.into_iter().zip(upper).zip(step);
                bounds.map(|((lower, upper), step)| [lower, upper, step]).collect()
            }
            ops::scf::WHILE => return Ok(all.plus(Count::Known(1))),
            _ => Vec::new(),
        };
        for bounds in bounds.into_iter().rev() {
            let count = self.length(bounds)?.unwrap_or(Count::Known(1));
            all = count.times(all.plus(Count::Known(1)));
        }
        Ok(all)
    }

    /// The most iterations between bounds; `None` if data decide.
    fn length(&self, [lower, upper, step]: [Value<'c, 'a>; 3]) -> Found {
        let (Some(lower), Some(upper), Some(step)) =
            (self.bound(lower, Side::Least)?, self.bound(upper, Side::Most)?, self.bound(step, Side::Least)?)
        else {
            return Ok(None);
        };
        let all = upper.minus(lower).at_least(0);
        Ok(Some(match step.at_least(1) {
            Count::Known(1) => all,
            step => Count::binary(ops::arith::CEILDIVUI, ceiling, all, step),
        }))
    }

    /// The least or the most that an integer of the kernel is; `None` if data decide.
    fn bound(&self, value: Value<'c, 'a>, side: Side) -> Found {
        if let Some(known) = constant(value) {
            return Ok(Some(Count::Known(known)));
        }
        let Some((op, _)) = definition(value) else {
            return self.argument(value, side);
        };
        let operand = |n: usize, side| self.bound(op.operand(n)?, side);
        let both = |one, other| -> Result<Option<(Count, Count)>, PassError> {
            Ok(operand(0, one)?.zip(operand(1, other)?))
        };
        let one_less = |count: Count| count.minus(Count::Known(1));
        Ok(match (ir::name(op).as_str(), side) {
            (ops::gpu::BLOCK_ID | ops::gpu::THREAD_ID, Side::Least) => Some(Count::Known(0)),
            (ops::gpu::BLOCK_ID, Side::Most) => self.size(0)?.map(one_less),
            (ops::gpu::THREAD_ID, Side::Most) => self.size(3)?.map(one_less),
            (ops::gpu::GRID_DIM, _) => self.size(0)?,
            (ops::gpu::BLOCK_DIM, _) => self.size(3)?,
            (
                ops::arith::INDEX_CAST
                | ops::arith::INDEX_CASTUI
                | ops::arith::EXTSI
                | ops::arith::EXTUI
                | ops::arith::TRUNCI,
                _,
            ) => operand(0, side)?,
            (ops::arith::ADDI, _) => both(side, side)?.map(|(one, other)| one.plus(other)),
            (ops::arith::SUBI, _) => both(side, side.other())?.map(|(one, other)| one.minus(other)),
            (ops::arith::MULI, _) => {
                // Of numbers that are not negative, as extents and numbers of threads are.
                let factors = [operand(0, Side::Least)?, operand(1, Side::Least)?];
                let is_positive = |count: &Option<Count>| match count {
                    Some(Count::Known(least)) => *least >= 0,
                    other => other.is_some(),
                };
                let both = both(side, side)?.filter(|_| factors.iter().all(is_positive));
                both.map(|(one, other)| one.times(other))
            }
            (ops::arith::MINSI | ops::arith::MINUI, _) => {
                lesser([operand(0, side)?, operand(1, side)?], side == Side::Most)
            }
            (ops::arith::MAXSI | ops::arith::MAXUI, _) => {
                greater([operand(0, side)?, operand(1, side)?], side == Side::Least)
            }
            (ops::arith::SELECT, Side::Least) => lesser([operand(1, side)?, operand(2, side)?], false),
            (ops::arith::SELECT, Side::Most) => greater([operand(1, side)?, operand(2, side)?], false),
            (ops::arith::REMUI, Side::Least) => Some(Count::Known(0)),
            (ops::arith::REMUI, Side::Most) => operand(1, side)?.map(one_less),
            (ops::arith::DIVUI | ops::arith::DIVSI | ops::arith::FLOORDIVSI, _) => {
                let divided = both(side, side)?;
                divided.and_then(|(one, by)| quotient(ops::arith::DIVSI, i64::div_euclid, one, by))
            }
            (ops::arith::CEILDIVUI | ops::arith::CEILDIVSI, _) => {
                let divided = both(side, side)?;
                divided.and_then(|(one, by)| quotient(ops::arith::CEILDIVSI, ceiling, one, by))
            }
            _ => None,
        })
    }

    /// An argument of the kernel, or the index of a loop.
    fn argument(&self, value: Value<'c, 'a>, side: Side) -> Found {
        let key = ValueKey::of(value);
        if let Some(number) = self.arguments.get(&key) {
            return self.size(SIZES + number);
        }
        match (self.loops.get(&key), side) {
            (Some(op), Side::Least) => self.bound(op.operand(0)?, side),
            (Some(op), Side::Most) => {
                let end = self.bound(op.operand(1)?, side)?;
                Ok(end.map(|end| end.minus(Count::Known(1))))
            }
            (None, _) => Ok(None),
        }
    }

    /// An integer that the kernel is launched with.
    fn size(&self, number: usize) -> Found {
        let own = self.launch.operand(number)?;
        let is_integer = ["index", "i64", "i32"].contains(&own.r#type().to_string().as_str());
        Ok(match constant(own) {
            Some(known) => Some(Count::Known(known)),
            None => is_integer.then_some(Count::Operand(number)),
        })
    }
}

/// The lesser of two numbers. `one_is_enough`: where one of them alone bounds the result.
fn lesser([one, other]: [Option<Count>; 2], one_is_enough: bool) -> Option<Count> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Count::binary(ops::arith::MINSI, i64::min, one, other)),
        (one, other) => one.or(other).filter(|_| one_is_enough),
    }
}

/// The greater of two numbers. `one_is_enough`: where one of them alone bounds the result.
fn greater([one, other]: [Option<Count>; 2], one_is_enough: bool) -> Option<Count> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Count::binary(ops::arith::MAXSI, i64::max, one, other)),
        (one, other) => one.or(other).filter(|_| one_is_enough),
    }
}

/// A quotient by a positive constant.
fn quotient(name: &'static str, known: fn(i64, i64) -> i64, one: Count, by: Count) -> Option<Count> {
    let is_positive = matches!(by, Count::Known(by) if by > 0);
    is_positive.then(|| Count::binary(name, known, one, by))
}

/// Operands of a launch before the arguments of the kernel.
const SIZES: usize = 6;

/// A quotient, rounded up; the divisor is positive.
fn ceiling(one: i64, other: i64) -> i64 {
    one.saturating_add(other - 1).div_euclid(other)
}
