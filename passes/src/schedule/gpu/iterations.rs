// SPDX-License-Identifier: Apache-2.0
//! `skript-check-iterations`: checks before a launch that its threads do not execute more loop iterations than the device allows.
//!
//! Drivers may terminate the loops of a thread after a number of iterations, without an error. The runtime returns this number for the
//! device; the host computes the maximum number of iterations of a thread from the kernel's loops and the operands of the launch. A
//! launch does not need a check if the maximum is a constant of at most `iterations`, which every device allows. A loop whose number of
//! iterations depends on data counts as one iteration.
//!
//! Requires: `skript-outline-kernels`. Guarantees: kernels do not change.

use crate::ir::attribute_names::COUNTED;
use crate::ir::builder::arith::Integers;
use crate::ir::func::{declare, symbol};
use crate::ir::scf::Bounds;
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
    summary: "check that threads do not execute more loop iterations than the device allows",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func],
    options: &[PassOption {
        name: "iterations",
        summary: "number of loop iterations that a thread may execute on every device",
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
            let name = kernel.rsplit('@').next().unwrap_or(&kernel);
            let Some(kernel) = kernels.get(name).filter(|_| !launch.has_attribute(COUNTED)) else {
                continue;
            };
            let max = Counter::new(launch, *kernel).body(*kernel)?;
            if !matches!(max, Count::Known(max) if max <= allowed) {
                let context = rewriter.context();
                declare(root, ALLOWED, &[], &[types::word(context)])?;
                check(launch, &max, context)?;
                ir::set_attribute(launch, COUNTED, attributes::unit(context));
            }
        }
        Ok(())
    },
};

/// `int64_t skript_device_iterations(void)` returns the number of iterations after which the device terminates the loops of a thread.
const ALLOWED: &str = "skript_device_iterations";

/// The message of a failed check. Its values are the maximum number of iterations of a thread, and the number that the device allows.
const MESSAGE: &str = "a thread of the device executes up to {0} iterations of loops here, and its driver ends them after {1} without an error: \
                       use another device, or the processor";

fn check<'c: 'a, 'a>(
    launch: OperationRef<'c, 'a>,
    max: &Count,
    context: &'c Context,
) -> Result<(), PassError> {
    let at = Builder::before(context, launch)?.with_location(launch.location());
    let callee = FlatSymbolRefAttribute::new(context, ALLOWED).into();
    let word = types::word(context);
    let allowed = at.value(ops::func::CALL, &[], &[("callee", callee)], word)?;
    let max = max.value(launch, &at)?;
    let max = at.index_cast(max, word);
    let holds = at.cmpi(Integers::SignedAtMost, max, allowed);
    at.check(holds, "SK9201", MESSAGE, &[max, allowed])?;
    Ok(())
}

/// A number that the host computes.
#[derive(Clone)]
enum Count {
    Known(i64),
    /// An operand of the launch.
    Operand(usize),
    /// The result of a binary operation of `arith`.
    Binary(&'static str, Box<[Count; 2]>),
}

impl Count {
    /// Combines two numbers; the result is known if both are.
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

    fn at_least(self, min: i64) -> Count {
        Count::binary(ops::arith::MAXSI, i64::max, self, Count::Known(min))
    }

    /// Emits the number as a value of type `index`.
    fn value<'c: 'a, 'a>(
        &self,
        launch: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let index = Type::index(at.context);
        Ok(match self {
            Count::Known(known) => at.idx(*known),
            Count::Operand(number) => {
                let operand = launch.operand(*number)?;
                if operand.r#type() == index { operand } else { at.index_cast(operand, index) }
            }
            Count::Binary(name, operands) => {
                let [one, other] = &**operands;
                let operands = [one.value(launch, at)?, other.value(launch, at)?];
                at.value(name, &operands, &[], index)?
            }
        })
    }
}

/// A side of the range of an integer.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Min,
    Max,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Min => Side::Max,
            Side::Max => Side::Min,
        }
    }
}

/// Counts the loop iterations of a launched kernel.
struct Counter<'c, 'a> {
    launch: OperationRef<'c, 'a>,
    /// The number of each argument of the kernel.
    arguments: HashMap<ValueKey, usize>,
    /// The loop of each loop index.
    loops: HashMap<ValueKey, OperationRef<'c, 'a>>,
}

/// A number; `None` if it depends on data.
type CountResult = Result<Option<Count>, PassError>;

