// SPDX-License-Identifier: Apache-2.0
//! The data structure for `linalg.generic`: loops, operands with their subscripts, and a payload.

mod build;
mod contraction;
mod part;

use super::linalg::{Generic, index_of};
use super::types::{self, DYNAMIC};
use super::{ValueKey, arguments, defining_op, maps, operations, users};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, OperationRef, ShapedTypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_symbolic::Affine;
use std::collections::{BTreeSet, HashSet};

pub(crate) use build::rebuild;
pub use build::{Access, all_loops, copy_of, generic, map};
pub(crate) use part::PayloadPart;

/// A loop nest with a payload.
#[derive(Clone)]
pub(crate) struct LoopNest<'c, 'a> {
    pub(crate) op: OperationRef<'c, 'a>,
    /// Whether each loop reduces, outermost first.
    pub(crate) reductions: Vec<bool>,
    /// The extent of each loop; [`DYNAMIC`] if no operand has a static extent for it.
    pub(crate) extents: Vec<i64>,
    /// Inputs, then outputs.
    pub(crate) operands: Vec<Operand<'c, 'a>>,
    /// The number of inputs.
    pub(crate) inputs: usize,
    /// The operations of the payload without the terminator, in order.
    pub(crate) payload: Vec<OperationRef<'c, 'a>>,
    /// The new elements of the outputs.
    pub(crate) yielded: Vec<Value<'c, 'a>>,
}

/// A tensor, a memref or a scalar that a nest accesses.
#[derive(Clone)]
pub(crate) struct Operand<'c, 'a> {
    pub(crate) value: Value<'c, 'a>,
    /// The subscript of each dimension, as an affine form of the loops.
    pub(crate) forms: Vec<Affine>,
    /// The extent of each dimension; [`DYNAMIC`] for dynamic extents.
    pub(crate) shape: Vec<i64>,
    /// The block argument of the payload for the element.
    pub(crate) element: Value<'c, 'a>,
}

/// The operation that combines the element of an output with a value, such as the addition of a term to a sum.
#[derive(Clone, Copy)]
pub(crate) struct Accumulation<'c, 'a> {
    pub(crate) op: OperationRef<'c, 'a>,
    pub(crate) value: Value<'c, 'a>,
}

