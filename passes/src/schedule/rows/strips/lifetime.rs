// SPDX-License-Identifier: Apache-2.0
//! Arrays that one buffer holds after each other: what a strip computes need not be all that its buffer is used for.

use super::super::member::{Access, Member, extents};
use super::{Local, Strips};
use crate::ir::{self, ValueKey, memref};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::melior;

/// A part of an array: the offset and size of each dimension.
type Part = Vec<(i64, i64)>;

/// The parts of an array that were written since a point in time.
struct Written {
    array: ValueKey,
    whole: Part,
    /// They have no element in common.
    parts: Vec<Part>,
}

impl Written {
    /// None yet. `None` for an array with other dynamic extents than the number of images, which views of it have as well.
    fn of(local: &Local) -> Option<Self> {
        let extents = extents(local.array)?.into_iter().enumerate();
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

    /// Adds what an operation writes; whether it reads only what was written before.
    fn add(&mut self, member: &Member) -> bool {
        let own = |access: &&Access| ValueKey::of(access.array) == self.array;
        let part =
            |access: &Access| if access.part.is_empty() { self.whole.clone() } else { access.part.clone() };
        let accesses = || member.accesses.iter().filter(own);
        let is_known = |access: &Access| self.is_whole() || self.parts.contains(&part(access));
        if !accesses().filter(|access| access.reads).all(is_known) {
            return false;
        }
        let is_plain = |form: &Affine| form.as_index().is_some() || form.as_constant() == Some(0);
        let is_written = |access: &&Access| access.writes && access.forms.iter().all(is_plain);
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
    /// Whether the operations of the strip read only what they wrote into an array before.
    pub(super) fn is_closed(&self, local: &Local<'c, 'a>) -> bool {
        let Some(mut written) = Written::of(local) else {
            return false;
        };
        self.parts.iter().all(|part| written.add(&part.member))
    }

    /// Whether no other operation needs what the strip writes into an array, or writes what the strip reads: others that use the buffer
    /// come before, or they come after and write it first.
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
            // The next iteration of a loop around begins with the first one.
            if local.allocation.block() != Some(block) {
                return None;
            }
            others.retain(|op| {
                let own = ir::ancestor_in(block, *op);
                own.is_none_or(|own| !ir::is_before(own, first))
            });
            others.sort_by(|a, b| {
                if ir::is_before(*a, *b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
            });
            others.dedup();
            let mut written = Written::of(local)?;
            for op in others {
                if written.is_whole() {
                    break;
                }
                let is_after = op.block() == Some(block) && ir::is_before(last, op);
                let is_new = is_after && written.add(&Member::of(op)?);
                if !is_new {
                    return None;
                }
            }
            Some(true)
        };
        apart().unwrap_or(false)
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
