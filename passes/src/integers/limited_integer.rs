// SPDX-License-Identifier: Apache-2.0
//! Recognizes integers between constant limits in the payload of an elementwise operation.
//!
//! A quantization converts a rounded real to an integer, adds a zero point and limits the result. [`LimitedInteger::from_value`] converts
//! any chain of limits, sums with constants and casts to a source plus an offset, limited to an interval.

use super::rounding::converted_real;
use super::scalars::{interval, is_byte};
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::{self, ops};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;

/// The origin of an integer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'c, 'a> {
    /// A real that is converted as specified by the language: NaN becomes 0, an out-of-range real the nearest 64-bit integer.
    Real(Value<'c, 'a>),
    /// An integer from outside the payload, or from other operations.
    Integer(Value<'c, 'a>),
    /// An unsigned byte from outside the payload.
    Byte(Value<'c, 'a>),
}

/// The integer `source + offset`, limited to an interval, minus a zero point.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitedInteger<'c, 'a> {
    pub(super) source: Source<'c, 'a>,
    pub(super) offset: i64,
    /// The minimum and maximum of `source + offset`.
    pub(super) low: i64,
    pub(super) high: i64,
    /// A zero point that is only known at run time, and is subtracted last.
    pub(super) zero: Option<DynamicZeroPoint<'c, 'a>>,
}

/// A zero point that fits 8 bits, and its minimum and maximum.
#[derive(Clone, Copy, Debug)]
pub(super) struct DynamicZeroPoint<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// The largest difference of two values that fit 8 bits.
pub(super) const WIDEST: i64 = 255;

/// The maximum magnitude of limits and offsets. A 32-bit float represents all differences of two such integers.
const FARTHEST: u64 = 1 << 23;