impl<'c: 'a, 'a> LoopNest<'c, 'a> {
    /// Analyzes a `linalg.generic`. `None` for other operations, and for subscripts that are not linear.
    pub(crate) fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        Self::with_forms(op, |map, _| maps::forms(map))
    }

    /// Like [`LoopNest::read`], but supports floor divisions by constants in subscripts. `None` for dynamic loops.
    pub(crate) fn read_divided(op: OperationRef<'c, 'a>) -> Option<Self> {
        Self::with_forms(op, |map, extents| {
            let is_static = extents.iter().all(|extent| *extent >= 0);
            maps::divided_forms(map, extents).filter(|_| is_static)
        })
    }

    /// Like [`LoopNest::read_divided`], but supports remainders too.
    pub(crate) fn read_with_remainders(op: OperationRef<'c, 'a>) -> Option<Self> {
        Self::with_forms(op, |map, extents| {
            let is_static = extents.iter().all(|extent| *extent >= 0);
            maps::divided_forms_and_remainders(map, extents).filter(|_| is_static)
        })
    }

    fn with_forms(
        op: OperationRef<'c, 'a>,
        forms: impl Fn(Attribute<'c>, &[i64]) -> Option<Vec<Affine>>,
    ) -> Option<Self> {
        let generic = Generic::cast(op)?;
        let (reductions, block) = (generic.reductions(), generic.body()?);
        let indexing: Vec<(Value, Attribute)> = op.operands().zip(generic.indexing_maps()).collect();
        let mut extents = vec![DYNAMIC; reductions.len()];
        for (value, map) in &indexing {
            let loops = maps::indices(*map).into_iter().zip(types::shape(value.r#type()));
            for (l, extent) in loops.filter(|(_, extent)| *extent >= 0) {
                if let Some(l) = l {
                    *extents.get_mut(l)? = extent;
                }
            }
        }
        let operands = indexing.into_iter().zip(arguments(block)).map(|((value, map), element)| {
            let (forms, shape) = (forms(map, &extents)?, types::shape(value.r#type()));
            (forms.len() == shape.len()).then_some(Operand { value, forms, shape, element })
        });
        let operands: Vec<Operand> = operands.collect::<Option<_>>()?;
        let mut payload = operations(block);
        let yielded: Vec<Value> = payload.pop()?.operands().collect();
        let inputs = operands.len().checked_sub(yielded.len())?;
        Some(LoopNest { op, reductions, extents, operands, inputs, payload, yielded })
    }

    /// Whether a loop reduces.
    pub(crate) fn reduces(&self) -> bool {
        self.reductions.contains(&true)
    }

    /// Whether the nest writes memrefs.
    pub(crate) fn is_on_arrays(&self) -> bool {
        self.op.result_count() == 0
    }

    /// Whether the indexing map of an operand is the identity.
    pub(crate) fn is_in_order(&self, operand: &Operand<'c, 'a>) -> bool {
        operand.forms == all_loops(self.reductions.len())
    }

    /// The operands that the nest only reads.
    pub(crate) fn inputs(&self) -> &[Operand<'c, 'a>] {
        self.operands.split_at(self.inputs).0
    }

    /// The operands that the nest writes.
    pub(crate) fn outputs(&self) -> &[Operand<'c, 'a>] {
        self.operands.split_at(self.inputs).1
    }

    /// The output of a nest with one output.
    pub(crate) fn output(&self) -> Option<&Operand<'c, 'a>> {
        self.outputs().first().filter(|_| self.yielded.len() == 1)
    }

    /// The loops that reduce, or that do not reduce.
    pub(crate) fn loops(&self, reduce: bool) -> impl Iterator<Item = usize> {
        self.reductions.iter().enumerate().filter(move |(_, reduces)| **reduces == reduce).map(|(l, _)| l)
    }

    /// The static extent of a loop.
    pub(crate) fn extent(&self, l: usize) -> Option<i64> {
        self.extents.get(l).copied().filter(|extent| *extent >= 0)
    }

    /// The extents of all loops; `None` if one of them is dynamic.
    pub(crate) fn static_extents(&self) -> Option<&[i64]> {
        self.extents.iter().all(|extent| *extent >= 0).then_some(&self.extents)
    }

    /// The number of points, where dynamic loops have `estimate` iterations.
    pub(crate) fn points(&self, estimate: i64) -> i64 {
        let extents = self.extents.iter().map(|extent| if *extent >= 0 { *extent } else { estimate });
        extents.fold(1, i64::saturating_mul)
    }

    /// The first operand with a dimension whose subscript is the loop, and this dimension.
    pub(crate) fn place(&self, l: usize) -> Option<(Value<'c, 'a>, usize)> {
        self.operands.iter().find_map(|operand| Some((operand.value, operand.dimension(l)?)))
    }

    /// The operand whose element is a value of the payload.
    pub(crate) fn position(&self, element: Value<'c, 'a>) -> Option<usize> {
        self.operands.iter().position(|operand| operand.element == element)
    }

    /// Whether the payload reads loop indices.
    pub(crate) fn reads_positions(&self) -> bool {
        self.payload.iter().any(|op| index_of(*op).is_some())
    }

    /// The combination of the element of the only output with a value, if the payload has no other use of the element.
    pub(crate) fn accumulation(&self) -> Option<Accumulation<'c, 'a>> {
        let before = self.output()?.element;
        let op = defining_op(*self.yielded.first()?)?;
        let [left, right] = super::both_operands(op).ok().filter(|_| op.operand_count() == 2)?;
        let value = if left == before { right } else { left };
        let is_used_once = (left == before) != (right == before) && users(before).len() == 1;
        is_used_once.then_some(Accumulation { op, value })
    }

    /// The operations of the payload that compute `results` from elements and from values that are `known`, in order.
    pub(crate) fn needed(
        &self,
        results: impl IntoIterator<Item = Value<'c, 'a>>,
        known: &[Value<'c, 'a>],
    ) -> Vec<OperationRef<'c, 'a>> {
        needed(&self.payload, results, known)
    }

    /// The loops that a value of the payload depends on. The element of an output depends on all loops.
    pub(crate) fn loops_of(&self, value: Value<'c, 'a>) -> BTreeSet<usize> {
        let needed = self.needed([value], &[]);
        let used: HashSet<ValueKey> =
            needed.iter().flat_map(|op| op.operands()).chain([value]).map(ValueKey::of).collect();
        let mut loops: BTreeSet<usize> = needed.iter().filter_map(|op| index_of(*op)).collect();
        for (n, operand) in self.operands.iter().enumerate() {
            if !used.contains(&ValueKey::of(operand.element)) {
                continue;
            }
            if n < self.inputs {
                loops.extend(operand.forms.iter().flat_map(Affine::indices));
            } else {
                loops.extend(0..self.reductions.len());
            }
        }
        loops
    }
}

/// The operations among `operations` that compute `results` from other values and from values that are `known`, in order.
pub(crate) fn needed<'c: 'a, 'a>(
    operations: &[OperationRef<'c, 'a>],
    results: impl IntoIterator<Item = Value<'c, 'a>>,
    known: &[Value<'c, 'a>],
) -> Vec<OperationRef<'c, 'a>> {
    let mut needed: HashSet<ValueKey> = results.into_iter().map(ValueKey::of).collect();
    let mut selected = Vec::new();
    for op in operations.iter().rev() {
        let mut results = op.results().map(Value::from);
        if results.any(|r| needed.contains(&ValueKey::of(r)) && !known.contains(&r)) {
            needed.extend(op.operands().map(ValueKey::of));
            selected.push(*op);
        }
    }
    selected.reverse();
    selected
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// Whether the payload reads the element.
    pub(crate) fn is_read(&self) -> bool {
        skript_dialect::op::is_used(self.element)
    }

    /// Whether a subscript depends on a loop.
    pub(crate) fn varies(&self, l: usize) -> bool {
        self.forms.iter().any(|form| form.indices().contains(&l))
    }

    /// The first dimension whose subscript is the loop.
    pub(crate) fn dimension(&self, l: usize) -> Option<usize> {
        self.forms.iter().position(|form| form.as_index() == Some(l))
    }

    /// The loop that subscripts each dimension; `None` unless each subscript is a loop.
    pub(crate) fn indices(&self) -> Option<Vec<usize>> {
        self.forms.iter().map(Affine::as_index).collect()
    }

    /// The operand with its subscripts, for a new nest.
    pub(crate) fn access(&self) -> Access<'c, 'a> {
        Access(self.value, self.forms.clone())
    }

    /// The type of a memref; `None` for tensors and scalars.
    pub(crate) fn array(&self) -> Option<MemRefType<'c>> {
        types::as_memref(self.value.r#type())
    }

    /// The type of a memref with static extents, strides and offset.
    pub(crate) fn static_array(&self) -> Option<MemRefType<'c>> {
        let array = self.array().filter(|array| array.has_static_shape())?;
        let (strides, offset) = array.strides_and_offset();
        (offset >= 0 && strides.iter().all(|stride| *stride >= 0)).then_some(array)
    }

    /// The offset of the first access to a memref, and its stride for each loop. `None` if a stride or the offset is dynamic.
    pub(crate) fn strides(&self, loops: usize) -> Option<(i64, Vec<i64>)> {
        let offset = self.array()?.strides_and_offset().1;
        let (first, strides) = self.strides_within(loops)?;
        (offset >= 0).then(|| (offset + first, strides))
    }

    /// Like [`Operand::strides`], with the offset from the first element of the memref. `None` if a stride is dynamic.
    pub(crate) fn strides_within(&self, loops: usize) -> Option<(i64, Vec<i64>)> {
        let strides = self.array()?.strides_and_offset().0;
        let (mut offset, mut by_loop) = (0, vec![0; loops]);
        if strides.iter().any(|stride| *stride < 0) {
            return None;
        }
        for (form, stride) in self.forms.iter().zip(strides) {
            offset += form.offset() * stride;
            for (l, factor) in form.as_linear()? {
                *by_loop.get_mut(l)? += factor * stride;
            }
        }
        Some((offset, by_loop))
    }
}
