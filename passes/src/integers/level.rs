// SPDX-License-Identifier: Apache-2.0
//! Integers of few values in the payload of an elementwise operation, and the reals that they stand for.
//!
//! A quantization rounds a real, converts it to an integer, adds a zero point and limits the result; a dequantization multiplies an
//! integer less a zero point by a scale. [`Level::of`] reads any chain of limits, sums with constants and casts as one: a source plus
//! an offset, limited to an interval. [`Quantized::of`] reads the product of such an integer and a scale.

use crate::ir::arith::{Constant, predicate};
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::{self, ops, types};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// What an integer is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'c, 'a> {
    /// A real, which is converted as the language does: NaN to 0, and what 64 bits do not hold to the nearest integer.
    Real(Value<'c, 'a>),
    /// An integer from outside of the payload, or one that is computed otherwise.
    Integer(Value<'c, 'a>),
    /// A byte from outside of the payload, without a sign.
    Byte(Value<'c, 'a>),
}

/// The integer `source + offset`, limited to an interval, less a zero point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<'c, 'a> {
    pub(super) source: Source<'c, 'a>,
    pub(super) offset: i64,
    /// The interval.
    pub(super) low: i64,
    pub(super) high: i64,
    /// A zero point that is known only at run time, and is subtracted last.
    pub(super) zero: Option<Zero<'c, 'a>>,
}

/// A zero point that 8 bits hold, and its interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// The largest distance of two values that 8 bits hold.
pub(super) const WIDEST: i64 = 255;

impl<'c: 'a, 'a> Level<'c, 'a> {
    /// The scalar as such an integer: what is computed otherwise is a source.
    pub(super) fn of(value: Value<'c, 'a>) -> Option<Self> {
        // Bytes that this pass has computed are stored as they are.
        let is_outside = ir::definition(value).is_none();
        let source = || Level::from_outside(value).filter(|own| is_outside || !own.is_narrow());
        Level::computed(value).or_else(source)
    }

    /// The scalar as what operations limit, add constants to, or convert.
    fn computed(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        match ir::name(op).as_str() {
            ops::arith::INDEX_CAST | ops::arith::EXTSI => Level::of(op.operand(0).ok()?),
            // An unsigned byte, as this pass stores it.
            ops::arith::EXTUI => {
                let byte = op.operand(0).ok()?;
                let is_byte = byte.r#type().to_string() == "i8" && ir::definition(byte).is_none();
                is_byte.then_some(Level {
                    source: Source::Byte(byte),
                    offset: 0,
                    low: 0,
                    high: WIDEST,
                    zero: None,
                })
            }
            name @ (ops::arith::ADDI | ops::arith::SUBI) => {
                let Some((value, constant)) = with_constant(op, name == ops::arith::ADDI) else {
                    return Level::less_zero(op);
                };
                let amount = match name {
                    ops::arith::ADDI => constant,
                    _ => constant.checked_neg()?,
                };
                let level = Level::of(value).filter(|level| level.zero.is_none());
                level?.plus(amount)
            }
            ops::arith::MAXSI => {
                let (value, least) = with_constant(op, true)?;
                Level::of(value)?.within(least, i64::MAX)
            }
            ops::arith::MINSI => {
                let (value, most) = with_constant(op, true)?;
                Level::of(value)?.within(i64::MIN, most)
            }
            ops::arith::SELECT => Some(Level::unlimited(Source::Real(converted(value)?))),
            _ => None,
        }
    }

    fn unlimited(source: Source<'c, 'a>) -> Self {
        Level { source, offset: 0, low: i64::MIN, high: i64::MAX, zero: None }
    }

    /// A difference of two integers that 8 bits hold.
    fn less_zero(difference: OperationRef<'c, 'a>) -> Option<Self> {
        if ir::name(difference) != ops::arith::SUBI {
            return None;
        }
        let [value, zero] = ir::both_operands(difference).ok()?;
        let [level, own] = [Level::of(value)?, Level::of(zero)?];
        let zero = Zero { value: zero, low: own.low, high: own.high };
        (level.is_narrow() && own.is_narrow()).then_some(Level { zero: Some(zero), ..level })
    }

    fn from_outside(value: Value<'c, 'a>) -> Option<Self> {
        let kind = value.r#type().to_string();
        let bits: u32 = match kind.as_str() {
            "index" => 64,
            _ => kind.strip_prefix('i')?.parse().ok()?,
        };
        let least = types::least(bits);
        (bits > 1).then_some(Level { low: least, high: !least, ..Level::unlimited(Source::Integer(value)) })
    }

    /// The sum with a constant, unless it can exceed 64 bits.
    fn plus(self, amount: i64) -> Option<Self> {
        Some(Level {
            offset: self.offset.checked_add(amount)?,
            low: self.low.checked_add(amount)?,
            high: self.high.checked_add(amount)?,
            ..self
        })
    }

    fn within(self, least: i64, most: i64) -> Option<Self> {
        self.zero.is_none().then_some(Level {
            low: self.low.clamp(least, most),
            high: self.high.clamp(least, most),
            ..self
        })
    }

    /// Whether 8 bits hold its values, as distances from the lowest one.
    pub(super) fn is_narrow(&self) -> bool {
        self.zero.is_none() && self.holds_bytes()
    }

    /// Whether 8 bits hold what the zero point is subtracted from.
    pub(super) fn holds_bytes(&self) -> bool {
        let distance = self.high.checked_sub(self.low);
        distance.is_some_and(|distance| (0..=WIDEST).contains(&distance))
    }
}

