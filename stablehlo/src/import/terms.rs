// SPDX-License-Identifier: Apache-2.0
//! Floating-point values whose operators append operations of `arith` and `math`, so that functions read like formulas.

use crate::import::element::Float;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The operations emitted so far, on `f32` or `f64`.
pub(crate) struct Terms {
    lines: RefCell<Lines>,
    names: RefCell<Vec<String>>,
    float: Float,
}

impl Terms {
    /// Appends the operations of `formula` to `lines`; returns its result.
    pub(crate) fn append<R>(lines: &mut Lines, float: Float, formula: impl FnOnce(&Terms) -> R) -> R {
        let terms = Terms { lines: RefCell::new(std::mem::take(lines)), names: RefCell::default(), float };
        let result = formula(&terms);
        *lines = terms.lines.into_inner();
        result
    }

    /// A value with this name.
    pub(crate) fn named(&self, name: impl Into<String>) -> Real<'_> {
        let mut names = self.names.borrow_mut();
        names.push(name.into());
        Real { terms: self, number: names.len() - 1 }
    }

    fn value(&self, operation: impl AsRef<str>) -> Real<'_> {
        let name = self.lines.borrow_mut().value(operation);
        self.named(name)
    }

    fn constant(&self, text: impl std::fmt::Display) -> Real<'_> {
        self.value(format!("arith.constant {text} : {}", self.float.text()))
    }
}

/// A floating-point value.
#[derive(Clone, Copy)]
pub(crate) struct Real<'t> {
    terms: &'t Terms,
    number: usize,
}

/// An `i1` value.
#[derive(Clone, Copy)]
pub(crate) struct Test<'t>(Real<'t>);

/// A value, or a constant that becomes a value when it is combined with another value.
pub(crate) trait Term<'t> {
    fn beside(self, other: Real<'t>) -> Real<'t>;
}

impl<'t> Term<'t> for Real<'t> {
    fn beside(self, _: Real<'t>) -> Real<'t> {
        self
    }
}

impl<'t> Term<'t> for f64 {
    fn beside(self, other: Real<'t>) -> Real<'t> {
        other.terms.constant(format!("{self:?}"))
    }
}

impl<'t> Real<'t> {
    /// The name of the value.
    pub(crate) fn name(self) -> String {
        let names = self.terms.names.borrow();
        let Some(name) = names.get(self.number) else {
            unreachable!("internal compiler error: a value has no name")
        };
        name.clone()
    }

    pub(crate) fn float(self) -> Float {
        self.terms.float
    }

    pub(crate) fn infinity(self) -> Real<'t> {
        let is_wide = self.terms.float == Float::F64;
        self.terms.constant(if is_wide { "0x7FF0000000000000" } else { "0x7F800000" })
    }

