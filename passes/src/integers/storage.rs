// SPDX-License-Identifier: Apache-2.0
//! Tensors of bytes for tensors of quantized values.

use super::level::{Level, Source, integer, real, rounded_to_even};
use super::limits::{limited, rounded_within};
use super::map::Map;
use super::maps::{Input, generic, identity, map_generic};
use super::windows::Largest;
use crate::elementwise::hoist_invariants::compute;
use crate::ir::copy::{Copier, with_attributes};
use crate::ir::linalg::Fill;
use crate::ir::{self, Builder, ValueKey, ops, types};
use crate::prepare::constant_tensors::ConstantTensors;
use crate::structure::Affine;
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_semantics::Scalar;
use std::collections::HashMap;

/// What the integers of a tensor are multiplied by.
#[derive(Clone, Debug)]
pub(super) enum Scale<'c, 'a> {
    One,
    /// A scalar.
    Scalar(Value<'c, 'a>),
    /// A tensor, with its subscripts by the dimensions of the quantized one.
    Tensor(Value<'c, 'a>, Vec<Affine>),
}

impl Scale<'_, '_> {
    /// Whether both are the same for all elements.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Scale::One, Scale::One) => true,
            (Scale::Scalar(a), Scale::Scalar(b)) => {
                a == b || real(*a).is_some_and(|own| Some(own) == real(*b))
            }
            _ => false,
        }
    }

    fn is_tensor(&self) -> bool {
        matches!(self, Scale::Tensor(..))
    }
}

/// A tensor of bytes for one of integers or of reals: each element is `scale · (byte + base − zero)`.
#[derive(Clone, Debug)]
pub(super) struct Stored<'c, 'a> {
    pub(super) bytes: Value<'c, 'a>,
    /// Whether bytes have a sign.
    pub(super) is_signed: bool,
    pub(super) base: i64,
    /// A zero point that is known only at run time, as a tensor of one integer of 32 bits.
    pub(super) zero: Option<Value<'c, 'a>>,
    /// The least and the largest zero point; twice 0 without one.
    zeros: [i64; 2],
    /// The least and the largest integer.
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) scale: Scale<'c, 'a>,
}

impl Stored<'_, '_> {
    /// The largest magnitude of an integer.
    pub(super) fn magnitude(&self) -> i64 {
        self.low.saturating_abs().max(self.high.saturating_abs()).max(1)
    }

    /// Whether the integers are zero in some byte, wherever the zero point is.
    fn has_zero(&self, [low, high]: [i64; 2]) -> bool {
        let least = if self.is_signed { -128 } else { 0 };
        let byte = |zero: i64| zero.checked_sub(self.base);
        let holds = |zero| byte(zero).is_some_and(|own| (least..=least + 255).contains(&own));
        holds(low) && holds(high)
    }
}

/// The largest integer that every real of 32 bits below it can be.
const EXACT: i64 = 1 << 24;

/// The bytes of the tensors of a function.
pub(super) struct Storage<'c, 'a> {
    pub(super) context: &'c Context,
    pub(super) constants: ConstantTensors,
    known: HashMap<(ValueKey, bool), Option<Stored<'c, 'a>>>,
}

