// SPDX-License-Identifier: Apache-2.0
//! Builds index arithmetic and folds constants.

use super::builder::arith::Integers;
use super::{Builder, ops};
use melior::ir::{Type, Value};

/// An integer in generated code: a constant or a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number<'c, 'a> {
    Known(i64),
    Value(Value<'c, 'a>),
}

impl From<i64> for Number<'_, '_> {
    fn from(value: i64) -> Self {
        Number::Known(value)
    }
}

impl<'c, 'a> From<Value<'c, 'a>> for Number<'c, 'a> {
    fn from(value: Value<'c, 'a>) -> Self {
        Number::Value(value)
    }
}

impl Number<'_, '_> {
    /// Whether the number is a constant multiple of `size`.
    pub(crate) fn is_multiple(self, size: i64) -> bool {
        matches!(self, Number::Known(number) if number % size == 0)
    }
}

/// Arithmetic with an integer type at an insertion point. Numbers are not negative.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'c, 'a> {
    pub(crate) at: Builder<'c, 'a>,
    pub(crate) kind: Type<'c>,
}

impl<'c: 'a, 'a> Numbers<'c, 'a> {
    /// A number as a value.
    pub(crate) fn value(&self, number: impl Into<Number<'c, 'a>>) -> Value<'c, 'a> {
        match number.into() {
            Number::Known(value) => self.at.int(value, self.kind),
            Number::Value(value) => value,
        }
    }

    /// A number as an index.
    pub(crate) fn index(&self, number: impl Into<Number<'c, 'a>>) -> Value<'c, 'a> {
        match number.into() {
            Number::Known(value) => self.at.idx(value),
            Number::Value(value) => self.at.index_cast(value, self.at.index_type()),
        }
    }

    /// An index as a number.
    pub(crate) fn number(&self, index: Value<'c, 'a>) -> Number<'c, 'a> {
        self.at.index_cast(index, self.kind).into()
    }

    fn binary(&self, name: &str, a: Number<'c, 'a>, b: Number<'c, 'a>) -> Number<'c, 'a> {
        let operands = [self.value(a), self.value(b)];
        self.at.make(name, &operands, &[], self.kind).into()
    }

    pub(crate) fn add(&self, a: impl Into<Number<'c, 'a>>, b: impl Into<Number<'c, 'a>>) -> Number<'c, 'a> {
        match (a.into(), b.into()) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a + b),
            (Number::Known(0), other) | (other, Number::Known(0)) => other,
            (a, b) => self.binary(ops::arith::ADDI, a, b),
        }
    }

    pub(crate) fn subtract(
        &self,
        a: impl Into<Number<'c, 'a>>,
        b: impl Into<Number<'c, 'a>>,
    ) -> Number<'c, 'a> {
        match (a.into(), b.into()) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a - b),
            (a, Number::Known(0)) => a,
            (a, b) => self.binary(ops::arith::SUBI, a, b),
        }
    }

    pub(crate) fn multiply(
        &self,
        a: impl Into<Number<'c, 'a>>,
        b: impl Into<Number<'c, 'a>>,
    ) -> Number<'c, 'a> {
        match (a.into(), b.into()) {
            (Number::Known(a), Number::Known(b)) => Number::Known(a.saturating_mul(b)),
            (Number::Known(0), _) | (_, Number::Known(0)) => Number::Known(0),
            (Number::Known(1), other) | (other, Number::Known(1)) => other,
            (a, b) => self.binary(ops::arith::MULI, a, b),
        }
    }

    /// The quotient and the remainder.
    pub(crate) fn split(
        &self,
        a: impl Into<Number<'c, 'a>>,
        by: impl Into<Number<'c, 'a>>,
    ) -> (Number<'c, 'a>, Number<'c, 'a>) {
        match (a.into(), by.into()) {
            (a, Number::Known(..=1)) => (a, Number::Known(0)),
            (Number::Known(a), Number::Known(by)) => (Number::Known(a / by), Number::Known(a % by)),
            (a, by) => {
                let quotient = self.binary(ops::arith::DIVUI, a, by);
                (quotient, self.binary(ops::arith::REMUI, a, by))
            }
        }
    }

    /// The number of parts with `size` elements that cover `count` elements.
    pub(crate) fn parts(&self, count: Number<'c, 'a>, size: i64) -> Number<'c, 'a> {
        self.split(self.add(count, size - 1), size).0
    }

    /// The minimum of two numbers.
    pub(crate) fn at_most(&self, a: Number<'c, 'a>, max: Number<'c, 'a>) -> Number<'c, 'a> {
        match (a, max) {
            (Number::Known(a), Number::Known(max)) => Number::Known(a.min(max)),
            (a, max) => self.binary(ops::arith::MINUI, a, max),
        }
    }

    /// Whether a number is less than a count, as a bool.
    pub(crate) fn is_below(
        &self,
        a: impl Into<Number<'c, 'a>>,
        count: impl Into<Number<'c, 'a>>,
    ) -> Value<'c, 'a> {
        let (a, count) = (self.value(a), self.value(count));
        self.at.cmpi(Integers::Less, a, count)
    }
}
