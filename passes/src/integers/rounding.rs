// SPDX-License-Identifier: Apache-2.0
//! Recognizes conversions and roundings of reals in the operations that earlier passes emit for them.

use super::limited_integer::integer;
use crate::ir::arith::{Select, predicate};
use crate::ir::builder::arith::Reals;
use crate::ir::real;
use crate::ir::{self, ops};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;

/// The smallest real above all 64-bit integers, 2⁶³.
const BEYOND: f64 = -(i64::MIN as f64);

/// Returns the real, if a scalar is its conversion to a 64-bit integer as specified by the language: NaN becomes 0, an out-of-range real
/// the nearest integer. `arith.fptosi` is undefined for such reals, so `truncated` in `frontend/semantics/src/expansion/lowering.rs` emits:
///
/// ```text
/// x >= 2⁶³ ? MAX : x <= −2⁶³ ? MIN : fptosi(x > −2⁶³ && x < 2⁶³ ? x : 0.0)
/// ```
pub(super) fn converted_real<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let outer = Select::of(value)?;
    let inner = Select::of(outer.otherwise().ok()?)?;
    let conversion = ir::defined_by(inner.otherwise().ok()?, ops::arith::FPTOSI)?;
    let guard = Select::of(ir::operand_at(conversion, 0)?)?;
    let source = guard.then().ok()?;
    let is_guarded =
        is_in_range(guard.condition().ok()?, source) && real(guard.otherwise().ok()?) == Some(0.0);
    let limits = [saturation(outer, source)?, saturation(inner, source)?];
    (is_guarded && limits[0] != limits[1]).then_some(source)
}

/// Returns the integer that a selection uses instead of the converted real if the real is out of range on one side.
fn saturation<'c: 'a, 'a>(selection: Select<'c, 'a>, source: Value<'c, 'a>) -> Option<i64> {
    let condition = selection.condition().ok()?;
    let limit = integer(selection.then().ok()?)?;
    let compared = match limit {
        i64::MIN => compared(condition, Reals::AtMost, -BEYOND),
        i64::MAX => compared(condition, Reals::AtLeast, BEYOND),
        _ => None,
    };
    (compared? == source).then_some(limit)
}

/// Whether a bool tests that the truncated real fits a 64-bit integer.
fn is_in_range<'c: 'a, 'a>(condition: Value<'c, 'a>, source: Value<'c, 'a>) -> bool {
    let is_above = |value| compared(value, Reals::Greater, -BEYOND) == Some(source);
    let is_below = |value| compared(value, Reals::Less, BEYOND) == Some(source);
    let both = operands_of(condition, ops::arith::ANDI);
    both.is_some_and(|[a, b]| is_above(a) && is_below(b) || is_above(b) && is_below(a))
}

/// Returns the real, if a scalar is the real rounded to the nearest integer, with ties to even. Zeros may have another sign. It is
/// computed by `math.roundeven`, or by `_nearest_even` of `import/library/elementwise.sknd`:
///
/// ```text
/// f = floor(x), x − f < 0.5 ? f : x − f > 0.5 ? f + 1 : f % 2 == 0 ? f : f + 1
/// ```
pub(super) fn rounded_to_even<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    if let Some(op) = ir::defined_by(value, ops::math::ROUNDEVEN) {
        return ir::operand_at(op, 0);
    }
    let outer = Select::of(value)?;
    let inner = Select::of(outer.otherwise().ok()?)?;
    let tie = Select::of(inner.otherwise().ok()?)?;
    let (below, above) = (outer.then().ok()?, inner.then().ok()?);
    let x = ir::defined_by(below, ops::math::FLOOR)?.operand(0).ok()?;
    let [base, one] = operands_of(above, ops::arith::ADDF)?;
    let is_next = base == below && real(one) == Some(1.0);
    let compares_distance = |selection: Select<'c, 'a>, predicate| {
        let distance = compared(selection.condition().ok()?, predicate, 0.5)?;
        Some(operands_of(distance, ops::arith::SUBF)? == [x, below])
    };
    let selects = compares_distance(outer, Reals::Less)? && compares_distance(inner, Reals::Greater)?;
    let remainder = compared(tie.condition().ok()?, Reals::Equal, 0.0)?;
    let is_even_below = tie.then().ok()? == below && tie.otherwise().ok()? == above;
    (is_next && selects && is_even_below && is_remainder(remainder, below)).then_some(x)
}

/// Whether a scalar is the remainder of a division of `dividend` by two, to which two may be added if it is negative.
fn is_remainder<'c: 'a, 'a>(value: Value<'c, 'a>, dividend: Value<'c, 'a>) -> bool {
    let is_plain = |value: Value<'c, 'a>| {
        let operands = operands_of(value, ops::arith::REMF);
        operands.is_some_and(|[left, right]| left == dividend && real(right) == Some(2.0))
    };
    let is_raised = |value: Value<'c, 'a>| {
        let [remainder, amount] = operands_of(value, ops::arith::ADDF)?;
        let selection = Select::of(amount)?;
        let is_two =
            real(selection.then().ok()?) == Some(2.0) && real(selection.otherwise().ok()?) == Some(0.0);
        let is_negative = implies_negative(selection.condition().ok()?, remainder);
        Some(is_two && is_negative && is_plain(remainder))
    };
    is_plain(value) || is_raised(value) == Some(true)
}

/// Whether a bool implies that a scalar is less than zero.
fn implies_negative<'c: 'a, 'a>(condition: Value<'c, 'a>, scalar: Value<'c, 'a>) -> bool {
    let is_plain = |value| compared(value, Reals::Less, 0.0) == Some(scalar);
    let conjuncts = operands_of(condition, ops::arith::ANDI);
    is_plain(condition) || conjuncts.is_some_and(|conjuncts| conjuncts.into_iter().any(is_plain))
}

/// The operands of the binary operation that computes a scalar, if it has this name.
fn operands_of<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Option<[Value<'c, 'a>; 2]> {
    ir::both_operands(ir::defined_by(value, name)?).ok()
}

/// The real, if a bool is its comparison with a constant.
pub(super) fn compared<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    with: Reals,
    constant: f64,
) -> Option<Value<'c, 'a>> {
    let comparison = ir::defined_by(value, ops::arith::CMPF)?;
    let [left, right] = ir::both_operands(comparison).ok()?;
    let matches = predicate(comparison) == Some(with as i64) && real(right) == Some(constant);
    matches.then_some(left)
}
