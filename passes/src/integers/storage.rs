// SPDX-License-Identifier: Apache-2.0
//! Stores tensors of quantized values as tensors of bytes.

use super::inputs::{Inputs, Slot};
use super::limited_integer::integer;
use super::map::Map;
use super::windows::Largest;
use crate::ir::copy::with_attributes;
use crate::ir::generic::{Access, copy_of};
use crate::ir::linalg::Fill;
use crate::ir::real;
use crate::ir::{self, Builder, ValueKey, ops, types};
use crate::prepare::constant_tensors::ConstantTensors;
use crate::structure::Affine;
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use std::collections::HashMap;

/// The scale of a tensor of quantized values.
#[derive(Clone, Debug)]
pub(super) enum Scale<'c, 'a> {
    One,
    /// A scalar.
    Scalar(Value<'c, 'a>),
    /// A tensor, with subscripts as functions of the dimensions of the quantized tensor.
    Tensor(Value<'c, 'a>, Vec<Affine>),
}

/// A scale in a payload.
#[derive(Clone, Copy)]
pub(super) enum Factor<'c, 'a> {
    Scalar(Value<'c, 'a>),
    Element(Slot),
}

impl<'c: 'a, 'a> Factor<'c, 'a> {
    pub(super) fn value(self, elements: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, PassError> {
        match self {
            Factor::Scalar(value) => Ok(value),
            Factor::Element(slot) => slot.element(elements),
        }
    }
}

impl<'c, 'a> Scale<'c, 'a> {
    /// Whether both are equal for all elements.
    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Scale::One, Scale::One) => true,
            (Scale::Scalar(a), Scale::Scalar(b)) => {
                a == b || real(*a).is_some_and(|constant| Some(constant) == real(*b))
            }
            _ => false,
        }
    }

    /// Whether all elements have the same scale.
    fn is_uniform(&self) -> bool {
        match self {
            Scale::One | Scale::Scalar(_) => true,
            Scale::Tensor(_, forms) => forms.iter().all(|form| form.as_constant().is_some()),
        }
    }

    /// Returns the scale of a tensor whose elements are at `subscripts` in the quantized tensor; `None` for subscripts that are neither loops
    /// nor constants.
    pub(super) fn with_subscripts(&self, subscripts: &[Affine]) -> Option<Self> {
        let Scale::Tensor(tensor, forms) = self else {
            return Some(self.clone());
        };
        let moved = forms.iter().map(|form| match form.as_constant() {
            Some(_) => Some(form.clone()),
            None => subscripts.get(form.as_index()?).cloned(),
        });
        Some(Scale::Tensor(*tensor, moved.collect::<Option<_>>()?))
    }

    /// Adds a tensor of scales to the inputs of a payload. Returns the factor in the payload; `None` for 1.
    pub(super) fn add_to(&self, inputs: &mut Inputs<'c, 'a>) -> Option<Factor<'c, 'a>> {
        match self {
            Scale::One => None,
            Scale::Scalar(value) => Some(Factor::Scalar(*value)),
            Scale::Tensor(tensor, forms) => Some(Factor::Element(inputs.add(Access(*tensor, forms.clone())))),
        }
    }
}

/// A tensor of bytes that represents a tensor of integers or reals: each element is `scale · (byte + base − zero)`.
#[derive(Clone, Debug)]
pub(super) struct Stored<'c, 'a> {
    pub(super) bytes: Value<'c, 'a>,
    /// Whether bytes are signed.
    pub(super) is_signed: bool,
    pub(super) base: i64,
    /// A zero point that is only known at run time, as a tensor with one 32-bit integer.
    pub(super) zero: Option<Value<'c, 'a>>,
    /// The minimum and maximum of `zero`; both are 0 without a zero point.
    pub(super) zeros: [i64; 2],
    /// The minimum and maximum of `byte + base − zero`.
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) scale: Scale<'c, 'a>,
}

impl Stored<'_, '_> {
    /// The maximum magnitude of the integers; at least 1.
    pub(super) fn magnitude(&self) -> i64 {
        self.low.abs().max(self.high.abs()).max(1)
    }

