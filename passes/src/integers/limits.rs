// SPDX-License-Identifier: Apache-2.0
//! Limits and rounds reals that become bytes.
//!
//! An activation that limits a real by constants, such as `relu`, and a quantization that limits it again require only one pair of limits,
//! because a product with a positive factor and rounding preserve the order.

use super::scalars::is_wide_float;
use crate::ir::builder::arith::Reals;
use crate::ir::real;
use crate::ir::{self, Builder, ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::RealType;

/// The maximum number of limits of one real that are merged.
const MAX_MERGED: usize = 4;

/// Rounds a real to the nearest integer, with ties to even, and limits it to an interval. NaN is first replaced by 0.
pub(super) fn rounded_within<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    limits: [i64; 2],
) -> Result<Value<'c, 'a>, melior::Error> {
    debug_assert!(is_wide_float(value.r#type()), "limits are not exact in {}", value.r#type());
    let kind = value.r#type();
    let (mut value, mut limits) = (value, limits);
    for _ in 0..MAX_MERGED {
        value = product_for_quotient(body, value).unwrap_or(value);
        let Some((limited, merged)) = LimitedReal::from_value(value).and_then(|real| real.merged(limits))
        else {
            break;
        };
        limits = merged;
        value = match limited.factor {
            Some(factor) => body.mulf(limited.value, factor),
            None => limited.value,
        };
    }
    // The limits are integers, so rounding can be the last step. Processors round and convert in one instruction.
    body.value(ops::math::ROUNDEVEN, &[limited(body, value, limits)], &[], kind)
}

/// Returns a real. If it is a quotient rounded by `math.round`, replaces the quotient by a product.
pub(super) fn rounded<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
) -> Result<Value<'c, 'a>, melior::Error> {
    let Some(rounding) = ir::defined_by(value, ops::math::ROUND) else {
        return Ok(value);
    };
    match product_for_quotient(body, rounding.operand(0)?) {
        Some(product) => body.value(ops::math::ROUND, &[product], &[], value.r#type()),
        None => Ok(value),
    }
}

/// Replaces a division by a constant by a product with its reciprocal. They may differ in the last bit. Therefore, only a quotient that is
/// then rounded may be replaced, which makes different results rare. `None` for other operations, and if the reciprocal is not normal.
fn product_for_quotient<'c: 'a, 'a>(body: &Builder<'c, 'a>, value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let [dividend, divisor] = ir::both_operands(ir::defined_by(value, ops::arith::DIVF)?).ok()?;
    let reciprocal = 1.0 / real(divisor)?;
    let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    let is_normal = normal.contains(&reciprocal.abs());
    is_normal.then(|| body.mulf(dividend, body.real(reciprocal, value.r#type())))
}

/// Limits a real to an interval. NaN is first replaced by 0.
pub(super) fn limited<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    [low, high]: [i64; 2],
) -> Value<'c, 'a> {
    let kind = value.r#type();
    let constant = |value: i64| body.real(value as f64, kind);
    let [minimum, maximum] = [constant(low), constant(high)];
    let above = body.select(body.cmpf(Reals::Greater, value, minimum), value, minimum);
    let within = body.select(body.cmpf(Reals::Less, above, maximum), above, maximum);
    // NaN has become the lower limit, because comparisons with NaN are false.
    let zero = 0.clamp(low, high);
    if zero == low {
        within
    } else {
        body.select(body.cmpf(Reals::Ordered, value, value), within, constant(zero))
    }
}

/// The maximum or the minimum of a real and a constant, optionally times a positive constant.
#[derive(Clone, Copy)]
struct LimitedReal<'c, 'a> {
    value: Value<'c, 'a>,
    limit: f64,
    is_lower: bool,
    factor: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> LimitedReal<'c, 'a> {
    fn from_value(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        if ir::name(op) != ops::arith::MULF {
            return LimitedReal::from_limit(op);
        }
        let [first, second] = ir::both_operands(op).ok()?;
        let [inner, factor] = match real(second) {
            Some(_) => [first, second],
            None => [second, first],
        };
        real(factor).filter(|factor| *factor > 0.0 && factor.is_finite())?;
        let (limit, _) = ir::definition(inner)?;
        Some(LimitedReal { factor: Some(factor), ..LimitedReal::from_limit(limit)? })
    }

    fn from_limit(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_lower = match ir::name(op).as_str() {
            ops::arith::MAXIMUMF => true,
            ops::arith::MINIMUMF => false,
            _ => return None,
        };
        let [first, second] = ir::both_operands(op).ok()?;
        let (value, limit) = match (real(first), real(second)) {
            (None, Some(limit)) if !limit.is_nan() => (first, limit),
            (Some(limit), None) if !limit.is_nan() => (second, limit),
            _ => return None,
        };
        Some(LimitedReal { value, limit, is_lower, factor: None })
    }

    /// The limits of the rounded value that replace this limit and `limits`. `None` if NaN would become another integer.
    fn merged(self, [low, high]: [i64; 2]) -> Option<(Self, [i64; 2])> {
        let factor = self.factor.map_or(Some(1.0), real)?;
        // Round the product in the type of the operations.
        let product = match types::reals(self.value.r#type())? {
            RealType::F32 => f64::from(self.limit as f32 * factor as f32),
            _ => self.limit * factor,
        };
        // An infinite limit does not change the interval, or reduces it to one of its ends.
        let limit = product.round_ties_even().clamp(low as f64, high as f64) as i64;
        let of_nan = 0_i64.clamp(low, high);
        let limits = if self.is_lower {
            (limit <= of_nan).then_some([limit.max(low), high])
        } else {
            (limit >= of_nan).then_some([low, limit.min(high)])
        };
        Some((self, limits?))
    }
}
