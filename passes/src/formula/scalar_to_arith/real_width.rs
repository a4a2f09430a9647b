// SPDX-License-Identifier: Apache-2.0
//! Casts between real types, each one `arith` cast except for bf16, and other operations with bf16 results.
//!
//! bf16 is the upper half of f32. Its casts are written with ints, because some processors' instructions for it treat
//! subnormals as zero, and others call a function.

use super::{Lowering, element};
use crate::extents::bounds;
use crate::ir;
use crate::ir::ops;
use crate::ir::{attributes, types};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationResult;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_semantics::{RealType, TypeClass};

/// Predicates of `arith.cmpf`.
const ORDERED_GREATER: i64 = 2;
const ORDERED_NOT_EQUAL: i64 = 6;
const UNORDERED: i64 = 14;

/// The bf16 number for an f32, if its bits are exactly representable: see [`Lowering::widened_brain`].
pub(crate) fn widened_from<'c: 'a, 'a>(single: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let of = |value: Value<'c, 'a>, name: &str| {
        let op = OperationResult::try_from(value).ok()?.owner();
        op::is(&op, name).then_some(op)
    };
    let shifted = of(ir::operand(of(single, ops::arith::BITCAST)?).ok()?, ops::arith::SHLI)?;
    let [extended, by] = ir::both_operands(shifted).ok()?;
    let extended = of(extended, ops::arith::EXTUI)?;
    let brain = of(ir::operand(extended).ok()?, ops::arith::BITCAST)?;
    let brain = ir::operand(brain).ok()?;
    let moves = bounds::constant(by) == Some(16);
    let is_brain = types::reals(brain.r#type()) == Some(RealType::BF16)
        && types::reals(single.r#type()) == Some(RealType::F32);
    (moves && is_brain).then_some(brain)
}

impl<'c: 'a, 'a> Lowering<'c, 'a> {
    /// Rounds once, to nearest, ties to even.
    pub(super) fn real_width(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let value = if self.is_brain(value.r#type()) { self.widened_brain(value)? } else { value };
        if self.is_brain(self.result) { self.narrowed_to_brain(value) } else { self.cast(value, self.result) }
    }

    /// An operation with a bf16 result, computed in a wider type and rounded to bf16 once. `None` for operations that
    /// only move bits.
    ///
    /// An f32 result is never so near to the midpoint of two bf16 numbers that double rounding would differ; ints may
    /// have more digits than f32.
    pub(super) fn rounded_once(
        &self,
        name: &'static str,
        operands: &[Value<'c, 'a>],
    ) -> Result<Option<Value<'c, 'a>>, PassError> {
        let wide = match name {
            ops::arith::NEGF | ops::math::ABSF | ops::arith::SELECT => return Ok(None),
            ops::arith::SITOFP | ops::arith::UITOFP => Type::float64(self.at.context),
            _ => Type::float32(self.at.context),
        };
        let wide = self.like(wide);
        let mut widened = Vec::new();
        for operand in operands {
            widened.push(if self.is_brain(operand.r#type()) {
                self.cast(self.widened_brain(*operand)?, wide)?
            } else {
                *operand
            });
        }
        let result = self.apply(name, &widened, wide)?;
        self.narrowed_to_brain(result).map(Some)
    }

    /// From f32 or f64.
    fn narrowed_to_brain(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let single = self.like(Type::float32(self.at.context));
        let value = match element(value.r#type()).float_width() {
            64 => self.rounded_to_odd(value)?,
            _ => self.cast(value, single)?,
        };
        self.rounded_to_brain(value)
    }

    /// One `arith` cast; none if the value has the type already.
    fn cast(&self, value: Value<'c, 'a>, to: Type<'c>) -> Result<Value<'c, 'a>, PassError> {
        let from = value.r#type();
        if from == to {
            return Ok(value);
        }
        let widens = element(from).float_width() < element(to).float_width();
        let name = if widens { ops::arith::EXTF } else { ops::arith::TRUNCF };
        self.apply(name, &[value], to)
    }

    pub(super) fn is_brain(&self, r#type: Type<'c>) -> bool {
        element(r#type) == Type::bfloat16(self.at.context)
    }

    fn widened_brain(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let single = self.like(Type::float32(self.at.context));
        let bits = self.apply(ops::arith::BITCAST, &[value], self.bits(16))?;
        let bits = self.apply(ops::arith::EXTUI, &[bits], self.bits(32))?;
        let bits = self.apply(ops::arith::SHLI, &[bits, self.word(16)?], self.bits(32))?;
        self.apply(ops::arith::BITCAST, &[bits], single)
    }

    /// From f32. A NaN stays a quiet NaN.
    fn rounded_to_brain(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let word = self.bits(32);
        let bits = self.apply(ops::arith::BITCAST, &[value], word)?;
        let upper = self.apply(ops::arith::SHRUI, &[bits, self.word(16)?], word)?;
        let odd = self.apply(ops::arith::ANDI, &[upper, self.word(1)?], word)?;
        let nudge = self.apply(ops::arith::ADDI, &[odd, self.word(0x7fff)?], word)?;
        let sum = self.apply(ops::arith::ADDI, &[bits, nudge], word)?;
        let rounded = self.apply(ops::arith::SHRUI, &[sum, self.word(16)?], word)?;
        let quiet = self.apply(ops::arith::ORI, &[upper, self.word(0x40)?], word)?;
        let is_nan = self.compare(UNORDERED, value, value)?;
        let kept = self.apply(ops::arith::SELECT, &[is_nan, quiet, rounded], word)?;
        let half = self.apply(ops::arith::TRUNCI, &[kept], self.bits(16))?;
        let brain = self.like(Type::bfloat16(self.at.context));
        self.apply(ops::arith::BITCAST, &[half], brain)
    }

    /// Rounds an f64 to f32 to odd, so that rounding it again to fewer digits gives the correctly rounded result: an
    /// inexact value gets an odd last digit. If the nearest f32 is even, the neighbour in the direction of the exact
    /// value is used; the bits of absolute values are ordered as ints.
    fn rounded_to_odd(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let (word, double) = (self.bits(32), value.r#type());
        let single = self.like(Type::float32(self.at.context));
        let near = self.cast(value, single)?;
        let back = self.cast(near, double)?;
        let bits = self.apply(ops::arith::BITCAST, &[near], word)?;
        let magnitudes =
            [self.apply(ops::math::ABSF, &[value], double)?, self.apply(ops::math::ABSF, &[back], double)?];
        let outward = self.compare(ORDERED_GREATER, magnitudes[0], magnitudes[1])?;
        let step = self.apply(ops::arith::SELECT, &[outward, self.word(1)?, self.word(-1)?], word)?;
        let moved = self.apply(ops::arith::ADDI, &[bits, step], word)?;
        let last = self.apply(ops::arith::ANDI, &[bits, self.word(1)?], word)?;
        let odd = self.apply(ops::arith::TRUNCI, &[last], self.shaped(TypeClass::Bool))?;
        let moved = self.apply(ops::arith::SELECT, &[odd, bits, moved], word)?;
        let inexact = self.compare(ORDERED_NOT_EQUAL, value, back)?;
        let kept = self.apply(ops::arith::SELECT, &[inexact, moved, bits], word)?;
        self.apply(ops::arith::BITCAST, &[kept], single)
    }

    fn compare(
        &self,
        predicate: i64,
        left: Value<'c, 'a>,
        right: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let predicate = [("predicate", attributes::i64(self.at.context, predicate))];
        let flag = self.shaped(TypeClass::Bool);
        Ok(self.at.value(ops::arith::CMPF, &[left, right], &predicate, flag)?)
    }

    /// Ints of this width, as many as the result has elements.
    fn bits(&self, width: u32) -> Type<'c> {
        self.like(IntegerType::new(self.at.context, width).into())
    }

    pub(super) fn like(&self, element: Type<'c>) -> Type<'c> {
        crate::ir::vector::shaped_like(self.result, element)
    }

    fn word(&self, value: i64) -> Result<Value<'c, 'a>, PassError> {
        let scalar = IntegerType::new(self.at.context, 32).into();
        self.number(IntegerAttribute::new(scalar, value).into(), self.bits(32))
    }
}
