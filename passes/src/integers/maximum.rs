// SPDX-License-Identifier: Apache-2.0
//! Computes maxima of windows of quantized values as maxima of bytes, because positive scales preserve the order.

use super::scalars::extended;
use super::storage::{Scale, Storage, Stored, destination};
use super::windows::Largest;
use crate::ir::generic::{Access, Operand, all_loops, generic, map};
use crate::ir::real;
use crate::ir::{Builder, ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;

impl<'c: 'a, 'a> Storage<'c, 'a> {
    /// Stores the maxima of windows as unsigned bytes.
    pub(super) fn store_largest(
        &mut self,
        largest: &Largest<'c, 'a>,
    ) -> Result<Option<Stored<'c, 'a>>, PassError> {
        let op = largest.nest.op;
        let tensor = match largest.insertion {
            Some(insertion) => insertion.operand(0)?,
            None => op.operand(largest.input)?,
        };
        let source = self.store(tensor, false)?;
        let Some(source) = source.filter(|source| is_positive(&source.scale)) else {
            return Ok(None);
        };
        let bytes = match largest.insertion {
            Some(insertion) => self.inserted_into_least(insertion, source.bytes)?,
            None => source.bytes,
        };
        let stored = Stored { bytes: self.largest_bytes(largest, bytes)?, ..source };
        self.replace(op, &stored)?;
        Ok(Some(stored))
    }

    /// Inserts bytes into a border of zeros. The border does not change maxima, because each window has an element of the tensor.
    fn inserted_into_least(
        &self,
        insertion: OperationRef<'c, 'a>,
        bytes: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let at = Builder::before(self.context, insertion)?;
        let border = self.filled(&at, insertion.operand(1)?, at.int(0, self.byte()))?;
        self.inserted(insertion, bytes, border)
    }

    /// The largest byte of each window. It is computed with 32-bit integers, because all vector units have their maximum.
    fn largest_bytes(
        &self,
        largest: &Largest<'c, 'a>,
        bytes: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let nest = &largest.nest;
        let at = Builder::before(self.context, nest.op)?;
        let wide_kind = types::i32(self.context);
        let result = nest.op.result(0)?.r#type();
        let extents = at.dynamic_extents(destination(nest.op)?)?;
        let init = at.fill_sized(at.int(0, wide_kind), types::of_element(result, wide_kind), &extents)?;
        let without_input = "internal compiler error: windows without elements";
        let mut operands: Vec<Access> = nest.operands.iter().map(Operand::access).collect();
        operands.get_mut(largest.input).ok_or(without_input)?.0 = bytes;
        let mut output = operands.pop().ok_or(without_input)?;
        output.0 = init;
        let maxima = generic(&at, &operands, &[output], &nest.reductions, |body, elements| {
            let (byte, before) = elements.get(largest.input).zip(elements.last()).ok_or(without_input)?;
            let wide = extended(body, *byte, false, wide_kind);
            Ok::<_, PassError>(vec![body.maxsi(*before, wide)])
        })?;
        let input = Access(maxima.result(0)?.into(), all_loops(types::shape(result).len()));
        map(&at, &[input], self.as_bytes(result), &extents, |body, elements| {
            let maximum = elements.first().ok_or(without_input)?;
            Ok(body.convert(ops::arith::TRUNCI, *maximum, self.byte()))
        })
    }
}

fn is_positive(scale: &Scale) -> bool {
    match scale {
        Scale::One => true,
        Scale::Scalar(scale) => real(*scale).is_some_and(|scale| scale > 0.0),
        Scale::Tensor(..) => false,
    }
}
