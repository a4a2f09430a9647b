// SPDX-License-Identifier: Apache-2.0
//! Moves regions from one operation to another.

use super::Builder;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Region, RegionLike, Value, ValueLike};
use melior::{ContextRef, Error};

/// Takes a region of an operation, which is empty afterwards.
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

/// Replaces the contents of a region of `op` by the contents of the same region of `from`.
///
/// # Errors
/// One of the operations has fewer regions.
pub fn replace(op: OperationRef, from: OperationRef, number: usize) -> Result<(), Error> {
    let (target, source) = (op.region(number)?, from.region(number)?);
    // SAFETY: both regions are alive; callers hold no reference into the previous contents of the first.
    unsafe { mlir_sys::mlirRegionTakeBody(target.to_raw(), source.to_raw()) };
    Ok(())
}

/// The first block. It lives as long as the operation that finally owns the region.
pub fn first_block<'c: 'a, 'a>(region: &Region<'c>) -> Option<BlockRef<'c, 'a>> {
    let block = region.first_block()?;
    // SAFETY: the address of a block does not change when its region moves.
    Some(unsafe { BlockRef::from_raw(block.to_raw()) })
}

/// A builder before an operation. It borrows `owner`, the operation's context, which must outlive the builder.
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

/// Moves the operations of a region of one block before `op`, except the terminator, and returns its operands.
///
/// # Errors
/// The operation has no such region, or the region no block.
pub fn inline<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    region: &Region<'c>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    inline_block(op, first_block(region).ok_or(Error::OperationBuild)?)
}

/// Like [`inline`], for a function of one block: `arguments` replace those of the function, and its operations get the location of `op`.
///
/// # Errors
/// The function has no body, or fewer arguments.
pub fn inline_function<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    function: OperationRef<'c, '_>,
    arguments: &[Value<'c, 'a>],
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let block = function.region(0)?.first_block().ok_or(Error::OperationBuild)?;
    // SAFETY: the operations of the block move to the block of `op`.
    let block: BlockRef<'c, 'a> = unsafe { BlockRef::from_raw(block.to_raw()) };
    for (number, argument) in arguments.iter().enumerate() {
        super::replace_uses(block.argument(number)?.into(), *argument);
    }
    for inner in super::builder::operations(block) {
        super::mutation::set_location(inner, op.location());
    }
    inline_block(op, block)
}

fn inline_block<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    block: BlockRef<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let owner = op.block().ok_or(Error::OperationBuild)?;
    let operations = super::builder::operations(block);
    let (terminator, moved) = operations.split_last().ok_or(Error::OperationBuild)?;
    // SAFETY: the values live on in the block that receives the operations.
    let values = terminator.operands().map(|v| unsafe { Value::from_raw(v.to_raw()) }).collect();
    for moved in moved {
        // SAFETY: the operation leaves one block and is owned by the other.
        unsafe {
            mlir_sys::mlirOperationRemoveFromParent(moved.to_raw());
            mlir_sys::mlirBlockInsertOwnedOperationBefore(owner.to_raw(), op.to_raw(), moved.to_raw());
        }
    }
    Ok(values)
}
