// SPDX-License-Identifier: Apache-2.0
//! Blocks and operations below an operation.

use super::builder::operations;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, RegionLike};

/// Every op below `root`, outer ones first.
pub fn nested<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending = vec![root];
    while let Some(op) = pending.pop() {
        found.push(op);
        let below: Vec<_> = blocks(op).into_iter().flat_map(operations).collect();
        pending.extend(below.into_iter().rev());
    }
    found.remove(0);
    found
}

/// Every op of this name below `root`, outer ones first.
pub(crate) fn named<'c, 'a>(root: OperationRef<'c, 'a>, name: &str) -> Vec<OperationRef<'c, 'a>> {
    let mut found = nested(root);
    found.retain(|op| skript_dialect::op::is(op, name));
    found
}

/// The parent operation.
pub(crate) fn parent<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // SAFETY: an operation lives as long as its nested operations.
    op.parent_operation().map(|parent| unsafe { OperationRef::from_raw(parent.to_raw()) })
}

/// The blocks of all regions of an op.
pub fn blocks<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let mut found = Vec::new();
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(b) = block {
            found.push(b);
            block = b.next_in_region();
        }
    }
    found
}

/// The entry block of a function.
pub fn first_block<'c, 'a>(function: OperationRef<'c, 'a>) -> Option<BlockRef<'c, 'a>> {
    function.region(0).ok()?.first_block()
}
