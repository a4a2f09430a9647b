// SPDX-License-Identifier: Apache-2.0
//! Hoists packed copies of a kernel's operands out of a parallel loop, if many iterations read the same operand.
//!
//! If an operand depends only on some indices of the loop, it is packed before the loop, in a loop over these indices. Each iteration of
//! that loop writes its own slice of one copy.

use super::buffer_uses::sort_in_block;
use super::nest::ESTIMATE;
use crate::ir::scf::Bounds;
use crate::ir::types::{self, DYNAMIC};
use crate::ir::walk::parents;
use crate::ir::{self, Builder, Copier, ValueKey, ops, scf};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use std::collections::HashSet;

/// An array that a parallel loop computes from some of the loop indices.
pub(super) struct Outside<'c, 'a> {
    /// The parallel loop.
    around: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    /// The operations of the loop that compute the array, in order.
    makers: Vec<OperationRef<'c, 'a>>,
    /// The loop indices that the array depends on, with their numbers of iterations.
    indices: Vec<(Value<'c, 'a>, Value<'c, 'a>)>,
}

/// The error for an array that cannot be computed before the loop.
pub(super) struct Unknown;

impl<'c: 'a, 'a> Outside<'c, 'a> {
    /// Analyzes an array in the parallel loop that encloses an operation; `None` if there is no such loop.
    pub(super) fn new(op: OperationRef<'c, 'a>, array: Value<'c, 'a>) -> Result<Option<Self>, Unknown> {
        let Some(around) = parents(op).find(|parent| ir::name(*parent) == ops::scf::PARALLEL) else {
            return Ok(None);
        };
        let block = ir::first_block(around).ok_or(Unknown)?;
        let makers = makers(array, block).ok_or(Unknown)?;
        let used: HashSet<ValueKey> =
            makers.iter().flat_map(|maker| maker.operands()).map(ValueKey::of).collect();
        let indices: Vec<(Value, Value)> = ir::arguments(block)
            .into_iter()
            .zip(Bounds::all(around))
            .filter(|(index, _)| used.contains(&ValueKey::of(*index)))
            .map(|(index, bounds)| (index, bounds.upper))
            .collect();
        // A view that is created in the loop is not available before the loop.
        if indices.is_empty() && !makers.is_empty() {
            return Err(Unknown);
        }
        Ok(Some(Outside { around, array, makers, indices }))
    }

    /// The number of iterations that read the same array. An unknown number of iterations counts as 1.
    pub(super) fn repeats(&self) -> i64 {
        let volume = |bounds: &mut dyn Iterator<Item = Value<'c, 'a>>| {
            bounds.map(|bound| ir::integer(bound).unwrap_or(1)).fold(1, i64::saturating_mul)
        };
        let all = volume(&mut Bounds::all(self.around).into_iter().map(|bounds| bounds.upper));
        all / volume(&mut self.indices.iter().map(|(_, bound)| *bound)).max(1)
    }

    /// Whether the array is the same in all iterations.
    pub(super) fn is_one(&self) -> bool {
        self.indices.is_empty()
    }

    /// The parallel loop.
    pub(super) fn around(&self) -> OperationRef<'c, 'a> {
        self.around
    }

    /// Returns an extent of an array in the loop as a value that is available before the loop; `None` if there is no such value.
    pub(super) fn extent(&self, array: Value<'c, 'a>, dimension: usize) -> Option<Value<'c, 'a>> {
        let is_outside = |value: Value<'c, 'a>| {
            let is_inside = |op| op == self.around || parents(op).any(|parent| parent == self.around);
            !ir::definition(value).is_some_and(|(op, _)| is_inside(op))
        };
        if is_outside(array) && ir::definition(array).is_some() {
            return Some(Builder::at(self.around).dim(array, dimension));
        }
        let open = ir::memref::extents(array.r#type()).into_iter();
        let number = open.take(dimension).filter(|n| *n == DYNAMIC).count();
        ir::definition(array)
            .and_then(|(maker, _)| ir::shape::dynamic_size(maker, number))
            .filter(|size| is_outside(*size) && ir::definition(*size).is_some())
    }

    /// Allocates an array before the loop, with a slice of `size` elements for each combination of the indices. Returns the array, and
    /// the offset of an iteration's slice, which is computed before `op` in the loop. `fill` writes one slice: its arguments are the
    /// operation to insert before, the operand, and the allocated array with the offset of the slice.
    pub(super) fn parts(
        &self,
        op: OperationRef<'c, 'a>,
        size: Value<'c, 'a>,
        element: Type<'c>,
        fill: impl FnOnce(OperationRef<'c, 'a>, Value<'c, 'a>, [Value<'c, 'a>; 2]),
    ) -> Result<[Value<'c, 'a>; 2], Error> {
        let at = Builder::at(self.around);
        let counts = self.indices.iter().map(|(_, bound)| ir::integer(*bound));
        let known = counts.fold(ir::integer(size), |all, n| all?.checked_mul(n?));
        let whole = match known {
            Some(all) => at.alloc(types::memref(&[all], element), &[]),
            None => {
                let all = self.indices.iter().fold(size, |all, (_, bound)| at.muli(all, *bound));
                at.alloc(types::memref(&[DYNAMIC], element), &[all])
            }
        };
        let (region, body, positions) = at.region(&vec![at.index_type(); self.indices.len()]);
        let end = body.op(ops::scf::REDUCE, &[], &[], &[], Vec::new());
        let inside = Builder::at(end);
        let mut copier = Copier::new();
        for ((old, _), new) in self.indices.iter().zip(&positions) {
            copier.set(*old, *new);
        }
        for maker in &self.makers {
            copier.copy(*maker, &inside, &mut |_, _, _| Ok(false))?;
        }
        let part = self.offset(end, &positions, size);
        fill(end, copier.get(self.array), [whole, part]);
        let bounds: Vec<Value> = self.indices.iter().map(|(_, bound)| *bound).collect();
        let work = ir::integer(size).unwrap_or(ESTIMATE * ESTIMATE);
        scf::close_parallel(&at, &bounds, work, region)?;
        let indices: Vec<Value> = self.indices.iter().map(|(index, _)| *index).collect();
        Ok([whole, self.offset(op, &indices, size)])
    }

    /// Computes the offset of a slice before an operation.
    fn offset(
        &self,
        anchor: OperationRef<'c, 'a>,
        positions: &[Value<'c, 'a>],
        size: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        let at = Builder::at(anchor);
        let places = positions.iter().zip(&self.indices);
        let number = places
            .fold(at.idx(0), |number, (position, (_, bound))| at.addi(at.muli(number, *bound), *position));
        at.muli(number, size)
    }
}

/// Returns the operations of a block that compute a value, in order; `None` if one of them has regions or side effects.
fn makers<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    block: melior::ir::BlockRef<'c, 'a>,
) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut makers: Vec<OperationRef> = Vec::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        let Some((maker, _)) = ir::definition(value) else {
            continue;
        };
        if maker.block() != Some(block) || makers.contains(&maker) {
            // Results of a loop in the block are not available before that loop.
            if !ir::ancestor_in(block, maker).is_none_or(|ancestor| ancestor == maker) {
                return None;
            }
            continue;
        }
        let is_simple = maker.region_count() == 0 && skript_dialect::op::is_pure(&maker);
        if !is_simple {
            return None;
        }
        makers.push(maker);
        pending.extend(maker.operands());
    }
    sort_in_block(&mut makers);
    Some(makers)
}