    /// Whether the integers are equal to the bytes.
    pub(super) fn is_plain(&self) -> bool {
        self.base == 0 && self.zero.is_none()
    }

    /// Whether a byte represents the integer zero, for any zero point.
    fn has_zero(&self) -> bool {
        let minimum = if self.is_signed { -128 } else { 0 };
        self.zeros.iter().all(|zero| (minimum..=minimum + 255).contains(&(zero - self.base)))
    }
}

/// The bytes of the tensors of a function.
pub(super) struct Storage<'c, 'a> {
    pub(super) context: &'c Context,
    pub(super) constants: ConstantTensors,
    /// By tensor and sign of bytes; `None` for a tensor that is not stored as bytes.
    known: HashMap<(ValueKey, bool), Option<Stored<'c, 'a>>>,
}

impl<'c: 'a, 'a> Storage<'c, 'a> {
    pub(super) fn new(function: OperationRef<'c, 'a>, context: &'c Context) -> Self {
        Storage { context, constants: ConstantTensors::new(function), known: HashMap::new() }
    }

    /// Stores a tensor as bytes, after its definition. Other users of the tensor also read the bytes. `None` if the tensor is not
    /// quantized to 8 bits.
    pub(super) fn store(
        &mut self,
        tensor: Value<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let key = (ValueKey::of(tensor), is_signed);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let stored = match ir::definition(tensor) {
            Some((op, _)) => self.store_result(op, is_signed)?,
            None => None,
        };
        self.known.insert(key, stored.clone());
        Ok(stored)
    }

    fn store_result(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        match ir::name(op).as_str() {
            ops::linalg::GENERIC => match Largest::new(op) {
                Some(largest) if !is_signed => self.store_largest(&largest),
                _ => self.store_map(op, is_signed),
            },
            ops::tensor::INSERT_SLICE => self.store_insertion(op, is_signed),
            ops::tensor::EXTRACT_SLICE | ops::tensor::COLLAPSE_SHAPE | ops::tensor::EXPAND_SHAPE => {
                self.store_view(op, is_signed)
            }
            _ => Ok(None),
        }
    }

    /// Replaces the result of an operation by a tensor that is computed from bytes.
    pub(super) fn replace(
        &mut self,
        op: OperationRef<'c, 'a>,
        stored: &Stored<'c, 'a>,
    ) -> Result<(), PassError> {
        let dequantized = self.dequantized(op, stored)?;
        ir::replace_uses(op.result(0)?.into(), dequantized);
        let key = (ValueKey::of(dequantized), stored.is_signed);
        self.known.insert(key, Some(stored.clone()));
        Ok(())
    }

    /// Stores a slice of a tensor, or a tensor with collapsed or expanded dimensions.
    fn store_view(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let source = self.store(op.operand(0)?, is_signed)?;
        let Some(source) = source.filter(|source| source.scale.is_uniform()) else {
            return Ok(None);
        };
        let mut operands: Vec<Value> = op.operands().collect();
        if let Some(first) = operands.first_mut() {
            *first = source.bytes;
        }
        let kind = self.as_bytes(op.result(0)?.r#type());
        let at = Builder::before(self.context, op)?;
        let view = with_attributes(op, &operands, &[kind], Vec::new(), &[], &at)?;
        Ok(Some(Stored { bytes: view.result(0)?.into(), ..source }))
    }

    /// Stores a tensor with the elements of another tensor in another order.
    pub(super) fn store_copy(
        &mut self,
        map: &Map<'c, 'a>,
        source: usize,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let op = map.nest.op;
        let Some(stored) = self.store(op.operand(source)?, is_signed)? else {
            return Ok(None);
        };
        let forms =
            &map.nest.operands.get(source).ok_or("internal compiler error: a copy of no input")?.forms;
        let Some(scale) = stored.scale.with_subscripts(forms) else {
            return Ok(None);
        };
        let at = Builder::before(self.context, op)?;
        let kind = self.as_bytes(op.result(0)?.r#type());
        let extents = at.dynamic_extents(destination(op)?)?;
        let bytes = copy_of(&at, Access(stored.bytes, forms.clone()), kind, &extents)?;
        Ok(Some(Stored { bytes, scale, ..stored }))
    }

    /// Stores a tensor that is inserted into zeros, or into a tensor with the same scale.
    fn store_insertion(
        &mut self,
        op: OperationRef<'c, 'a>,
        is_signed: bool,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let (source, target) = (op.operand(0)?, op.operand(1)?);
        let source = self.store(source, is_signed)?;
        let Some(source) = source.filter(|source| source.scale.is_uniform()) else {
            return Ok(None);
        };
        let at = Builder::before(self.context, op)?;
        let fill = Fill::of(target).and_then(|fill| fill.value().ok());
        let (into, low, high) = if ir::defined_by(target, ops::tensor::EMPTY).is_some() {
            let kind = self.as_bytes(target.r#type());
            let empty = at.value(ops::tensor::EMPTY, &at.dynamic_extents(target)?, &[], kind)?;
            (empty, source.low, source.high)
        } else if let Some(value) = fill {
            let is_zero = real(value) == Some(0.0) || integer(value) == Some(0);
            if !is_zero || !source.has_zero() {
                return Ok(None);
            }
            let zeros = self.filled(&at, target, self.zero_byte(&at, &source)?)?;
            (zeros, source.low.min(0), source.high.max(0))
        } else {
            let other = self.store(target, is_signed)?;
            let Some(other) = other.filter(|other| share_representation(&source, other)) else {
                return Ok(None);
            };
            (other.bytes, source.low.min(other.low), source.high.max(other.high))
        };
        Ok(Some(Stored { bytes: self.inserted(op, source.bytes, into)?, low, high, ..source }))
    }

    /// The byte of zero.
    fn zero_byte(&self, at: &Builder<'c, 'a>, stored: &Stored<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let byte = at.int(as_signed((-stored.base).rem_euclid(256)), self.byte());
        let Some(zero) = stored.zero else {
            return Ok(byte);
        };
        let zero = at.value(ops::tensor::EXTRACT, &[zero], &[], types::i32(self.context))?;
        let truncated = at.convert(ops::arith::TRUNCI, zero, self.byte());
        Ok(if stored.base == 0 { truncated } else { at.addi(truncated, byte) })
    }

    /// A tensor of equal bytes with the extents of another tensor.
    pub(super) fn filled(
        &self,
        at: &Builder<'c, 'a>,
        like: Value<'c, 'a>,
        byte: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let extents = at.dynamic_extents(like)?;
        Ok(at.fill_sized(byte, self.as_bytes(like.r#type()), &extents)?)
    }

    /// Inserts bytes at the position of the tensor that they represent.
    pub(super) fn inserted(
        &self,
        insertion: OperationRef<'c, 'a>,
        source: Value<'c, 'a>,
        into: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut operands: Vec<Value> = insertion.operands().collect();
        for (operand, new) in operands.iter_mut().zip([source, into]) {
            *operand = new;
        }
        let at = Builder::before(self.context, insertion)?;
        let kind = into.r#type();
        let inserted = with_attributes(insertion, &operands, &[kind], Vec::new(), &[], &at)?;
        Ok(inserted.result(0)?.into())
    }

    pub(super) fn byte(&self) -> Type<'c> {
        types::i8(self.context)
    }

    /// The type of a tensor of bytes with the extents of another type.
    pub(super) fn as_bytes(&self, kind: Type<'c>) -> Type<'c> {
        types::of_element(kind, self.byte())
    }
}

/// Whether equal bytes of both tensors represent equal values.
fn share_representation(a: &Stored, b: &Stored) -> bool {
    let is_static = a.zero.is_none() && b.zero.is_none();
    is_static && a.base == b.base && a.scale.equals(&b.scale)
}

/// The signed 8-bit integer with the same bits as an unsigned integer.
pub(super) fn as_signed(byte: i64) -> i64 {
    if byte > 127 { byte - 256 } else { byte }
}

/// The destination of an operation with one result.
pub(super) fn destination<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
    Ok(ir::destination(op, 0).ok_or("internal compiler error: an operation without a destination")?)
}