    pub(crate) fn nan(self) -> Real<'t> {
        let is_wide = self.terms.float == Float::F64;
        self.terms.constant(if is_wide { "0x7FF8000000000000" } else { "0x7FC00000" })
    }

    /// Applies an operation, by its full name, to this value and other values.
    pub(crate) fn apply(self, operation: &str, others: &[Real<'t>]) -> Real<'t> {
        let names: Vec<String> = [&[self], others].concat().into_iter().map(Real::name).collect();
        self.terms.value(format!("{operation} {} : {}", names.join(", "), self.terms.float.text()))
    }

    fn with(self, operation: &str, other: impl Term<'t>) -> Real<'t> {
        self.apply(operation, &[other.beside(self)])
    }

    /// Compares by a predicate of `arith.cmpf`.
    pub(crate) fn is(self, predicate: &str, other: impl Term<'t>) -> Test<'t> {
        let (lhs, rhs) = (self.name(), other.beside(self).name());
        Test(self.terms.value(format!("arith.cmpf {predicate}, {lhs}, {rhs} : {}", self.terms.float.text())))
    }

    /// Whether an absolute value is infinite.
    pub(crate) fn is_infinite(self) -> Test<'t> {
        self.is("oeq", self.infinity())
    }

    pub(crate) fn abs(self) -> Real<'t> {
        self.apply(ops::math::ABSF, &[])
    }

    pub(crate) fn sqrt(self) -> Real<'t> {
        self.apply(ops::math::SQRT, &[])
    }

    pub(crate) fn exp(self) -> Real<'t> {
        self.apply(ops::math::EXP, &[])
    }

    pub(crate) fn sin(self) -> Real<'t> {
        self.apply(ops::math::SIN, &[])
    }

    pub(crate) fn cos(self) -> Real<'t> {
        self.apply(ops::math::COS, &[])
    }

    pub(crate) fn asinh(self) -> Real<'t> {
        self.apply(ops::math::ASINH, &[])
    }

    /// The angle of the point `(x, self)`.
    pub(crate) fn atan2(self, x: Real<'t>) -> Real<'t> {
        self.apply(ops::math::ATAN2, &[x])
    }

    pub(crate) fn copysign(self, sign: impl Term<'t>) -> Real<'t> {
        self.with(ops::math::COPYSIGN, sign)
    }

    pub(crate) fn max(self, other: Real<'t>) -> Real<'t> {
        self.apply(ops::arith::MAXIMUMF, &[other])
    }

    pub(crate) fn min(self, other: Real<'t>) -> Real<'t> {
        self.apply(ops::arith::MINIMUMF, &[other])
    }

    /// A constant of the same type as this value.
    pub(crate) fn constant(self, value: f64) -> Real<'t> {
        value.beside(self)
    }

    /// `log(1 + x)`, accurate also near 0, where `math.log1p` is expanded to the logarithm of a rounded sum: the
    /// rounding error of `1 + x` cancels in the quotient (W. Kahan).
    pub(crate) fn log_plus_one(self) -> Real<'t> {
        let sum = self + 1.0;
        let log = sum.apply(ops::math::LOG, &[]);
        let added = sum + -1.0;
        let value = log * (self / added);
        let value = added.is("oeq", 0.0).select(self, value);
        self.is_infinite().select(self, value)
    }

    /// `exp(x) - 1`, accurate also near 0, where `math.expm1` is expanded to a difference that cancels:
    /// `2 sinh(x / 2) exp(x / 2)`.
    pub(crate) fn exp_minus_one(self) -> Real<'t> {
        let half = self * 0.5;
        let (sinh, exp) = (half.apply(ops::math::SINH, &[]), half.exp());
        let value = (sinh + sinh) * exp;
        self.is("olt", -50.0).select(-1.0, value)
    }
}

impl<'t> Test<'t> {
    /// The name of the value.
    pub(crate) fn name(self) -> String {
        self.0.name()
    }

    pub(crate) fn and(self, other: Test<'t>) -> Test<'t> {
        self.with(ops::arith::ANDI, other)
    }

    pub(crate) fn or(self, other: Test<'t>) -> Test<'t> {
        self.with(ops::arith::ORI, other)
    }

    fn with(self, operation: &str, other: Test<'t>) -> Test<'t> {
        Test(self.0.terms.value(format!("{operation} {}, {} : i1", self.name(), other.name())))
    }

    /// `yes` if the test is true, otherwise `no`.
    pub(crate) fn select(self, yes: impl Term<'t>, no: Real<'t>) -> Real<'t> {
        let terms = self.0.terms;
        let (yes, no) = (yes.beside(no).name(), no.name());
        terms.value(format!("arith.select {}, {yes}, {no} : {}", self.name(), terms.float.text()))
    }
}

macro_rules! operators {
    ($($trait:ident, $method:ident, $operation:expr;)*) => {$(
        impl<'t, T: Term<'t>> $trait<T> for Real<'t> {
            type Output = Real<'t>;
            fn $method(self, other: T) -> Real<'t> {
                self.with($operation, other)
            }
        }

        impl<'t> $trait<Real<'t>> for f64 {
            type Output = Real<'t>;
            fn $method(self, other: Real<'t>) -> Real<'t> {
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

impl<'t> Neg for Real<'t> {
    type Output = Real<'t>;
    fn neg(self) -> Real<'t> {
        self.apply(ops::arith::NEGF, &[])
    }
}
