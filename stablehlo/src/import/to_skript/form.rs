// SPDX-License-Identifier: Apache-2.0
//! The `skript` operations for one elementwise operation on tensors.

use super::{integer, views};
use crate::import::element::{Element, Float};
use crate::import::scalar_to_arith::compare::{compare, direction};
use crate::import::scalar_to_arith::{Scalar, precision};
use crate::import::to_linalg::{Found, Tensor};
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;
use skript_semantics::{ScalarKind, ScalarOp, StableHlo};

/// Whether `skript` has elements of this type: signed integers, reals, bools.
pub(crate) fn is_taken(element: Element) -> bool {
    kind(element).is_some()
}

fn kind(element: Element) -> Option<ScalarKind> {
    match element {
        Element::Pred => Some(ScalarKind::Bool),
        Element::Signed(_) => Some(ScalarKind::Int),
        Element::Float(_) => Some(ScalarKind::Real),
        Element::Unsigned(_) | Element::Complex(_) => None,
    }
}

/// Functions of `arith` and `math` on reals that StableHLO has under another name, and `skript` does not have.
const OF_REALS: [(&str, &str); 8] = [
    ("atan2", ops::math::ATAN2),
    ("cbrt", ops::math::CBRT),
    ("exponential_minus_one", ops::math::EXPM1),
    ("log_plus_one", ops::math::LOG1P),
    ("remainder", ops::arith::REMF),
    ("round_nearest_even", ops::math::ROUNDEVEN),
    ("rsqrt", ops::math::RSQRT),
    ("tan", ops::skript::TAN),
];

/// The same on integers; all are total.
const OF_INTEGERS: [(&str, &str); 5] = [
    ("and", ops::arith::ANDI),
    ("or", ops::arith::ORI),
    ("xor", ops::arith::XORI),
    ("popcnt", ops::math::CTPOP),
    ("count_leading_zeros", ops::math::CTLZ),
];

/// The bool operations for sums, products and the like.
const OF_BOOLS: [(&str, &str); 4] = [
    ("add", ops::skript::OR),
    ("maximum", ops::skript::OR),
    ("minimum", ops::skript::AND),
    ("multiply", ops::skript::AND),
];

/// Functions of `chlo` on reals.
const OF_CHLO: [&str; 10] = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh", "tan"];

/// Appends the operations that compute the result; operands are `%0`, `%1`, …. `None` if it is not supported.
pub(super) fn form(lines: &mut Lines, found: &Found) -> Option<String> {
    let result = found.results.first().filter(|_| found.results.len() == 1)?;
    let first = found.operands.first()?;
    let element = first.element;
    let kind = kind(element)?;
    let t = first.text();
    let name = found.name.as_str();
    if skript_dialect::op::name(&found.op).starts_with("chlo.") {
        return of_chlo(lines, name, first);
    }
    match name {
        "broadcast_in_dim" => return views::broadcast(lines, found),
        "reshape" => return views::reshape(lines, found),
        "select" => {
            let condition = views::spread(lines, found, 0)?;
            let types = format!("{}, {}", result.with_element(Element::Pred).text(), result.text());
            return Some(lines.value(format!("skript.select {condition}, %1, %2 : {types}")));
        }
        "clamp" => {
            let (low, high) = (views::spread(lines, found, 0)?, views::spread(lines, found, 2)?);
            let t = result.text();
            let least = lines.value(format!("skript.max %1, {low} : {t}"));
            return Some(lines.value(format!("skript.min {least}, {high} : {t}")));
        }
        "compare" => {
            let direction = direction(found.op)?;
            if direction.total && kind == ScalarKind::Real {
                return by_bits(lines, found, |s| compare(s, direction));
            }
            let ordered =
                [ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge, ScalarOp::Eq, ScalarOp::Ne];
            let spelled =
                |op: &ScalarOp| matches!(op.stablehlo(kind), StableHlo::Compare(w) if w == direction.word);
            let op = ordered.iter().find(|op| spelled(op))?;
            return Some(lines.value(format!("{} %0, %1 : {t}", op.row().name)));
        }
        "reduce_precision" => {
            let format = precision::format(found.op)?;
            return by_bits(lines, found, |s| precision::reduce(s, format));
        }
        "convert" => return integer::convert(lines, found),
        "bitcast_convert" => {
            // Of one width; others have another form.
            let same = first.extents == result.extents && kind != ScalarKind::Bool;
            let cast = format!("arith.bitcast %0 : {t} to {}", result.text());
            return same.then(|| lines.value(cast));
        }
        "logistic" => {
            let minus = lines.value(format!("skript.neg %0 : {t}"));
            let power = lines.value(format!("skript.exp {minus} : {t}"));
            let one = number(lines, "1.0", first);
            let sum = lines.value(format!("skript.add {power}, {one} : {t}"));
            return Some(lines.value(format!("skript.div {one}, {sum} : {t}")));
        }
        "is_finite" => {
            let size = lines.value(format!("skript.abs %0 : {t}"));
            let infinity = infinity(lines, first)?;
            return Some(lines.value(format!("skript.lt {size}, {infinity} : {t}")));
        }
        _ => {}
    }
    let others = match kind {
        ScalarKind::Real => &OF_REALS[..],
        ScalarKind::Int => &OF_INTEGERS[..],
        ScalarKind::Bool => &OF_BOOLS[..],
    };
    let other = others.iter().find(|(own, _)| *own == name);
    if let Some(op) = named(name, kind).or(other.map(|(_, op)| *op)) {
        let operands: Vec<String> = (0..found.operands.len()).map(|n| format!("%{n}")).collect();
        return Some(lines.value(format!("{op} {} : {t}", operands.join(", "))));
    }
    match element {
        Element::Signed(width) => integer::form(lines, found, width),
        _ => None,
    }
}

