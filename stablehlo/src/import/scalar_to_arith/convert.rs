// SPDX-License-Identifier: Apache-2.0
//! Converts conversions between element types.

use super::{narrow, widen};
use crate::import::element::Element;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::{Integers, Reals};
use skript_passes::ir::{Builder, ops, types};
use skript_semantics::RealType;

/// Converts a signless value from one element type to another.
pub(super) fn between<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    x: Value<'c, 'a>,
    from: Element,
    to: Element,
) -> Value<'c, 'a> {
    let context = at.context;
    let part = |op, part: RealType| at.make(op, &[x], &[], types::real(context, part));
    let complex =
        |parts: [Value<'c, 'a>; 2]| at.make(ops::complex::CREATE, &parts, &[], to.signless(context));
    match (from, to) {
        _ if from == to => x,
        (Element::Complex(a), Element::Complex(b)) => {
            complex([ops::complex::RE, ops::complex::IM].map(|op| {
                let part = part(op, a);
                between(at, part, Element::Float(a), Element::Float(b))
            }))
        }
        (Element::Complex(a), _) => between(at, part(ops::complex::RE, a), Element::Float(a), to),
        (_, Element::Complex(b)) => {
            let re = between(at, x, from, Element::Float(b));
            complex([re, at.zero(types::real(context, b))])
        }
        (Element::Float(a), Element::Float(b)) => reals(at, x, a, b),
        (Element::Float(a), _) => cut_off(at, widen(at, x, a), to),
        (_, Element::Float(b)) => {
            let op = match from {
                Element::Signed(_) => ops::arith::SITOFP,
                _ => ops::arith::UITOFP,
            };
            let wide = if b == RealType::F64 { b } else { RealType::F32 };
            narrow(at, at.convert(op, x, types::real(context, wide)), b)
        }
        (_, Element::Pred) => at.cmpi(Integers::NotEqual, x, at.zero(x.r#type())),
        _ => widths(at, x, from, to),
    }
}

/// Converts integers modulo 2^n.
fn widths<'c: 'a, 'a>(at: &Builder<'c, 'a>, x: Value<'c, 'a>, from: Element, to: Element) -> Value<'c, 'a> {
    let op = match (from.bits(), to.bits()) {
        (a, b) if a == b => return x,
        (a, b) if a > b => ops::arith::TRUNCI,
        _ if matches!(from, Element::Signed(_)) => ops::arith::EXTSI,
        _ => ops::arith::EXTUI,
    };
    at.convert(op, x, to.signless(at.context))
}

fn reals<'c: 'a, 'a>(at: &Builder<'c, 'a>, x: Value<'c, 'a>, from: RealType, to: RealType) -> Value<'c, 'a> {
    match (from, to) {
        (RealType::F64, _) if to.is_half() => narrow(at, round_to_odd(at, x), to),
        (RealType::F64, _) => at.convert(ops::arith::TRUNCF, x, types::real(at.context, to)),
        (_, RealType::F64) => at.convert(ops::arith::EXTF, widen(at, x, from), types::real(at.context, to)),
        _ => narrow(at, widen(at, x, from), to),
    }
}

/// Rounds an f64 to f32 with rounding to odd: the last bit is set if the result is inexact. Rounding the f32 to half
/// precision then is correctly rounded.
fn round_to_odd<'c: 'a, 'a>(at: &Builder<'c, 'a>, x: Value<'c, 'a>) -> Value<'c, 'a> {
    let (double, word) = (x.r#type(), types::int(at.context, 32));
    let near = at.convert(ops::arith::TRUNCF, x, types::real(at.context, RealType::F32));
    let back = at.convert(ops::arith::EXTF, near, double);
    let bits = at.bitcast(near, word);
    let [one, minus, zero] = [1, -1, 0].map(|value| at.int(value, word));
    let is_even = at.cmpi(Integers::Equal, at.andi(bits, one), zero);
    let is_inexact = at.cmpf(Reals::LessOrGreater, back, x);
    let is_adjusted = at.andi(is_even, is_inexact);
    let [size, whole] = [back, x].map(|value| at.make(ops::math::ABSF, &[value], &[], double));
    let by = at.select(at.cmpf(Reals::Less, size, whole), one, minus);
    let bits = at.addi(bits, at.select(is_adjusted, by, zero));
    at.bitcast(bits, near.r#type())
}

/// Converts an f32 or f64 to an integer or pred. Integers are truncated toward zero and saturate; NaN becomes 0. A pred is
/// true if the value is not 0.
fn cut_off<'c: 'a, 'a>(at: &Builder<'c, 'a>, x: Value<'c, 'a>, to: Element) -> Value<'c, 'a> {
    let (float, result) = (x.r#type(), to.signless(at.context));
    let (op, min, end) = match to {
        Element::Signed(width) => {
            (ops::arith::FPTOSI, types::min_integer(width), 2f64.powi(width.cast_signed() - 1))
        }
        Element::Unsigned(width) => (ops::arith::FPTOUI, 0, 2f64.powi(width.cast_signed())),
        _ => return at.cmpf(Reals::NotEqual, x, at.zero(float)),
    };
    let cut = at.convert(op, x, result);
    let (end, start) = (at.real(end, float), at.real(min as f64, float));
    // The maximum of an unsigned type has all bits set.
    let max = if min == 0 { -1 } else { !min };
    let [max, min, none] = [max, min, 0].map(|value| at.int(value, result));
    let is_above = at.cmpf(Reals::AtLeast, x, end);
    let is_below = at.cmpf(Reals::Less, x, start);
    let is_nan = at.cmpf(Reals::Unordered, x, x);
    let value = at.select(is_above, max, cut);
    let value = at.select(is_below, min, value);
    at.select(is_nan, none, value)
}
