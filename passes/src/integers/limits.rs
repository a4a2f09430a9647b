// SPDX-License-Identifier: Apache-2.0
//! Limits of reals that become bytes.
//!
//! An activation that limits a real by constants, as `relu` does, and a quantization that limits it again need one pair of limits: a
//! product with a positive factor and rounding keep the order.

use super::level::real;
use crate::ir::{self, Builder, maps, ops, types};
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::Scalar;

/// Limits of one real: as many are looked at.
const MOST: usize = 4;

/// The nearest integer, the even one of two, limited to an interval; NaN is 0 before.
pub(super) fn rounded_within<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    limits: [i64; 2],
) -> Result<Value<'c, 'a>, melior::Error> {
    let kind = value.r#type();
    let (mut value, mut limits) = (value, limits);
    for _ in 0..MOST {
        let Some(own) = Limited::of(value) else {
            break;
        };
        let Some(within) = own.within(limits) else {
            break;
        };
        limits = within;
        value = match own.factor {
            Some(factor) => body.value(ops::arith::MULF, &[own.value, factor], &[], kind)?,
            None => own.value,
        };
    }
    // Limits are integers: rounding comes last, where a conversion may do so.
    let value = limited(body, value, limits)?;
    body.value(ops::math::ROUNDEVEN, &[value], &[], kind)
}

/// A real limited to an interval, and 0 for NaN before.
pub(super) fn limited<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    [low, high]: [i64; 2],
) -> Result<Value<'c, 'a>, melior::Error> {
    const ORDERED: i64 = 7;
    const GREATER: i64 = 2;
    const LESS: i64 = 4;
    let kind = value.r#type();
    let constant = |value: i64| body.constant(Scalar::Real(value as f64), kind);
    let choose = |code: i64, compared: [Value<'c, 'a>; 2], then, otherwise| {
        let predicate = maps::integer_predicate(body.context, code);
        let predicate = [("predicate", predicate)];
        let flag = types::flag(body.context);
        let holds = body.value(ops::arith::CMPF, &compared, &predicate, flag)?;
        body.value(ops::arith::SELECT, &[holds, then, otherwise], &[], kind)
    };
    let [least, most] = [constant(low)?, constant(high)?];
    let above = choose(GREATER, [value, least], value, least)?;
    let within = choose(LESS, [above, most], above, most)?;
    // NaN is not greater than the lower limit.
    if 0.clamp(low, high) == low {
        Ok(within)
    } else {
        choose(ORDERED, [value, value], within, constant(0.clamp(low, high))?)
    }
}

/// The larger or the smaller one of a real and a constant, maybe times a positive constant.
#[derive(Clone, Copy)]
struct Limited<'c, 'a> {
    value: Value<'c, 'a>,
    limit: f64,
    is_least: bool,
    factor: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Limited<'c, 'a> {
    fn of(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        if ir::name(op) != ops::arith::MULF {
            return Limited::plain(op);
        }
        let [first, second] = ir::both_operands(op).ok()?;
        let [inner, factor] = match real(second) {
            Some(_) => [first, second],
            None => [second, first],
        };
        real(factor).filter(|own| *own > 0.0 && own.is_finite())?;
        let (own, _) = ir::definition(inner)?;
        Some(Limited { factor: Some(factor), ..Limited::plain(own)? })
    }

    fn plain(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_least = match ir::name(op).as_str() {
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
        Some(Limited { value, limit, is_least, factor: None })
    }

    /// The limits of the rounded value that have the effect of its own and of these; `None` if NaN would become another integer.
    fn within(&self, [low, high]: [i64; 2]) -> Option<[i64; 2]> {
        let factor = self.factor.map_or(Some(1.0), real)?;
        let is_short = self.value.r#type().to_string() == "f32";
        // As the operations round.
        let own = if is_short {
            f64::from((self.limit as f32 * factor as f32).round_ties_even())
        } else {
            (self.limit * factor).round_ties_even()
        };
        // A limit that is not finite leaves the interval, or one end of it.
        let own = (own.clamp(low as f64, high as f64)) as i64;
        let of_nan = 0_i64.clamp(low, high);
        if self.is_least {
            (own <= of_nan).then_some([own.max(low), high])
        } else {
            (own >= of_nan).then_some([low, own.min(high)])
        }
    }
}
