// SPDX-License-Identifier: Apache-2.0
//! Converts operations on integers and bools.

use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::{Builder, ops, types};

/// Operations on `i1`: a sum is a disjunction, a product is a conjunction.
pub(super) fn of_preds<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    [x, y]: [Value<'c, 'a>; 2],
) -> Option<Value<'c, 'a>> {
    Some(match name {
        "and" | "multiply" | "minimum" => at.andi(x, y),
        "or" | "add" | "maximum" => at.ori(x, y),
        "xor" => at.xori(x, y),
        "not" => at.xori(x, at.truth(true)),
        _ => return None,
    })
}

/// Operations on integers of `width` bits.
pub(super) fn of_integers<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    name: &str,
    [x, y]: [Value<'c, 'a>; 2],
    width: u32,
    signed: bool,
) -> Option<Value<'c, 'a>> {
    let t = x.r#type();
    let unary = |op| at.make(op, &[x], &[], t);
    Some(match (name, signed) {
        ("add", _) => at.addi(x, y),
        ("subtract", _) => at.subi(x, y),
        ("multiply", _) => at.muli(x, y),
        ("and", _) => at.andi(x, y),
        ("or", _) => at.ori(x, y),
        ("xor", _) => at.xori(x, y),
        ("maximum", true) => at.maxsi(x, y),
        ("maximum", false) => at.maxui(x, y),
        ("minimum", true) => at.minsi(x, y),
        ("minimum", false) => at.minui(x, y),
        ("abs", true) => unary(ops::math::ABSI),
        ("abs", false) => x,
        ("negate", _) => at.subi(at.zero(t), x),
        ("not", _) => at.xori(x, at.int(-1, t)),
        ("sign", _) => {
            let zero = at.zero(t);
            let [above, below] = [Integers::SignedGreater, Integers::SignedLess]
                .map(|predicate| at.cmpi(predicate, x, zero))
                .map(|test| at.convert(ops::arith::EXTUI, test, t));
            at.subi(above, below)
        }
        ("popcnt", _) => unary(ops::math::CTPOP),
        ("count_leading_zeros", _) => unary(ops::math::CTLZ),
        ("divide", _) => quotient(at, [x, y], width, signed).0,
        ("remainder", _) => quotient(at, [x, y], width, signed).1,
        ("shift_left", _) => shift(at, ops::arith::SHLI, [x, y], width),
        ("shift_right_logical", _) => shift(at, ops::arith::SHRUI, [x, y], width),
        ("shift_right_arithmetic", _) => shift(at, ops::arith::SHRSI, [x, y], width),
        ("power", _) => power(at, [x, y], width, signed),
        _ => return None,
    })
}

/// Emits the quotient and the remainder; the caller uses one of them, and the other is dead code.
fn quotient<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [x, y]: [Value<'c, 'a>; 2],
    width: u32,
    signed: bool,
) -> (Value<'c, 'a>, Value<'c, 'a>) {
    let t = x.r#type();
    let [zero, one, ones] = [0, 1, -1].map(|value| at.int(value, t));
    let by_zero = at.cmpi(Integers::Equal, y, zero);
    let mut unsafe_ = by_zero;
    if signed {
        // INT_MIN / -1 traps. The wrapped quotient is INT_MIN, which division by 1 computes.
        let is_min = at.cmpi(Integers::Equal, x, at.int(types::min_integer(width), t));
        let by_minus = at.cmpi(Integers::Equal, y, ones);
        unsafe_ = at.ori(by_zero, at.andi(is_min, by_minus));
    }
    let divisor = at.select(unsafe_, one, y);
    let divisions =
        if signed { [ops::arith::DIVSI, ops::arith::REMSI] } else { [ops::arith::DIVUI, ops::arith::REMUI] };
    let [quotient, remainder] = divisions.map(|op| at.make(op, &[x, divisor], &[], t));
    (at.select(by_zero, ones, quotient), at.select(by_zero, x, remainder))
}

/// Emits a shift. Shifts by at least the width return zeros or copies of the sign bit.
fn shift<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    op: &str,
    [x, y]: [Value<'c, 'a>; 2],
    width: u32,
) -> Value<'c, 'a> {
    let t = x.r#type();
    let fits = at.cmpi(Integers::Less, y, at.int(width.into(), t));
    let zero = at.zero(t);
    let shifted = at.make(op, &[x, at.select(fits, y, zero)], &[], t);
    let beyond = match op {
        ops::arith::SHRSI => at.shrsi(x, at.int(i64::from(width) - 1, t)),
        _ => zero,
    };
    at.select(fits, shifted, beyond)
}

/// Emits a power by repeated squaring. With a negative exponent, the result is 1/xⁿ truncated: 0 unless the base is 1
/// or -1.
fn power<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [x, y]: [Value<'c, 'a>; 2],
    width: u32,
    signed: bool,
) -> Value<'c, 'a> {
    let t = x.r#type();
    let [zero, one] = [0, 1].map(|value| at.int(value, t));
    let [start, step, bits] = [0, 1, i64::from(width)].map(|bound| at.idx(bound));
    let squared = at.for_([start, bits, step], &[one, x, y], |at, _, values| {
        let (product, base, exponent) = (values[0], values[1], values[2]);
        let is_set = at.cmpi(Integers::NotEqual, at.andi(exponent, one), zero);
        let product = at.select(is_set, at.muli(product, base), product);
        vec![product, at.muli(base, base), at.shrui(exponent, one)]
    });
    let product = at.result(squared, 0);
    if !signed {
        return product;
    }
    let minus = at.int(-1, t);
    let is_negative = at.cmpi(Integers::SignedLess, y, zero);
    let is_odd = at.cmpi(Integers::NotEqual, at.andi(y, one), zero);
    let [is_one, is_minus] = [one, minus].map(|base| at.cmpi(Integers::Equal, x, base));
    let alternating = at.select(is_odd, minus, one);
    let inverse = at.select(is_minus, alternating, zero);
    let inverse = at.select(is_one, one, inverse);
    at.select(is_negative, inverse, product)
}
