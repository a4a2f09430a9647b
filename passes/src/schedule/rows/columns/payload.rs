// SPDX-License-Identifier: Apache-2.0
//! What a payload computes of one of its arguments.

use crate::ir::copy::arguments;
use crate::ir::linalg::{Generic, Yield};
use crate::ir::{self, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value, ValueLike};
use skript_dialect::melior;

/// The payload of an operation with one result.
pub(super) struct Payload<'c, 'a> {
    arguments: Vec<Value<'c, 'a>>,
    result: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Payload<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let block: BlockRef = Generic::cast(op)?.body()?;
        let end = Yield::cast(*ir::operations(block).last()?)?;
        if end.op().operand_count() != 1 {
            return None;
        }
        Some(Payload { arguments: arguments(block), result: end.value().ok()? })
    }

    /// Whether a value is an argument that nothing else uses, maybe of another storage type.
    fn is_argument(&self, value: Value<'c, 'a>, number: usize) -> bool {
        let own = self.arguments.get(number);
        own.is_some_and(|own| uncast(value) == *own && ir::users(*own).len() == 1)
    }

    /// Whether the result is an argument.
    pub(super) fn is_copy(&self, argument: usize) -> bool {
        self.is_argument(self.result, argument)
    }

    /// The exponential function whose value at the difference of something and an argument is the result.
    pub(super) fn exponential(&self, argument: usize) -> Option<&'static str> {
        let (function, name) = [ops::math::EXP, ops::math::EXP2]
            .into_iter()
            .find_map(|name| Some((applied(uncast(self.result), name)?, name)))?;
        let difference = applied(function.operand(0).ok()?, ops::arith::SUBF)?;
        let is_own = self.is_argument(difference.operand(1).ok()?, argument);
        is_own.then_some(name)
    }

    /// The division whose quotient of two arguments is the result.
    pub(super) fn quotient(&self, [one, other]: [usize; 2]) -> Option<OperationRef<'c, 'a>> {
        let division = applied(uncast(self.result), ops::arith::DIVF)?;
        let [left, right] = [division.operand(0).ok()?, division.operand(1).ok()?];
        let is_own = self.is_argument(left, one) && self.is_argument(right, other);
        is_own.then_some(division)
    }

    /// Whether the result is a quotient that is not rounded to another type.
    pub(super) fn is_quotient_alone(&self) -> bool {
        applied(self.result, ops::arith::DIVF).is_some()
    }

    /// Whether the result is the maximum of the last argument and a value.
    pub(super) fn is_maximum(&self) -> bool {
        self.combined(ops::arith::MAXIMUMF).is_some()
    }

    /// Whether the result is a sum, in any order, of the last argument and of one of `own`, or its product with one other argument.
    pub(super) fn is_sum_of(&self, own: &[usize], inputs: usize) -> bool {
        let Some((sum, value)) = self.combined(ops::arith::ADDF) else {
            return false;
        };
        let is_free = sum.attribute("fastmath").is_ok_and(|flags| flags.to_string().contains("reassoc"));
        let is_own = |value| own.iter().any(|n| self.is_argument(value, *n));
        let is_other = |value| {
            let mut others = (0..inputs).filter(|n| !own.contains(n));
            others.any(|n| self.is_argument(value, n))
        };
        let is_product = || {
            let product = applied(value, ops::arith::MULF)?;
            let [one, other] = [product.operand(0).ok()?, product.operand(1).ok()?];
            Some(is_own(one) && is_other(other) || is_own(other) && is_other(one))
        };
        is_free && (is_own(value) || is_product() == Some(true))
    }

    /// The operation whose value of the last argument and another value is the result, and that value.
    fn combined(&self, name: &str) -> Option<(OperationRef<'c, 'a>, Value<'c, 'a>)> {
        let sum = *self.arguments.last()?;
        let op = applied(self.result, name)?;
        let [one, other] = [op.operand(0).ok()?, op.operand(1).ok()?];
        if ir::users(sum).len() != 1 {
            return None;
        }
        match (one == sum, other == sum) {
            (true, false) => Some((op, other)),
            (false, true) => Some((op, one)),
            _ => None,
        }
    }
}

/// The operation of a name that a value is the result of.
fn applied<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Option<OperationRef<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    (ir::name(op) == name).then_some(op)
}

/// A value before it was rounded to a storage type, and extended from it.
fn uncast<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut own = value;
    // Extended, rounded, and extended before.
    for _ in 0..3 {
        let cast = [ops::arith::EXTF, ops::arith::TRUNCF]
            .into_iter()
            .find_map(|name| applied(own, name)?.operand(0).ok());
        match cast.or_else(|| extended(own)).or_else(|| rounded(own)) {
            Some(before) => own = before,
            None => break,
        }
    }
    own
}

/// The operand of a chain of operations, the last one first.
fn chain<'c: 'a, 'a>(value: Value<'c, 'a>, names: &[&str]) -> Option<Value<'c, 'a>> {
    let mut names = names.iter();
    names.try_fold(value, |value, name| applied(value, name)?.operand(0).ok())
}

/// The number in bf16 that one in f32 is extended from, as the upper half of its bits.
fn extended<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    use ops::arith::{BITCAST, EXTUI, SHLI};
    let own = chain(value, &[BITCAST, SHLI, EXTUI, BITCAST])?;
    (own.r#type().to_string() == "bf16").then_some(own)
}

/// The number in f32 that one in bf16 is rounded from: half of the last bit that is left is added to its bits, unless it is NaN.
fn rounded<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    use ops::arith::{ADDI, BITCAST, CMPF, SELECT, SHRUI, TRUNCI};
    if value.r#type().to_string() != "bf16" {
        return None;
    }
    let choice = applied(chain(value, &[BITCAST, TRUNCI])?, SELECT)?;
    let test = applied(choice.operand(0).ok()?, CMPF)?;
    let [own, same] = [test.operand(0).ok()?, test.operand(1).ok()?];
    let finite = chain(choice.operand(2).ok()?, &[SHRUI, ADDI, BITCAST])?;
    (own == same && own == finite).then_some(own)
}