impl<'c: 'a, 'a> Storage<'c, 'a> {
    pub(super) fn of(function: OperationRef<'c, 'a>, context: &'c Context) -> Self {
        Storage { context, constants: ConstantTensors::of(function), known: HashMap::new() }
    }

    /// The bytes of a tensor, which are computed where it is; `None` for one that is not quantized to 8 bits.
    pub(super) fn bytes(
        &mut self,
        tensor: Value<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let key = (ValueKey::of(tensor), is_signed);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let stored = self.compute(tensor, is_signed)?;
        self.known.insert(key, stored.clone());
        Ok(stored)
    }

    fn compute(
        &mut self,
        tensor: Value<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let Some((op, _)) = ir::definition(tensor) else {
            return Ok(None);
        };
        match ir::name(op).as_str() {
            ops::linalg::GENERIC => match Largest::of(op) {
                Some(largest) if !is_signed => self.of_largest(&largest),
                _ => self.of_map(op, is_signed),
            },
            ops::tensor::INSERT_SLICE => self.of_insertion(op, is_signed),
            ops::tensor::EXTRACT_SLICE | ops::tensor::COLLAPSE_SHAPE | ops::tensor::EXPAND_SHAPE => {
                self.of_view(op, is_signed)
            }
            _ => Ok(None),
        }
    }

    /// The type of a byte.
    fn byte(&self) -> Type<'c> {
        IntegerType::new(self.context, 8).into()
    }

    /// A part of a tensor, or the tensor with other extents.
    fn of_view(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let source = self.bytes(op.operand(0)?, is_signed)?;
        let Some(source) = source.filter(|source| !source.scale.is_tensor()) else {
            return Ok(None);
        };
        let mut operands: Vec<Value> = op.operands().collect();
        if let Some(first) = operands.first_mut() {
            *first = source.bytes;
        }
        let kind = types::of_element(op.result(0)?.r#type(), self.byte());
        let at = Builder::before(self.context, op)?;
        let view = with_attributes(op, &operands, &[kind], Vec::new(), &[], &at)?;
        Ok(Some(Stored { bytes: view.result(0)?.into(), ..source }))
    }

    /// A tensor that is inserted into zeros, or into others of the same scale.
    fn of_insertion(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let (source, target) = (op.operand(0)?, op.operand(1)?);
        let source = self.bytes(source, is_signed)?;
        let Some(source) = source.filter(|source| !source.scale.is_tensor()) else {
            return Ok(None);
        };
        let at = Builder::before(self.context, op)?;
        let kind = types::of_element(target.r#type(), self.byte());
        let filled = Fill::of(target).and_then(|fill| fill.value().ok());
        let is_empty = ir::definition(target).is_some_and(|(op, _)| ir::name(op) == EMPTY);
        let (low, high) = (source.low.min(0), source.high.max(0));
        let (into, low, high) = if is_empty {
            let extents = at.dynamic_extents(target)?;
            let empty = at.value(EMPTY, &extents, &[], kind)?;
            (empty, source.low, source.high)
        } else if let Some(value) = filled {
            let is_zero = real(value) == Some(0.0) || integer(value) == Some(0);
            if !is_zero || !source.has_zero(source.zeros) {
                return Ok(None);
            }
            let zero = self.zero(&at, &source)?;
            (self.filled(&at, target, zero)?, low, high)
        } else {
            let Some(other) = self.bytes(target, is_signed)? else {
                return Ok(None);
            };
            let is_constant = other.zero.is_none() && source.zero.is_none();
            if !is_constant || other.base != source.base || !other.scale.is_same(&source.scale) {
                return Ok(None);
            }
            let (low, high) = (source.low.min(other.low), source.high.max(other.high));
            (other.bytes, low, high)
        };
        Ok(Some(Stored { bytes: self.inserted(op, source.bytes, into)?, low, high, ..source }))
    }

    /// The byte of zero.
    fn zero(&self, at: &Builder<'c, 'a>, stored: &Stored<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let byte = as_signed(stored.base.wrapping_neg().rem_euclid(256));
        let byte = at.constant(Scalar::Int(byte), self.byte())?;
        let Some(zero) = stored.zero else {
            return Ok(byte);
        };
        let word = IntegerType::new(self.context, 32).into();
        let zero = at.value(ops::tensor::EXTRACT, &[zero], &[], word)?;
        let zero = at.value(ops::arith::TRUNCI, &[zero], &[], self.byte())?;
        match stored.base {
            0 => Ok(zero),
            _ => Ok(at.value(ops::arith::ADDI, &[zero, byte], &[], self.byte())?),
        }
    }

    /// Bytes of one value, as many as a tensor has elements.
    fn filled(
        &self,
        at: &Builder<'c, 'a>,
        like: Value<'c, 'a>,
        byte: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let kind = types::of_element(like.r#type(), self.byte());
        let extents = at.dynamic_extents(like)?;
        Ok(at.fill_sized(byte, kind, &extents)?)
    }

    /// Inserts bytes as an operation inserts what they stand for.
    fn inserted(
        &self,
        op: OperationRef<'c, 'a>,
        source: Value<'c, 'a>,
        into: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut operands: Vec<Value> = op.operands().collect();
        for (operand, new) in operands.iter_mut().zip([source, into]) {
            *operand = new;
        }
        let at = Builder::before(self.context, op)?;
        let kind = into.r#type();
        let inserted = with_attributes(op, &operands, &[kind], Vec::new(), &[], &at)?;
        Ok(inserted.result(0)?.into())
    }

    /// The largest bytes of windows: a positive scale keeps the order.
    fn of_largest(&mut self, largest: &Largest<'c, 'a>) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let op = largest.op;
        let (tensor, border) = match largest.insertion {
            Some(insertion) => (insertion.operand(0)?, Some(insertion)),
            None => (op.operand(largest.input)?, None),
        };
        let is_positive = |scale: &Scale| match scale {
            Scale::One => true,
            Scale::Scalar(scale) => real(*scale).is_some_and(|scale| scale > 0.0),
            Scale::Tensor(..) => false,
        };
        let source = self.bytes(tensor, false)?;
        let Some(source) = source.filter(|source| is_positive(&source.scale)) else {
            return Ok(None);
        };
        let bytes = match border {
            None => source.bytes,
            Some(insertion) => {
                let at = Builder::before(self.context, insertion)?;
                // The least byte is part of no result that another one is larger than.
                let least = at.constant(Scalar::Int(0), self.byte())?;
                let into = self.filled(&at, insertion.operand(1)?, least)?;
                self.inserted(insertion, source.bytes, into)?
            }
        };
        let at = Builder::before(self.context, op)?;
        let word: Type = IntegerType::new(self.context, 32).into();
        let result = op.result(0)?.r#type();
        let extents = at.dynamic_extents(destination(op)?)?;
        let zero = at.constant(Scalar::Int(0), word)?;
        let start = at.fill_sized(zero, types::of_element(result, word), &extents)?;
        let mut inputs = Vec::new();
        let operands = op.operands().zip(&largest.payload.subscripts).enumerate();
        for (position, (operand, forms)) in operands.take(op.operand_count() - 1) {
            let own = if position == largest.input { bytes } else { operand };
            inputs.push(Input(own, forms.clone()));
        }
        let output = Input(start, largest.payload.subscripts.last().cloned().unwrap_or_default());
        let words = generic(&at, &inputs, &output, &largest.reductions, |body, elements| {
            let own = elements.get(largest.input).zip(elements.last());
            let (byte, before) = own.ok_or("a window without elements")?;
            let wide = body.value(ops::arith::EXTUI, &[*byte], &[], word)?;
            Ok(body.value(ops::arith::MAXSI, &[*before, wide], &[], word)?)
        })?;
        let rank = types::extents(result).map_or(0, |extents| extents.len());
        let kind = types::of_element(result, self.byte());
        let input = Input(words, identity(rank));
        let bytes = map_generic(&at, &[input], kind, &extents, |body, elements| {
            let word = elements.get(..1).ok_or("a map without an input")?;
            Ok(body.value(ops::arith::TRUNCI, word, &[], self.byte())?)
        })?;
        let stored = Stored { bytes, ..source };
        self.replace(op, &stored)?;
        Ok(Some(stored))
    }

    /// The result of an elementwise operation.
    fn of_map(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let Some(map) = Map::of(op) else {
            return Ok(None);
        };
        if let Some(source) = map.copied() {
            return self.of_copy(&map, source, is_signed);
        }
        let Some(quantized) = map.quantized().filter(|own| own.level.holds_bytes()) else {
            return Ok(None);
        };
        let Some(scale) = self.scale(&map, quantized.scale)? else {
            return Ok(None);
        };
        let level = quantized.level;
        let (zero, zeros) = match &level.zero {
            None => (None, [0, 0]),
            Some(zero) => match self.zero_point(&map, zero.value)? {
                Some(own) => (Some(own), [zero.low, zero.high]),
                None => return Ok(None),
            },
        };
        let stored = |bytes, base| Stored {
            bytes,
            is_signed,
            base,
            zero,
            zeros,
            low: level.low - zeros[1],
            high: level.high - zeros[0],
            scale: scale.clone(),
        };
        if let Some(bytes) = map.bytes(&level, is_signed) {
            return Ok(Some(stored(bytes, level.offset)));
        }
        let base = match is_signed {
            false => level.low,
            true if level.low >= -128 && level.high <= 127 => 0,
            true => level.low + 128,
        };
        let Some(bytes) = self.quantize(&map, &level, base)? else {
            return Ok(None);
        };
        let new = stored(bytes, base);
        let tensor: Value = op.result(0)?.into();
        if !self.constants.contains(tensor) && !is_byte_source(&level) {
            self.replace(op, &new)?;
        }
        Ok(Some(new))
    }

    /// A tensor whose elements are those of another one, in another order.
    fn of_copy(
        &mut self,
        map: &Map<'c, 'a>,
        source: usize,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let own = self.bytes(map.op.operand(source)?, is_signed)?;
        let Some(own) = own.filter(|own| !own.scale.is_tensor()) else {
            return Ok(None);
        };
        let forms = map.payload.subscripts.get(source).cloned();
        let input = Input(own.bytes, forms.ok_or("a payload that changed")?);
        let at = Builder::before(self.context, map.op)?;
        let kind = types::of_element(map.op.result(0)?.r#type(), self.byte());
        let extents = at.dynamic_extents(destination(map.op)?)?;
        let bytes = map_generic(&at, &[input], kind, &extents, |_, elements| {
            elements.first().copied().ok_or_else(|| "a copy without an element".into())
        })?;
        Ok(Some(Stored { bytes, ..own }))
    }

    /// The zero point as a tensor of one integer of 32 bits; `None` if it varies.
    fn zero_point(&self, map: &Map<'c, 'a>, zero: Value<'c, 'a>) -> Result<Option<Value<'c, 'a>>, PassError> {
        let payload = &map.payload;
        let at = Builder::before(self.context, map.op)?;
        let element = payload.elements.iter().position(|own| *own == zero);
        let own = match element {
            Some(position) => map.op.operand(position)?,
            None if payload.loops_of(zero).is_empty() => match compute(payload, zero, &[], &at) {
                Ok(tensor) => tensor,
                Err(_) => return Ok(None),
            },
            None => return Ok(None),
        };
        if types::extents(own.r#type()).is_none_or(|extents| !extents.is_empty()) {
            return Ok(None);
        }
        let word: Type = IntegerType::new(self.context, 32).into();
        let cast = match zero.r#type().to_string().as_str() {
            "i64" => ops::arith::TRUNCI,
            "index" => ops::arith::INDEX_CAST,
            "i8" | "i16" => ops::arith::EXTSI,
            _ => return Ok(None),
        };
        let kind = types::tensor(&[], word);
        let own = map_generic(&at, &[Input(own, Vec::new())], kind, &[], |body, elements| {
            let own = elements.get(..1).ok_or("a map without an input")?;
            Ok(body.value(cast, own, &[], word)?)
        })?;
        Ok(Some(own))
    }

    /// The scale as a tensor or a scalar from outside of the payload; `None` if it varies in other ways.
    fn scale(
        &self,
        map: &Map<'c, 'a>,
        scale: Option<Value<'c, 'a>>,
    ) -> Result<Option<Scale<'c, 'a>>, PassError> {
        let Some(scale) = scale else {
            return Ok(Some(Scale::One));
        };
        let payload = &map.payload;
        if let Some(position) = payload.elements.iter().position(|own| *own == scale) {
            let forms = payload.subscripts.get(position).cloned();
            let forms = forms.ok_or("a payload that changed")?;
            return Ok(Some(Scale::Tensor(map.op.operand(position)?, forms)));
        }
        if payload.needed(std::iter::once(scale), &[]).is_empty() {
            return Ok(Some(Scale::Scalar(scale)));
        }
        let loops: Vec<usize> = payload.loops_of(scale).into_iter().collect();
        if loops.len() >= map.rank {
            return Ok(None);
        }
        let at = Builder::before(self.context, map.op)?;
        let Ok(tensor) = compute(payload, scale, &loops, &at) else {
            return Ok(None);
        };
        let forms = loops.into_iter().map(Affine::index).collect();
        Ok(Some(Scale::Tensor(tensor, forms)))
    }

    /// Computes the bytes.
    fn quantize(
        &self,
        map: &Map<'c, 'a>,
        level: &Level<'c, 'a>,
        base: i64,
    ) -> Result<Option<Value<'c, 'a>>, PassError> {
        let (low, high) = (level.low - level.offset, level.high - level.offset);
        let (source, rounds) = match level.source {
            Source::Real(real) => match rounded_to_even(real) {
                Some(own) => (own, true),
                None => (real, false),
            },
            Source::Integer(value) | Source::Byte(value) => (value, false),
        };
        let kind = source.r#type();
        let is_real = matches!(level.source, Source::Real(_));
        let is_exact = low.saturating_abs().max(high.saturating_abs()) <= EXACT;
        let is_supported = matches!(kind.to_string().as_str(), "f32" | "f64");
        if is_real && !(is_exact && is_supported) {
            return Ok(None);
        }
        let needed = map.payload.needed(std::iter::once(source), &[]);
        let used = needed.iter().flat_map(|op| op.operands()).chain([source]);
        let used: Vec<Value> = used.collect();
        let mut inputs = Vec::new();
        let mut elements = Vec::new();
        let operands = map.op.operands().zip(&map.payload.subscripts);
        for (element, (operand, forms)) in map.payload.elements.iter().zip(operands) {
            if used.contains(element) {
                inputs.push(Input(operand, forms.clone()));
                elements.push(*element);
            }
        }
        let at = Builder::before(self.context, map.op)?;
        let extents = at.dynamic_extents(destination(map.op)?)?;
        let result = types::of_element(map.op.result(0)?.r#type(), self.byte());
        let bytes = map_generic(&at, &inputs, result, &extents, |body, new| {
            let mut copier = Copier::new();
            for (old, new) in elements.iter().zip(new) {
                copier.set(*old, *new);
            }
            for op in needed {
                let to = body.with_location(op.location());
                copier.copy(op, &to, &mut |copier, op, to| match reciprocal(op) {
                    Some(factor) => multiply(copier, op, factor, to).map(|()| true),
                    None => shorten(copier, op, to),
                })?;
            }
            let value = copier.get(source);
            let word: Type = IntegerType::new(self.context, 32).into();
            let (value, kind) = if is_real {
                let limited = if rounds {
                    rounded_within(body, value, [low, high])?
                } else {
                    limited(body, value, [low, high])?
                };
                let value = body.value(ops::arith::FPTOSI, &[limited], &[], word)?;
                (value, word)
            } else {
                let is_byte = matches!(level.source, Source::Byte(_));
                limited_integer(body, value, is_byte, [low, high])?
            };
            // In 8 bits, sums wrap around to the same bytes.
            let value = if kind == self.byte() {
                value
            } else {
                body.value(ops::arith::TRUNCI, &[value], &[], self.byte())?
            };
            let amount = as_signed((level.offset - base).rem_euclid(256));
            let amount = body.constant(Scalar::Int(amount), self.byte())?;
            if level.offset == base {
                Ok(value)
            } else {
                Ok(body.value(ops::arith::ADDI, &[value, amount], &[], self.byte())?)
            }
        })?;
        Ok(Some(bytes))
    }

    /// Makes all users of an operation's result read what bytes stand for.
    fn replace(&mut self, op: OperationRef<'c, 'a>, stored: &Stored<'c, 'a>) -> Result<(), PassError> {
        let again = self.dequantize(op, stored)?;
        ir::replace_uses(op.result(0)?.into(), again);
        let key = (ValueKey::of(again), stored.is_signed);
        self.known.insert(key, Some(stored.clone()));
        Ok(())
    }

    /// Computes the values that the bytes of an operation's result stand for.
    fn dequantize(
        &self,
        op: OperationRef<'c, 'a>,
        stored: &Stored<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let at = Builder::before(self.context, op)?;
        let result = op.result(0)?.r#type();
        let extents = at.dynamic_extents(destination(op)?)?;
        let element = types::element_of(result).ok_or("a tensor without an element type")?;
        let rank = types::extents(result).map_or(0, |extents| extents.len());
        let mut inputs = vec![Input(stored.bytes, identity(rank))];
        inputs.extend(stored.zero.map(|zero| Input(zero, Vec::new())));
        if let Scale::Tensor(tensor, forms) = &stored.scale {
            inputs.push(Input(*tensor, forms.clone()));
        }
        map_generic(&at, &inputs, result, &extents, |body, elements| {
            let mut elements = elements.iter().copied();
            let byte = elements.next().ok_or("a map without an input")?;
            let zero = stored.zero.and_then(|_| elements.next());
            let scale = match &stored.scale {
                Scale::One => None,
                Scale::Scalar(scale) => Some(*scale),
                Scale::Tensor(..) => elements.next(),
            };
            let extension = if stored.is_signed { ops::arith::EXTSI } else { ops::arith::EXTUI };
            let is_integer = IntegerType::try_from(element).is_ok();
            let word: Type = if is_integer { element } else { IntegerType::new(self.context, 32).into() };
            let wide = body.value(extension, &[byte], &[], word)?;
            let base = body.constant(Scalar::Int(stored.base), word)?;
            let own = match stored.base {
                0 => wide,
                _ => body.value(ops::arith::ADDI, &[wide, base], &[], word)?,
            };
            let own = match zero {
                None => own,
                Some(zero) => {
                    let zero = as_wide_as(body, zero, word)?;
                    body.value(ops::arith::SUBI, &[own, zero], &[], word)?
                }
            };
            if is_integer {
                return Ok(own);
            }
            let real = body.value(ops::arith::SITOFP, &[own], &[], element)?;
            match scale {
                None => Ok(real),
                Some(scale) => Ok(body.value(ops::arith::MULF, &[real, scale], &[], element)?),
            }
        })
    }
}

const EMPTY: &str = ops::tensor::EMPTY;

/// An integer of 32 bits in another type of integers.
fn as_wide_as<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    kind: Type<'c>,
) -> Result<Value<'c, 'a>, PassError> {
    let cast = match IntegerType::try_from(kind).map(|own| own.width()) {
        Ok(32) => return Ok(value),
        Ok(33..) => ops::arith::EXTSI,
        Ok(_) => ops::arith::TRUNCI,
        Err(_) => ops::arith::INDEX_CAST,
    };
    Ok(body.value(cast, &[value], &[], kind)?)
}

/// Whether an integer is a byte that another operation has stored.
fn is_byte_source(level: &Level) -> bool {
    match level.source {
        Source::Real(_) => false,
        Source::Byte(_) => true,
        Source::Integer(value) => value.r#type().to_string() == "i8",
    }
}

/// The integer of 8 bits with a sign that has the bits of a byte.
fn as_signed(byte: i64) -> i64 {
    if byte > 127 { byte - 256 } else { byte }
}

/// The reciprocal of the constant that an operation divides by, if it is a normal one.
fn reciprocal(op: OperationRef) -> Option<f64> {
    let divisor = op.operand(1).ok().filter(|_| ir::name(op) == ops::arith::DIVF)?;
    let factor = 1.0 / real(divisor)?;
    let magnitude = factor.abs();
    (magnitude >= f64::from(f32::MIN_POSITIVE) && magnitude <= f64::from(f32::MAX)).then_some(factor)
}

/// Multiplies what an operation divides.
fn multiply<'c: 'a, 'a>(
    copier: &mut Copier<'c, 'a>,
    op: OperationRef<'c, 'a>,
    factor: f64,
    to: &Builder<'c, 'a>,
) -> Result<(), melior::Error> {
    let result: Value = op.result(0)?.into();
    let kind = result.r#type();
    let factor = to.constant(Scalar::Real(factor), kind)?;
    let value = copier.get(op.operand(0)?);
    let product = to.value(ops::arith::MULF, &[value, factor], &[], kind)?;
    copier.set(result, product);
    Ok(())
}

