// SPDX-License-Identifier: Apache-2.0
//! Arrays of their own for what is in one allocation one after the other.
//!
//! Bufferization keeps several tensors in one array, such as the scores of all layers: operations on one of them do not look as if they alone
//! accessed it. An operation that writes all elements, and reads none, begins another array. Memory that is planned later is
//! as large as before.

use super::member::Member;
use crate::ir::copy::Copier;
use crate::ir::memref::users_of_buffer;
use crate::ir::{self, Builder, mutation, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value};
use skript_dialect::{PassError, melior};
use std::cmp::Ordering;

/// Gives each array of a block an allocation of its own, where the block alone accesses it, and not by views.
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
        users.sort_by(|one, other| match one == other {
            true => Ordering::Equal,
            false if ir::is_before(*one, *other) => Ordering::Less,
            false => Ordering::Greater,
        });
        users.dedup();
        let mut own = array;
        for (number, user) in users.into_iter().enumerate() {
            if number > 0 && begins(user, array) {
                let at = Builder::before(context, user)?.with_location(allocation.location());
                let copy = Copier::new().rebuild(allocation, &at, &mut |_, _, _| Ok(false))?;
                own = copy.result(0)?.into();
            }
            for (position, operand) in user.operands().enumerate() {
                if operand == array && own != array {
                    mutation::set_operand(user, position, own);
                }
            }
        }
    }
    Ok(())
}

/// Whether an operation writes all elements of an array, and reads none.
fn begins(op: OperationRef, array: Value) -> bool {
    let Some(member) = Member::of(op) else {
        return false;
    };
    let mut own = member.accesses.iter().filter(|access| access.array == array);
    let first = own.next().filter(|_| own.next().is_none());
    first.is_some_and(|access| access.writes && !access.reads && member.covers(access))
}
