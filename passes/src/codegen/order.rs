// SPDX-License-Identifier: Apache-2.0
//! The order of a block's ops: values are made where they are first needed, so that few are alive at once.
//!
//! Numbers are given once: MLIR numbers a block's ops again after each move.

use crate::ir;
use crate::ir::{ancestor_in, key};
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{BlockRef, Value};
use std::collections::HashMap;

/// The ops of a block, numbered.
pub(super) struct Order<'c, 'a> {
    block: BlockRef<'c, 'a>,
    position: HashMap<usize, usize>,
}

impl<'c, 'a> Order<'c, 'a> {
    pub(super) fn of(block: BlockRef<'c, 'a>) -> Self {
        let operations = ir::operations(block).into_iter().enumerate();
        Order { block, position: operations.map(|(n, op)| (key(op), n)).collect() }
    }

    /// The op of the block that is the first to use the value, or holds it.
    pub(super) fn first_user(&self, value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let users = ir::users(value).into_iter();
        let own = users.filter_map(|user| ancestor_in(self.block, user));
        own.min_by_key(|op| self.position.get(&key(*op)))
    }

    /// Moves an op of the block before an earlier one if its operands are defined there; returns whether it precedes
    /// it.
    pub(super) fn move_before(&mut self, op: OperationRef<'c, 'a>, earlier: OperationRef<'c, 'a>) -> bool {
        let position = |op| self.position.get(&key(op)).copied();
        let (Some(own), Some(at)) = (position(op), position(earlier)) else {
            return false;
        };
        if own <= at {
            return true;
        }
        // An op that was moved before another has the other's number.
        let is_made = |value: Value<'c, 'a>| match OperationResult::try_from(value) {
            Ok(result) => {
                let maker = position(result.owner());
                maker.is_none_or(|n| n <= at) && result.owner() != earlier
            }
            Err(_) => true,
        };
        let needed = ir::nested(op).into_iter().chain([op]);
        if !needed.into_iter().all(|op| op.operands().all(is_made)) {
            return false;
        }
        ir::move_before(op, earlier);
        self.position.insert(key(op), at);
        true
    }
}
