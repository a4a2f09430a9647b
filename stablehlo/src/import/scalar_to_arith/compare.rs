// SPDX-License-Identifier: Apache-2.0
//! Converts comparisons.

use super::Scalar;
use crate::import::element::{Element, Float};
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::ops;

/// The direction of a comparison, and whether floats are compared in the total order.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    /// `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.
    pub word: String,
    pub total: bool,
}

/// The direction of a `compare`; `None` for other operations.
pub(crate) fn direction(op: OperationRef) -> Option<Direction> {
    let word = |name: &str| op.attribute(name).ok().map(|a| a.to_string());
    let inside = |text: String| Some(text.rsplit([' ', '<']).next()?.replace('>', ""));
    Some(Direction {
        word: inside(word("comparison_direction")?)?,
        total: word("compare_type").is_some_and(|t| t.contains("TOTALORDER")),
    })
}

pub(crate) fn compare(s: &mut Scalar, direction: Direction) -> Option<String> {
    let (x, y) = (s.operand(0).to_owned(), s.operand(1).to_owned());
    let word = direction.word.to_lowercase();
    match s.from {
        Element::Pred | Element::Unsigned(_) => {
            let t = s.from.signless();
            Some(integers(s, &word, 'u', &x, &y, &t))
        }
        Element::Signed(width) => Some(integers(s, &word, 's', &x, &y, &format!("i{width}"))),
        Element::Float(float) if direction.total => {
            let (x, y) = (ordered(s, &x, float), ordered(s, &y, float));
            let t = s.typed(&format!("i{}", float.bits()));
            Some(integers(s, &word, 's', &x, &y, &t))
        }
        Element::Float(float) => {
            let (x, y) = (s.widen(&x, float), s.widen(&y, float));
            let wide = if float == Float::F64 { "f64" } else { "f32" };
            Some(reals(s, &word, &x, &y, wide))
        }
        Element::Complex(part) => {
            let t = s.from.signless();
            let [re, im] = [ops::complex::RE, ops::complex::IM]
                .map(|op| (s.apply(op, &[&x], &t), s.apply(op, &[&y], &t)));
            let mut test = |word: &str, (a, b): &(String, String)| reals(s, word, a, b, part.text());
            let last = test(&word, &im);
            let (join, first) = match word.as_str() {
                "eq" => (ops::arith::ANDI, test("eq", &re)),
                "ne" => (ops::arith::ORI, test("ne", &re)),
                // The imaginary parts are compared if the real parts are equal.
                _ => {
                    let strictly = if word.starts_with('l') { "lt" } else { "gt" };
                    let (is_before, is_same) = (test(strictly, &re), test("eq", &re));
                    let last = s.apply(ops::arith::ANDI, &[&is_same, &last], "i1");
                    return Some(s.apply(ops::arith::ORI, &[&is_before, &last], "i1"));
                }
            };
            Some(s.apply(join, &[&first, &last], "i1"))
        }
    }
}

fn integers(s: &mut Scalar, word: &str, sign: char, x: &str, y: &str, r#type: &str) -> String {
    let predicate = match word {
        "eq" | "ne" => word.to_owned(),
        _ => format!("{sign}{word}"),
    };
    s.value(format!("arith.cmpi {predicate}, {x}, {y} : {type}"))
}

/// Compares floats. NaN is unequal to all values, including NaN.
fn reals(s: &mut Scalar, word: &str, x: &str, y: &str, r#type: &str) -> String {
    let order = if word == "ne" { 'u' } else { 'o' };
    s.value(format!("arith.cmpf {order}{word}, {x}, {y} : {type}"))
}

/// Maps a float to an integer with the same order as the IEEE 754 total order: -NaN, -inf, …, -0, 0, …, inf, NaN.
fn ordered(s: &mut Scalar, x: &str, float: Float) -> String {
    let bits = float.bits();
    let t = s.typed(&format!("i{bits}"));
    let from = s.typed(float.text());
    let raw = s.value(format!("arith.bitcast {x} : {from} to {t}"));
    let by = s.integer(i128::from(bits) - 1, &t);
    let one = s.integer(1, &t);
    let sign = s.apply(ops::arith::SHRSI, &[&raw, &by], &t);
    let flip = s.apply(ops::arith::SHRUI, &[&sign, &one], &t);
    s.apply(ops::arith::XORI, &[&raw, &flip], &t)
}
