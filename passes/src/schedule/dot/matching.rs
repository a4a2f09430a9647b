// SPDX-License-Identifier: Apache-2.0
//! Recognizes payloads that sum products of bytes or of bf16.

use super::{Dot, Instruction};
use crate::ir::ops;
use crate::schedule::body::{Body, Operand, Step};
use crate::schedule::target::Target;

impl Dot {
    /// Of a payload that adds the product of a byte without a sign and one with a sign, or of two bf16, for vectors of so many lanes.
    pub(in crate::schedule) fn of(body: &Body, target: Target, lanes: i64) -> Option<Dot> {
        if body.predicate.is_some() {
            return None;
        }
        let (instruction, unsigned) = match body.accumulator.as_str() {
            "i32" => (target.dot, Self::unsigned_byte(body)?),
            _ => {
                let [first, _] = Self::halves(body, target.half_dot, lanes)?;
                (target.half_dot, first)
            }
        };
        instruction.intrinsic(lanes)?;
        Some(Dot { instruction, unsigned })
    }

    /// The input without a sign of the two bytes that a payload multiplies.
    fn unsigned_byte(body: &Body) -> Option<usize> {
        let is_sum = body.combine.name == ops::arith::ADDI;
        let is_plain = is_sum && body.skips.is_none();
        let (product, factors, ..) = body.applied(&body.value).filter(|_| is_plain)?;
        let byte = |operand: &Operand| {
            let (name, operands, elements, _) = body.applied(operand)?;
            let [Operand::Input(position)] = operands else {
                return None;
            };
            (elements.first()? == "i8").then_some((name, *position))
        };
        let [first, second] = factors else {
            return None;
        };
        match [byte(first)?, byte(second)?] {
            [(ops::arith::EXTUI, own), (ops::arith::EXTSI, _)]
            | [(ops::arith::EXTSI, _), (ops::arith::EXTUI, own)] => Some(own),
            _ => None,
        }
        .filter(|_| product == ops::arith::MULI)
    }

    /// The two inputs of bf16 whose products a payload adds in f32, if an instruction does so for so many lanes.
    pub(in crate::schedule) fn halves(
        body: &Body,
        instruction: Instruction,
        lanes: i64,
    ) -> Option<[usize; 2]> {
        instruction.intrinsic(lanes)?;
        let is_sum = body.combine.name == ops::arith::ADDF && body.accumulator == "f32";
        let (name, factors, ..) = body.applied(&body.value).filter(|_| is_sum)?;
        let [first, second] = factors else {
            return None;
        };
        let (first, second) = (body.widened_half(first)?, body.widened_half(second)?);
        (name == ops::arith::MULF && first != second).then_some([first, second])
    }
}

impl Body {
    /// An operation of the payload: its name, its operands and their elements, and its attributes.
    pub(in crate::schedule) fn applied(
        &self,
        operand: &Operand,
    ) -> Option<(&str, &[Operand], &[String], &str)> {
        let Operand::Step(number) = operand else {
            return None;
        };
        match self.steps.get(*number)? {
            Step::Apply { name, operands, operand_elements, attributes, .. } => {
                Some((name, operands, operand_elements, attributes))
            }
            _ => None,
        }
    }

    /// The input that is widened from bf16 to f32, by `arith.extf` or by moving its bits.
    fn widened_half(&self, operand: &Operand) -> Option<usize> {
        let is_half = |elements: &[String]| elements.first().is_some_and(|own| own == "bf16");
        let mut operand = operand;
        for name in [ops::arith::BITCAST, ops::arith::SHLI, ops::arith::EXTUI, ops::arith::BITCAST] {
            let (own, operands, elements, _) = self.applied(operand)?;
            let is_last = is_half(elements) && [ops::arith::EXTF, ops::arith::BITCAST].contains(&own);
            match operands {
                [Operand::Input(position)] if is_last => return Some(*position),
                [next, ..] if own == name => operand = next,
                _ => return None,
            }
        }
        None
    }

    /// A product that may be approximated where a bool from outside is true: the position of the bool in [`Body::captures`], that
    /// product, and the one elsewhere.
    pub(in crate::schedule) fn approximated(&self) -> Option<(usize, &Operand, &Operand)> {
        let (name, operands, ..) = self.applied(&self.value)?;
        let [Operand::Capture(condition), then, otherwise] = operands else {
            return None;
        };
        let is_selection = name == ops::arith::SELECT && self.is_approximate(then);
        is_selection.then_some((*condition, then, otherwise))
    }

    /// Leaves the exact product of [`Body::approximated`] alone: the position of the bool, and the other one.
    pub(in crate::schedule) fn split(&mut self) -> Option<(usize, Operand)> {
        let (condition, approximate, exact) = self.approximated()?;
        let (approximate, exact) = (approximate.clone(), exact.clone());
        self.value = exact;
        Some((condition, approximate))
    }

    /// Whether an operation is marked with `afn`.
    pub(in crate::schedule) fn is_approximate(&self, operand: &Operand) -> bool {
        let applied = self.applied(operand);
        applied.is_some_and(|(.., attributes)| attributes.contains("afn"))
    }
}
