// SPDX-License-Identifier: Apache-2.0
//! Regions that move from one operation to another.

use super::Builder;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Region, RegionLike, Value, ValueLike};
use melior::{ContextRef, Error};

/// Takes the region of an operation, which then has an empty one.
///
/// # Errors
/// The operation has fewer regions.
pub fn take<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Result<Region<'c>, Error> {
    let source = op.region(number)?;
    let region = Region::new();
    // SAFETY: both regions are alive.
    unsafe { mlir_sys::mlirRegionTakeBody(region.to_raw(), source.to_raw()) };
    Ok(region)
}

/// Replaces the content of a region of `op` by that of `from`.
///
/// # Errors
/// One of the operations has fewer regions.
pub fn replace(op: OperationRef, from: OperationRef, number: usize) -> Result<(), Error> {
    let (target, source) = (op.region(number)?, from.region(number)?);
    // SAFETY: both regions are alive; no caller holds the previous content of the first.
    unsafe { mlir_sys::mlirRegionTakeBody(target.to_raw(), source.to_raw()) };
    Ok(())
}

/// The first block; it lives as long as the operation that the region ends up in.
pub fn first_block<'c: 'a, 'a>(region: &Region<'c>) -> Option<BlockRef<'c, 'a>> {
    let block = region.first_block()?;
    // SAFETY: blocks stay where they are when their region moves.
    Some(unsafe { BlockRef::from_raw(block.to_raw()) })
}

/// A builder before an operation. It borrows `owner`, the operation's context, which the caller keeps as long as the
/// builder.
///
/// # Errors
/// The operation is in no block.
pub fn before<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    owner: &ContextRef<'c>,
) -> Result<Builder<'c, 'a>, Error> {
    // SAFETY: a context outlives its modules.
    Builder::before(unsafe { owner.to_ref() }, op)
}

/// Moves the operations of a region of one block before `op`; erases the terminator and returns its operands.
///
/// # Errors
/// The operation has no such region, or the region no block.
pub fn inline<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    region: &Region<'c>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let block = first_block(region).ok_or(Error::OperationBuild)?;
    let owner = op.block().ok_or(Error::OperationBuild)?;
    let operations = super::builder::operations(block);
    let (end, rest) = operations.split_last().ok_or(Error::OperationBuild)?;
    // SAFETY: the values live on in the block that receives the operations.
    let values = end.operands().map(|v| unsafe { Value::from_raw(v.to_raw()) });
    let values = values.collect();
    for moved in rest {
        // SAFETY: the operation leaves one block and is owned by the other.
        unsafe {
            mlir_sys::mlirOperationRemoveFromParent(moved.to_raw());
            mlir_sys::mlirBlockInsertOwnedOperationBefore(owner.to_raw(), op.to_raw(), moved.to_raw());
        }
    }
    Ok(values)
}