/// The `skript` operation whose StableHLO form on such operands has this name.
fn named(name: &str, kind: ScalarKind) -> Option<&'static str> {
    let is_plain = |op: &ScalarOp| !matches!(op, ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal);
    let mut all = ScalarOp::ALL.into_iter().filter(is_plain);
    let found = all.find(|op| {
        op.row().domain.contains(kind) && matches!(op.stablehlo(kind), StableHlo::Named(n) if n == name)
    });
    found.map(|op| op.row().name)
}

/// Functions of reals that are computed by integer operations on their bits.
fn by_bits(
    lines: &mut Lines,
    found: &Found,
    compute: impl FnOnce(&mut Scalar) -> Option<String>,
) -> Option<String> {
    let (first, result) = (found.operands.first()?, found.results.first()?);
    let own = std::mem::take(lines);
    let mut s = Scalar::on_tensors(own, &first.extents, first.element, result.element);
    let value = compute(&mut s);
    *lines = s.lines;
    value
}

fn of_chlo(lines: &mut Lines, name: &str, operand: &Tensor) -> Option<String> {
    let t = operand.text();
    if !matches!(operand.element, Element::Float(_)) {
        return None;
    }
    match name {
        "square" => Some(lines.value(format!("skript.mul %0, %0 : {t}"))),
        // The dialect has none; halves are computed in f32.
        "erfc" => {
            let single = operand.with_element(Element::Float(Float::F32)).text();
            let is_half = matches!(operand.element, Element::Float(float) if float.is_half());
            if !is_half {
                return Some(lines.value(format!("math.erfc %0 : {t}")));
            }
            let wide = lines.value(format!("skript.cast %0 : {t} to {single}"));
            let value = lines.value(format!("math.erfc {wide} : {single}"));
            Some(lines.value(format!("skript.cast {value} : {single} to {t}")))
        }
        "is_inf" => {
            let size = lines.value(format!("skript.abs %0 : {t}"));
            let infinity = infinity(lines, operand)?;
            Some(lines.value(format!("skript.eq {size}, {infinity} : {t}")))
        }
        name if OF_CHLO.contains(&name) => Some(lines.value(format!("skript.{name} %0 : {t}"))),
        _ => None,
    }
}

/// A constant of this type.
pub(super) fn number(lines: &mut Lines, value: &str, r#type: &Tensor) -> String {
    lines.value(format!("arith.constant dense<{value}> : {}", r#type.text()))
}

fn infinity(lines: &mut Lines, r#type: &Tensor) -> Option<String> {
    let bits = match r#type.element {
        Element::Float(Float::F64) => "0x7FF0000000000000",
        Element::Float(Float::F32) => "0x7F800000",
        Element::Float(Float::BF16) => "0x7F80",
        Element::Float(Float::F16) => "0x7C00",
        _ => return None,
    };
    Some(number(lines, bits, r#type))
}
