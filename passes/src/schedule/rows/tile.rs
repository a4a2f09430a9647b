// SPDX-License-Identifier: Apache-2.0
//! Emits fused operations: copies of the operations that compute one tile, in loops over tiles.
//!
//! A [`Tile`] is the policy: it returns the iterations of an operation in a tile, and the array of an operand. Blocks of full rows
//! ([`super::emit`]), blocks of columns ([`super::columns`]) and strips of rows that windows read ([`super::strips`]) differ only in
//! this policy.

use super::group::Group;
use super::member::{Access, Member};
use super::storage::Storage;
use crate::ir::linalg::index_of;
use crate::ir::memref::{self, Extent};
use crate::ir::outline::replace_operands;
use crate::ir::{self, Builder, Copier, attributes, location, mutation, ops, scf};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Location, Region, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{PassError, melior};
use std::collections::HashSet;

/// Maximum number of bytes of the arrays of one tile on the stack of a thread.
pub(super) const STACK: i64 = 256 << 10;

/// The iterations of one tile, and the arrays of its operands.
pub(super) trait Tile<'c: 'a, 'a> {
    /// Returns the first iteration of a member's loop in the tile; `None` for 0.
    fn first(&self, number: usize, l: usize) -> Option<Value<'c, 'a>>;

    /// Returns the slice of an operand's array that the tile accesses.
    fn operand(
        &mut self,
        number: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError>;

    /// Copies a member, by its number, for the iterations of the tile.
    fn emit_member(
        &mut self,
        number: usize,
        member: &Member<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, PassError> {
        let at = at.with_location(member.op.location());
        let mut arrays = Vec::new();
        for access in &member.accesses {
            arrays.push(self.operand(number, access, &at)?);
        }
        let copy = Copier::new().rebuild(member.op, &at, &mut |_, _, _| Ok(false))?;
        for (access, array) in member.accesses.iter().zip(arrays) {
            mutation::set_operand(copy, access.operand, array);
        }
        for op in ir::nested(copy) {
            let first = index_of(op).and_then(|l| self.first(number, l));
            if let (Some(first), Some(next)) = (first, op.next_in_block()) {
                let index: Value = op.result(0)?.into();
                let users = ir::users(index);
                let at = Builder::before(at.context, next)?.with_location(op.location());
                let sum = at.addi(index, first);
                for user in users {
                    replace_operands(user, |operand| (operand == index).then_some(sum));
                }
            }
        }
        Ok(copy)
    }
}

/// Returns an insertion point before the last of some operations, with the fused location of all of them.
pub(super) fn before_last<'c: 'a, 'a>(
    members: &[&Member<'c, 'a>],
    context: &'c Context,
) -> Result<Builder<'c, 'a>, PassError> {
    let last = members.last().ok_or("a group without operations")?.op;
    let locations: Vec<Location> = members.iter().map(|member| member.op.location()).collect();
    Ok(Builder::before(context, last)?.with_location(location::fused(context, &locations, None)))
}

/// Parallel loops over tiles under construction.
pub(super) struct Loops<'c, 'a> {
    region: Region<'c>,
    counts: Vec<Value<'c, 'a>>,
    /// The insertion point in the body of the loops, or in the surrounding code if there is only one tile.
    pub(super) body: Builder<'c, 'a>,
    /// The index of each loop.
    pub(super) positions: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Loops<'c, 'a> {
    pub(super) fn open(counts: Vec<Value<'c, 'a>>, at: &Builder<'c, 'a>) -> Self {
        let (region, inside, positions) = at.region(&vec![Type::index(at.context); counts.len()]);
        let body = if counts.is_empty() { *at } else { inside };
        Loops { region, counts, body, positions }
    }

    /// Whether there are several tiles.
    pub(super) fn is_any(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Creates the loops if there are several tiles. `work` is the number of scalar operations of one tile.
    pub(super) fn close(self, work: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        if self.is_any() {
            self.body.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
            scf::close_parallel(at, &self.counts, work, self.region)?;
        }
        Ok(())
    }
}

/// Creates a sequential loop over tiles.
pub(super) fn sequential<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [from, to]: [Value<'c, 'a>; 2],
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>) -> Result<(), PassError>,
) -> Result<(), PassError> {
    let (region, inside, positions) = at.region(&[Type::index(at.context)]);
    body(&inside, *positions.first().ok_or("a loop without a position")?)?;
    inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    at.create(ops::scf::FOR, &[from, to, at.idx(1)], &[], &[], vec![region])?;
    Ok(())
}

