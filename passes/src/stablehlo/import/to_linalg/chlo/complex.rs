//! Functions of complex numbers: principal branches.

use crate::mlir::splice::Lines;
use crate::stablehlo::import::element::Float;

/// The function of `%i0` whose parts are of type `part`; `None` if it is not known.
pub fn function(lines: &mut Lines, name: &str, part: Float) -> Option<String> {
    let mut t = Pairs { lines, part };
    let z = "%i0".to_owned();
    Some(match name {
        "sinh" => {
            let turned = t.turned(&z, 1.0);
            let value = t.op("sine", &[&turned]);
            t.turned(&value, -1.0)
        }
        "cosh" => {
            let turned = t.turned(&z, 1.0);
            t.op("cosine", &[&turned])
        }
        "asinh" => t.inverse_sinh(&z),
        "atanh" => t.inverse_tanh(&z),
        "acosh" => {
            let (more, less) = (t.plus(&z, 1.0), t.plus(&z, -1.0));
            let (more, less) = (t.op("sqrt", &[&more]), t.op("sqrt", &[&less]));
            let root = t.op("multiply", &[&more, &less]);
            let sum = t.op("add", &[&z, &root]);
            t.op("log", &[&sum])
        }
        "asin" => {
            let turned = t.turned(&z, 1.0);
            let value = t.inverse_sinh(&turned);
            t.turned(&value, -1.0)
        }
        "acos" => {
            let turned = t.turned(&z, 1.0);
            let value = t.inverse_sinh(&turned);
            let value = t.turned(&value, 1.0);
            t.plus(&value, std::f64::consts::FRAC_PI_2)
        }
        "atan" => {
            let turned = t.turned(&z, 1.0);
            let value = t.inverse_tanh(&turned);
            t.turned(&value, -1.0)
        }
        _ => return None,
    })
}

struct Pairs<'l> {
    lines: &'l mut Lines,
    part: Float,
}

impl Pairs<'_> {
    fn r#type(&self) -> String {
        format!("complex<{}>", self.part.text())
    }

    fn op(&mut self, name: &str, operands: &[&str]) -> String {
        let (operands, t) = (operands.join(", "), self.r#type());
        self.lines
            .value(format!("stablehlo.{name} {operands} : {t}"))
    }

    fn number(&mut self, re: f64, im: f64) -> String {
        let p = self.part.text();
        let re = self.lines.value(format!("arith.constant {re:?} : {p}"));
        let im = self.lines.value(format!("arith.constant {im:?} : {p}"));
        let t = self.r#type();
        self.lines.value(format!("complex.create {re}, {im} : {t}"))
    }

    fn plus(&mut self, z: &str, number: f64) -> String {
        let number = self.number(number, 0.0);
        self.op("add", &[z, &number])
    }

    /// `z` times i (`sign` 1) or -i (-1), without products.
    fn turned(&mut self, z: &str, sign: f64) -> String {
        let (p, t) = (self.part.text(), self.r#type());
        let re = self.lines.value(format!("complex.re {z} : {t}"));
        let im = self.lines.value(format!("complex.im {z} : {t}"));
        let parts = if sign > 0.0 {
            format!(
                "{}, {re}",
                self.lines.value(format!("arith.negf {im} : {p}"))
            )
        } else {
            let minus = self.lines.value(format!("arith.negf {re} : {p}"));
            format!("{im}, {minus}")
        };
        self.lines.value(format!("complex.create {parts} : {t}"))
    }

    /// Odd, so computed where the real part is not negative, where the logarithm does not cancel.
    fn inverse_sinh(&mut self, z: &str) -> String {
        let (p, t) = (self.part.text(), self.r#type());
        let re = self.lines.value(format!("complex.re {z} : {t}"));
        let zero = self.lines.value(format!("arith.constant 0.0 : {p}"));
        let negative = self
            .lines
            .value(format!("arith.cmpf olt, {re}, {zero} : {p}"));
        let minus = self.op("negate", &[z]);
        let a = self
            .lines
            .value(format!("arith.select {negative}, {minus}, {z} : {t}"));
        let square = self.op("multiply", &[&a, &a]);
        let square = self.plus(&square, 1.0);
        let root = self.op("sqrt", &[&square]);
        let sum = self.op("add", &[&a, &root]);
        let log = self.op("log", &[&sum]);
        let minus = self.op("negate", &[&log]);
        self.lines
            .value(format!("arith.select {negative}, {minus}, {log} : {t}"))
    }

    /// `(log(1 + z) - log(1 - z)) / 2`
    fn inverse_tanh(&mut self, z: &str) -> String {
        let minus = self.op("negate", &[z]);
        let above = self.op("log_plus_one", &[z]);
        let below = self.op("log_plus_one", &[&minus]);
        let both = self.op("subtract", &[&above, &below]);
        let half = self.number(0.5, 0.0);
        self.op("multiply", &[&both, &half])
    }
}
