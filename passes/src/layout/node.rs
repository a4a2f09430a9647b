// SPDX-License-Identifier: Apache-2.0
//! A `linalg.generic` on tensors, as the search for layouts sees it.

use super::{Last, order};
use crate::ir::{self, linalg, maps, types};
use crate::prepare::constant_tensors::ConstantTensors;
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};

/// The estimate of a dynamic extent.
const ESTIMATE: i64 = crate::schedule::nest::ESTIMATE;

/// The operation.
pub(super) struct Node<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    /// By operand, results last.
    pub(super) operands: Vec<Operand<'c, 'a>>,
    /// Whether each loop is a reduction.
    pub(super) reductions: Vec<bool>,
    /// By loop.
    pub(super) extents: Vec<i64>,
    /// The number of operands that are only read.
    pub(super) inputs: usize,
}

/// A tensor that the operation reads or writes.
pub(super) struct Operand<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    /// By dimension.
    pub(super) subscripts: Vec<Affine>,
    /// By dimension; dynamic ones are estimates.
    pub(super) extents: Vec<i64>,
    /// Whether it is computed from variables alone.
    pub(super) is_constant: bool,
    /// Whether the payload uses its elements.
    pub(super) is_read: bool,
}

impl<'c: 'a, 'a> Node<'c, 'a> {
    /// `None` if the maps are not linear, or if no operand has the extent of a loop.
    pub(super) fn of(op: OperationRef<'c, 'a>, constants: &ConstantTensors) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let reductions = generic.reductions();
        let elements = ir::arguments(generic.body()?);
        let mut operands = Vec::new();
        let mut extents = vec![None; reductions.len()];
        for ((value, map), element) in op.operands().zip(generic.indexing_maps()).zip(elements) {
            let known = types::extents(value.r#type())?.into_iter();
            let known = known.map(|e| if e == types::DYNAMIC { ESTIMATE } else { e });
            let operand = Operand {
                value,
                subscripts: maps::forms(map)?,
                extents: known.collect(),
                is_constant: constants.contains(value),
                is_read: !ir::users(element).is_empty(),
            };
            for (form, extent) in operand.subscripts.iter().zip(&operand.extents) {
                if let Some(own) = form.as_index().and_then(|l| extents.get_mut(l)) {
                    *own = Some(*extent);
                }
            }
            operands.push(operand);
        }
        Some(Node {
            op,
            operands,
            reductions,
            extents: extents.into_iter().collect::<Option<_>>()?,
            inputs: op.operand_count().checked_sub(op.result_count())?,
        })
    }

    /// The destinations, one for each result.
    pub(super) fn outputs(&self) -> &[Operand<'c, 'a>] {
        self.operands.get(self.inputs..).unwrap_or_default()
    }

    /// The operands that are read only, those whose elements the payload uses.
    pub(super) fn read(&self) -> impl Iterator<Item = &Operand<'c, 'a>> {
        self.operands.iter().take(self.inputs).filter(|o| o.is_read)
    }

    /// The results.
    pub(super) fn results(&self) -> impl Iterator<Item = Value<'c, 'a>> {
        self.op.results().map(Value::from)
    }

    /// The parallel loops.
    pub(super) fn parallels(&self) -> impl Iterator<Item = usize> {
        self.reductions.iter().enumerate().filter(|(_, reduces)| !**reduces).map(|(l, _)| l)
    }

    /// The dimension of a constant operand that is stored last if the lanes are along a loop: of weights that vary along it beside
    /// another operand, which cannot be packed.
    pub(super) fn stored_last(&self, operand: &Operand, lanes: usize) -> Last {
        let beside = |other: &Operand| !other.is_constant && other.varies(lanes);
        let dimension = operand.dimension_of(lanes)?;
        let is_last = dimension + 1 == operand.extents.len();
        (operand.is_constant && !is_last && self.read().any(beside)).then_some(dimension)
    }
}

impl Operand<'_, '_> {
    /// Whether a loop is in a subscript.
    pub(super) fn varies(&self, l: usize) -> bool {
        self.subscripts.iter().any(|form| form.indices().contains(&l))
    }

    /// The dimension that a loop is the subscript of.
    pub(super) fn dimension_of(&self, l: usize) -> Option<usize> {
        self.subscripts.iter().position(|form| form.as_index() == Some(l))
    }

    /// The parallel loop that runs along contiguous elements in a layout.
    pub(super) fn contiguous(&self, last: Last, mut parallels: impl Iterator<Item = usize>) -> Option<usize> {
        let dimension = last.or_else(|| self.extents.len().checked_sub(1))?;
        let form = self.subscripts.get(dimension)?.as_linear()?;
        parallels.find(|l| form.contains(&(*l, 1)))
    }

    /// By loop, in elements; `None` if an address exceeds i64.
    pub(super) fn strides(&self, last: Last, loops: usize) -> Option<Vec<i64>> {
        let mut strides = vec![0_i64; loops];
        let mut size = 1_i64;
        for d in order(self.extents.len(), last).into_iter().rev() {
            for (l, factor) in self.subscripts.get(d)?.as_linear()? {
                let own = strides.get_mut(l)?;
                *own = own.checked_add(factor.checked_mul(size)?)?;
            }
            size = size.checked_mul(*self.extents.get(d)?)?;
        }
        Some(strides)
    }

    /// The number of elements.
    pub(super) fn size(&self) -> f64 {
        self.extents.iter().map(|e| *e as f64).product()
    }
}
