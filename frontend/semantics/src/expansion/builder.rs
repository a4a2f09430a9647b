// SPDX-License-Identifier: Apache-2.0
//! Values that record the operations on them, so that functions read like formulas.

use super::{Class, Expansion, Operand, Operation, Step, Typed};
use crate::op::ScalarOp;
use crate::scalar::Scalar;
use std::cell::{Cell, RefCell};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The steps so far.
#[derive(Default)]
struct Builder {
    steps: RefCell<Vec<Step>>,
    /// The number of the next value.
    next: Cell<usize>,
}

impl Builder {
    fn push(&self, step: Step, class: Class) -> Value<'_> {
        let number = self.next.get();
        self.next.set(number + 1);
        self.steps.borrow_mut().push(step);
        Value { builder: self, operand: Operand::Step(number), class }
    }

    fn finish(self, classes: &[Class], result: Typed) -> Expansion {
        Expansion { arguments: classes.to_vec(), steps: self.steps.into_inner(), result }
    }
}

impl Expansion {
    /// The steps of a function for arguments of these classes.
    pub fn record<const N: usize>(
        classes: [Class; N],
        function: impl for<'b> FnOnce([Value<'b>; N]) -> Value<'b>,
    ) -> Expansion {
        let builder = Builder::default();
        let result = function(arguments(&builder, classes)).typed();
        builder.finish(&classes, result)
    }

    /// Like [`Expansion::record`]; `None` if the function returns no value.
    pub fn try_record<const N: usize>(
        classes: [Class; N],
        function: impl for<'b> FnOnce([Value<'b>; N]) -> Option<Value<'b>>,
    ) -> Option<Expansion> {
        let builder = Builder::default();
        let result = function(arguments(&builder, classes))?.typed();
        Some(builder.finish(&classes, result))
    }
}

fn arguments<const N: usize>(builder: &Builder, classes: [Class; N]) -> [Value<'_>; N] {
    let mut number = 0;
    classes.map(|class| {
        number += 1;
        Value { builder, operand: Operand::Argument(number - 1), class }
    })
}

/// A value of an expansion.
#[derive(Clone, Copy)]
pub struct Value<'b> {
    builder: &'b Builder,
    operand: Operand,
    class: Class,
}

/// A value, or a constant that takes its class from another value.
pub trait Term<'b> {
    /// A value of the class of `other`.
    fn like(self, other: Value<'b>) -> Value<'b>;
}

impl<'b> Term<'b> for Value<'b> {
    fn like(self, _: Value<'b>) -> Value<'b> {
        self
    }
}

impl<'b> Term<'b> for f64 {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Constant(Scalar::Real(self)), ..other }
    }
}

impl<'b> Term<'b> for i64 {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Constant(Scalar::Int(self)), ..other }
    }
}

impl<'b> Term<'b> for bool {
    fn like(self, other: Value<'b>) -> Value<'b> {
        Value { operand: Operand::Constant(Scalar::Bool(self)), ..other }
    }
}

/// Methods that record a step with a result of the class of the operands.
macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident($($operand:ident),*) = $operation:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(self, $($operand: impl Term<'b>),*) -> Value<'b> {
                self.step($operation, &[$($operand.like(self)),*], self.class)
            }
        )*
    };
}

/// Methods that record a comparison.
macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident = $operation:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $name(self, other: impl Term<'b>) -> Value<'b> {
                self.step($operation, &[other.like(self)], Class::BOOL)
            }
        )*
    };
}

impl<'b> Value<'b> {
    /// The class of the value.
    pub fn class(self) -> Class {
        self.class
    }

    fn typed(self) -> Typed {
        (self.operand, self.class)
    }

    /// A constant of the class of this value.
    pub fn constant(self, value: impl Term<'b>) -> Value<'b> {
        value.like(self)
    }

    /// A constant index.
    pub fn index(self, value: i64) -> Value<'b> {
        value.like(Value { class: Class::Index, ..self })
    }

