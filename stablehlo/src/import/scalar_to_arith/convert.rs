// SPDX-License-Identifier: Apache-2.0
//! Converts conversions between element types.

use super::Scalar;
use crate::import::element::{Element, Float};
use skript_passes::ir::ops;

/// Converts the operand to the result type.
pub(super) fn convert(s: &mut Scalar) -> Option<String> {
    let x = s.operand(0).to_owned();
    Some(between(s, &x, s.from, s.to))
}

fn between(s: &mut Scalar, x: &str, from: Element, to: Element) -> String {
    match (from, to) {
        _ if from == to => x.to_owned(),
        (Element::Complex(a), Element::Complex(b)) => {
            let t = from.signless();
            let mut parts = Vec::new();
            for op in [ops::complex::RE, ops::complex::IM] {
                let part = s.apply(op, &[x], &t);
                parts.push(between(s, &part, Element::Float(a), Element::Float(b)));
            }
            let parts = parts.join(", ");
            s.value(format!("complex.create {parts} : {}", to.signless()))
        }
        (Element::Complex(part), _) => {
            let re = s.apply(ops::complex::RE, &[x], &from.signless());
            between(s, &re, Element::Float(part), to)
        }
        (_, Element::Complex(part)) => {
            let re = between(s, x, from, Element::Float(part));
            let im = s.real(0.0, part.text());
            s.value(format!("complex.create {re}, {im} : {}", to.signless()))
        }
        (Element::Float(a), Element::Float(b)) => reals(s, x, a, b),
        (Element::Float(a), _) => {
            let x = s.widen(x, a);
            let wide = if a == Float::F64 { a } else { Float::F32 };
            cut_off(s, &x, wide, to)
        }
        (_, Element::Float(b)) => {
            let op = match from {
                Element::Signed(_) => ops::arith::SITOFP,
                _ => ops::arith::UITOFP,
            };
            let wide = if b == Float::F64 { "f64" } else { "f32" };
            let value = s.value(format!("{op} {x} : {} to {wide}", from.signless()));
            s.narrow(&value, b)
        }
        (_, Element::Pred) => {
            let t = from.signless();
            let zero = s.integer(0, &t);
            s.value(format!("arith.cmpi ne, {x}, {zero} : {t}"))
        }
        _ => widths(s, x, from, to),
    }
}

/// Converts integers modulo 2^n.
fn widths(s: &mut Scalar, x: &str, from: Element, to: Element) -> String {
    let op = match (width(from), width(to)) {
        (a, b) if a == b => return x.to_owned(),
        (a, b) if a > b => ops::arith::TRUNCI,
        _ if matches!(from, Element::Signed(_)) => ops::arith::EXTSI,
        _ => ops::arith::EXTUI,
    };
    s.value(format!("{op} {x} : {} to {}", from.signless(), to.signless()))
}

fn width(element: Element) -> u32 {
    match element {
        Element::Signed(width) | Element::Unsigned(width) => width,
        _ => 1,
    }
}

fn reals(s: &mut Scalar, x: &str, from: Float, to: Float) -> String {
    match (from, to) {
        (Float::F64, _) if to.is_half() => {
            let odd = round_to_odd(s, x);
            s.narrow(&odd, to)
        }
        (Float::F64, _) => s.value(format!("arith.truncf {x} : f64 to f32")),
        (_, Float::F64) => {
            let wide = s.widen(x, from);
            s.value(format!("arith.extf {wide} : f32 to f64"))
        }
        _ => {
            let wide = s.widen(x, from);
            s.narrow(&wide, to)
        }
    }
}

/// Rounds an f64 to f32 with rounding to odd: the last bit is set if the result is inexact. Rounding the f32 to half
/// precision then is correctly rounded.
fn round_to_odd(s: &mut Scalar, x: &str) -> String {
    let near = s.value(format!("arith.truncf {x} : f64 to f32"));
    let back = s.value(format!("arith.extf {near} : f32 to f64"));
    let bits = s.value(format!("arith.bitcast {near} : f32 to i32"));
    let one = s.integer(1, "i32");
    let minus = s.integer(-1, "i32");
    let zero = s.integer(0, "i32");
    let last = s.apply(ops::arith::ANDI, &[&bits, &one], "i32");
    let even = s.value(format!("arith.cmpi eq, {last}, {zero} : i32"));
    let inexact = s.value(format!("arith.cmpf one, {back}, {x} : f64"));
    let adjust = s.apply(ops::arith::ANDI, &[&even, &inexact], "i1");
    let (size, whole) = (s.apply(ops::math::ABSF, &[&back], "f64"), s.apply(ops::math::ABSF, &[x], "f64"));
    let short = s.value(format!("arith.cmpf olt, {size}, {whole} : f64"));
    let by = s.select(&short, &one, &minus, "i32");
    let by = s.select(&adjust, &by, &zero, "i32");
    let bits = s.apply(ops::arith::ADDI, &[&bits, &by], "i32");
    s.value(format!("arith.bitcast {bits} : i32 to f32"))
}

/// Converts a float to an integer or pred. Integers are truncated toward zero and saturate; NaN becomes 0. A pred is
/// true if the value is not 0.
fn cut_off(s: &mut Scalar, x: &str, float: Float, to: Element) -> String {
    let f = float.text();
    let zero = s.real(0.0, f);
    let (width, signed) = match to {
        Element::Signed(width) => (width, true),
        Element::Unsigned(width) => (width, false),
        _ => return s.value(format!("arith.cmpf une, {x}, {zero} : {f}")),
    };
    let t = to.signless();
    let magnitude = if signed { width - 1 } else { width };
    let end = 2f64.powi(magnitude.cast_signed());
    let (op, min) =
        if signed { (ops::arith::FPTOSI, -(1i128 << magnitude)) } else { (ops::arith::FPTOUI, 0) };
    let cut = s.value(format!("{op} {x} : {f} to {t}"));
    let end = s.real(end, f);
    let start = s.real(if signed { min as f64 } else { 0.0 }, f);
    // The maximum of an unsigned type has all bits set.
    let max = if signed { (1i128 << magnitude) - 1 } else { -1 };
    let (max, min) = (s.integer(max, &t), s.integer(min, &t));
    let none = s.integer(0, &t);
    let above = s.value(format!("arith.cmpf oge, {x}, {end} : {f}"));
    let below = s.value(format!("arith.cmpf olt, {x}, {start} : {f}"));
    let nan = s.value(format!("arith.cmpf uno, {x}, {x} : {f}"));
    let value = s.select(&above, &max, &cut, &t);
    let value = s.select(&below, &min, &value, &t);
    s.select(&nan, &none, &value, &t)
}
