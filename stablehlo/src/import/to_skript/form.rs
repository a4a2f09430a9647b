// SPDX-License-Identifier: Apache-2.0
//! Converts one elementwise operation on tensors to `skript` operations.

use super::{integer, views};
use crate::import::element::{Element, Float};
use crate::import::scalar_to_arith::compare::{compare, direction};
use crate::import::scalar_to_arith::{Scalar, precision};
use crate::import::to_linalg::{SourceOp, Tensor};
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;
use skript_semantics::{ScalarKind, ScalarOp, StableHlo};

/// Whether the `skript` dialect supports elements of this type: signed integers, floats, bools.
pub(crate) fn is_supported(element: Element) -> bool {
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

/// StableHLO functions of floats, and the operations of `arith` and `math` that compute them; `skript` does not have
/// the functions.
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

/// Like [`OF_REALS`], on integers; all functions are total.
const OF_INTEGERS: [(&str, &str); 5] = [
    ("and", ops::arith::ANDI),
    ("or", ops::arith::ORI),
    ("xor", ops::arith::XORI),
    ("popcnt", ops::math::CTPOP),
    ("count_leading_zeros", ops::math::CTLZ),
];

/// The bool operations for sums, products and extrema.
const OF_BOOLS: [(&str, &str); 4] = [
    ("add", ops::skript::OR),
    ("maximum", ops::skript::OR),
    ("minimum", ops::skript::AND),
    ("multiply", ops::skript::AND),
];

/// Functions of `chlo` on reals.
const OF_CHLO: [&str; 10] = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "sinh", "tan"];

/// Appends the operations that compute the result; operands are `%0`, `%1`, …. `None` if the operation is not
/// supported.
pub(super) fn form(lines: &mut Lines, source: &SourceOp) -> Option<String> {
    let result = source.results.first().filter(|_| source.results.len() == 1)?;
    let first = source.operands.first()?;
    let element = first.element;
    let kind = kind(element)?;
    let t = first.text();
    let name = source.name.as_str();
    if skript_dialect::op::name(&source.op).starts_with("chlo.") {
        return of_chlo(lines, name, first);
    }
    match name {
        "broadcast_in_dim" => return views::broadcast(lines, source),
        "reshape" => return views::reshape(lines, source),
        "select" => {
            let condition = views::spread(lines, source, 0)?;
            let types = format!("{}, {}", result.with_element(Element::Pred).text(), result.text());
            return Some(lines.value(format!("skript.select {condition}, %1, %2 : {types}")));
        }
        "clamp" => {
            let (low, high) = (views::spread(lines, source, 0)?, views::spread(lines, source, 2)?);
            let t = result.text();
            let raised = lines.value(format!("skript.max %1, {low} : {t}"));
            return Some(lines.value(format!("skript.min {raised}, {high} : {t}")));
        }
        "compare" => {
            let direction = direction(source.op)?;
            if direction.total && kind == ScalarKind::Real {
                return by_bits(lines, source, |s| compare(s, direction));
            }
            let ordered =
                [ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge, ScalarOp::Eq, ScalarOp::Ne];
            let spelled =
                |op: &ScalarOp| matches!(op.stablehlo(kind), StableHlo::Compare(w) if w == direction.word);
            let op = ordered.iter().find(|op| spelled(op))?;
            return Some(lines.value(format!("{} %0, %1 : {t}", op.row().name)));
        }
        "reduce_precision" => {
            let format = precision::format(source.op)?;
            return by_bits(lines, source, |s| precision::reduce(s, format));
        }
        "convert" => return integer::convert(lines, source),
        "bitcast_convert" => {
            // Supports only equal widths: other casts change the shape.
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
    let other = others.iter().find(|(stablehlo, _)| *stablehlo == name);
    if let Some(op) = named(name, kind).or(other.map(|(_, op)| *op)) {
        let operands: Vec<String> = (0..source.operands.len()).map(|n| format!("%{n}")).collect();
        return Some(lines.value(format!("{op} {} : {t}", operands.join(", "))));
    }
    match element {
        Element::Signed(width) => integer::form(lines, source, width),
        _ => None,
    }
}

/// The `skript` operation whose StableHLO form on operands of this kind has this name.
fn named(name: &str, kind: ScalarKind) -> Option<&'static str> {
    let is_plain = |op: &ScalarOp| !matches!(op, ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal);
    let mut candidates = ScalarOp::ALL.into_iter().filter(is_plain);
    let op = candidates.find(|op| {
        op.row().domain.contains(kind) && matches!(op.stablehlo(kind), StableHlo::Named(n) if n == name)
    })?;
    Some(op.row().name)
}

/// Computes a function of floats by integer operations on their bits.
fn by_bits(
    lines: &mut Lines,
    source: &SourceOp,
    compute: impl FnOnce(&mut Scalar) -> Option<String>,
) -> Option<String> {
    let (first, result) = (source.operands.first()?, source.results.first()?);
    let mut s = Scalar::on_tensors(std::mem::take(lines), &first.extents, first.element, result.element);
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
        // `skript` has no erfc; half precision is computed in f32.
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

/// Emits a splat constant of this type; returns its name.
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