/// Rounds and limits a real that is quantized and used as a real again. Returns whether the operation is such a use.
fn shorten<'c: 'a, 'a>(
    copier: &mut Copier<'c, 'a>,
    op: OperationRef<'c, 'a>,
    to: &Builder<'c, 'a>,
) -> Result<bool, melior::Error> {
    let level = || Level::of(op.operand(0).ok()?).filter(Level::is_narrow);
    let is_conversion = ir::name(op) == ops::arith::SITOFP;
    let Some(level) = is_conversion.then(level).flatten() else {
        return Ok(false);
    };
    let Source::Real(real) = level.source else {
        return Ok(false);
    };
    let result: Value = op.result(0)?.into();
    let kind = result.r#type();
    let (low, high) = (level.low - level.offset, level.high - level.offset);
    let is_exact = low.saturating_abs().max(high.saturating_abs()) <= EXACT;
    let is_supported = matches!(kind.to_string().as_str(), "f32" | "f64");
    let Some(own) = rounded_to_even(real).filter(|_| is_exact && is_supported) else {
        return Ok(false);
    };
    if own.r#type() != kind {
        return Ok(false);
    }
    let value = copier.get(own);
    let mut value = rounded_within(to, value, [low, high])?;
    if level.offset != 0 {
        let offset = to.constant(Scalar::Real(level.offset as f64), kind)?;
        value = to.value(ops::arith::ADDF, &[value, offset], &[], kind)?;
    }
    copier.set(result, value);
    Ok(true)
}

/// An integer limited to an interval, and its type: that of a fixed width. A byte has no sign.
fn limited_integer<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    value: Value<'c, 'a>,
    is_byte: bool,
    [low, high]: [i64; 2],
) -> Result<(Value<'c, 'a>, Type<'c>), PassError> {
    let word = types::word(body.context);
    let kind = value.r#type();
    let value = match kind.to_string().as_str() {
        "i64" => value,
        "index" => body.value(ops::arith::INDEX_CAST, &[value], &[], word)?,
        _ if is_byte => body.value(ops::arith::EXTUI, &[value], &[], word)?,
        _ => body.value(ops::arith::EXTSI, &[value], &[], word)?,
    };
    let low = body.constant(Scalar::Int(low), word)?;
    let high = body.constant(Scalar::Int(high), word)?;
    let value = body.value(ops::arith::MAXSI, &[value, low], &[], word)?;
    let value = body.value(ops::arith::MINSI, &[value, high], &[], word)?;
    Ok((value, word))
}

/// What an operation writes its result into.
fn destination<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    let last = op.operand_count().checked_sub(1);
    Ok(op.operand(last.ok_or("an operation without a destination")?)?)
}