impl<'c: 'a, 'a> LimitedInteger<'c, 'a> {
    /// Analyzes a scalar. If it is computed by other operations, it is a source.
    pub(super) fn from_value(value: Value<'c, 'a>) -> Option<Self> {
        // An integer that fits a byte, and that the payload computes in other ways, is stored directly.
        let is_outside = ir::definition(value).is_none();
        let source =
            || LimitedInteger::from_source(value).filter(|integer| is_outside || !integer.is_narrow());
        LimitedInteger::computed(value).or_else(source)
    }

    /// Analyzes a scalar that is computed by limits, sums with constants, or conversions.
    fn computed(value: Value<'c, 'a>) -> Option<Self> {
        let (op, _) = ir::definition(value)?;
        match ir::name(op).as_str() {
            ops::arith::INDEX_CAST | ops::arith::EXTSI => {
                LimitedInteger::from_value(ir::operand_at(op, 0)?)?.fitting(value.r#type())
            }
            // An unsigned byte that this pass has stored.
            ops::arith::EXTUI => {
                let byte = ir::operand_at(op, 0)?;
                let is_stored = is_byte(byte.r#type()) && ir::definition(byte).is_none();
                let integer =
                    LimitedInteger { low: 0, high: WIDEST, ..LimitedInteger::unlimited(Source::Byte(byte)) };
                is_stored.then_some(integer)?.fitting(value.r#type())
            }
            ops::arith::ADDI => {
                let (value, amount) = with_constant(op, true)?;
                LimitedInteger::from_value(value)?.plus(amount)?.fitting(value.r#type())
            }
            ops::arith::SUBI => LimitedInteger::difference(op)?.fitting(value.r#type()),
            ops::arith::MAXSI => {
                let (value, minimum) = with_constant(op, true)?;
                LimitedInteger::from_value(value)?.within(minimum, i64::MAX)
            }
            ops::arith::MINSI => {
                let (value, maximum) = with_constant(op, true)?;
                LimitedInteger::from_value(value)?.within(i64::MIN, maximum)
            }
            ops::arith::SELECT => Some(LimitedInteger::unlimited(Source::Real(converted_real(value)?))),
            _ => None,
        }
    }

    fn unlimited(source: Source<'c, 'a>) -> Self {
        LimitedInteger { source, offset: 0, low: i64::MIN, high: i64::MAX, zero: None }
    }

    /// A difference with a constant, or of two integers that fit 8 bits.
    fn difference(op: OperationRef<'c, 'a>) -> Option<Self> {
        if let Some((value, constant)) = with_constant(op, false) {
            return LimitedInteger::from_value(value)?.plus(constant.checked_neg()?);
        }
        let [value, zero] = ir::both_operands(op).ok()?;
        let [integer, limits] = [LimitedInteger::from_value(value)?, LimitedInteger::from_value(zero)?];
        let zero = DynamicZeroPoint { value: zero, low: limits.low, high: limits.high };
        let is_narrow = integer.is_narrow() && limits.is_narrow();
        is_narrow.then_some(LimitedInteger { zero: Some(zero), ..integer })
    }

    fn from_source(value: Value<'c, 'a>) -> Option<Self> {
        let [low, high] = interval(value.r#type())?;
        Some(LimitedInteger { low, high, ..LimitedInteger::unlimited(Source::Integer(value)) })
    }

    /// The sum with a constant. `None` if it does not fit 64 bits.
    fn plus(self, amount: i64) -> Option<Self> {
        self.zero.is_none().then_some(LimitedInteger {
            offset: self.offset.checked_add(amount)?,
            low: self.low.checked_add(amount)?,
            high: self.high.checked_add(amount)?,
            ..self
        })
    }

    fn within(self, minimum: i64, maximum: i64) -> Option<Self> {
        self.zero.is_none().then_some(LimitedInteger {
            low: self.low.clamp(minimum, maximum),
            high: self.high.clamp(minimum, maximum),
            ..self
        })
    }

    /// The same integer, if it does not overflow in a type.
    fn fitting(self, kind: Type<'c>) -> Option<Self> {
        let [minimum, maximum] = interval(kind)?;
        let [low, high] = self.limits()?;
        (minimum <= low && high <= maximum).then_some(self)
    }

    /// The minimum and maximum, minus the zero point. `None` if they do not fit 64 bits.
    pub(super) fn limits(&self) -> Option<[i64; 2]> {
        let [zero_min, zero_max] = self.zero.map_or([0, 0], |zero| [zero.low, zero.high]);
        Some([self.low.checked_sub(zero_max)?, self.high.checked_sub(zero_min)?])
    }

    /// Whether it has no dynamic zero point, and [`LimitedInteger::holds_bytes`].
    pub(super) fn is_narrow(&self) -> bool {
        self.zero.is_none() && self.holds_bytes()
    }

    /// Whether the integer before the subtraction of the zero point fits 8 bits as a difference from its minimum, and differences from
    /// the offset fit 32-bit integers and floats.
    pub(super) fn holds_bytes(&self) -> bool {
        let is_near_zero =
            [self.low, self.high, self.offset].iter().all(|value| value.unsigned_abs() <= FARTHEST);
        is_near_zero && (0..=WIDEST).contains(&(self.high - self.low))
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

/// The value of an integer that is a constant, or an element of a tensor with equal elements.
pub(super) fn integer(value: Value) -> Option<i64> {
    if let Some(constant) = ir::integer(value) {
        return Some(constant);
    }
    if let Some((op, _)) = ir::definition(value) {
        let is_cast = [ops::arith::INDEX_CAST, ops::arith::EXTSI].contains(&ir::name(op).as_str());
        let constant = integer(ir::operand_at(op, 0).filter(|_| is_cast)?)?;
        let [minimum, maximum] = interval(value.r#type())?;
        return (minimum..=maximum).contains(&constant).then_some(constant);
    }
    let argument = ir::argument(value)?;
    let owner = argument.owner().parent_operation()?;
    let inputs = owner.operand_count().checked_sub(owner.result_count())?;
    let number = argument.argument_number();
    let is_input = ir::name(owner) == ops::linalg::GENERIC && number < inputs;
    equal_elements(ir::operand_at(owner, number).filter(|_| is_input)?)
}

/// The value of all elements of a tensor of integers.
fn equal_elements(tensor: Value) -> Option<i64> {
    if let Some(fill) = Fill::of(tensor) {
        return integer(fill.value().ok()?);
    }
    let last = *ir::operations(Generic::of(tensor)?.body()?).last()?;
    ir::integer(Yield::cast(last)?.value().ok()?)
}
