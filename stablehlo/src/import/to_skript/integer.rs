// SPDX-License-Identifier: Apache-2.0
//! Converts integer operations that are undefined for some operands, and conversions.

use super::form::{compared, number, select};
use super::guards;
use crate::import::element::Element;
use crate::import::to_linalg::SourceOp;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_semantics::Scalar;

/// Converts divisions, powers and shifts of integers of `width` bits. Results that StableHLO leaves undefined are the
/// same as in compiled programs: `x / 0` is -1, the remainder by 0 is `x`, and shifts by at least the width give zeros
/// or copies of the sign.
pub(super) fn form<'c, 'a>(source: &SourceOp<'c, 'a>, width: u32) -> Option<Value<'c, 'a>> {
    let [x, y] = *source.values.as_slice() else {
        return None;
    };
    let binary = |op| source.at.make(op, &[x, y], &[], x.r#type());
    match source.name.as_str() {
        "divide" if guards::is_safe_divisor(y) => Some(binary(ops::arith::DIVSI)),
        "remainder" if guards::is_safe_divisor(y) => Some(binary(ops::arith::REMSI)),
        "divide" => Some(divided(source, [x, y], ops::arith::DIVSI)),
        "remainder" => Some(divided(source, [x, y], ops::arith::REMSI)),
        "power" if guards::is_safe_exponent(y) => Some(binary(ops::math::IPOWI)),
        "power" => Some(binary(ops::skript::POW)),
        "shift_left" => Some(shifted(source, [x, y], width, ops::arith::SHLI)),
        "shift_right_logical" => Some(shifted(source, [x, y], width, ops::arith::SHRUI)),
        "shift_right_arithmetic" => Some(shifted(source, [x, y], width, ops::arith::SHRSI)),
        _ => None,
    }
}

/// Emits a division that replaces the divisors 0 and -1, for which `arith` leaves the result undefined.
fn divided<'c, 'a>(source: &SourceOp<'c, 'a>, [x, y]: [Value<'c, 'a>; 2], op: &str) -> Value<'c, 'a> {
    let (at, t) = (&source.at, x.r#type());
    let [zero, one, minus] = [0, 1, -1].map(|value| number(at, Scalar::Int(value), t));
    let [by_zero, by_minus] = [zero, minus].map(|value| compared(at, ops::skript::EQ, y, value));
    let either = at.make(ops::skript::OR, &[by_zero, by_minus], &[], by_zero.r#type());
    let divisor = select(at, either, one, y);
    let value = at.make(op, &[x, divisor], &[], t);
    // The remainder by -1 is zero, as is the remainder by 1.
    let (value, of_zero) = match op {
        ops::arith::DIVSI => {
            let negated = at.make(ops::skript::NEG, &[x], &[], t);
            (select(at, by_minus, negated, value), minus)
        }
        _ => (value, x),
    };
    select(at, by_zero, of_zero, value)
}

fn shifted<'c, 'a>(
    source: &SourceOp<'c, 'a>,
    [x, y]: [Value<'c, 'a>; 2],
    width: u32,
    op: &str,
) -> Value<'c, 'a> {
    let (at, t) = (&source.at, x.r#type());
    if guards::is_safe_shift(y, width) {
        return at.make(op, &[x, y], &[], t);
    }
    let [zero, end] = [0, i64::from(width)].map(|value| number(at, Scalar::Int(value), t));
    let above = compared(at, ops::skript::GE, y, zero);
    let below = compared(at, ops::skript::LT, y, end);
    let fits = at.make(ops::skript::AND, &[above, below], &[], above.r#type());
    let by = select(at, fits, y, zero);
    let value = at.make(op, &[x, by], &[], t);
    let beyond = match op {
        ops::arith::SHRSI => at.shrsi(x, number(at, Scalar::Int(i64::from(width) - 1), t)),
        _ => zero,
    };
    select(at, fits, value, beyond)
}

/// Converts floats to integers by truncation and saturation, and NaN to 0; truncates wider integers.
pub(super) fn convert<'c, 'a>(source: &SourceOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (from, to, value) = (source.operands.first()?, source.results.first()?, *source.values.first()?);
    let op = match (from.element, to.element) {
        (Element::Float(_), Element::Signed(width)) if guards::is_in_range(value, width) => {
            ops::arith::FPTOSI
        }
        _ if from == to => return Some(value),
        (Element::Signed(from), Element::Signed(to)) if to < from => ops::arith::TRUNCI,
        _ => ops::skript::CAST,
    };
    Some(source.at.make(op, &[value], &[], source.result_type().ok()?))
}
