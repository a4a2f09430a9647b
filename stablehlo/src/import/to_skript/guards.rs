// SPDX-License-Identifier: Apache-2.0
//! Recognizes guards of operations that are undefined for some operands.
//!
//! The export guards such operations by selects before them; recognizing these selects avoids a second guard.

use crate::import::scalar_to_arith::compare::direction;
use crate::typed::{BroadcastInDim, Compare, Constant, Select};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{melior, op};
use skript_passes::ir::ops;
use skript_passes::ir::{ValueKey, splat};

/// Whether an integer divisor is neither 0 nor -1.
pub(crate) fn is_safe_divisor(divisor: Value) -> bool {
    let safe = |n: i64| n != 0 && n != -1;
    if let Some(value) = integer(divisor) {
        return safe(value);
    }
    let Some((condition, then, otherwise)) = choice(divisor) else {
        return false;
    };
    let tests = joined(condition, ops::stablehlo::OR);
    let excluded = |n: i64| tests.iter().any(|t| is_test(*t, "EQ", otherwise, |m| m == n));
    integer(then).is_some_and(safe) && excluded(0) && excluded(-1)
}

/// Whether an integer exponent is not negative.
pub(crate) fn is_safe_exponent(exponent: Value) -> bool {
    if let Some(value) = integer(exponent) {
        return value >= 0;
    }
    choice(exponent).is_some_and(|(condition, then, otherwise)| {
        is_test(condition, "LT", otherwise, |n| n >= 0) && integer(then).is_some_and(|n| n >= 0)
    })
}

/// Whether an integer is at least 0 and less than `width`.
pub(crate) fn is_safe_shift(by: Value, width: u32) -> bool {
    let fits = |n: i64| (0..i64::from(width)).contains(&n);
    if let Some(value) = integer(by) {
        return fits(value);
    }
    choice(by).is_some_and(|(condition, then, otherwise)| {
        let tests = joined(condition, ops::stablehlo::AND);
        let above = tests.iter().any(|t| is_test(*t, "GE", then, |n| n >= 0));
        let width = i64::from(width);
        let below = tests.iter().any(|t| is_test(*t, "LT", then, |n| n <= width));
        above && below && integer(otherwise).is_some_and(fits)
    })
}

/// Whether a float, truncated, is representable as an integer of `width` bits.
pub(crate) fn is_in_range(real: Value, width: u32) -> bool {
    let end = 2f64.powi(width.cast_signed() - 1);
    let Some((condition, then, otherwise)) = choice(real) else {
        return false;
    };
    let fits = |x: f64| (-end..end).contains(&x);
    let tests = joined(condition, ops::stablehlo::AND);
    let bounded = |word: &str, holds: &dyn Fn(f64) -> bool| {
        let mut tests = tests.iter();
        tests.any(|t| test(*t, word, then).is_some_and(|b| number(b).is_some_and(holds)))
    };
    bounded("GT", &|x| x >= -end) && bounded("LT", &|x| x <= end) && number(otherwise).is_some_and(fits)
}

/// The condition and the two values of a select.
fn choice<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<(Value<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>)> {
    let select = Select::of(value)?;
    let (then, otherwise) = (select.then().ok()?, select.otherwise().ok()?);
    Some((select.predicate().ok()?, then, otherwise))
}

/// The leaves of a tree of operations with this name; the value itself if no such operation defines it.
fn joined<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Vec<Value<'c, 'a>> {
    let (mut pending, mut operands) = (vec![value], Vec::new());
    while let Some(value) = pending.pop() {
        match owner(value, name) {
            Some(op) => pending.extend(op.operands()),
            None => operands.push(value),
        }
    }
    operands
}

fn is_test<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    word: &str,
    of: Value<'c, 'a>,
    holds: impl Fn(i64) -> bool,
) -> bool {
    test(value, word, of).is_some_and(|bound| integer(bound).is_some_and(holds))
}

/// The right-hand side of `value`, if it compares `of` in the direction `word`.
fn test<'c: 'a, 'a>(value: Value<'c, 'a>, word: &str, of: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let compare = Compare::of(value)?;
    let same = ValueKey::of(compare.lhs().ok()?) == ValueKey::of(of);
    let word = direction(compare.op()).is_some_and(|d| !d.total && d.word == word);
    (same && word).then(|| compare.rhs().ok()).flatten()
}

fn integer(value: Value) -> Option<i64> {
    let element = splat::element(constant(value)?.value().ok()?)?;
    Some(IntegerAttribute::try_from(element).ok()?.value())
}

/// A constant bound of a float, clamped to the finite values of its type.
fn number(value: Value) -> Option<f64> {
    let element = splat::element(constant(value)?.value().ok()?)?;
    let is_f16 =
        value.r#type().to_string().ends_with("f16>") && !value.r#type().to_string().ends_with("bf16>");
    let largest = if is_f16 { 65504.0 } else { f64::MAX };
    Some(FloatAttribute::try_from(element).ok()?.value().clamp(-largest, largest))
}

/// The constant that defines a value, possibly through a broadcast.
fn constant<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Constant<'c, 'a>> {
    Constant::of(match BroadcastInDim::of(value) {
        Some(spread) => spread.operand().ok()?,
        None => value,
    })
}

fn owner<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Option<OperationRef<'c, 'a>> {
    let owner = OperationResult::try_from(value).ok()?.owner();
    op::is(&owner, name).then_some(owner)
}