/// Allocates an array for one tile, with the element type of another array. In a loop over tiles, it is on the stack of the thread.
pub(super) fn allocate<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    extents: &[i64],
    is_loop: bool,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let element = MemRefType::try_from(array.r#type())?.element();
    let name = if is_loop { ops::memref::ALLOCA } else { ops::memref::ALLOC };
    let attributes = [at.segments(&[0, 0]), ("alignment", attributes::i64(at.context, 64))];
    Ok(at.value(name, &[], &attributes, ir::types::memref(extents, element))?)
}

/// Views the elements of a tile in an array that was allocated for the largest tile.
pub(super) fn first_elements<'c: 'a, 'a>(
    largest: Value<'c, 'a>,
    sizes: &[Extent<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if sizes.iter().all(|size| size.value().is_none()) {
        return Ok(largest);
    }
    Ok(memref::block(at, largest, &vec![None; sizes.len()], sizes)?)
}

/// Views a slice of an array, by the offset and size of each dimension; returns the array itself if the slice is the full array.
pub(super) fn part<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    parts: &[(i64, i64)],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let extents = memref::extents(array.r#type());
    if parts.iter().zip(&extents).all(|(part, extent)| *part == (0, *extent)) {
        return Ok(array);
    }
    let (offsets, sizes): (Vec<i64>, Vec<i64>) = parts.iter().copied().unzip();
    Ok(memref::subview(at, array, &offsets, &sizes, &vec![1; parts.len()])?)
}

/// Erases the operations of a group, and the allocations of its local arrays unless `is_kept`. Returns the keys of the erased
/// operations.
pub(super) fn erase_group<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    storage: &Storage<'c, 'a>,
    is_kept: impl Fn(Value<'c, 'a>) -> bool,
) -> HashSet<usize> {
    let accesses = group.numbered().filter(|(_, access)| !is_kept(access.array));
    let unused = accesses.filter_map(|(_, access)| storage.allocation(access.array));
    erase(&group.members.iter().collect::<Vec<_>>(), unused)
}

/// Erases replaced operations, the views that only they used, and allocations. Returns the keys of the erased operations.
pub(super) fn erase<'c: 'a, 'a>(
    members: &[&Member<'c, 'a>],
    allocations: impl Iterator<Item = OperationRef<'c, 'a>>,
) -> HashSet<usize> {
    let views = members.iter().flat_map(|member| {
        let parts = member.accesses.iter().filter(|access| !access.part.is_empty());
        parts.filter_map(|access| ir::definition(member.op.operand(access.operand).ok()?))
    });
    let mut seen = HashSet::new();
    let mut views: Vec<OperationRef> = views.map(|(view, _)| view).collect();
    views.retain(|view| seen.insert(ir::key(*view)));
    let allocations: Vec<OperationRef> = allocations.collect();
    let mut keys = HashSet::new();
    let mut erase = |op: OperationRef<'c, 'a>| {
        if keys.insert(ir::key(op)) {
            ir::erase(op);
        }
    };
    members.iter().rev().for_each(|member| erase(member.op));
    // The views of erased arrays are unused too.
    views.retain(|view| view.results().all(|result| ir::users(result.into()).is_empty()));
    views.into_iter().for_each(&mut erase);
    allocations.into_iter().for_each(&mut erase);
    keys
}
