// SPDX-License-Identifier: Apache-2.0
//! Lifetimes of arrays in a shared buffer: operations outside of a strip may also use the buffer of a local array.

use super::super::member::{Access, Member, shape};
use super::{Local, Strips};
use crate::ir::{self, ValueKey, memref};
use crate::schedule::buffer_uses::sort_in_block;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::melior;

/// A slice of an array: the offset and size of each dimension.
type Part = Vec<(i64, i64)>;

/// The slices of an array that a sequence of operations has written.
struct Written {
    array: ValueKey,
    whole: Part,
    /// The written slices, which are disjoint.
    parts: Vec<Part>,
}

impl Written {
    /// No slice is written yet. `None` if the array has a dynamic extent other than the number of images, which its views also have.
    fn new(local: &Local) -> Option<Self> {
        let extents = shape(local.array)?.into_iter().enumerate();
        let whole = extents.map(|(dimension, extent)| {
            let is_images = extent.is_none() && local.images == Some(dimension);
            Some((0, if is_images { 1 } else { extent? }))
        });
        Some(Written {
            array: ValueKey::of(local.array),
            whole: whole.collect::<Option<_>>()?,
            parts: Vec::new(),
        })
    }

    fn is_whole(&self) -> bool {
        let elements = |part: &Part| part.iter().map(|(_, size)| *size).product::<i64>();
        self.parts.iter().map(elements).sum::<i64>() == elements(&self.whole)
    }

    /// Adds the writes of an operation. Returns whether the operation reads only slices that were written before.
    fn add(&mut self, member: &Member) -> bool {
        let is_of_array = |access: &&Access| ValueKey::of(access.array) == self.array;
        let part =
            |access: &Access| if access.part.is_empty() { self.whole.clone() } else { access.part.clone() };
        let accesses = || member.accesses.iter().filter(is_of_array);
        let is_known = |access: &Access| self.is_whole() || self.parts.contains(&part(access));
        if !accesses().filter(|access| access.reads).all(is_known) {
            return false;
        }
        let is_written = |access: &&Access| access.writes && access.is_plain();
        let written: Vec<Part> = accesses().filter(is_written).map(part).collect();
        for part in written {
            let mut others = self.parts.iter();
            if others.all(|other| memref::are_apart(other, &part)) {
                self.parts.push(part);
            }
        }
        true
    }
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// Whether the operations of the strip read only elements of an array that the strip wrote before.
    pub(super) fn is_closed(&self, local: &Local<'c, 'a>) -> bool {
        let Some(mut written) = Written::new(local) else {
            return false;
        };
        self.parts.iter().all(|part| written.add(&part.member))
    }

    /// Whether the strip neither writes elements that other operations read, nor reads elements that other operations write. Each other
    /// user of the buffer must precede the strip, or follow it and overwrite the elements before it reads them.
    pub(super) fn is_apart(&self, local: &Local<'c, 'a>) -> bool {
        let apart = || {
            if !self.is_closed(local) {
                return None;
            }
            let is_part = |op: OperationRef| self.parts.iter().any(|part| part.member.op == op);
            let (first, last) = (self.first()?, self.parts.last()?.member.op);
            let block = last.block()?;
            let users = memref::users_of_buffer(local.array)?.into_iter();
            let mut others: Vec<OperationRef> = users.filter(|op| !is_part(*op)).collect();
            if others.is_empty() {
                return Some(true);
            }
            // If the allocation is outside of the block, the next iteration of an enclosing loop may read the buffer.
            if local.allocation.block() != Some(block) {
                return None;
            }
            others.retain(|op| {
                let ancestor = ir::ancestor_in(block, *op);
                ancestor.is_none_or(|ancestor| !ir::is_before(ancestor, first))
            });
            sort_in_block(&mut others);
            others.dedup();
            let mut written = Written::new(local)?;
            for op in others {
                if written.is_whole() {
                    break;
                }
                let is_after = op.block() == Some(block) && ir::is_before(last, op);
                let is_new = is_after && written.add(&Member::from_op(op)?);
                if !is_new {
                    return None;
                }
            }
            Some(true)
        };
        apart() == Some(true)
    }

    /// Whether other operations use the buffer of an array.
    pub(super) fn is_shared(&self, local: &Local<'c, 'a>) -> bool {
        let users = memref::users_of_buffer(local.array);
        let is_part = |op: &OperationRef| self.parts.iter().any(|part| part.member.op == *op);
        users.is_none_or(|users| !users.iter().all(is_part))
    }

    /// The first operation of the strip.
    fn first(&self) -> Option<OperationRef<'c, 'a>> {
        self.parts.first().map(|part| part.member.op)
    }
}
