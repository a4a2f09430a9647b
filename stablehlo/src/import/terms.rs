// SPDX-License-Identifier: Apache-2.0
//! Floating-point values whose operators create operations of `arith` and `math`, so that functions read like formulas.

use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{Builder, ops};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An `f32` or `f64` value, and the insertion point of operations on it.
#[derive(Clone, Copy)]
pub(crate) struct Real<'c, 'a> {
    pub at: Builder<'c, 'a>,
    pub value: Value<'c, 'a>,
}

/// An `i1` value.
#[derive(Clone, Copy)]
pub(crate) struct Test<'c, 'a> {
    at: Builder<'c, 'a>,
    pub value: Value<'c, 'a>,
}

/// A value, or a constant that becomes a value when it is combined with another value.
pub(crate) trait Term<'c, 'a> {
    fn beside(self, other: Real<'c, 'a>) -> Real<'c, 'a>;
}

impl<'c, 'a> Term<'c, 'a> for Real<'c, 'a> {
    fn beside(self, _: Real<'c, 'a>) -> Real<'c, 'a> {
        self
    }
}

impl<'c: 'a, 'a> Term<'c, 'a> for f64 {
    fn beside(self, other: Real<'c, 'a>) -> Real<'c, 'a> {
        Real { value: other.at.real(self, other.value.r#type()), ..other }
    }
}

impl<'c: 'a, 'a> Real<'c, 'a> {
    /// Whether the value is an f64.
    pub(crate) fn is_double(self) -> bool {
        self.value.r#type().is_f64()
    }

    pub(crate) fn infinity(self) -> Real<'c, 'a> {
        self.constant(f64::INFINITY)
    }

    pub(crate) fn nan(self) -> Real<'c, 'a> {
        self.constant(f64::NAN)
    }

    /// Applies an operation, by its full name, to this value and other values.
    pub(crate) fn apply(self, operation: &str, others: &[Real<'c, 'a>]) -> Real<'c, 'a> {
        let operands: Vec<Value> = [&[self], others].concat().iter().map(|real| real.value).collect();
        Real { value: self.at.make(operation, &operands, &[], self.value.r#type()), ..self }
    }

    fn with(self, operation: &str, other: impl Term<'c, 'a>) -> Real<'c, 'a> {
        self.apply(operation, &[other.beside(self)])
    }

    pub(crate) fn is(self, predicate: Reals, other: impl Term<'c, 'a>) -> Test<'c, 'a> {
        Test { at: self.at, value: self.at.cmpf(predicate, self.value, other.beside(self).value) }
    }

    /// Whether an absolute value is infinite.
    pub(crate) fn is_infinite(self) -> Test<'c, 'a> {
        self.is(Reals::Equal, self.infinity())
    }

    pub(crate) fn abs(self) -> Real<'c, 'a> {
        self.apply(ops::math::ABSF, &[])
    }

    pub(crate) fn sqrt(self) -> Real<'c, 'a> {
        self.apply(ops::math::SQRT, &[])
    }

    pub(crate) fn exp(self) -> Real<'c, 'a> {
        self.apply(ops::math::EXP, &[])
    }

    pub(crate) fn sin(self) -> Real<'c, 'a> {
        self.apply(ops::math::SIN, &[])
    }

    pub(crate) fn cos(self) -> Real<'c, 'a> {
        self.apply(ops::math::COS, &[])
    }

    pub(crate) fn asinh(self) -> Real<'c, 'a> {
        self.apply(ops::math::ASINH, &[])
    }

    /// The angle of the point `(x, self)`.
    pub(crate) fn atan2(self, x: Real<'c, 'a>) -> Real<'c, 'a> {
        self.apply(ops::math::ATAN2, &[x])
    }

    pub(crate) fn copysign(self, sign: impl Term<'c, 'a>) -> Real<'c, 'a> {
        self.with(ops::math::COPYSIGN, sign)
    }

    pub(crate) fn max(self, other: Real<'c, 'a>) -> Real<'c, 'a> {
        self.apply(ops::arith::MAXIMUMF, &[other])
    }

    pub(crate) fn min(self, other: Real<'c, 'a>) -> Real<'c, 'a> {
        self.apply(ops::arith::MINIMUMF, &[other])
    }

    /// A constant of the same type as this value.
    pub(crate) fn constant(self, value: f64) -> Real<'c, 'a> {
        value.beside(self)
    }

    /// `log(1 + x)`, accurate also near 0, where `math.log1p` is expanded to the logarithm of a rounded sum: the
    /// rounding error of `1 + x` cancels in the quotient (W. Kahan).
    pub(crate) fn log_plus_one(self) -> Real<'c, 'a> {
        let sum = self + 1.0;
        let log = sum.apply(ops::math::LOG, &[]);
        let added = sum + -1.0;
        let value = log * (self / added);
        let value = added.is(Reals::Equal, 0.0).select(self, value);
        self.is_infinite().select(self, value)
    }

    /// `exp(x) - 1`, accurate also near 0, where `math.expm1` is expanded to a difference that cancels:
    /// `2 sinh(x / 2) exp(x / 2)`.
    pub(crate) fn exp_minus_one(self) -> Real<'c, 'a> {
        let half = self * 0.5;
        let (sinh, exp) = (half.apply(ops::math::SINH, &[]), half.exp());
        let value = (sinh + sinh) * exp;
        self.is(Reals::Less, -50.0).select(-1.0, value)
    }
}

impl<'c: 'a, 'a> Test<'c, 'a> {
    pub(crate) fn and(self, other: Test<'c, 'a>) -> Test<'c, 'a> {
        Test { value: self.at.andi(self.value, other.value), ..self }
    }

    pub(crate) fn or(self, other: Test<'c, 'a>) -> Test<'c, 'a> {
        Test { value: self.at.ori(self.value, other.value), ..self }
    }

    /// `yes` if the test is true, otherwise `no`.
    pub(crate) fn select(self, yes: impl Term<'c, 'a>, no: Real<'c, 'a>) -> Real<'c, 'a> {
        Real { value: self.at.select(self.value, yes.beside(no).value, no.value), ..no }
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $operation:expr;)*) => {$(
        impl<'c: 'a, 'a, T: Term<'c, 'a>> $trait<T> for Real<'c, 'a> {
            type Output = Real<'c, 'a>;
            fn $method(self, other: T) -> Real<'c, 'a> {
                self.with($operation, other)
            }
        }

        impl<'c: 'a, 'a> $trait<Real<'c, 'a>> for f64 {
            type Output = Real<'c, 'a>;
            fn $method(self, other: Real<'c, 'a>) -> Real<'c, 'a> {
                self.beside(other).apply($operation, &[other])
            }
        }
    )*};
}

operators! {
    Add, add, ops::arith::ADDF;
    Sub, sub, ops::arith::SUBF;
    Mul, mul, ops::arith::MULF;
    Div, div, ops::arith::DIVF;
}

impl<'c: 'a, 'a> Neg for Real<'c, 'a> {
    type Output = Real<'c, 'a>;
    fn neg(self) -> Real<'c, 'a> {
        self.apply(ops::arith::NEGF, &[])
    }
}
