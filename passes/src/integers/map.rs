// SPDX-License-Identifier: Apache-2.0
//! Elementwise operations that read or write quantized values.

use super::level::{Level, Quantized, Source};
use super::maps::identity;
use crate::elementwise::hoist_invariants::Payload;
use crate::ir;
use crate::ir::linalg::{Generic, Yield};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// An elementwise operation whose loops are the dimensions of its result.
pub(super) struct Map<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) payload: Payload<'c, 'a>,
    /// The value of an element.
    pub(super) value: Value<'c, 'a>,
    pub(super) rank: usize,
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op).filter(|_| op.result_count() == 1)?;
        let reductions = generic.reductions();
        let payload = Payload::of(op)?;
        let rank = reductions.len();
        let is_map = !reductions.contains(&true);
        let is_in_order = payload.subscripts.last()? == &identity(rank);
        let last = *ir::operations(generic.body()?).last()?;
        (is_map && is_in_order).then_some(Map { op, payload, value: Yield::cast(last)?.value().ok()?, rank })
    }

    /// The input whose elements the result has.
    pub(super) fn copied(&self) -> Option<usize> {
        let mut inputs = self.payload.elements.iter();
        let position = inputs.position(|own| *own == self.value)?;
        (position + 1 < self.payload.elements.len()).then_some(position)
    }

    pub(super) fn quantized(&self) -> Option<Quantized<'c, 'a>> {
        let kind = self.value.r#type().to_string();
        if kind.starts_with('f') {
            Quantized::of(self.value)
        } else {
            Some(Quantized { level: Level::of(self.value)?, scale: None })
        }
    }

    /// The input whose bytes the elements of the result are, less an offset.
    pub(super) fn bytes(&self, level: &Level<'c, 'a>, is_signed: bool) -> Option<Value<'c, 'a>> {
        let (value, least) = match level.source {
            Source::Byte(value) => (value, 0),
            Source::Integer(value) if value.r#type().to_string() == "i8" => (value, -128),
            _ => return None,
        };
        let is_whole = level.low == level.offset + least && level.high == level.low + 255;
        let position = self.payload.elements.iter().position(|own| *own == value)?;
        let is_in_order = self.payload.subscripts.get(position)? == &identity(self.rank);
        let fits = is_whole && is_in_order && is_signed == (least < 0);
        self.op.operand(position).ok().filter(|_| fits)
    }
}
