// SPDX-License-Identifier: Apache-2.0
//! Computes intervals of indices from the operations that define them.

use crate::ir::{self, ops, types};
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_symbolic::{Extent, Interval};

/// The values of an extent.
pub(crate) const EXTENT: Interval = Interval { low: 0, high: Extent::LARGEST };

/// The interval of the result of an operation on 64-bit integers, from the intervals of its operands. `None` if it is unknown or the
/// operation may overflow.
pub(crate) fn of_result(op: OperationRef, operand: impl Fn(usize) -> Option<Interval>) -> Option<Interval> {
    let name = ir::name(op);
    match name.as_str() {
        ops::arith::CONSTANT => return ir::integer(op.result(0).ok()?.into()).map(Interval::point),
        ops::arith::INDEX_CAST => return operand(0),
        ops::arith::SELECT | ops::skript::SELECT => return Some(operand(1)?.hull(operand(2)?)),
        _ if op.operand_count() != 2 => return None,
        _ => {}
    }
    let (x, y) = (operand(0)?, operand(1)?);
    let is_natural = x.low >= 0 && y.low >= 0;
    match name.as_str() {
        ops::arith::MINSI | ops::skript::MIN => Some(x.min(y)),
        ops::arith::MAXSI | ops::skript::MAX => Some(x.max(y)),
        ops::arith::MINUI if is_natural => Some(x.min(y)),
        ops::arith::MAXUI if is_natural => Some(x.max(y)),
        ops::arith::ADDI | ops::skript::ADD => x.plus(y),
        ops::arith::SUBI | ops::skript::SUB => x.minus(y),
        ops::arith::MULI | ops::skript::MUL => x.times(y),
        ops::arith::FLOORDIVSI | ops::skript::DIV => x.quotient(y),
        ops::math::IPOWI => x.power(y),
        _ => None,
    }
}

/// The interval of a 64-bit integer. The search follows at most `depth` operations. For values without an interval, it calls `other` with
/// the remaining depth.
pub(crate) fn search<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    depth: usize,
    other: &dyn Fn(Value<'c, 'a>, usize) -> Option<Interval>,
) -> Option<Interval> {
    let is_wide = value.r#type().is_index() || types::bits(value.r#type()) == Some(64);
    let op = OperationResult::try_from(value).ok().map(|result| result.owner());
    let inside = depth.checked_sub(1).zip(op.filter(|_| is_wide));
    let computed =
        inside.and_then(|(depth, op)| of_result(op, |n| search(ir::operand_at(op, n)?, depth, other)));
    computed.or_else(|| other(value, depth))
}
