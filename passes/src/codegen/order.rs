// SPDX-License-Identifier: Apache-2.0
//! The order of a block's operations, used to compute values shortly before their first use: this shortens live ranges.
//!
//! The operations are numbered only once; MLIR would renumber the block after each move.

use crate::ir;
use crate::ir::{ancestor_in, key};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value};
use std::collections::HashMap;

/// The numbered operations of a block.
pub(super) struct Order<'c, 'a> {
    block: BlockRef<'c, 'a>,
    position: HashMap<usize, usize>,
}

impl<'c, 'a> Order<'c, 'a> {
    pub(super) fn new(block: BlockRef<'c, 'a>) -> Self {
        let operations = ir::operations(block).into_iter().enumerate();
        Order { block, position: operations.map(|(n, op)| (key(op), n)).collect() }
    }

    /// Returns the first operation of the block that uses the value or contains a user of it.
    pub(super) fn first_user(&self, value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let users = ir::users(value).into_iter().filter_map(|user| ancestor_in(self.block, user));
        users.min_by_key(|op| self.position.get(&key(*op)))
    }

    /// Moves `op` before the operation `earlier` if the operands of `op` are defined there. Returns whether `op` now precedes
    /// `earlier`.
    pub(super) fn move_before(&mut self, op: OperationRef<'c, 'a>, earlier: OperationRef<'c, 'a>) -> bool {
        let position = |op| self.position.get(&key(op)).copied();
        let (Some(from), Some(to)) = (position(op), position(earlier)) else {
            return false;
        };
        if from <= to {
            return true;
        }
        // A moved operation has the number of the operation that it was moved before.
        let is_defined = |value: Value<'c, 'a>| {
            ir::defining_op(value).is_none_or(|op| position(op).is_none_or(|n| n <= to) && op != earlier)
        };
        if !ir::nested(op).into_iter().chain([op]).all(|op| op.operands().all(is_defined)) {
            return false;
        }
        ir::move_before(op, earlier);
        self.position.insert(key(op), to);
        true
    }
}
