// SPDX-License-Identifier: Apache-2.0
//! Elementwise operations that read or write quantized values.

use super::limited_integer::{LimitedInteger, Source, WIDEST};
use super::quantized::Quantized;
use super::scalars::{is_byte, is_wide_float, is_wide_integer};
use crate::elementwise::hoist_invariants::tensor_nest;
use crate::ir::generic::LoopNest;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// An elementwise operation whose loops are the dimensions of its result.
pub(super) struct Map<'c, 'a> {
    pub(super) nest: LoopNest<'c, 'a>,
    /// The value of an element.
    value: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = tensor_nest(op).filter(|nest| !nest.reduces())?;
        let is_in_order = nest.is_in_order(nest.output()?);
        let value = *nest.yielded.first()?;
        is_in_order.then_some(Map { nest, value })
    }

    /// The position of the input, if the result is a copy of it.
    pub(super) fn copied(&self) -> Option<usize> {
        self.nest.position(self.value).filter(|position| *position < self.nest.inputs)
    }

    /// The quantized value of an element, if its type can represent it for all bytes.
    pub(super) fn quantized(&self) -> Option<Quantized<'c, 'a>> {
        let kind = self.value.r#type();
        if is_wide_float(kind) {
            Quantized::from_value(self.value)
        } else {
            let integer = is_wide_integer(kind).then(|| LimitedInteger::from_value(self.value));
            Some(Quantized { integer: integer.flatten()?, scale: None })
        }
    }

    /// The input whose bytes are the elements of the result minus an offset.
    pub(super) fn bytes(&self, integer: &LimitedInteger<'c, 'a>, is_signed: bool) -> Option<Value<'c, 'a>> {
        let (value, min) = match integer.source {
            Source::Byte(value) => (value, 0),
            Source::Integer(value) if is_byte(value.r#type()) => (value, -128),
            _ => return None,
        };
        let is_whole = integer.low == integer.offset + min && integer.high == integer.low + WIDEST;
        let operand = self.nest.operands.get(self.nest.position(value)?)?;
        let fits = is_whole && self.nest.is_in_order(operand) && is_signed == (min < 0);
        fits.then_some(operand.value)
    }
}
