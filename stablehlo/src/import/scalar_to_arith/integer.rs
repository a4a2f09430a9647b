// SPDX-License-Identifier: Apache-2.0
//! Converts operations on integers and bools.

use super::Scalar;
use skript_passes::ir::ops;

/// Operations on `i1`: a sum is a disjunction, a product is a conjunction.
pub(super) fn of_preds(s: &mut Scalar, name: &str) -> Option<String> {
    let op = match name {
        "and" | "multiply" | "minimum" => ops::arith::ANDI,
        "or" | "add" | "maximum" => ops::arith::ORI,
        "xor" => ops::arith::XORI,
        "not" => {
            let yes = s.value("arith.constant true");
            let x = s.operand(0).to_owned();
            return Some(s.apply(ops::arith::XORI, &[&x, &yes], "i1"));
        }
        _ => return None,
    };
    let (x, y) = (s.operand(0).to_owned(), s.operand(1).to_owned());
    Some(s.apply(op, &[&x, &y], "i1"))
}

/// Operations on integers of `width` bits.
pub(super) fn of_integers(s: &mut Scalar, name: &str, width: u32, signed: bool) -> Option<String> {
    let t = format!("i{width}");
    let x = s.operand(0).to_owned();
    let y = s.operand(1).to_owned();
    let plain = match (name, signed) {
        ("add", _) => ops::arith::ADDI,
        ("subtract", _) => ops::arith::SUBI,
        ("multiply", _) => ops::arith::MULI,
        ("and", _) => ops::arith::ANDI,
        ("or", _) => ops::arith::ORI,
        ("xor", _) => ops::arith::XORI,
        ("maximum", true) => ops::arith::MAXSI,
        ("maximum", false) => ops::arith::MAXUI,
        ("minimum", true) => ops::arith::MINSI,
        ("minimum", false) => ops::arith::MINUI,
        _ => "",
    };
    if !plain.is_empty() {
        return Some(s.apply(plain, &[&x, &y], &t));
    }
    match name {
        "abs" if signed => Some(s.apply(ops::math::ABSI, &[&x], &t)),
        "abs" => Some(x),
        "negate" => {
            let zero = s.integer(0, &t);
            Some(s.apply(ops::arith::SUBI, &[&zero, &x], &t))
        }
        "not" => {
            let ones = s.integer(-1, &t);
            Some(s.apply(ops::arith::XORI, &[&x, &ones], &t))
        }
        "sign" => {
            let zero = s.integer(0, &t);
            let above = s.value(format!("arith.cmpi sgt, {x}, {zero} : {t}"));
            let below = s.value(format!("arith.cmpi slt, {x}, {zero} : {t}"));
            let above = s.value(format!("arith.extui {above} : i1 to {t}"));
            let below = s.value(format!("arith.extui {below} : i1 to {t}"));
            Some(s.apply(ops::arith::SUBI, &[&above, &below], &t))
        }
        "popcnt" => Some(s.apply(ops::math::CTPOP, &[&x], &t)),
        "count_leading_zeros" => Some(s.apply(ops::math::CTLZ, &[&x], &t)),
        "divide" => Some(quotient(s, &x, &y, width, signed).0),
        "remainder" => Some(quotient(s, &x, &y, width, signed).1),
        "shift_left" => Some(shift(s, ops::arith::SHLI, &x, &y, width, false)),
        "shift_right_logical" => Some(shift(s, ops::arith::SHRUI, &x, &y, width, false)),
        "shift_right_arithmetic" => Some(shift(s, ops::arith::SHRSI, &x, &y, width, true)),
        "power" => Some(power(s, &x, &y, width, signed)),
        _ => None,
    }
}

