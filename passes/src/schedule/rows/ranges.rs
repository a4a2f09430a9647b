// SPDX-License-Identifier: Apache-2.0
//! Splits an allocation that holds several tensors one after the other into one allocation per tensor.
//!
//! Bufferization may reuse one array for several tensors, such as the scores of all layers, so the uses of one tensor cannot be
//! distinguished from the uses of the others. An operation that overwrites all elements without reading any starts a new array.
//! The memory planner, which runs later, can reuse the memory, so the total does not grow.

use super::member::Member;
use crate::ir::copy::Copier;
use crate::ir::memref::users_of_buffer;
use crate::ir::outline::replace_operands;
use crate::ir::{self, Builder, ops};
use crate::schedule::buffer_uses::sort_in_block;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value};
use skript_dialect::{PassError, melior};

/// Allocates each live range of an array separately, if only this block accesses the array, and not through views.
pub(super) fn separate<'c: 'a, 'a>(
    block: BlockRef<'c, 'a>,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    for allocation in ir::operations(block) {
        if ir::name(allocation) != ops::memref::ALLOC {
            continue;
        }
        let array: Value = allocation.result(0)?.into();
        let direct = ir::users(array);
        let Some(mut users) = users_of_buffer(array) else {
            continue;
        };
        let is_direct = |user: &OperationRef| user.block() == Some(block) && direct.contains(user);
        if !users.iter().all(is_direct) {
            continue;
        }
        sort_in_block(&mut users);
        users.dedup();
        let mut part = array;
        for (number, user) in users.into_iter().enumerate() {
            if number > 0 && begins(user, array) {
                let at = Builder::before(context, user)?.with_location(allocation.location());
                let copy = Copier::new().rebuild(allocation, &at, &mut |_, _, _| Ok(false))?;
                part = copy.result(0)?.into();
            }
            replace_operands(user, |operand| (operand == array).then_some(part));
        }
    }
    Ok(())
}

/// Whether an operation overwrites all elements of an array without reading any.
fn begins(op: OperationRef, array: Value) -> bool {
    let Some(member) = Member::from_op(op) else {
        return false;
    };
    let mut accesses = member.accesses.iter().filter(|access| access.array == array);
    let first = accesses.next().filter(|_| accesses.next().is_none());
    first.is_some_and(|access| access.writes && !access.reads && member.covers(access))
}
