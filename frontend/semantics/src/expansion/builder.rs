// SPDX-License-Identifier: Apache-2.0
//! Values that record what is computed with them, so that functions read as formulas.

use super::{Class, Expansion, Operand, Operation, Step};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The steps so far.
#[derive(Default)]
pub(super) struct Builder {
    steps: RefCell<Vec<Step>>,
}

impl Builder {
    pub(super) fn argument(&self, number: usize, class: Class) -> Value<'_> {
        Value { builder: self, operand: Operand::Argument(number), class }
    }

    pub(super) fn finish(self, arity: usize, class: Class, result: Operand) -> Expansion {
        Expansion { arity, class, steps: self.steps.into_inner(), result }
    }
}

/// A value of an expansion.
#[derive(Clone, Copy)]
pub(super) struct Value<'b> {
    builder: &'b Builder,
    operand: Operand,
    class: Class,
}

/// What becomes a value of the class of another one: a value, or a constant.
pub(super) trait Term<'b> {
    fn like(self, other: Value<'b>) -> Value<'b>;
}

impl<'b> Term<'b> for Value<'b> {
    fn like(self, _: Value<'b>) -> Value<'b> {
        self
    }
}

impl<'b> Term<'b> for f64 {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Real(self), ..other }
    }
}

impl<'b> Term<'b> for i64 {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Integer(self), ..other }
    }
}

impl<'b> Term<'b> for bool {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Truth(self), ..other }
    }
}

impl<'b> Value<'b> {
    pub(super) fn class(self) -> Class {
        self.class
    }

    pub(super) fn operand(self) -> Operand {
        self.operand
    }

    /// A constant of the class of this value.
    pub(super) fn constant(self, value: f64) -> Value<'b> {
        value.like(self)
    }

    /// A constant integer of the class of this value.
    pub(super) fn integer(self, value: i64) -> Value<'b> {
        value.like(self)
    }

    fn step(self, operation: Operation, others: &[Value<'b>], class: Class) -> Value<'b> {
        let mut steps = self.builder.steps.borrow_mut();
        let operands = [self].into_iter().chain(others.iter().copied());
        steps.push(Step {
            operation,
            operands: operands.map(|value| (value.operand, value.class)).collect(),
            class,
        });
        Value { operand: Operand::Step(steps.len() - 1), class, ..self }
    }

    fn with(self, operation: Operation, other: impl Term<'b>) -> Value<'b> {
        self.step(operation, &[other.like(self)], self.class)
    }

    fn compare(self, operation: Operation, other: impl Term<'b>) -> Value<'b> {
        self.step(operation, &[other.like(self)], Class::I1)
    }

    /// `self · factor + summand`
    pub(super) fn mul_add(self, factor: impl Term<'b>, summand: impl Term<'b>) -> Value<'b> {
        let others = [factor.like(self), summand.like(self)];
        self.step(Operation::MultiplyAdd, &others, self.class)
    }

    pub(super) fn abs(self) -> Value<'b> {
        self.step(Operation::Abs, &[], self.class)
    }

    pub(super) fn sqrt(self) -> Value<'b> {
        self.step(Operation::Sqrt, &[], self.class)
    }

    pub(super) fn floor(self) -> Value<'b> {
        self.step(Operation::Floor, &[], self.class)
    }

    pub(super) fn copysign(self, sign: Value<'b>) -> Value<'b> {
        self.with(Operation::CopySign, sign)
    }

    pub(super) fn less(self, other: impl Term<'b>) -> Value<'b> {
        self.compare(Operation::Less, other)
    }

    pub(super) fn greater(self, other: impl Term<'b>) -> Value<'b> {
        self.compare(Operation::Greater, other)
    }

    pub(super) fn equal(self, other: impl Term<'b>) -> Value<'b> {
        self.compare(Operation::Equal, other)
    }

    pub(super) fn unordered(self, other: impl Term<'b>) -> Value<'b> {
        self.compare(Operation::Unordered, other)
    }

    pub(super) fn and(self, other: impl Term<'b>) -> Value<'b> {
        self.with(Operation::And, other)
    }

    pub(super) fn or(self, other: impl Term<'b>) -> Value<'b> {
        self.with(Operation::Or, other)
    }

    pub(super) fn xor(self, other: impl Term<'b>) -> Value<'b> {
        self.with(Operation::Xor, other)
    }

    pub(super) fn shift_left(self, positions: impl Term<'b>) -> Value<'b> {
        self.with(Operation::ShiftLeft, positions)
    }

    pub(super) fn shift_right(self, positions: impl Term<'b>) -> Value<'b> {
        self.with(Operation::ShiftRight, positions)
    }

    pub(super) fn shift_right_signed(self, positions: i64) -> Value<'b> {
        self.with(Operation::ShiftRightSigned, positions)
    }

    /// `then` where this truth value holds; one of the two is no constant, and has the class of both.
    pub(super) fn select(self, then: impl Term<'b>, otherwise: Value<'b>) -> Value<'b> {
        let then = then.like(otherwise);
        self.step(Operation::Select, &[then, otherwise], otherwise.class)
    }

    pub(super) fn bits(self, class: Class) -> Value<'b> {
        self.step(Operation::Bits, &[], class)
    }

    pub(super) fn to(self, class: Class) -> Value<'b> {
        self.step(Operation::Convert, &[], class)
    }

    /// `self · 2ⁿ`, of n as an integer and as a real.
    pub(super) fn scale(self, n: Value<'b>, real: Value<'b>) -> Value<'b> {
        self.step(Operation::Scale, &[n, real], self.class)
    }

    /// The lesser of the value and a constant; NaN stays.
    pub(super) fn at_most(self, bound: f64) -> Value<'b> {
        self.greater(bound).select(bound, self)
    }

    /// The greater of the value and a constant; NaN stays.
    pub(super) fn at_least(self, bound: f64) -> Value<'b> {
        self.less(bound).select(bound, self)
    }

    /// A polynomial of the value; coefficients from the constant on.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> Value<'b> {
        let mut descending = coefficients.iter().rev();
        let leading = descending.next().copied().unwrap_or_default().like(self);
        descending.fold(leading, |above, c| above.mul_add(self, *c))
    }
}

impl<'b, T: Term<'b>> Add<T> for Value<'b> {
    type Output = Value<'b>;
    fn add(self, other: T) -> Value<'b> {
        self.with(Operation::Add, other)
    }
}

impl<'b, T: Term<'b>> Sub<T> for Value<'b> {
    type Output = Value<'b>;
    fn sub(self, other: T) -> Value<'b> {
        self.with(Operation::Sub, other)
    }
}

impl<'b, T: Term<'b>> Mul<T> for Value<'b> {
    type Output = Value<'b>;
    fn mul(self, other: T) -> Value<'b> {
        self.with(Operation::Mul, other)
    }
}

impl<'b, T: Term<'b>> Div<T> for Value<'b> {
    type Output = Value<'b>;
    fn div(self, other: T) -> Value<'b> {
        self.with(Operation::Div, other)
    }
}

impl<'b> Neg for Value<'b> {
    type Output = Value<'b>;
    fn neg(self) -> Value<'b> {
        self.step(Operation::Neg, &[], self.class)
    }
}

impl<'b> Sub<Value<'b>> for f64 {
    type Output = Value<'b>;
    fn sub(self, other: Value<'b>) -> Value<'b> {
        self.like(other) - other
    }
}

impl<'b> Div<Value<'b>> for f64 {
    type Output = Value<'b>;
    fn div(self, other: Value<'b>) -> Value<'b> {
        self.like(other) / other
    }
}
