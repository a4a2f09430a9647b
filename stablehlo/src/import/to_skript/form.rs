// SPDX-License-Identifier: Apache-2.0
//! Converts one elementwise operation on tensors to `skript` operations.

use super::{integer, views};
use crate::import::element::Element;
use crate::import::scalar_to_arith::compare::{compare, direction};
use crate::import::scalar_to_arith::precision;
use crate::import::to_linalg::SourceOp;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{Builder, attributes, ops, types};
use skript_semantics::RealType;
use skript_semantics::{Scalar, ScalarKind, ScalarOp, StableHlo};

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
const OF_CHLO: [(&str, ScalarOp); 10] = [
    ("acos", ScalarOp::Acos),
    ("acosh", ScalarOp::Acosh),
    ("asin", ScalarOp::Asin),
    ("asinh", ScalarOp::Asinh),
    ("atan", ScalarOp::Atan),
    ("atanh", ScalarOp::Atanh),
    ("cosh", ScalarOp::Cosh),
    ("erf", ScalarOp::Erf),
    ("sinh", ScalarOp::Sinh),
    ("tan", ScalarOp::Tan),
];

/// Creates the operations that compute the result. `None` if the operation is not supported.
pub(super) fn form<'c, 'a>(source: &SourceOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    let result = source.result_type().ok().filter(|_| source.results.len() == 1)?;
    let (first, at) = (source.operands.first()?, &source.at);
    let (kind, x) = (kind(first.element)?, *source.values.first()?);
    let t = x.r#type();
    let unary = |op, value| at.make(op, &[value], &[], t);
    let binary = |op, lhs, rhs| at.make(op, &[lhs, rhs], &[], result);
    let name = source.name.as_str();
    if skript_dialect::op::name(&source.op).starts_with("chlo.") {
        return of_chlo(at, name, x, first.element);
    }
    match name {
        "broadcast_in_dim" => return views::broadcast(source),
        "reshape" => return views::reshape(source),
        "select" => {
            let condition = views::spread(source, 0)?;
            return Some(select(at, condition, source.value(1).ok()?, source.value(2).ok()?));
        }
        "clamp" => {
            let (low, high) = (views::spread(source, 0)?, views::spread(source, 2)?);
            let raised = binary(ops::skript::MAX, source.value(1).ok()?, low);
            return Some(binary(ops::skript::MIN, raised, high));
        }
        "compare" => return comparison(source, [x, source.value(1).ok()?], kind),
        "reduce_precision" => {
            return precision::reduce(at, x, first.element, precision::format(source.op)?);
        }
        "convert" => return integer::convert(source),
        "bitcast_convert" => {
            // Supports only equal widths: other casts change the shape.
            let is_same = first.extents == source.results.first()?.extents && kind != ScalarKind::Bool;
            return is_same.then(|| at.make(ops::arith::BITCAST, &[x], &[], result));
        }
        "logistic" => {
            let power = at.make(ops::skript::EXP, &[unary(ops::skript::NEG, x)], &[], t);
            let one = number(at, Scalar::Real(1.0), t);
            return Some(binary(ops::skript::DIV, one, binary(ops::skript::ADD, power, one)));
        }
        "is_finite" => {
            let size = unary(ops::skript::ABS, x);
            return Some(compared(at, ops::skript::LT, size, infinity(at, t)));
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
        return Some(at.make(op, &source.values, &[], result));
    }
    match first.element {
        Element::Signed(width) => integer::form(source, width),
        _ => None,
    }
}

fn comparison<'c, 'a>(
    source: &SourceOp<'c, 'a>,
    operands: [Value<'c, 'a>; 2],
    kind: ScalarKind,
) -> Option<Value<'c, 'a>> {
    let direction = direction(source.op)?;
    if direction.total && kind == ScalarKind::Real {
        return Some(compare(&source.at, operands, source.operands.first()?.element, &direction));
    }
    let ordered = [ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge, ScalarOp::Eq, ScalarOp::Ne];
    let spelled = |op: &ScalarOp| matches!(op.stablehlo(kind), StableHlo::Compare(w) if w == direction.word);
    let op = ordered.iter().find(|op| spelled(op))?;
    Some(compared(&source.at, op.row().name, operands[0], operands[1]))
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

fn of_chlo<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    x: Value<'c, 'a>,
    element: Element,
) -> Option<Value<'c, 'a>> {
    let Element::Float(float) = element else {
        return None;
    };
    let t = x.r#type();
    let make = |op, operands: &[Value<'c, 'a>]| at.make(op, operands, &[], t);
    Some(match name {
        "square" => make(ops::skript::MUL, &[x, x]),
        "erfc" if !float.is_half() => make(ops::math::ERFC, &[x]),
        // `skript` has no erfc; half precision is computed in f32.
        "erfc" => {
            let single = types::of_element(t, types::real(at.context, RealType::F32));
            let wide = at.make(ops::skript::CAST, &[x], &[], single);
            make(ops::skript::CAST, &[at.make(ops::math::ERFC, &[wide], &[], single)])
        }
        "is_inf" => compared(at, ops::skript::EQ, make(ops::skript::ABS, &[x]), infinity(at, t)),
        _ => {
            let (_, op) = OF_CHLO.into_iter().find(|(known, _)| *known == name)?;
            make(op.row().name, &[x])
        }
    })
}

/// A splat of this tensor type.
pub(super) fn number<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: Scalar, r#type: Type<'c>) -> Value<'c, 'a> {
    at.splat(attributes::scalar(at.context, value, types::element_or_self(r#type)), r#type)
}

fn infinity<'c: 'a, 'a>(at: &Builder<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
    number(at, Scalar::Real(f64::INFINITY), r#type)
}

/// A comparison of tensors.
pub(super) fn compared<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    op: &str,
    lhs: Value<'c, 'a>,
    rhs: Value<'c, 'a>,
) -> Value<'c, 'a> {
    at.make(op, &[lhs, rhs], &[], types::of_element(lhs.r#type(), types::flag(at.context)))
}

/// `skript.select`.
pub(super) fn select<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    condition: Value<'c, 'a>,
    then: Value<'c, 'a>,
    otherwise: Value<'c, 'a>,
) -> Value<'c, 'a> {
    at.make(ops::skript::SELECT, &[condition, then, otherwise], &[], then.r#type())
}
