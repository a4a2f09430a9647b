// SPDX-License-Identifier: Apache-2.0
//! Loops that count their steps from zero and end at limits alone.

use crate::ir::arith::{CompareIntegers, Constant};
use crate::ir::{self, Builder, scf};
use crate::ir::{ops, types};
use melior::Error;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Type, TypeLike, Value, ValueLike};
use skript_dialect::{melior, op};

/// `slt` of `arith.cmpi`.
const SIGNED_LESS: i64 = 2;

/// An `scf.for` or `scf.while` whose body runs once for each number from zero below all limits.
pub(super) struct Counted<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) body: BlockRef<'c, 'a>,
    /// The number of the step, in the body.
    pub(super) counter: Value<'c, 'a>,
    /// Defined before the loop.
    limits: Vec<Value<'c, 'a>>,
}

/// A number of steps.
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
    /// The loop that an operation is; `None` for others, and where no limit bounds the number of steps.
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let counted = match ir::name(op).as_str() {
            ops::scf::FOR => Self::of_for(op),
            ops::scf::WHILE => Self::of_while(op),
            _ => None,
        }?;
        let is_bounded = |limit: &Value<'c, 'a>| {
            let made = ir::definition(*limit);
            made.is_some_and(|(made, _)| {
                [ops::arith::CONSTANT, ops::tensor::DIM].contains(&ir::name(made).as_str())
            })
        };
        counted.limits.iter().any(is_bounded).then_some(counted)
    }

    fn of_for(op: OperationRef<'c, 'a>) -> Option<Self> {
        let constant = |position| Constant::of(op.operand(position).ok()?)?.integer();
        let is_unsigned = op.attribute("unsignedCmp").is_ok();
        if constant(0)? != 0 || constant(2)? != 1 || is_unsigned {
            return None;
        }
        let body = *ir::blocks(op).first()?;
        let counter: Value = body.argument(0).ok()?.into();
        counter.r#type().is_index().then_some(Counted {
            op,
            body,
            counter,
            limits: vec![op.operand(1).ok()?],
        })
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
            let start = Constant::of(scf::init(op, number)?)?.integer()?;
            let (increment, _) = ir::definition(next.operand(number).ok()?)?;
            if !op::is(&increment, ops::arith::ADDI) {
                return None;
            }
            let [left, right] = ir::both_operands(increment).ok()?;
            let one = Constant::of(right)?.integer()?;
            let counts = counter.r#type().is_index() && start == 0 && left == counter && one == 1;
            if !counts {
                return None;
            }
            Some(Counted {
                op,
                body: *body,
                counter,
                limits: limits(*before, condition.operand(0).ok()?, *outer)?,
            })
        })
    }

    /// The number of steps, if all limits are constants.
    pub(super) fn static_steps(&self) -> Option<i64> {
        let limits: Vec<i64> =
            self.limits.iter().map(|limit| Constant::of(*limit)?.integer()).collect::<Option<_>>()?;
        limits.into_iter().min().map(|steps| steps.max(0))
    }

    /// The number of steps, computed before the loop.
    pub(super) fn steps(&self, at: &Builder<'c, 'a>) -> Result<Steps<'c, 'a>, Error> {
        if let Some(steps) = self.static_steps() {
            return Ok(Steps::Static(steps));
        }
        let index = Type::index(at.context);
        let mut least = at.index(0)?;
        for (number, limit) in self.limits.iter().enumerate() {
            least = match number {
                0 => *limit,
                _ => at.value(ops::arith::MINSI, &[least, *limit], &[], index)?,
            };
        }
        let zero = at.index(0)?;
        let steps = at.value(ops::arith::MAXSI, &[least, zero], &[], index)?;
        Ok(Steps::Dynamic(steps))
    }
}

/// The limits of a counter: the condition is that it is less than all of them.
fn limits<'c: 'a, 'a>(
    before: BlockRef<'c, 'a>,
    condition: Value<'c, 'a>,
    counter: Value<'c, 'a>,
) -> Option<Vec<Value<'c, 'a>>> {
    let is_inside = |value: Value<'c, 'a>| match ir::definition(value) {
        Some((op, _)) => ir::ancestor_in(before, op).is_some(),
        None => ir::arguments(before).contains(&value),
    };
    let mut found = Vec::new();
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
        is_limit.then(|| found.push(right))?;
        // Each test is an operation of the block; one that is used twice may come twice.
        if found.len() > MOST_LIMITS {
            return None;
        }
    }
    Some(found)
}

/// Maximum number of limits of a loop.
const MOST_LIMITS: usize = 64;
