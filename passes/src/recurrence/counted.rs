// SPDX-License-Identifier: Apache-2.0
//! Recognizes loops that count their steps from zero and only end at limits.

use crate::ir::arith::CompareIntegers;
use crate::ir::{self, Builder, scf};
use crate::ir::{ops, types};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{melior, op};

/// The predicate `slt` of `arith.cmpi`.
const SIGNED_LESS: i64 = 2;

/// An `scf.for` or `scf.while` whose body is executed once for each number from zero below all limits.
pub(super) struct Counted<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) body: BlockRef<'c, 'a>,
    /// The number of the step, in the body.
    pub(super) counter: Value<'c, 'a>,
    /// Defined before the loop.
    limits: Vec<Value<'c, 'a>>,
}

#[derive(Clone, Copy)]
pub(super) enum Steps<'c, 'a> {
    Static(i64),
    Dynamic(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Steps<'c, 'a> {
    /// The extent of a dimension for the steps.
    pub(super) fn extent(self) -> i64 {
        match self {
            Steps::Static(steps) => steps,
            Steps::Dynamic(_) => types::DYNAMIC,
        }
    }

    /// The operand that an operation with such a dimension needs.
    pub(super) fn operand(self) -> Option<Value<'c, 'a>> {
        match self {
            Steps::Static(_) => None,
            Steps::Dynamic(steps) => Some(steps),
        }
    }
}

impl<'c: 'a, 'a> Counted<'c, 'a> {
    /// Recognizes a loop. `None` for other operations, and if no limit is a constant or an extent.
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let counted = match ir::name(op).as_str() {
            ops::scf::FOR => Self::of_for(op),
            ops::scf::WHILE => Self::of_while(op),
            _ => None,
        }?;
        let is_bounded = |limit: &Value<'c, 'a>| {
            ir::definition(*limit).is_some_and(|(op, _)| {
                [ops::arith::CONSTANT, ops::tensor::DIM].contains(&ir::name(op).as_str())
            })
        };
        counted.limits.iter().any(is_bounded).then_some(counted)
    }

    fn of_for(op: OperationRef<'c, 'a>) -> Option<Self> {
        let [bounds] = *scf::Bounds::all(op).as_slice() else {
            return None;
        };
        if !bounds.are_numbers() || op.attribute("unsignedCmp").is_ok() {
            return None;
        }
        let body = *ir::blocks(op).first()?;
        let counter: Value = body.argument(0).ok()?.into();
        counter.r#type().is_index().then_some(Counted { op, body, counter, limits: vec![bounds.upper] })
    }

    fn of_while(op: OperationRef<'c, 'a>) -> Option<Self> {
        let blocks = ir::blocks(op);
        let [before, body] = blocks.as_slice() else {
            return None;
        };
        let condition = *ir::operations(*before).last()?;
        let next = *ir::operations(*body).last()?;
        if !op::is(&condition, ops::scf::CONDITION) {
            return None;
        }
        let arguments = ir::arguments(*before);
        let passed: Vec<Value> = condition.operands().skip(1).collect();
        passed.iter().enumerate().find_map(|(position, outer)| {
            let number = arguments.iter().position(|argument| argument == outer)?;
            let counter: Value = body.argument(position).ok()?.into();
            let start = ir::integer(scf::init(op, number)?)?;
            let (increment, _) = ir::definition(ir::operand_at(next, number)?)?;
            if !op::is(&increment, ops::arith::ADDI) {
                return None;
            }
            let [left, right] = ir::both_operands(increment).ok()?;
            let one = ir::integer(right)?;
            let counts = counter.r#type().is_index() && start == 0 && left == counter && one == 1;
            if !counts {
                return None;
            }
            Some(Counted {
                op,
                body: *body,
                counter,
                limits: limits(*before, ir::operand_at(condition, 0)?, *outer)?,
            })
        })
    }

    /// The number of steps, if all limits are constants.
    pub(super) fn static_steps(&self) -> Option<i64> {
        let limits: Vec<i64> = self.limits.iter().map(|limit| ir::integer(*limit)).collect::<Option<_>>()?;
        limits.into_iter().min().map(|steps| steps.max(0))
    }

    /// The number of steps, computed before the loop.
    pub(super) fn steps(&self, at: &Builder<'c, 'a>) -> Steps<'c, 'a> {
        if let Some(steps) = self.static_steps() {
            return Steps::Static(steps);
        }
        let mut minimum = at.idx(0);
        for (number, limit) in self.limits.iter().enumerate() {
            minimum = match number {
                0 => *limit,
                _ => at.minsi(minimum, *limit),
            };
        }
        let zero = at.idx(0);
        let steps = at.maxsi(minimum, zero);
        Steps::Dynamic(steps)
    }
}

/// The limits of a counter, if the condition is that the counter is less than all limits.
fn limits<'c: 'a, 'a>(
    before: BlockRef<'c, 'a>,
    condition: Value<'c, 'a>,
    counter: Value<'c, 'a>,
) -> Option<Vec<Value<'c, 'a>>> {
    let is_inside = |value: Value<'c, 'a>| match ir::definition(value) {
        Some((op, _)) => ir::ancestor_in(before, op).is_some(),
        None => ir::arguments(before).contains(&value),
    };
    let mut limits = Vec::new();
    let mut pending = vec![condition];
    while let Some(condition) = pending.pop() {
        let (test, _) = ir::definition(condition)?;
        let [left, right] = ir::both_operands(test).ok()?;
        if op::is(&test, ops::arith::ANDI) {
            pending.extend([left, right]);
            continue;
        }
        let predicate = CompareIntegers::cast(test)?.predicate()?;
        let is_limit = predicate == SIGNED_LESS && left == counter && !is_inside(right);
        is_limit.then(|| limits.push(right))?;
        // A test that is used several times is visited several times.
        if limits.len() > MAX_LIMITS {
            return None;
        }
    }
    Some(limits)
}

/// Maximum number of limits of a loop.
const MAX_LIMITS: usize = 64;
