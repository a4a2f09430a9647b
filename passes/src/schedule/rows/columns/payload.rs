// SPDX-License-Identifier: Apache-2.0
//! Matches payloads by their arguments.

use crate::formula::scalar_to_arith::widened_from;
use crate::ir::arith::may_reorder;
use crate::ir::generic::{Accumulation, LoopNest};
use crate::ir::{self, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{melior, op};

/// The payload of an operation with one result.
pub(super) struct Payload<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    result: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Payload<'c, 'a> {
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op)?;
        let [result] = *nest.yielded.as_slice() else {
            return None;
        };
        Some(Payload { nest, result })
    }

    /// Whether a value is an argument without other users, possibly converted to or from another storage type.
    fn is_argument(&self, value: Value<'c, 'a>, number: usize) -> bool {
        let argument = self.nest.operands.get(number).map(|operand| operand.element);
        argument.is_some_and(|argument| uncast(value) == argument && ir::users(argument).len() == 1)
    }

    /// Whether the result is an argument.
    pub(super) fn is_copy(&self, argument: usize) -> bool {
        self.is_argument(self.result, argument)
    }

    /// Returns the name of the exponential function f if the result is f(x − argument) for any x.
    pub(super) fn exponential(&self, argument: usize) -> Option<&'static str> {
        let (function, name) = [ops::math::EXP, ops::math::EXP2]
            .into_iter()
            .find_map(|name| Some((ir::defined_by(uncast(self.result), name)?, name)))?;
        let difference = ir::defined_by(ir::operand_at(function, 0)?, ops::arith::SUBF)?;
        self.is_argument(ir::operand_at(difference, 1)?, argument).then_some(name)
    }

    /// Returns the division if the result is the quotient of two arguments.
    pub(super) fn quotient(&self, [one, other]: [usize; 2]) -> Option<OperationRef<'c, 'a>> {
        let division = ir::defined_by(uncast(self.result), ops::arith::DIVF)?;
        let [left, right] = [ir::operand_at(division, 0)?, ir::operand_at(division, 1)?];
        let is_quotient = self.is_argument(left, one) && self.is_argument(right, other);
        is_quotient.then_some(division)
    }

    /// Whether the result is a quotient that is not rounded to another type.
    pub(super) fn is_quotient_alone(&self) -> bool {
        ir::defined_by(self.result, ops::arith::DIVF).is_some()
    }

    /// Whether the result is the maximum of the last argument and a value.
    pub(super) fn is_maximum(&self) -> bool {
        self.combined(ops::arith::MAXIMUMF).is_some()
    }

    /// Whether the result is the sum of the last argument and a term, and the terms may be added in any order. The term is one of the
    /// arguments `terms`, or its product with an argument that is not in `terms`.
    pub(super) fn is_sum_of(&self, terms: &[usize], inputs: usize) -> bool {
        let Some(Accumulation { op: sum, value }) = self.combined(ops::arith::ADDF) else {
            return false;
        };
        let is_term = |value| terms.iter().any(|n| self.is_argument(value, *n));
        let is_other = |value| (0..inputs).filter(|n| !terms.contains(n)).any(|n| self.is_argument(value, n));
        let is_product = || {
            let product = ir::defined_by(value, ops::arith::MULF)?;
            let [one, other] = [ir::operand_at(product, 0)?, ir::operand_at(product, 1)?];
            Some(is_term(one) && is_other(other) || is_term(other) && is_other(one))
        };
        may_reorder(sum) && (is_term(value) || is_product() == Some(true))
    }

    /// Returns the accumulation if the operation that combines the last argument with a value has this name.
    fn combined(&self, name: &str) -> Option<Accumulation<'c, 'a>> {
        self.nest.accumulation().filter(|accumulation| op::is(&accumulation.op, name))
    }
}

/// Strips the rounding of a value to a storage type, and its extension from the storage type.
fn uncast<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut source = value;
    // At most three casts: an extension, a rounding, and an extension.
    for _ in 0..3 {
        let cast = [ops::arith::EXTF, ops::arith::TRUNCF]
            .into_iter()
            .find_map(|name| ir::defined_by(source, name)?.operand(0).ok());
        match cast.or_else(|| widened_from(source)).or_else(|| rounded(source)) {
            Some(before) => source = before,
            None => break,
        }
    }
    source
}

/// Returns the operand of a chain of operations; `names` lists them from the last to the first.
fn chain<'c: 'a, 'a>(value: Value<'c, 'a>, names: &[&str]) -> Option<Value<'c, 'a>> {
    names.iter().try_fold(value, |value, name| ir::defined_by(value, name)?.operand(0).ok())
}

/// Returns the f32 value whose rounding to bf16 is `value`. The matched code adds half of the last remaining bit to the bits of the
/// f32 value, unless it is NaN.
fn rounded<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    use ops::arith::{ADDI, BITCAST, CMPF, SELECT, SHRUI, TRUNCI};
    if value.r#type().to_string() != "bf16" {
        return None;
    }
    let choice = ir::defined_by(chain(value, &[BITCAST, TRUNCI])?, SELECT)?;
    let test = ir::defined_by(ir::operand_at(choice, 0)?, CMPF)?;
    let [source, same] = [ir::operand_at(test, 0)?, ir::operand_at(test, 1)?];
    let finite = chain(ir::operand_at(choice, 2)?, &[SHRUI, ADDI, BITCAST])?;
    (source == same && source == finite).then_some(source)
}
