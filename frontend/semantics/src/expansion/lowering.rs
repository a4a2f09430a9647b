// SPDX-License-Identifier: Apache-2.0
//! Lowers operations of the table to dialect operations.
//!
//! A lowering is total: cases that dialects leave undefined (integer division by zero, `MIN / -1`, float to int out of range, negative integer
//! powers) are guarded, and the results are those of [`ScalarOp::eval_f32`], bit by bit except for transcendental functions.

use super::{Class, Expansion, Value, narrow};
use crate::op::ScalarOp;

pub(super) fn lower(op: ScalarOp, operand: Class, result: Class) -> Option<Expansion> {
    match (op, op.row().arity) {
        (ScalarOp::Select, _) => {
            Some(Expansion::record([Class::BOOL, operand, operand], |[condition, x, y]| {
                condition.select(x, y)
            }))
        }
        (ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal, _) => {
            Expansion::try_record([operand], |[x]| cast(op, x, result))
        }
        (_, 1) => Expansion::try_record([operand], |[x]| match operand {
            Class::BOOL => (op == ScalarOp::Not).then(|| x.xor(true)),
            Class::Int(_) | Class::Index => unary_integer(op, x),
            Class::Real(_) => unary_real(op, x),
        }),
        _ => Expansion::try_record([operand; 2], |[x, y]| match operand {
            Class::BOOL => logical(op, x, y),
            Class::Int(_) | Class::Index => integer(op, x, y),
            Class::Real(_) => real(op, x, y),
        }),
    }
}

fn is_comparison(op: ScalarOp) -> bool {
    (ScalarOp::Lt..=ScalarOp::Ne).contains(&op)
}

fn logical<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>) -> Option<Value<'b>> {
    Some(match op {
        ScalarOp::And | ScalarOp::Or | ScalarOp::Xor => x.with(op, y),
        ScalarOp::Implies => x.xor(true).or(y),
        _ if is_comparison(op) => x.compare(op, y),
        _ => return None,
    })
}

fn unary_integer(op: ScalarOp, x: Value<'_>) -> Option<Value<'_>> {
    Some(match op {
        ScalarOp::Neg => 0 - x,
        ScalarOp::Abs => {
            let is_negative = x.less(0);
            is_negative.select(0 - x, x)
        }
        ScalarOp::Sign => x.max(-1).min(1),
        _ => return None,
    })
}

fn integer<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>) -> Option<Value<'b>> {
    Some(match op {
        ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Min | ScalarOp::Max => x.with(op, y),
        ScalarOp::Div | ScalarOp::CeilDiv => quotient(op, x, y),
        ScalarOp::Mod => modulo(x, y),
        ScalarOp::Pow if x.class() == Class::Index => {
            power(x.to(Class::I64), y.to(Class::I64)).to(Class::Index)
        }
        ScalarOp::Pow => power(x, y),
        _ if is_comparison(op) => x.compare(op, y),
        _ => return None,
    })
}

/// Divisors 0 and -1 are replaced by 1, and the results patched: 0, and the negated dividend.
fn quotient<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let is_zero = y.equal(0);
    let is_minus_one = y.equal(-1);
    let divisor = is_zero.or(is_minus_one).select(1, y);
    let quotient = x.with(op, divisor);
    let patched = is_minus_one.select(0 - x, quotient);
    is_zero.select(0, patched)
}

/// Divisors 0 and -1 are replaced by 1, whose remainder is 0, as defined for both.
fn modulo<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let is_special = y.equal(0).or(y.equal(-1));
    let divisor = is_special.select(1, y);
    let remainder = x.remainder(divisor);
    let is_inexact = remainder.not_equal(0);
    let differ = remainder.less(0).xor(divisor.less(0));
    let adjust = is_inexact.and(differ);
    adjust.select(remainder + divisor, remainder)
}

