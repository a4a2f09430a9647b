// SPDX-License-Identifier: Apache-2.0
//! Computes the bytes of elementwise operations that quantize.

use super::limited_integer::{DynamicZeroPoint, LimitedInteger, Source};
use super::limits::{limited, rounded, rounded_within};
use super::map::Map;
use super::rounding::rounded_to_even;
use super::scalars::{extended, is_byte, is_wide_float};
use super::storage::{Scale, Storage, Stored, as_signed, destination};
use crate::elementwise::hoist_invariants::compute;
use crate::ir::copy::Copier;
use crate::ir::generic::{Access, LoopNest, Operand, map};
use crate::ir::{self, Builder, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;

impl<'c: 'a, 'a> Storage<'c, 'a> {
    /// Stores the result of an elementwise operation.
    pub(super) fn store_map(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let Some(map) = Map::new(op) else {
            return Ok(None);
        };
        if let Some(source) = map.copied() {
            return self.store_copy(&map, source, is_signed);
        }
        let Some(quantized) = map.quantized().filter(|quantized| quantized.integer.holds_bytes()) else {
            return Ok(None);
        };
        let integer = quantized.integer;
        let Some(scale) = self.scale(&map.nest, quantized.scale)? else {
            return Ok(None);
        };
        let zero = match &integer.zero {
            None => None,
            Some(zero) => match self.zero_point(&map.nest, zero)? {
                Some(tensor) => Some(tensor),
                None => return Ok(None),
            },
        };
        let [low, high] = integer.limits().ok_or("internal compiler error: a byte beyond 64 bits")?;
        let zeros = integer.zero.map_or([0, 0], |zero| [zero.low, zero.high]);
        let stored = |bytes, base| Stored { bytes, is_signed, base, zero, zeros, low, high, scale };
        if let Some(bytes) = map.bytes(&integer, is_signed) {
            return Ok(Some(stored(bytes, integer.offset)));
        }
        let base = base(&integer, is_signed);
        let Some(bytes) = self.quantized_bytes(&map, &integer, base)? else {
            return Ok(None);
        };
        let stored = stored(bytes, base);
        if !self.constants.contains(op.result(0)?.into()) && !is_stored(&integer) {
            self.replace(op, &stored)?;
        }
        Ok(Some(stored))
    }

    /// The zero point as a tensor with one 32-bit integer. `None` if it varies between elements.
    fn zero_point(
        &self,
        nest: &LoopNest<'c, 'a>,
        zero: &DynamicZeroPoint<'c, 'a>,
    ) -> Result<Option<Value<'c, 'a>>, PassError> {
        let at = Builder::before(self.context, nest.op)?;
        let scalar = match nest.position(zero.value) {
            Some(position) => nest.op.operand(position)?,
            None if nest.loops_of(zero.value).is_empty() => compute(nest, zero.value, &[], &at)?,
            None => return Ok(None),
        };
        if types::extents(scalar.r#type()).is_none_or(|extents| !extents.is_empty()) {
            return Ok(None);
        }
        let (kind, wide_kind) = (zero.value.r#type(), types::i32(self.context));
        if kind == wide_kind {
            return Ok(Some(scalar));
        }
        let cast = match types::bits(kind) {
            _ if kind.is_index() => ops::arith::INDEX_CAST,
            Some(64) => ops::arith::TRUNCI,
            Some(..32) => ops::arith::EXTSI,
            _ => return Ok(None),
        };
        let input = Access(scalar, Vec::new());
        let result = types::tensor(&[], wide_kind);
        let wide = map(&at, &[input], result, &[], |body, elements| -> Result<_, PassError> {
            let element = elements.first().ok_or("internal compiler error: a map without an input")?;
            Ok(body.convert(cast, *element, wide_kind))
        })?;
        Ok(Some(wide))
    }

    /// The scale as a tensor or a scalar from outside the payload. `None` if it varies along all loops, or along a dynamic loop.
    fn scale(
        &self,
        nest: &LoopNest<'c, 'a>,
        scale: Option<Value<'c, 'a>>,
    ) -> Result<Option<Scale<'c, 'a>>, PassError> {
        let Some(scale) = scale else {
            return Ok(Some(Scale::One));
        };
        if let Some(operand) = nest.operands.iter().find(|operand| operand.element == scale) {
            return Ok(Some(Scale::Tensor(operand.value, operand.forms.clone())));
        }
        if nest.needed([scale], &[]).is_empty() {
            return Ok(Some(Scale::Scalar(scale)));
        }
        let loops: Vec<usize> = nest.loops_of(scale).into_iter().collect();
        let is_static = loops.iter().all(|l| nest.extent(*l).is_some());
        if loops.len() >= nest.reductions.len() || !is_static {
            return Ok(None);
        }
        let at = Builder::before(self.context, nest.op)?;
        let tensor = compute(nest, scale, &loops, &at)?;
        Ok(Some(Scale::Tensor(tensor, loops.into_iter().map(Affine::index).collect())))
    }

    /// Computes the bytes `integer − base`, without the zero point. `None` for 16-bit floats.
    fn quantized_bytes(
        &self,
        quantization: &Map<'c, 'a>,
        integer: &LimitedInteger<'c, 'a>,
        base: i64,
    ) -> Result<Option<Value<'c, 'a>>, PassError> {
        let conversion = Conversion::new(integer);
        if conversion.is_real && !is_wide_float(conversion.source.r#type()) {
            return Ok(None);
        }
        let nest = &quantization.nest;
        let (needed, inputs) = (nest.needed([conversion.source], &[]), inputs_of(nest, conversion.source));
        let accesses: Vec<Access> = inputs.iter().map(|input| input.access()).collect();
        let elements: Vec<Value> = inputs.iter().map(|input| input.element).collect();
        let at = Builder::before(self.context, nest.op)?;
        let extents = at.dynamic_extents(destination(nest.op)?)?;
        let result = self.as_bytes(nest.op.result(0)?.r#type());
        let bytes = map(&at, &accesses, result, &extents, |body, new| -> Result<_, PassError> {
            let mut copier = Copier::from_pairs(&elements, new);
            for op in needed {
                copier.copy(op, &body.with_location(op.location()), &mut shorten)?;
            }
            let byte = conversion.byte(body, copier.get(conversion.source))?;
            // 8-bit sums wrap around to the same bytes.
            let amount = as_signed((integer.offset - base).rem_euclid(256));
            Ok(if amount == 0 { byte } else { body.addi(byte, body.int(amount, self.byte())) })
        })?;
        Ok(Some(bytes))
    }
}

/// The integer that the byte 0 represents, so that all integers are in the interval of bytes.
fn base(integer: &LimitedInteger, is_signed: bool) -> i64 {
    if !is_signed {
        integer.low
    } else if integer.low >= -128 && integer.high <= 127 {
        0
    } else {
        integer.low + 128
    }
}

/// Whether an integer is an element of a tensor of bytes, which need not be stored again.
fn is_stored(integer: &LimitedInteger) -> bool {
    match integer.source {
        Source::Real(_) => false,
        Source::Byte(_) => true,
        Source::Integer(value) => is_byte(value.r#type()),
    }
}

/// The inputs of a nest that a value of the payload is computed from.
fn inputs_of<'n, 'c: 'a, 'a>(nest: &'n LoopNest<'c, 'a>, value: Value<'c, 'a>) -> Vec<&'n Operand<'c, 'a>> {
    let needed = nest.needed([value], &[]);
    let used: Vec<Value> = needed.iter().flat_map(|op| op.operands()).chain([value]).collect();
    nest.operands.iter().filter(|operand| used.contains(&operand.element)).collect()
}

/// The conversion of a source to bytes.
struct Conversion<'c, 'a> {
    /// The source. If it is rounded to the nearest integer with ties to even, the real before rounding.
    source: Value<'c, 'a>,
    is_real: bool,
    rounds_to_even: bool,
    is_unsigned_byte: bool,
    /// The minimum and maximum of the source, which are those of the integer minus the offset.
    limits: [i64; 2],
}

impl<'c: 'a, 'a> Conversion<'c, 'a> {
    fn new(integer: &LimitedInteger<'c, 'a>) -> Self {
        let limits = [integer.low - integer.offset, integer.high - integer.offset];
        let new = |source| Conversion {
            source,
            is_real: false,
            rounds_to_even: false,
            is_unsigned_byte: false,
            limits,
        };
        match integer.source {
            Source::Integer(value) => new(value),
            Source::Byte(value) => Conversion { is_unsigned_byte: true, ..new(value) },
            Source::Real(value) => {
                let exact = rounded_to_even(value);
                let source = exact.unwrap_or(value);
                Conversion { is_real: true, rounds_to_even: exact.is_some(), ..new(source) }
            }
        }
    }

    /// The lowest 8 bits of the limited source.
    fn byte(&self, body: &Builder<'c, 'a>, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let wide =
            if self.is_real { self.convert_real(body, value)? } else { self.limit_integer(body, value) };
        Ok(body.convert(ops::arith::TRUNCI, wide, types::i8(body.context)))
    }

    fn convert_real(&self, body: &Builder<'c, 'a>, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let limited = if self.rounds_to_even {
            rounded_within(body, value, self.limits)?
        } else {
            limited(body, rounded(body, value)?, self.limits)
        };
        Ok(body.convert(ops::arith::FPTOSI, limited, types::i32(body.context)))
    }

    fn limit_integer(&self, body: &Builder<'c, 'a>, value: Value<'c, 'a>) -> Value<'c, 'a> {
        let (kind, wide_kind) = (value.r#type(), types::word(body.context));
        let wide = if kind.is_index() {
            body.index_cast(value, wide_kind)
        } else if kind == wide_kind {
            value
        } else {
            extended(body, value, !self.is_unsigned_byte, wide_kind)
        };
        let [low, high] = self.limits.map(|limit| body.int(limit, wide_kind));
        body.minsi(body.maxsi(wide, low), high)
    }
}

/// Rounds and limits a real that a payload quantizes and converts to a real again, without the intermediate integer. Returns whether `op`
/// is such a conversion.
fn shorten<'c: 'a, 'a>(
    copier: &mut Copier<'c, 'a>,
    op: OperationRef<'c, 'a>,
    to: &Builder<'c, 'a>,
) -> Result<bool, melior::Error> {
    let is_conversion = ir::name(op) == ops::arith::SITOFP;
    let integer = || LimitedInteger::from_value(ir::operand_at(op, 0)?).filter(LimitedInteger::is_narrow);
    let Some(integer) = is_conversion.then(integer).flatten() else {
        return Ok(false);
    };
    let result: Value = op.result(0)?.into();
    let kind = result.r#type();
    let conversion = Conversion::new(&integer);
    let has_type = conversion.source.r#type() == kind && is_wide_float(kind);
    if !conversion.rounds_to_even || !has_type {
        return Ok(false);
    }
    let rounded = rounded_within(to, copier.get(conversion.source), conversion.limits)?;
    let real = match integer.offset {
        0 => rounded,
        offset => to.addf(rounded, to.real(offset as f64, kind)),
    };
    copier.set(result, real);
    Ok(true)
}
