// SPDX-License-Identifier: Apache-2.0
//! Functions of complex numbers: principal branches.

use super::inverse;
use crate::import::element::Float;
use crate::import::terms::Terms;
use skript_passes::ir::splice::Lines;

/// The function of `%i0` whose parts have type `part`; `None` if it is unknown.
pub(super) fn function(lines: &mut Lines, name: &str, part: Float) -> Option<String> {
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
        _ => {
            let (x, y) = t.parts(&z);
            let lines = &mut *t.lines;
            let mut terms = Terms { lines, float: part };
            let (re, im) = inverse::function(&mut terms, name, &x, &y)?;
            t.pair(&re, &im)
        }
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
        self.lines.value(format!("stablehlo.{name} {operands} : {t}"))
    }

    fn parts(&mut self, z: &str) -> (String, String) {
        let t = self.r#type();
        let re = self.lines.value(format!("complex.re {z} : {t}"));
        (re, self.lines.value(format!("complex.im {z} : {t}")))
    }

    fn pair(&mut self, re: &str, im: &str) -> String {
        let t = self.r#type();
        self.lines.value(format!("complex.create {re}, {im} : {t}"))
    }

    /// `z` times i (`sign` 1) or -i (-1), without multiplications.
    fn turned(&mut self, z: &str, sign: f64) -> String {
        let p = self.part.text();
        let (re, im) = self.parts(z);
        if sign > 0.0 {
            let minus = self.lines.value(format!("arith.negf {im} : {p}"));
            self.pair(&minus, &re)
        } else {
            let minus = self.lines.value(format!("arith.negf {re} : {p}"));
            self.pair(&im, &minus)
        }
    }
}
