// SPDX-License-Identifier: Apache-2.0
//! The data structure for a `linalg.generic` on tensors.

use super::operand::Operand;
use super::payload::Payload;
use crate::ir::generic::{LoopNest, Operand as Accessed};
use melior::ir::OperationRef;
use skript_dialect::melior;

/// An operation with one result.
pub(crate) struct Generic<'c, 'a> {
    pub inputs: Vec<Operand<'c, 'a>>,
    pub output: Operand<'c, 'a>,
    /// Extents of the loops; negative for dynamic ones.
    pub extents: Vec<i64>,
    pub payload: Payload<'c, 'a>,
    /// Whether each input only defines extents, because the region never reads it.
    unread: Vec<bool>,
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// Analyzes an operation. `None` if it is on buffers, has several results, has subscripts that are not linear,
    /// reduces along a dimension of its output, or has a payload that no named operation has.
    pub(crate) fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op).filter(|nest| !nest.is_on_arrays())?;
        let output = nest.output()?;
        let is_consistent = |(l, reduces): (usize, &bool)| output.dimension(l).is_none() == *reduces;
        if !nest.reductions.iter().enumerate().all(is_consistent) {
            return None;
        }
        let payload = Payload::read(&nest)?;
        let operand = |accessed: &Accessed<'c, 'a>| Operand {
            value: accessed.value,
            changes: Vec::new(),
            shape: accessed.shape.clone(),
            forms: accessed.forms.clone(),
        };
        let unread = nest.inputs().iter().map(|input| !input.is_read()).collect();
        let (inputs, output) = (nest.inputs().iter().map(operand).collect(), operand(output));
        let extents = nest.extents.iter().map(|extent| (*extent).max(-1)).collect();
        Some(Generic { inputs, output, extents, payload, unread })
    }

    /// Whether all other inputs are unread and have static extents, and, if there are other inputs, no loop is known to be empty.
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
        self.extents.iter().chain(operands.flat_map(|o| &o.shape)).copied()
    }

    /// Whether all extents of loops and operands are static, and no loop is empty.
    pub(crate) fn is_static(&self) -> bool {
        self.all_extents().all(|extent| extent > 0)
    }

    pub(crate) fn extent(&self, number: usize) -> i64 {
        self.extents.get(number).copied().unwrap_or(-1)
    }
}
