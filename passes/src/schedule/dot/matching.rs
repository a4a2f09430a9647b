// SPDX-License-Identifier: Apache-2.0
//! Recognizes payloads that sum products of bytes or of bf16.

use super::{Dot, Instruction};
use crate::ir::operator::Operator;
use crate::ir::{ops, types};
use crate::schedule::body::{Body, Operand, Step};
use crate::schedule::target::Target;
use melior::ir::{Type, TypeLike};

impl Dot {
    /// Matches payloads of the form `acc + u8 * s8` or `acc + bf16 * bf16`, for vectors of `lanes` elements.
    pub(in crate::schedule) fn from_body(body: &Body, target: Target, lanes: i64) -> Option<Dot> {
        if body.predicate.is_some() {
            return None;
        }
        let (instruction, unsigned) = match body.accumulator {
            element if element.is_integer() && types::width(element) == 32 => {
                (target.dot, Self::unsigned_byte(body)?)
            }
            _ => {
                let [first, _] = Self::halves(body, target.half_dot, lanes)?;
                (target.half_dot, first)
            }
        };
        instruction.intrinsic(lanes)?;
        Some(Dot { instruction, unsigned })
    }

    /// Returns the unsigned input of a payload that multiplies an unsigned byte by a signed byte.
    fn unsigned_byte(body: &Body) -> Option<usize> {
        let is_sum = body.combine.operator.name == ops::arith::ADDI;
        let is_plain = is_sum && body.skips.is_none();
        let (product, factors, ..) = body.applied(&body.value).filter(|_| is_plain)?;
        let byte = |operand: &Operand| {
            let (name, operands, elements, _) = body.applied(operand)?;
            let [Operand::Input(position)] = operands else {
                return None;
            };
            (types::width(*elements.first()?) == 8).then_some((name, *position))
        };
        let [first, second] = factors else {
            return None;
        };
        match [byte(first)?, byte(second)?] {
            [(ops::arith::EXTUI, unsigned), (ops::arith::EXTSI, _)]
            | [(ops::arith::EXTSI, _), (ops::arith::EXTUI, unsigned)] => Some(unsigned),
            _ => None,
        }
        .filter(|_| product == ops::arith::MULI)
    }

    /// Returns the two bf16 inputs of a payload that adds their products in f32, if there is an instruction for vectors of `lanes`
    /// elements.
    pub(in crate::schedule) fn halves(
        body: &Body,
        instruction: Instruction,
        lanes: i64,
    ) -> Option<[usize; 2]> {
        instruction.intrinsic(lanes)?;
        let is_sum = body.combine.operator.name == ops::arith::ADDF && body.accumulator.is_f32();
        let (name, factors, ..) = body.applied(&body.value).filter(|_| is_sum)?;
        let [first, second] = factors else {
            return None;
        };
        let (first, second) = (body.widened_half(first)?, body.widened_half(second)?);
        (name == ops::arith::MULF && first != second).then_some([first, second])
    }
}

impl<'c> Body<'c> {
    /// Returns an operation of the payload: its name, operands, operand types, and operator.
    pub(in crate::schedule) fn applied(
        &self,
        operand: &Operand,
    ) -> Option<(&str, &[Operand], &[Type<'c>], &Operator<'c>)> {
        let Operand::Step(number) = operand else {
            return None;
        };
        match self.steps.get(*number)? {
            Step::Apply { operator, operands, operand_elements, .. } => {
                Some((&operator.name, operands, operand_elements, operator))
            }
            _ => None,
        }
    }

    /// Returns the input that is widened from bf16 to f32, by `arith.extf` or by shifting its bits.
    fn widened_half(&self, operand: &Operand) -> Option<usize> {
        let is_half = |elements: &[Type]| elements.first().is_some_and(|element| element.is_bf16());
        let mut operand = operand;
        for name in [ops::arith::BITCAST, ops::arith::SHLI, ops::arith::EXTUI, ops::arith::BITCAST] {
            let (applied, operands, elements, _) = self.applied(operand)?;
            let is_last = is_half(elements) && [ops::arith::EXTF, ops::arith::BITCAST].contains(&applied);
            match operands {
                [Operand::Input(position)] if is_last => return Some(*position),
                [next, ..] if applied == name => operand = next,
                _ => return None,
            }
        }
        None
    }

    /// Matches a select between an approximate and an exact product, by a bool that is a capture. Returns the position of the bool in
    /// [`Body::captures`], the approximate product, and the exact product.
    pub(in crate::schedule) fn approximated(&self) -> Option<(usize, &Operand, &Operand)> {
        let (name, operands, ..) = self.applied(&self.value)?;
        let [Operand::Capture(condition), then, otherwise] = operands else {
            return None;
        };
        let is_selection = name == ops::arith::SELECT && self.is_approximate(then);
        is_selection.then_some((*condition, then, otherwise))
    }

    /// Replaces the value of the body by the exact product of [`Body::approximated`]. Returns the position of the bool, and the
    /// approximate product.
    pub(in crate::schedule) fn split(&mut self) -> Option<(usize, Operand)> {
        let (condition, approximate, exact) = self.approximated()?;
        let (approximate, exact) = (approximate.clone(), exact.clone());
        self.value = exact;
        Some((condition, approximate))
    }

    /// Whether an operation is marked with `afn`.
    pub(in crate::schedule) fn is_approximate(&self, operand: &Operand) -> bool {
        let applied = self.applied(operand);
        applied.is_some_and(|(.., operator)| operator.is_fast("afn"))
    }
}
