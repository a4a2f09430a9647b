// SPDX-License-Identifier: Apache-2.0
//! Builds real formulas from operations of `arith` and `math`.

use crate::import::element::Float;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

/// Appends operations on `f32` or `f64`.
pub(crate) struct Terms<'l> {
    pub lines: &'l mut Lines,
    pub(crate) float: Float,
}

impl Terms<'_> {
    pub(crate) fn number(&mut self, value: f64) -> String {
        let t = self.float.text();
        self.lines.value(format!("arith.constant {value:?} : {t}"))
    }

    pub(crate) fn infinity(&mut self) -> String {
        let bits = if self.float == Float::F64 { "0x7FF0000000000000" } else { "0x7F800000" };
        self.lines.value(format!("arith.constant {bits} : {}", self.float.text()))
    }

    pub(crate) fn nan(&mut self) -> String {
        let bits = if self.float == Float::F64 { "0x7FF8000000000000" } else { "0x7FC00000" };
        self.lines.value(format!("arith.constant {bits} : {}", self.float.text()))
    }

    /// Appends an operation with its full name.
    pub(crate) fn op(&mut self, name: &str, operands: &[&str]) -> String {
        let operands = operands.join(", ");
        self.lines.value(format!("{name} {operands} : {}", self.float.text()))
    }

    pub(crate) fn add(&mut self, x: &str, y: &str) -> String {
        self.op(ops::arith::ADDF, &[x, y])
    }

    pub(crate) fn sub(&mut self, x: &str, y: &str) -> String {
        self.op(ops::arith::SUBF, &[x, y])
    }

    pub(crate) fn mul(&mut self, x: &str, y: &str) -> String {
        self.op(ops::arith::MULF, &[x, y])
    }

    pub(crate) fn div(&mut self, x: &str, y: &str) -> String {
        self.op(ops::arith::DIVF, &[x, y])
    }

    pub(crate) fn plus(&mut self, x: &str, y: f64) -> String {
        let y = self.number(y);
        self.add(x, &y)
    }

    pub(crate) fn times(&mut self, x: &str, y: f64) -> String {
        let y = self.number(y);
        self.mul(x, &y)
    }

    /// A comparison with a constant.
    pub(crate) fn is(&mut self, x: &str, predicate: &str, y: f64) -> String {
        let y = self.number(y);
        self.compare(x, predicate, &y)
    }

    pub(crate) fn compare(&mut self, x: &str, predicate: &str, y: &str) -> String {
        let t = self.float.text();
        self.lines.value(format!("arith.cmpf {predicate}, {x}, {y} : {t}"))
    }

    pub(crate) fn both(&mut self, x: &str, y: &str) -> String {
        self.lines.value(format!("arith.andi {x}, {y} : i1"))
    }

    pub(crate) fn select(&mut self, condition: &str, yes: &str, no: &str) -> String {
        let t = self.float.text();
        self.lines.value(format!("arith.select {condition}, {yes}, {no} : {t}"))
    }

    /// `log(1 + x)`, also near 0, where `math.log1p` becomes a logarithm of a rounded sum: the rounding error of `1 +
    /// x` affects numerator and denominator of the quotient alike (W. Kahan).
    pub(crate) fn log_plus_one(&mut self, x: &str) -> String {
        let sum = self.plus(x, 1.0);
        let log = self.op(ops::math::LOG, &[&sum]);
        let added = self.plus(&sum, -1.0);
        let share = self.div(x, &added);
        let value = self.mul(&log, &share);
        let nothing = self.is(&added, "oeq", 0.0);
        let infinity = self.infinity();
        let endless = self.compare(x, "oeq", &infinity);
        let value = self.select(&nothing, x, &value);
        self.select(&endless, x, &value)
    }

    /// `exp(x) - 1`, also near 0, where `math.expm1` becomes a difference that cancels: `2 sinh(x / 2) exp(x / 2)`.
    pub(crate) fn exp_minus_one(&mut self, x: &str) -> String {
        let half = self.times(x, 0.5);
        let (sinh, exp) = (self.op(ops::math::SINH, &[&half]), self.op(ops::math::EXP, &[&half]));
        let twice = self.add(&sinh, &sinh);
        let value = self.mul(&twice, &exp);
        let (gone, least) = (self.is(x, "olt", -50.0), self.number(-1.0));
        self.select(&gone, &least, &value)
    }
}
