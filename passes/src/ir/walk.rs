// SPDX-License-Identifier: Apache-2.0
//! Walks blocks, nested operations and parents.

use super::builder::operations;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, RegionLike, RegionRef};
use mlir_sys::MlirOperation;
use std::ffi::c_void;

/// All operations nested in `root`, in pre-order.
pub fn nested<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    unsafe extern "C" fn add(op: MlirOperation, operations: *mut c_void) -> mlir_sys::MlirWalkResult {
        // SAFETY: `operations` is the vector below, which outlives the walk.
        unsafe { (*operations.cast::<Vec<MlirOperation>>()).push(op) };
        mlir_sys::MlirWalkResult_MlirWalkResultAdvance
    }
    let mut operations: Vec<MlirOperation> = Vec::new();
    // SAFETY: the operation is valid, and the callback does not change it. Nested operations live as long as `root`.
    unsafe {
        let order = mlir_sys::MlirWalkOrder_MlirWalkPreOrder;
        mlir_sys::mlirOperationWalk(root.to_raw(), Some(add), (&raw mut operations).cast(), order);
        // The first one is `root`.
        operations.into_iter().skip(1).map(|op| OperationRef::from_raw(op)).collect()
    }
}

/// The operations nested in `root` that have this name, in pre-order.
pub(crate) fn named<'c, 'a>(root: OperationRef<'c, 'a>, name: &str) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = nested(root);
    operations.retain(|op| skript_dialect::op::is(op, name));
    operations
}

/// The operations in the blocks of an operation, without those nested in them.
pub fn children<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    blocks(op).into_iter().flat_map(operations).collect()
}

/// The parent operation.
pub(crate) fn parent<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    // SAFETY: an operation lives as long as its nested operations.
    op.parent_operation().map(|parent| unsafe { OperationRef::from_raw(parent.to_raw()) })
}

/// The ancestors of an operation, innermost first.
pub(crate) fn parents<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(parent(op), |op| parent(*op))
}

/// The blocks of all regions of an operation.
pub fn blocks<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let of_region = |region: RegionRef<'c, 'a>| {
        std::iter::successors(region.first_block(), |block| block.next_in_region())
    };
    op.regions().flat_map(of_region).collect()
}

/// The first block of an operation's first region, such as the entry block of a function.
pub fn first_block<'c, 'a>(function: OperationRef<'c, 'a>) -> Option<BlockRef<'c, 'a>> {
    // The error of a missing region would have the text of the module.
    if function.region_count() == 0 {
        return None;
    }
    function.region(0).ok()?.first_block()
}