    fn step(self, operation: Operation, others: &[Value<'b>], class: Class) -> Value<'b> {
        let operands = [self].iter().chain(others).map(|value| value.typed()).collect();
        self.builder.push(Step::Apply { operation, operands, class }, class)
    }

    /// An operation of the table on this value.
    pub fn apply(self, op: ScalarOp) -> Value<'b> {
        self.step(Operation::Scalar(op), &[], self.class)
    }

    /// An operation of the table on this value and another value.
    pub fn with(self, op: ScalarOp, other: impl Term<'b>) -> Value<'b> {
        self.step(Operation::Scalar(op), &[other.like(self)], self.class)
    }

    /// A comparison of the table.
    pub fn compare(self, op: ScalarOp, other: impl Term<'b>) -> Value<'b> {
        self.step(Operation::Scalar(op), &[other.like(self)], Class::BOOL)
    }

    /// A comparison of unsigned integers.
    pub fn compare_unsigned(self, op: ScalarOp, other: impl Term<'b>) -> Value<'b> {
        self.step(Operation::Unsigned(op), &[other.like(self)], Class::BOOL)
    }

    steps! {
        /// `self · factor + summand`
        mul_add(factor, summand) = Operation::MultiplyAdd;
        /// The absolute value of a real.
        abs() = Operation::Scalar(ScalarOp::Abs);
        /// The square root.
        sqrt() = Operation::Scalar(ScalarOp::Sqrt);
        /// The largest whole number that is not above the real.
        floor() = Operation::Scalar(ScalarOp::Floor);
        /// The smallest whole number that is not below the real.
        ceil() = Operation::Scalar(ScalarOp::Ceil);
        /// The integer part of a real.
        trunc() = Operation::Trunc;
        /// `exp(x)`
        exp() = Operation::Scalar(ScalarOp::Exp);
        /// `exp(x) - 1`
        expm1() = Operation::Expm1;
        /// `log(x)`
        log() = Operation::Scalar(ScalarOp::Log);
        /// `log(1 + x)`
        log1p() = Operation::Log1p;
        /// `atan2(self, x)`
        atan2(x) = Operation::Atan2;
        /// This real with the sign of another real.
        copysign(sign) = Operation::CopySign;
        /// The minimum of two values; NaN if either is NaN.
        min(other) = Operation::Scalar(ScalarOp::Min);
        /// The maximum of two values; NaN if either is NaN.
        max(other) = Operation::Scalar(ScalarOp::Max);
        /// The quotient of integers, rounded toward zero.
        quotient(divisor) = Operation::Quotient;
        /// The remainder with the sign of the dividend.
        remainder(divisor) = Operation::Remainder;
        /// The remainder of unsigned integers.
        remainder_unsigned(divisor) = Operation::Unsigned(ScalarOp::Mod);
        /// The bitwise and.
        and(other) = Operation::Scalar(ScalarOp::And);
        /// The bitwise or.
        or(other) = Operation::Scalar(ScalarOp::Or);
        /// The bitwise exclusive or.
        xor(other) = Operation::Scalar(ScalarOp::Xor);
        /// The integer shifted to the left.
        shift_left(positions) = Operation::ShiftLeft;
        /// The integer shifted to the right, filled with zeros.
        shift_right(positions) = Operation::ShiftRight;
        /// The integer shifted to the right, filled with its sign.
        shift_right_signed(positions) = Operation::ShiftRightSigned;
    }

    comparisons! {
        /// Whether the value is less.
        less = Operation::Scalar(ScalarOp::Lt);
        /// Whether the value is greater.
        greater = Operation::Scalar(ScalarOp::Gt);
        /// Whether the values are equal.
        equal = Operation::Scalar(ScalarOp::Eq);
        /// Whether the values differ, or either value is NaN.
        not_equal = Operation::Scalar(ScalarOp::Ne);
        /// Whether the values differ, and neither value is NaN.
        less_or_greater = Operation::LessOrGreater;
        /// Whether one of the reals is NaN.
        unordered = Operation::Unordered;
    }

    /// `then` where this truth value is true, else `otherwise`, which determines the class of both.
    pub fn select(self, then: impl Term<'b>, otherwise: Value<'b>) -> Value<'b> {
        let then = then.like(otherwise);
        self.step(Operation::Scalar(ScalarOp::Select), &[then, otherwise], otherwise.class)
    }

    /// The bits as a value of another class.
    pub fn bits(self, class: Class) -> Value<'b> {
        self.step(Operation::Bits, &[], class)
    }

    /// The value in another class.
    pub fn to(self, class: Class) -> Value<'b> {
        self.step(Operation::Convert, &[], class)
    }

    /// The unsigned integer, converted to a class of wider integers or of reals.
    pub fn unsigned_to(self, class: Class) -> Value<'b> {
        let op = if class.is_real() { ScalarOp::ToReal } else { ScalarOp::ToInt };
        self.step(Operation::Unsigned(op), &[], class)
    }

