// SPDX-License-Identifier: Apache-2.0
//! The uses of a buffer before and after an operation.

use crate::ir::{self, memref, ops};
use melior::ir::Value;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use std::cmp::Ordering;

/// The operations that use an array, relative to one of them: each is the ancestor in the block of that operation.
pub(super) struct BufferUses<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    /// Before the operation, in order.
    pub(super) before: Vec<OperationRef<'c, 'a>>,
    /// After the operation, in order.
    pub(super) after: Vec<OperationRef<'c, 'a>>,
    /// Whether the function allocates the buffer, so that no caller reads it.
    pub(super) is_allocated: bool,
    /// Whether the buffer is allocated in the same block.
    pub(super) is_local: bool,
}

impl<'c: 'a, 'a> BufferUses<'c, 'a> {
    /// `None` if the array has a use that the analysis does not support.
    pub(super) fn new(array: Value<'c, 'a>, op: OperationRef<'c, 'a>) -> Option<Self> {
        let block = op.block()?;
        let allocation = allocation_of(array);
        let mut uses = BufferUses {
            array,
            before: Vec::new(),
            after: Vec::new(),
            is_allocated: allocation.is_some(),
            is_local: allocation.is_some_and(|op| op.block() == Some(block)),
        };
        for user in memref::users_of_buffer(array)? {
            // A user in another block may come before or after.
            let user = ir::ancestor_in(block, user)?;
            if user != op {
                let list = if ir::is_before(user, op) { &mut uses.before } else { &mut uses.after };
                list.push(user);
            }
        }
        for list in [&mut uses.before, &mut uses.after] {
            sort_in_block(list);
            list.dedup();
        }
        Some(uses)
    }
}

/// Returns the operation that allocates the buffer of an array.
fn allocation_of<'c: 'a, 'a>(array: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let (maker, _) = ir::definition(memref::root(array))?;
    [ops::memref::ALLOC, ops::memref::ALLOCA].contains(&ir::name(maker).as_str()).then_some(maker)
}

/// Whether no array with another root is in the same buffer: the root is an allocation or a function argument, and no operation
/// passes it on. A loop-carried array may be in any buffer that its loop receives or yields.
pub(super) fn has_own_buffer<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let is_argument = ir::argument(memref::root(array)).is_some_and(|argument| {
        argument.owner().parent_operation().is_some_and(|op| ir::name(op) == ops::func::FUNC)
    });
    (is_argument || allocation_of(array).is_some()) && memref::users_of_buffer(array).is_some()
}

/// Sorts operations of one block in the order of the block.
pub(super) fn sort_in_block(operations: &mut [OperationRef]) {
    operations.sort_by(|a, b| {
        if a == b {
            Ordering::Equal
        } else if ir::is_before(*a, *b) {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    });
}
