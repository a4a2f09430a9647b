//! The order of a block's ops: values are made where they are first needed, so that few are alive at once.

use super::memory::{ancestor_in, key};
use super::mlir;
use melior::ir::operation::OperationRef;
use melior::ir::{BlockRef, Value};
use std::collections::HashMap;

/// The ops of a block, numbered.
pub struct Order<'c, 'a> {
    block: BlockRef<'c, 'a>,
    position: HashMap<usize, usize>,
}

impl<'c, 'a> Order<'c, 'a> {
    pub fn of(block: BlockRef<'c, 'a>) -> Self {
        let operations = mlir::operations(block).into_iter().enumerate();
        Order {
            block,
            position: operations.map(|(n, op)| (key(op), n)).collect(),
        }
    }

    /// The op of the block that is the first to use the value, or holds it.
    pub fn first_user(&self, value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let users = mlir::users(value).into_iter();
        let own = users.filter_map(|user| ancestor_in(self.block, user));
        own.min_by_key(|op| self.position.get(&key(*op)))
    }
}