/// Emits the quotient and the remainder; the caller uses one of them, and the other is dead code.
fn quotient(s: &mut Scalar, x: &str, y: &str, width: u32, signed: bool) -> (String, String) {
    let t = format!("i{width}");
    let zero = s.integer(0, &t);
    let one = s.integer(1, &t);
    let ones = s.integer(-1, &t);
    let by_zero = s.value(format!("arith.cmpi eq, {y}, {zero} : {t}"));
    let mut unsafe_ = by_zero.clone();
    if signed {
        // INT_MIN / -1 traps. The wrapped quotient is INT_MIN, which division by 1 computes.
        let min = s.integer(-(1 << (width - 1)), &t);
        let is_min = s.value(format!("arith.cmpi eq, {x}, {min} : {t}"));
        let by_minus = s.value(format!("arith.cmpi eq, {y}, {ones} : {t}"));
        let overflows = s.apply(ops::arith::ANDI, &[&is_min, &by_minus], "i1");
        unsafe_ = s.apply(ops::arith::ORI, &[&by_zero, &overflows], "i1");
    }
    let divisor = s.select(&unsafe_, &one, y, &t);
    let (divide, remain) =
        if signed { (ops::arith::DIVSI, ops::arith::REMSI) } else { (ops::arith::DIVUI, ops::arith::REMUI) };
    let quotient = s.apply(divide, &[x, &divisor], &t);
    let remainder = s.apply(remain, &[x, &divisor], &t);
    (s.select(&by_zero, &ones, &quotient, &t), s.select(&by_zero, x, &remainder, &t))
}

/// Emits a shift. Shifts by at least the width return zeros or copies of the sign bit.
fn shift(s: &mut Scalar, op: &str, x: &str, y: &str, width: u32, arithmetic: bool) -> String {
    let t = format!("i{width}");
    let bound = s.integer(i128::from(width), &t);
    let fits = s.value(format!("arith.cmpi ult, {y}, {bound} : {t}"));
    let zero = s.integer(0, &t);
    let by = s.select(&fits, y, &zero, &t);
    let shifted = s.apply(op, &[x, &by], &t);
    let beyond = if arithmetic {
        let max_shift = s.integer(i128::from(width) - 1, &t);
        s.apply(ops::arith::SHRSI, &[x, &max_shift], &t)
    } else {
        zero
    };
    s.select(&fits, &shifted, &beyond, &t)
}

/// Emits a power by repeated squaring. With a negative exponent, the result is 1/xⁿ truncated: 0 unless the base is 1
/// or -1.
fn power(s: &mut Scalar, x: &str, y: &str, width: u32, signed: bool) -> String {
    let t = format!("i{width}");
    let zero = s.integer(0, &t);
    let one = s.integer(1, &t);
    let start = s.value("arith.constant 0 : index");
    let step = s.value("arith.constant 1 : index");
    let bits = s.value(format!("arith.constant {width} : index"));
    s.lines.line(format!(
        "%product:3 = scf.for %i = {start} to {bits} step {step} iter_args(%p = {one}, %b = {x}, %e = {y}) -> ({t}, {t}, {t}) {{
  %bit = arith.andi %e, {one} : {t}
  %set = arith.cmpi ne, %bit, {zero} : {t}
  %more = arith.muli %p, %b : {t}
  %q = arith.select %set, %more, %p : {t}
  %c = arith.muli %b, %b : {t}
  %f = arith.shrui %e, {one} : {t}
  scf.yield %q, %c, %f : {t}, {t}, {t}
}}"
    ));
    let product = "%product#0".to_owned();
    if !signed {
        return product;
    }
    let minus = s.integer(-1, &t);
    let negative = s.value(format!("arith.cmpi slt, {y}, {zero} : {t}"));
    let odd = s.apply(ops::arith::ANDI, &[y, &one], &t);
    let odd = s.value(format!("arith.cmpi ne, {odd}, {zero} : {t}"));
    let is_one = s.value(format!("arith.cmpi eq, {x}, {one} : {t}"));
    let is_minus = s.value(format!("arith.cmpi eq, {x}, {minus} : {t}"));
    let alternating = s.select(&odd, &minus, &one, &t);
    let inverse = s.select(&is_minus, &alternating, &zero, &t);
    let inverse = s.select(&is_one, &one, &inverse, &t);
    s.select(&negative, &inverse, &product, &t)
}