/// The remainder of the truncated quotient is exact; the divisor is added where the signs differ, +0 otherwise.
fn real_modulo<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let remainder = x.remainder(y);
    let is_inexact = remainder.not_equal(0.0);
    let differ = remainder.less(0.0).xor(y.less(0.0));
    let adjust = is_inexact.and(differ);
    remainder + adjust.select(y, x.constant(0.0))
}

/// An integer power. With a negative exponent, the result is 0 except for the bases 1 and -1.
fn power<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let is_negative = y.less(0);
    let power = x.with(ScalarOp::Pow, is_negative.select(0, y));
    let is_odd = y.and(1).not_equal(0);
    let is_one = x.equal(1);
    let is_minus_one = x.equal(-1);
    let alternating = is_odd.select(-1, x.constant(1));
    let unit = is_minus_one.select(alternating, x.constant(0));
    let inverse = is_one.select(1, unit);
    is_negative.select(inverse, power)
}

fn unary_real(op: ScalarOp, x: Value<'_>) -> Option<Value<'_>> {
    Some(match op {
        ScalarOp::Sign => {
            let is_positive = x.greater(0.0);
            let low = x.less(0.0).select(-1.0, x);
            is_positive.select(1.0, low)
        }
        ScalarOp::Frac => x - x.trunc(),
        ScalarOp::Not => return None,
        _ => x.apply(op),
    })
}

fn real<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>) -> Option<Value<'b>> {
    Some(match op {
        ScalarOp::CeilDiv => (x / y).ceil(),
        ScalarOp::Mod => real_modulo(x, y),
        ScalarOp::And | ScalarOp::Or | ScalarOp::Xor | ScalarOp::Implies => return None,
        _ if is_comparison(op) => x.compare(op, y),
        _ => x.with(op, y),
    })
}

fn cast(op: ScalarOp, x: Value<'_>, result: Class) -> Option<Value<'_>> {
    let is_valid = match op {
        ScalarOp::ToBool => result == Class::BOOL,
        ScalarOp::ToInt => !result.is_real() && result != Class::BOOL,
        _ => result.is_real(),
    };
    if !is_valid {
        return None;
    }
    Some(match (x.class(), result) {
        (from, to) if from == to => x,
        (Class::Real(_), Class::BOOL) => x.not_equal(0.0),
        (_, Class::BOOL) => x.not_equal(0),
        (Class::BOOL, _) => x.unsigned_to(result),
        (Class::Int(_), Class::Index) => x.to(result),
        (Class::Real(_), Class::Index) => truncated(x, Class::I64).to(result),
        (Class::Index, Class::Real(_)) => x.to(Class::I64).to(result),
        (Class::Index, Class::Int(_)) => saturated(x.to(Class::I64), result),
        (Class::Int(_), Class::Int(_)) => saturated(x, result),
        (Class::Real(_), Class::Int(_)) => truncated(x, result),
        (Class::Int(_), Class::Real(_)) => x.to(result),
        (Class::Real(_), Class::Real(_)) => narrow::rounded(x, result),
        (Class::Index, Class::Index) => x,
    })
}

/// Sign-extends to wider integers, saturates to narrower integers.
fn saturated(x: Value<'_>, class: Class) -> Value<'_> {
    let minimum = class.least();
    match x.class().width().cmp(&class.width()) {
        std::cmp::Ordering::Less => x.to(class),
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater => x.max(minimum).min(!minimum).to(class),
    }
}

/// Out of range operands are replaced by 0 before the conversion, which also is the result for NaN. `converted_real` in
/// `passes/src/integers/rounding.rs` recognizes these selections.
fn truncated(x: Value<'_>, class: Class) -> Value<'_> {
    let (minimum, beyond) = (class.least() as f64, -(class.least() as f64));
    let is_inside = x.greater(minimum).and(x.less(beyond));
    let whole = is_inside.select(x, x.constant(0.0)).to(class);
    let is_too_small = x.compare(ScalarOp::Le, minimum);
    let is_too_large = x.compare(ScalarOp::Ge, beyond);
    let low = is_too_small.select(class.least(), whole);
    is_too_large.select(!class.least(), low)
}
