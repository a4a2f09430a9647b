// SPDX-License-Identifier: Apache-2.0
//! A `linalg.generic` on tensors, as the layout search models it.

use super::{LastDimension, order};
use crate::ir::generic::{LoopNest, Operand};
use crate::prepare::constant_tensors::ConstantTensors;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};

/// The value assumed for dynamic extents.
const ESTIMATE: i64 = crate::schedule::nest::ESTIMATE;

/// A `linalg.generic` in which each dynamic extent is assumed to be [`ESTIMATE`].
pub(super) struct Node<'c, 'a> {
    pub(super) nest: LoopNest<'c, 'a>,
    /// For each operand, whether it is computed from variables alone.
    pub(super) constants: Vec<bool>,
}

impl<'c: 'a, 'a> Node<'c, 'a> {
    /// `None` if the maps are not linear.
    pub(super) fn new(op: OperationRef<'c, 'a>, constants: &ConstantTensors) -> Option<Self> {
        let mut nest = LoopNest::read(op).filter(|nest| !nest.is_on_arrays())?;
        let constants = nest.operands.iter().map(|operand| constants.contains(operand.value)).collect();
        let shapes = nest.operands.iter_mut().flat_map(|operand| &mut operand.shape);
        for extent in shapes.chain(&mut nest.extents).filter(|extent| **extent < 0) {
            *extent = ESTIMATE;
        }
        Some(Node { nest, constants })
    }

    /// The indices of the inputs whose elements the payload uses.
    pub(super) fn read_inputs(&self) -> impl Iterator<Item = usize> {
        self.nest.inputs().iter().enumerate().filter(|(_, input)| input.is_read()).map(|(number, _)| number)
    }

    pub(super) fn results(&self) -> impl Iterator<Item = Value<'c, 'a>> {
        self.nest.op.results().map(Value::from)
    }

    /// The dimension of a constant operand that should be stored last if the vector lanes are along the loop `lanes`. `None`
    /// unless an input that is not constant, and so cannot be packed, also varies along the loop.
    pub(super) fn stored_last(&self, number: usize, lanes: usize) -> LastDimension {
        let is_constant = |n: usize| self.constants.get(n) == Some(&true);
        let varies_too = |n: usize| {
            !is_constant(n) && self.nest.operands.get(n).is_some_and(|operand| operand.varies(lanes))
        };
        let operand = self.nest.operands.get(number)?;
        let dimension = operand.dimension(lanes)?;
        let is_last = dimension + 1 == operand.shape.len();
        (is_constant(number) && !is_last && self.read_inputs().any(varies_too)).then_some(dimension)
    }

    /// The parallel loop that runs along contiguous elements of an operand in a layout.
    pub(super) fn contiguous(&self, operand: &Operand, last: LastDimension) -> Option<usize> {
        let dimension = last.or_else(|| operand.shape.len().checked_sub(1))?;
        let form = operand.forms.get(dimension)?.as_linear()?;
        self.nest.loops(false).find(|l| form.contains(&(*l, 1)))
    }

    /// The stride of an operand along each loop, in a layout; `None` if an address exceeds i64.
    pub(super) fn strides(&self, operand: &Operand, last: LastDimension) -> Option<Vec<i64>> {
        let mut strides = vec![0_i64; self.nest.extents.len()];
        let mut size = 1_i64;
        for d in order(operand.shape.len(), last).into_iter().rev() {
            for (l, factor) in operand.forms.get(d)?.as_linear()? {
                let stride = strides.get_mut(l)?;
                *stride = stride.checked_add(factor.checked_mul(size)?)?;
            }
            size = size.checked_mul(*operand.shape.get(d)?)?;
        }
        Some(strides)
    }
}