/// The other operand of an operation with a constant, and the constant.
fn with_constant<'c: 'a, 'a>(op: OperationRef<'c, 'a>, commutes: bool) -> Option<(Value<'c, 'a>, i64)> {
    let [first, second] = ir::both_operands(op).ok()?;
    match (integer(second), integer(first)) {
        (Some(constant), _) => Some((first, constant)),
        (None, Some(constant)) if commutes => Some((second, constant)),
        _ => None,
    }
}

/// The value of an integer that is a constant, or an element of a tensor of equal ones.
pub(super) fn integer(value: Value) -> Option<i64> {
    if let Some(constant) = Constant::of(value) {
        return constant.integer();
    }
    if let Some((op, _)) = ir::definition(value) {
        let is_cast = [ops::arith::INDEX_CAST, ops::arith::EXTSI].contains(&ir::name(op).as_str());
        return integer(op.operand(0).ok().filter(|_| is_cast)?);
    }
    let argument = ir::argument(value)?;
    let owner = argument.owner().parent_operation()?;
    let inputs = owner.operand_count().checked_sub(owner.result_count())?;
    let number = argument.argument_number();
    let is_input = ir::name(owner) == ops::linalg::GENERIC && number < inputs;
    everywhere(owner.operand(number).ok().filter(|_| is_input)?)
}

/// The integer that all elements of a tensor are.
fn everywhere(tensor: Value) -> Option<i64> {
    if let Some(fill) = Fill::of(tensor) {
        return integer(fill.value().ok()?);
    }
    let last = *ir::operations(Generic::of(tensor)?.body()?).last()?;
    Constant::of(Yield::cast(last)?.value().ok()?)?.integer()
}

/// The value of a constant real.
pub(super) fn real(value: Value) -> Option<f64> {
    let text = Constant::of(value)?.text();
    let (number, kind) = text.split_once(" : ")?;
    // What has no decimal digits is printed as bits.
    match number.strip_prefix("0x") {
        None => number.parse().ok(),
        Some(digits) => match kind {
            "f32" => Some(f64::from(f32::from_bits(u32::from_str_radix(digits, 16).ok()?))),
            "f64" => Some(f64::from_bits(u64::from_str_radix(digits, 16).ok()?)),
            _ => None,
        },
    }
}

/// The real that is converted to an integer of 64 bits: conversions of reals out of range are undefined in `arith`, so that
/// selections stand around them.
fn converted<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (outer, others) = chosen(value)?;
    let (inner, rest) = chosen(others)?;
    let limits = [integer(outer), integer(inner)];
    let has_limits = limits.contains(&Some(i64::MAX)) && limits.contains(&Some(i64::MIN));
    let (conversion, _) = ir::definition(rest).filter(|_| has_limits)?;
    let is_conversion = ir::name(conversion) == ops::arith::FPTOSI;
    let (guarded, _) = ir::definition(conversion.operand(0).ok().filter(|_| is_conversion)?)?;
    let is_guard = ir::name(guarded) == ops::arith::SELECT;
    let result = guarded.operand(1).ok().filter(|_| is_guard)?;
    (real(guarded.operand(2).ok()?) == Some(0.0)).then_some(result)
}

/// The values of a selection, the one that is selected if its condition holds first.
fn chosen<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<(Value<'c, 'a>, Value<'c, 'a>)> {
    let (op, _) = ir::definition(value)?;
    let is_selection = ir::name(op) == ops::arith::SELECT;
    let then = op.operand(1).ok().filter(|_| is_selection)?;
    Some((then, op.operand(2).ok()?))
}

