// SPDX-License-Identifier: Apache-2.0
//! The uses of a buffer before and after an operation.

use crate::ir::{self, memref, ops};
use melior::ir::Value;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use std::cmp::Ordering;

/// The operations that use an array, in the block of one of them.
pub(super) struct BufferUses<'c, 'a> {
    pub(super) array: Value<'c, 'a>,
    /// Before the operation, in order.
    pub(super) before: Vec<OperationRef<'c, 'a>>,
    /// After it, in order.
    pub(super) after: Vec<OperationRef<'c, 'a>>,
    /// Whether the buffer is allocated: no caller reads it.
    pub(super) is_allocated: bool,
    /// Whether it is allocated in the same block.
    pub(super) is_local: bool,
}

impl<'c: 'a, 'a> BufferUses<'c, 'a> {
    /// `None` if a use is not understood.
    pub(super) fn of(array: Value<'c, 'a>, op: OperationRef<'c, 'a>) -> Option<Self> {
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
            // What stands in another block may come before or after.
            let user = ir::ancestor_in(block, user)?;
            match user == op {
                true => {}
                false if ir::is_before(user, op) => uses.before.push(user),
                false => uses.after.push(user),
            }
        }
        for list in [&mut uses.before, &mut uses.after] {
            list.sort_by(|a, b| match ir::is_before(*a, *b) {
                true => Ordering::Less,
                false if a == b => Ordering::Equal,
                false => Ordering::Greater,
            });
            list.dedup();
        }
        Some(uses)
    }
}

/// The allocation of the buffer of an array.
fn allocation_of<'c: 'a, 'a>(array: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let (maker, _) = ir::definition(memref::root(array))?;
    [ops::memref::ALLOC, ops::memref::ALLOCA].contains(&ir::name(maker).as_str()).then_some(maker)
}

/// Whether no array with another root is in the same buffer: it is allocated, or an argument of a function, and no operation
/// passes it on. A loop-carried array may be in any buffer that its loop receives or yields.
pub(super) fn has_own_buffer<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let is_argument = ir::argument(memref::root(array)).is_some_and(|argument| {
        let parent = argument.owner().parent_operation();
        parent.is_some_and(|op| ir::name(op) == ops::func::FUNC)
    });
    (is_argument || allocation_of(array).is_some()) && memref::users_of_buffer(array).is_some()
}
