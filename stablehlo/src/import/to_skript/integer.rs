// SPDX-License-Identifier: Apache-2.0
//! Converts integer operations that are undefined for some operands, and conversions.

use super::form::number;
use super::guards;
use crate::import::element::Element;
use crate::import::to_linalg::SourceOp;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

/// Converts divisions, powers and shifts of integers of `width` bits. Results that StableHLO leaves undefined are the
/// same as in compiled programs: `x / 0` is -1, the remainder by 0 is `x`, and shifts by at least the width give zeros
/// or copies of the sign.
pub(super) fn form(lines: &mut Lines, source: &SourceOp, width: u32) -> Option<String> {
    let divisor = *source.values.get(1)?;
    let t = source.result().ok()?.text();
    match source.name.as_str() {
        "divide" | "remainder" => {
            let op = match source.name.as_str() {
                "divide" => ops::arith::DIVSI,
                _ => ops::arith::REMSI,
            };
            if guards::is_safe_divisor(divisor) {
                return Some(lines.value(format!("{op} %0, %1 : {t}")));
            }
            divided(lines, source, op)
        }
        "power" => {
            let op = if guards::is_safe_exponent(divisor) { ops::math::IPOWI } else { ops::skript::POW };
            Some(lines.value(format!("{op} %0, %1 : {t}")))
        }
        "shift_left" => shifted(lines, source, width, ops::arith::SHLI),
        "shift_right_logical" => shifted(lines, source, width, ops::arith::SHRUI),
        "shift_right_arithmetic" => shifted(lines, source, width, ops::arith::SHRSI),
        _ => None,
    }
}

/// Emits a division that replaces the divisors 0 and -1, for which `arith` leaves the result undefined.
fn divided(lines: &mut Lines, source: &SourceOp, op: &str) -> Option<String> {
    let tensor = source.operands.first()?;
    let (t, flags) = (tensor.text(), tensor.with_element(Element::Pred).text());
    let (zero, one) = (number(lines, "0", tensor), number(lines, "1", tensor));
    let minus = number(lines, "-1", tensor);
    let by_zero = lines.value(format!("skript.eq %1, {zero} : {t}"));
    let by_minus = lines.value(format!("skript.eq %1, {minus} : {t}"));
    let either = lines.value(format!("skript.or {by_zero}, {by_minus} : {flags}"));
    let mut select = |condition: &str, then: &str, otherwise: &str| {
        lines.value(format!("skript.select {condition}, {then}, {otherwise} : {flags}, {t}"))
    };
    let divisor = select(&either, &one, "%1");
    let value = lines.value(format!("{op} %0, {divisor} : {t}"));
    // The remainder by -1 is zero, as is the remainder by 1.
    let (value, of_zero) = match op {
        ops::arith::DIVSI => {
            let negated = lines.value(format!("skript.neg %0 : {t}"));
            let value = format!("skript.select {by_minus}, {negated}, {value} : {flags}, {t}");
            (lines.value(value), minus.as_str())
        }
        _ => (value, "%0"),
    };
    Some(lines.value(format!("skript.select {by_zero}, {of_zero}, {value} : {flags}, {t}")))
}

fn shifted(lines: &mut Lines, source: &SourceOp, width: u32, op: &str) -> Option<String> {
    let tensor = source.operands.first()?;
    let (t, flags) = (tensor.text(), tensor.with_element(Element::Pred).text());
    if source.values.get(1).is_some_and(|by| guards::is_safe_shift(*by, width)) {
        return Some(lines.value(format!("{op} %0, %1 : {t}")));
    }
    let (zero, end) = (number(lines, "0", tensor), number(lines, &width.to_string(), tensor));
    let above = lines.value(format!("skript.ge %1, {zero} : {t}"));
    let below = lines.value(format!("skript.lt %1, {end} : {t}"));
    let fits = lines.value(format!("skript.and {above}, {below} : {flags}"));
    let by = lines.value(format!("skript.select {fits}, %1, {zero} : {flags}, {t}"));
    let value = lines.value(format!("{op} %0, {by} : {t}"));
    let beyond = match op {
        ops::arith::SHRSI => {
            let max_shift = number(lines, &(width - 1).to_string(), tensor);
            lines.value(format!("arith.shrsi %0, {max_shift} : {t}"))
        }
        _ => zero,
    };
    Some(lines.value(format!("skript.select {fits}, {value}, {beyond} : {flags}, {t}")))
}

/// Converts floats to integers by truncation and saturation, and NaN to 0; truncates wider integers.
pub(super) fn convert(lines: &mut Lines, source: &SourceOp) -> Option<String> {
    let (from, to) = (source.operands.first()?, source.results.first()?);
    let value = *source.values.first()?;
    let op = match (from.element, to.element) {
        (Element::Float(_), Element::Signed(width)) if guards::is_in_range(value, width) => {
            ops::arith::FPTOSI
        }
        _ if from == to => return Some("%0".to_owned()),
        (Element::Signed(from), Element::Signed(to)) if to < from => ops::arith::TRUNCI,
        _ => ops::skript::CAST,
    };
    Some(lines.value(format!("{op} %0 : {} to {}", from.text(), to.text())))
}
