//! Formulas of reals as operations of `arith` and `math`.

use crate::mlir::splice::Lines;
use crate::stablehlo::import::element::Float;

/// Appends operations on `f32` or `f64`.
pub struct Terms<'l> {
    pub lines: &'l mut Lines,
    pub float: Float,
}

impl Terms<'_> {
    pub fn number(&mut self, value: f64) -> String {
        let t = self.float.text();
        self.lines.value(format!("arith.constant {value:?} : {t}"))
    }

    pub fn infinity(&mut self) -> String {
        let bits = if self.float == Float::F64 {
            "0x7FF0000000000000"
        } else {
            "0x7F800000"
        };
        self.lines
            .value(format!("arith.constant {bits} : {}", self.float.text()))
    }

    pub fn nan(&mut self) -> String {
        let bits = if self.float == Float::F64 {
            "0x7FF8000000000000"
        } else {
            "0x7FC00000"
        };
        self.lines
            .value(format!("arith.constant {bits} : {}", self.float.text()))
    }

    /// An operation by its full name.
    pub fn op(&mut self, name: &str, operands: &[&str]) -> String {
        let operands = operands.join(", ");
        self.lines
            .value(format!("{name} {operands} : {}", self.float.text()))
    }

    pub fn add(&mut self, x: &str, y: &str) -> String {
        self.op("arith.addf", &[x, y])
    }

    pub fn sub(&mut self, x: &str, y: &str) -> String {
        self.op("arith.subf", &[x, y])
    }

    pub fn mul(&mut self, x: &str, y: &str) -> String {
        self.op("arith.mulf", &[x, y])
    }

    pub fn div(&mut self, x: &str, y: &str) -> String {
        self.op("arith.divf", &[x, y])
    }

    pub fn plus(&mut self, x: &str, y: f64) -> String {
        let y = self.number(y);
        self.add(x, &y)
    }

    pub fn times(&mut self, x: &str, y: f64) -> String {
        let y = self.number(y);
        self.mul(x, &y)
    }

    /// A comparison with a number.
    pub fn is(&mut self, x: &str, predicate: &str, y: f64) -> String {
        let y = self.number(y);
        self.compare(x, predicate, &y)
    }

    pub fn compare(&mut self, x: &str, predicate: &str, y: &str) -> String {
        let t = self.float.text();
        self.lines
            .value(format!("arith.cmpf {predicate}, {x}, {y} : {t}"))
    }

    pub fn both(&mut self, x: &str, y: &str) -> String {
        self.lines.value(format!("arith.andi {x}, {y} : i1"))
    }

    pub fn select(&mut self, condition: &str, yes: &str, no: &str) -> String {
        let t = self.float.text();
        self.lines
            .value(format!("arith.select {condition}, {yes}, {no} : {t}"))
    }
}
