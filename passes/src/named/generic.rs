// SPDX-License-Identifier: Apache-2.0
//! A `linalg.generic` on tensors as plain data.

use super::operand::Operand;
use super::payload::Payload;
use crate::ir::linalg;
use crate::ir::{maps, types};

use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::op;

/// An operation with one result.
pub(crate) struct Generic<'c, 'a> {
    pub inputs: Vec<Operand<'c, 'a>>,
    pub output: Operand<'c, 'a>,
    /// Extents of the loops; negative for dynamic ones.
    pub extents: Vec<i64>,
    pub payload: Payload<'c, 'a>,
    /// Inputs that the region never reads: they only define extents.
    unread: Vec<bool>,
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// Reads an operation; `None` if it works on buffers, has several results, has subscripts that are not linear,
    /// reduces along a dimension of its output, or has a payload that no named operation has.
    pub(crate) fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let operands: Vec<Value<'c, 'a>> = op.operands().collect();
        let generic = linalg::Generic::cast(op)?;
        let indexing = generic.indexing_maps();
        let reductions = generic.reductions();
        if indexing.len() != operands.len() || op.result_count() != 1 {
            return None;
        }
        let mut extents = vec![-1; reductions.len()];
        let mut inputs = Vec::new();
        for (position, value) in operands.into_iter().enumerate() {
            let forms = maps::forms(*indexing.get(position)?)?;
            let scalar = forms.is_empty().then(Vec::new);
            let shape = types::extents(value.r#type()).or(scalar)?;
            for (form, extent) in forms.iter().zip(&shape) {
                if let Some(index) = form.as_index()
                    && *extent >= 0
                {
                    *extents.get_mut(index)? = *extent;
                }
            }
            inputs.push(Operand { value, changes: Vec::new(), shape, forms });
        }
        let output = inputs.pop()?;
        for (number, reduced) in reductions.into_iter().enumerate() {
            let written = output.forms.iter().any(|f| f.as_index() == Some(number));
            if written == reduced {
                return None;
            }
        }
        let payload = Payload::read(op, inputs.len())?;
        let block = generic.body()?;
        let unread = (0..inputs.len())
            .map(|input| Some(!op::is_used(block.argument(input).ok()?)))
            .collect::<Option<_>>()?;
        Some(Generic { inputs, output, extents, payload, unread })
    }

    /// Whether these inputs are all inputs, or the others are never read, define static extents only, and no loop is
    /// known to be empty.
    pub(crate) fn reads_only(&self, inputs: &[usize]) -> bool {
        let mut others = (0..self.inputs.len()).filter(|input| !inputs.contains(input));
        others.all(|input| {
            let shape = self.inputs.get(input).map(|operand| &operand.shape);
            self.unread.get(input) == Some(&true)
                && shape.is_some_and(|shape| shape.iter().all(|extent| *extent > 0))
                && !self.all_extents().any(|extent| extent == 0)
        })
    }

    /// The extents of loops and operands; negative for dynamic ones.
    fn all_extents(&self) -> impl Iterator<Item = i64> {
        let operands = self.inputs.iter().chain([&self.output]);
        let extents = self.extents.iter().chain(operands.flat_map(|o| &o.shape));
        extents.copied()
    }

    /// Whether all extents of loops and operands are static, and no loop is empty.
    pub(crate) fn is_static(&self) -> bool {
        self.all_extents().all(|extent| extent > 0)
    }

    pub(crate) fn extent(&self, number: usize) -> i64 {
        self.extents.get(number).copied().unwrap_or(-1)
    }
}