/// The real `scale · level`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantized<'c, 'a> {
    pub(super) level: Level<'c, 'a>,
    /// `None` for 1.
    pub(super) scale: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Quantized<'c, 'a> {
    /// The scalar as such a real. NaN that a quantization keeps is none.
    pub(super) fn of(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        match ir::name(op).as_str() {
            ops::arith::SITOFP => Some(Quantized { level: Level::of(op.operand(0).ok()?)?, scale: None }),
            ops::arith::MULF => {
                let factors = ir::both_operands(op).ok()?;
                let [first, second] = factors;
                let of = |value, scale| {
                    let own = Quantized::of(value)?;
                    own.scale.is_none().then_some(Quantized { scale: Some(scale), ..own })
                };
                of(first, second).or_else(|| of(second, first))
            }
            ops::arith::SELECT => {
                let (condition, _) = ir::definition(op.operand(0).ok()?)?;
                let other = op.operand(2).ok()?;
                let compares = ir::name(condition) == ops::arith::CMPF;
                let is_own = compares && condition.operands().all(|operand| operand == other);
                if !is_own || predicate(condition) != Some(EQUAL) {
                    return None;
                }
                Quantized::of(op.operand(1).ok()?)
            }
            _ => None,
        }
    }
}

/// `oeq` of `arith.cmpf`.
const EQUAL: i64 = 1;
/// `ogt`, `olt` of `arith.cmpf`.
const GREATER: i64 = 2;
const LESS: i64 = 4;

/// The real whose nearest integer, the even one of two, a scalar is: it selects between the integer below and the next one by their
/// distances, and by the remainder of a division by two where these are equal. Zeros may have another sign.
pub(super) fn rounded_to_even<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    if ir::name(op) == ops::math::ROUNDEVEN {
        return op.operand(0).ok();
    }
    let condition = |value: Value<'c, 'a>| {
        let (op, _) = ir::definition(value)?;
        op.operand(0).ok()
    };
    let (below, others) = chosen(value)?;
    let (above, ties) = chosen(others)?;
    let (even, odd) = chosen(ties)?;
    let (floor, _) = ir::definition(below)?;
    let x = floor.operand(0).ok().filter(|_| ir::name(floor) == ops::math::FLOOR)?;
    let next = computed(above, ops::arith::ADDF)?;
    let is_next = next.first() == Some(&below) && real(*next.get(1)?) == Some(1.0);
    let is_half = |value: Value<'c, 'a>, code: i64| {
        let distance = compared(condition(value)?, code, 0.5)?;
        let parts = computed(distance, ops::arith::SUBF)?;
        (parts == [x, below]).then_some(())
    };
    is_half(value, LESS)?;
    is_half(others, GREATER)?;
    let remainder = compared(condition(ties)?, EQUAL, 0.0)?;
    (is_next && even == below && odd == above && is_remainder(remainder, below)).then_some(x)
}

/// Whether a scalar is the remainder of a division by two, or that plus two where it is negative.
fn is_remainder<'c: 'a, 'a>(value: Value<'c, 'a>, of: Value<'c, 'a>) -> bool {
    let is_plain = |value: Value<'c, 'a>| {
        let parts = computed(value, ops::arith::REMF);
        let parts = parts.filter(|parts| parts.first() == Some(&of));
        parts.and_then(|parts| real(*parts.get(1)?)) == Some(2.0)
    };
    let is_raised = |value: Value<'c, 'a>| {
        let parts = computed(value, ops::arith::ADDF)?;
        let [own, amount] = parts.as_slice() else {
            return None;
        };
        let (two, zero) = chosen(*amount)?;
        let is_amount = real(two) == Some(2.0) && real(zero) == Some(0.0);
        let (selection, _) = ir::definition(*amount)?;
        let is_negative = is_less_than_zero(selection.operand(0).ok()?, *own);
        (is_amount && is_negative && is_plain(*own)).then_some(())
    };
    is_plain(value) || is_raised(value).is_some()
}

/// Whether a bool implies that a scalar is less than zero.
fn is_less_than_zero<'c: 'a, 'a>(condition: Value<'c, 'a>, of: Value<'c, 'a>) -> bool {
    let is_plain = |value| compared(value, LESS, 0.0) == Some(of);
    let parts = computed(condition, ops::arith::ANDI);
    is_plain(condition) || parts.is_some_and(|parts| parts.into_iter().any(is_plain))
}

/// The operands of the operation of a name that computes a scalar.
fn computed<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Option<Vec<Value<'c, 'a>>> {
    let (op, _) = ir::definition(value)?;
    (ir::name(op) == name).then(|| op.operands().collect())
}

/// What a scalar compares with a constant.
fn compared<'c: 'a, 'a>(value: Value<'c, 'a>, code: i64, with: f64) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(value)?;
    let is_comparison = ir::name(op) == ops::arith::CMPF && predicate(op) == Some(code);
    let constant = op.operand(1).ok().filter(|_| is_comparison)?;
    (real(constant) == Some(with)).then_some(op.operand(0).ok()?)
}