    /// `self · 2ⁿ`, with n as an integer and as a real.
    pub fn scale(self, n: Value<'b>, real: Value<'b>) -> Value<'b> {
        self.step(Operation::Scale, &[n, real], self.class)
    }

    /// The minimum of the value and a constant; NaN is preserved.
    pub fn at_most(self, bound: f64) -> Value<'b> {
        self.greater(bound).select(bound, self)
    }

    /// The maximum of the value and a constant; NaN is preserved.
    pub fn at_least(self, bound: f64) -> Value<'b> {
        self.less(bound).select(bound, self)
    }

    /// A polynomial of the value; the coefficients are in ascending order, starting with the constant.
    pub fn polynomial(self, coefficients: &[f64]) -> Value<'b> {
        let Some((leading, rest)) = coefficients.split_last() else {
            return 0.0_f64.like(self);
        };
        rest.iter().rev().fold(leading.like(self), |above, c| above.mul_add(self, *c))
    }

    /// The first carried value after `self` repetitions of `body`, which begin with `first`. `self` is an index.
    pub fn repeat<const N: usize>(
        self,
        first: [Value<'b>; N],
        body: impl FnOnce([Value<'b>; N]) -> [Value<'b>; N],
    ) -> Value<'b> {
        let builder = self.builder;
        let outer = builder.steps.take();
        let number = builder.next.get();
        let carried = first.map(|value| {
            let operand = Operand::Step(builder.next.replace(builder.next.get() + 1));
            Value { operand, ..value }
        });
        let next = body(carried).map(Value::typed).to_vec();
        let body = builder.steps.replace(outer);
        builder.next.set(number);
        let class = first.first().map_or(self.class, |value| value.class);
        let repeat =
            Step::Repeat { count: self.operand, first: first.map(Value::typed).to_vec(), body, next };
        builder.push(repeat, class)
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident = $operation:ident;)*) => {
        $(
            impl<'b, T: Term<'b>> $operator<T> for Value<'b> {
                type Output = Value<'b>;
                fn $name(self, other: T) -> Value<'b> {
                    Value::with(self, ScalarOp::$operation, other)
                }
            }
            impl<'b> $operator<Value<'b>> for f64 {
                type Output = Value<'b>;
                fn $name(self, other: Value<'b>) -> Value<'b> {
                    Value::with(self.like(other), ScalarOp::$operation, other)
                }
            }
            impl<'b> $operator<Value<'b>> for i64 {
                type Output = Value<'b>;
                fn $name(self, other: Value<'b>) -> Value<'b> {
                    Value::with(self.like(other), ScalarOp::$operation, other)
                }
            }
        )*
    };
}

operators! {
    Add add = Add;
    Sub sub = Sub;
    Mul mul = Mul;
    Div div = Div;
}

impl<'b> Neg for Value<'b> {
    type Output = Value<'b>;
    fn neg(self) -> Value<'b> {
        self.apply(ScalarOp::Neg)
    }
}
