// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-reductions`: merges reductions without a kernel that have the same loops over the same operands.
//!
//! Two sums with a common factor, such as the sum of weights and the sum of weighted values, then compute the factor once, because CSE
//! merges the common subexpressions of the merged payload. The first reduction moves to the second one, if no operation between them
//! depends on it or writes an array that it reads. The computation of each element does not change.

use super::buffer_uses::has_own_buffer;
use crate::ir::effects::Effects;
use crate::ir::linalg::{Generic, generic_attributes};
use crate::ir::{self, Builder, Copier, memref, ops, walk};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, BlockRef, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::{HashMap, HashSet};

/// The pass `skript-merge-reductions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-reductions",
    summary: "merge reductions that have the same loops over the same operands",
    dependent_dialects: &[Dialect::Linalg],
    run: |root, _, rewriter| {
        let mut effects = Effects::new(HashMap::new());
        // Merging does not erase any of these blocks: merged operations contain no other reductions.
        let mut seen = HashSet::new();
        let blocks = walk::named(root, ops::linalg::GENERIC).into_iter();
        let mut blocks: Vec<BlockRef> = blocks.filter_map(|op| op.block()).collect();
        blocks.retain(|block| seen.insert(block.to_raw().ptr as usize));
        for block in blocks {
            merge_in(block, &mut effects, rewriter.context())?;
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of operations after a reduction that are searched for another reduction.
const DISTANCE: usize = 8;

fn merge_in<'c: 'a, 'a>(
    block: BlockRef<'c, 'a>,
    effects: &mut Effects<'c, 'a>,
    context: &'c melior::Context,
) -> Result<(), Error> {
    let mut pending: Vec<OperationRef> = ir::operations(block);
    pending.reverse();
    while let Some(op) = pending.pop() {
        let Some(first) = Reduction::new(op) else {
            continue;
        };
        let followers = pending.iter().rev().take(DISTANCE).enumerate();
        let mut other = None;
        for (distance, next) in followers {
            if let Some(second) = Reduction::new(*next).filter(|second| first.fits(second)) {
                other = Some((distance, second));
                break;
            }
            if !first.may_pass(*next, effects) {
                break;
            }
        }
        if let Some((distance, second)) = other {
            let merged = first.merged(&second, context)?;
            // The merged reduction may be merged with another one.
            let place = pending.len() - 1 - distance;
            if let Some(slot) = pending.get_mut(place) {
                *slot = merged;
            }
            ir::erase(first.op);
            ir::erase(second.op);
        }
    }
    Ok(())
}

/// A `linalg.generic` on buffers that reduces.
struct Reduction<'c, 'a> {
    op: OperationRef<'c, 'a>,
    generic: Generic<'c, 'a>,
    inputs: Vec<Value<'c, 'a>>,
    outputs: Vec<Value<'c, 'a>>,
    maps: Vec<Attribute<'c>>,
    reductions: Vec<bool>,
}

impl<'c: 'a, 'a> Reduction<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op)?;
        let reductions = generic.reductions();
        if op.result_count() > 0 || !reductions.contains(&true) {
            return None;
        }
        let maps = generic.indexing_maps();
        let segments = ir::typed::segments(op);
        let mut inputs: Vec<Value> = op.operands().collect();
        let outputs = inputs.split_off(*segments.first()?);
        (maps.len() == inputs.len() + outputs.len()).then_some(Reduction {
            op,
            generic,
            inputs,
            outputs,
            maps,
            reductions,
        })
    }

    /// Whether two reductions have the same loops and inputs, and neither writes an array that the other accesses.
    fn fits(&self, other: &Self) -> bool {
        let inputs = self.inputs.len();
        let kinds = |reduction: &Self| -> Vec<Type<'c>> {
            reduction.outputs.first().map(|out| out.r#type()).into_iter().collect()
        };
        let all = || self.outputs.iter().chain(&other.outputs);
        let roots: Vec<Value> = all().map(|out| memref::root(*out)).collect();
        let are_distinct =
            roots.iter().enumerate().all(|(n, root)| !roots.iter().skip(n + 1).any(|other| other == root));
        let read = self.read().into_iter().chain(other.read());
        self.inputs == other.inputs
            && self.reductions == other.reductions
            && self.maps.get(..inputs) == other.maps.get(..inputs)
            && self.maps.get(inputs) == other.maps.get(inputs)
            && kinds(self) == kinds(other)
            && are_distinct
            && all().all(|out| has_own_buffer(*out))
            && read.into_iter().all(|array| !roots.contains(&array))
    }

    /// The arrays that the reduction reads: its inputs, and those that its payload loads from.
    fn read(&self) -> Vec<Value<'c, 'a>> {
        let loads = walk::nested(self.op).into_iter().flat_map(|op| op.operands().collect::<Vec<_>>());
        self.inputs.iter().copied().chain(loads).map(memref::root).collect()
    }

    /// Whether the reduction may move from before to after this operation.
    fn may_pass(&self, op: OperationRef<'c, 'a>, effects: &mut Effects<'c, 'a>) -> bool {
        let written: Vec<Value> = self.outputs.iter().map(|out| memref::root(*out)).collect();
        let nested = walk::nested(op).into_iter().chain([op]);
        let mut operands = nested.flat_map(|op| op.operands().collect::<Vec<_>>());
        let uses = operands.any(|operand| written.contains(&memref::root(operand)));
        let read = self.read();
        let mut changed = effects.written(op).into_iter();
        let is_call = ir::name(op) == ops::func::CALL;
        !uses && !is_call && !changed.any(|array| read.contains(&memref::root(array)))
    }

    /// Merges both reductions into one operation before `other`.
    fn merged(&self, other: &Self, context: &'c melior::Context) -> Result<OperationRef<'c, 'a>, Error> {
        let at = Builder::before(context, other.op)?;
        let bodies = [self, other].map(|reduction| reduction.generic.body());
        let [Some(first), Some(second)] = bodies else {
            return Err(Error::OperationBuild);
        };
        let inputs = self.inputs.len();
        let (arguments_of_first, added) = (ir::arguments(first), ir::arguments(second));
        let elements = [arguments_of_first.as_slice(), ir::last(&added, other.outputs.len())].concat();
        let kinds: Vec<Type> = elements.iter().map(|element| element.r#type()).collect();
        let (region, inside, arguments) = at.region(&kinds);
        let mut copier = Copier::from_pairs(&elements, &arguments);
        for (old, new) in added.iter().zip(ir::first(&arguments, inputs)) {
            copier.set(*old, *new);
        }
        let mut yielded = Vec::new();
        for block in [first, second] {
            let mut all = ir::operations(block);
            let end = all.pop().ok_or(Error::OperationBuild)?;
            copier.copy_all(&all, &inside)?;
            yielded.extend(end.operands().map(|value| copier.get(value)));
        }
        inside.create(ops::linalg::YIELD, &yielded, &[], &[], Vec::new())?;
        let outputs = [self.outputs.as_slice(), &other.outputs].concat();
        let maps = [self.maps.as_slice(), other.maps.get(inputs..).unwrap_or_default()].concat();
        let counts = [inputs, outputs.len()];
        let attributes = generic_attributes(context, &maps, self.reductions.iter().copied(), counts);
        let operands = [self.inputs.as_slice(), &outputs].concat();
        at.create(ops::linalg::GENERIC, &operands, &attributes, &[], vec![region])
    }
}