impl<'c: 'a, 'a> Counter<'c, 'a> {
    fn new(launch: OperationRef<'c, 'a>, kernel: OperationRef<'c, 'a>) -> Self {
        let first = |op| ir::first_block(op).into_iter().flat_map(ir::arguments);
        let arguments = first(kernel).map(ValueKey::of);
        let loops = ir::walk::named(kernel, ops::scf::FOR).into_iter();
        Counter {
            launch,
            arguments: arguments.zip(0..).collect(),
            loops: loops.filter_map(|op| Some((ValueKey::of(first(op).next()?), op))).collect(),
        }
    }

    /// Counts the iterations of all loops in the regions of an operation.
    fn body(&self, op: OperationRef<'c, 'a>) -> Result<Count, PassError> {
        let mut all = Count::Known(0);
        for inner in ir::blocks(op).into_iter().flat_map(ir::operations) {
            all = all.plus(self.iterations(inner)?);
        }
        Ok(all)
    }

    /// Counts the iterations of all loops of an operation.
    fn iterations(&self, op: OperationRef<'c, 'a>) -> Result<Count, PassError> {
        if op.region_count() == 0 {
            return Ok(Count::Known(0));
        }
        let mut all = self.body(op)?;
        if ir::name(op) == ops::scf::WHILE {
            return Ok(all.plus(Count::Known(1)));
        }
        for bounds in Bounds::all(op).into_iter().rev() {
            let count = self.length(bounds)?.unwrap_or(Count::Known(1));
            all = count.times(all.plus(Count::Known(1)));
        }
        Ok(all)
    }

    /// Computes the maximum number of iterations between bounds; `None` if it depends on data.
    fn length(&self, Bounds { lower, upper, step }: Bounds<'c, 'a>) -> CountResult {
        let (Some(lower), Some(upper), Some(step)) =
            (self.bound(lower, Side::Min)?, self.bound(upper, Side::Max)?, self.bound(step, Side::Min)?)
        else {
            return Ok(None);
        };
        let all = upper.minus(lower).at_least(0);
        Ok(Some(match step.at_least(1) {
            Count::Known(1) => all,
            step => Count::binary(ops::arith::CEILDIVUI, ceiling, all, step),
        }))
    }

    /// Computes the minimum or maximum of an integer of the kernel; `None` if it depends on data.
    fn bound(&self, value: Value<'c, 'a>, side: Side) -> CountResult {
        if let Some(known) = ir::integer(value) {
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
            (ops::gpu::BLOCK_ID | ops::gpu::THREAD_ID, Side::Min) => Some(Count::Known(0)),
            (ops::gpu::BLOCK_ID, Side::Max) => self.size(0)?.map(one_less),
            (ops::gpu::THREAD_ID, Side::Max) => self.size(3)?.map(one_less),
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
                // Both factors must be nonnegative, as extents and numbers of threads are.
                let factors = [operand(0, Side::Min)?, operand(1, Side::Min)?];
                let is_positive = |count: &Option<Count>| match count {
                    Some(Count::Known(min)) => *min >= 0,
                    other => other.is_some(),
                };
                let both = both(side, side)?.filter(|_| factors.iter().all(is_positive));
                both.map(|(one, other)| one.times(other))
            }
            (ops::arith::MINSI | ops::arith::MINUI, _) => {
                minimum([operand(0, side)?, operand(1, side)?], side == Side::Max)
            }
            (ops::arith::MAXSI | ops::arith::MAXUI, _) => {
                maximum([operand(0, side)?, operand(1, side)?], side == Side::Min)
            }
            (ops::arith::SELECT, Side::Min) => minimum([operand(1, side)?, operand(2, side)?], false),
            (ops::arith::SELECT, Side::Max) => maximum([operand(1, side)?, operand(2, side)?], false),
            (ops::arith::REMUI, Side::Min) => Some(Count::Known(0)),
            (ops::arith::REMUI, Side::Max) => operand(1, side)?.map(one_less),
            (ops::arith::DIVUI | ops::arith::DIVSI | ops::arith::FLOORDIVSI, _) => {
                let divided = both(side, side)?;
                divided.and_then(|(one, by)| quotient(ops::arith::DIVSI, i64::div_euclid, one, by))
            }
            (ops::arith::CEILDIVUI | ops::arith::CEILDIVSI, _) => {
                both(side, side)?.and_then(|(one, by)| quotient(ops::arith::CEILDIVSI, ceiling, one, by))
            }
            _ => None,
        })
    }

    /// Computes the minimum or maximum of an argument of the kernel, or of a loop index.
    fn argument(&self, value: Value<'c, 'a>, side: Side) -> CountResult {
        let key = ValueKey::of(value);
        if let Some(number) = self.arguments.get(&key) {
            return self.size(SIZES + number);
        }
        match (self.loops.get(&key), side) {
            (Some(op), Side::Min) => self.bound(op.operand(0)?, side),
            (Some(op), Side::Max) => {
                let end = self.bound(op.operand(1)?, side)?;
                Ok(end.map(|end| end.minus(Count::Known(1))))
            }
            (None, _) => Ok(None),
        }
    }

    /// Returns an integer operand of the launch.
    fn size(&self, number: usize) -> CountResult {
        let operand = self.launch.operand(number)?;
        let is_integer = ["index", "i64", "i32"].contains(&operand.r#type().to_string().as_str());
        Ok(match ir::integer(operand) {
            Some(known) => Some(Count::Known(known)),
            None => is_integer.then_some(Count::Operand(number)),
        })
    }
}

/// The minimum of two numbers. If `one_is_enough`, one number is a bound of the result if the other is unknown.
fn minimum([one, other]: [Option<Count>; 2], one_is_enough: bool) -> Option<Count> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Count::binary(ops::arith::MINSI, i64::min, one, other)),
        (one, other) => one.or(other).filter(|_| one_is_enough),
    }
}

/// The maximum of two numbers. If `one_is_enough`, one number is a bound of the result if the other is unknown.
fn maximum([one, other]: [Option<Count>; 2], one_is_enough: bool) -> Option<Count> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Count::binary(ops::arith::MAXSI, i64::max, one, other)),
        (one, other) => one.or(other).filter(|_| one_is_enough),
    }
}

/// The quotient by a positive constant; `None` for other divisors.
fn quotient(name: &'static str, known: fn(i64, i64) -> i64, one: Count, by: Count) -> Option<Count> {
    matches!(by, Count::Known(by) if by > 0).then(|| Count::binary(name, known, one, by))
}

/// Number of operands of a launch before the arguments of the kernel.
const SIZES: usize = 6;

/// The quotient, rounded up; the divisor is positive.
fn ceiling(one: i64, other: i64) -> i64 {
    one.saturating_add(other - 1).div_euclid(other)
}
