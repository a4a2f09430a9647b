// SPDX-License-Identifier: Apache-2.0
//! Assigns arrays of a group to shared memory slots: two arrays can share a slot if their live ranges do not overlap, or if an operation
//! reads one and writes the other at the same element.

use super::group::Group;
use super::member::{Access, Kind, Member};
use crate::ir::memref::users_of_buffer;
use crate::ir::{self, ValueKey, ops};
use crate::schedule::buffer_uses::has_own_buffer;
use crate::structure::Affine;
use melior::ir::operation::OperationRef;
use melior::ir::{Value, ValueLike};
use std::collections::HashMap;

/// A live range of an array: from the member that writes all elements to the last member that reads them.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    last: usize,
}

/// An array that members write. Later operations may read it if it is not local.
struct Buffer<'c, 'a> {
    array: Value<'c, 'a>,
    /// The allocation of an array that only members access.
    allocation: Option<OperationRef<'c, 'a>>,
    /// For each dimension, the row loop along it.
    rows: Vec<Option<usize>>,
    /// The dynamic extents other than rows; `None` for an extent whose value is unknown.
    open: Vec<Option<ValueKey>>,
    /// The live ranges.
    ranges: Vec<Range>,
}

/// The slot of each array. A slot has any number of arrays that only members of the group access (local arrays), and at most one array
/// that other operations access too. If there is such an array, the local arrays of the slot are stored in its memory.
pub(super) struct Storage<'c, 'a> {
    places: HashMap<ValueKey, usize>,
    /// For each slot, the array that other operations access too.
    homes: HashMap<usize, Value<'c, 'a>>,
    /// The allocations of the local arrays.
    locals: HashMap<ValueKey, OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Storage<'c, 'a> {
    pub(super) fn new(group: &Group<'c, 'a>) -> Self {
        let mut buffers: Vec<Buffer> = Vec::new();
        for (number, access) in group.numbered() {
            let is_known = buffers.iter().any(|buffer| buffer.array == access.array);
            if let Some(buffer) = Buffer::new(group, number, access).filter(|_| !is_known) {
                buffers.push(buffer);
            }
        }
        let mut places: Vec<Vec<&Buffer>> = Vec::new();
        let mut storage = Storage { places: HashMap::new(), homes: HashMap::new(), locals: HashMap::new() };
        let fits = |buffer: &Buffer<'c, 'a>, place: &Vec<&Buffer<'c, 'a>>| {
            place.iter().all(|other| buffer.shares(other, group))
        };
        for buffer in &buffers {
            let Some(allocation) = buffer.allocation else {
                continue;
            };
            let known = places.iter().position(|place| fits(buffer, place));
            let number = known.unwrap_or(places.len());
            match places.get_mut(number) {
                Some(place) => place.push(buffer),
                None => places.push(vec![buffer]),
            }
            let key = ValueKey::of(buffer.array);
            storage.places.insert(key, number);
            storage.locals.insert(key, allocation);
        }
        for buffer in buffers.iter().filter(|buffer| buffer.allocation.is_none()) {
            let mut free = places.iter().enumerate();
            let free =
                free.find(|(number, place)| !storage.homes.contains_key(number) && fits(buffer, place));
            if let Some((number, _)) = free {
                storage.places.insert(ValueKey::of(buffer.array), number);
                storage.homes.insert(number, buffer.array);
            }
        }
        storage
    }

    /// Returns the array of a slot that other operations access too.
    pub(super) fn home(&self, place: usize) -> Option<Value<'c, 'a>> {
        self.homes.get(&place).copied()
    }

    /// Returns the slot of an array; `None` if the array does not share memory.
    pub(super) fn place(&self, array: Value) -> Option<usize> {
        self.places.get(&ValueKey::of(array)).copied()
    }

    /// Returns the allocation of a local array.
    pub(super) fn allocation(&self, array: Value) -> Option<OperationRef<'c, 'a>> {
        self.locals.get(&ValueKey::of(array)).copied()
    }
}

impl<'c: 'a, 'a> Buffer<'c, 'a> {
    /// Analyzes the array of an operand; `None` if no member writes it, or if other operations access it through views.
    fn new(group: &Group<'c, 'a>, number: usize, access: &Access<'c, 'a>) -> Option<Self> {
        let array = access.array;
        let is_same = |(_, other): &(usize, &Access<'c, 'a>)| other.array == array;
        if !has_own_buffer(array) || !group.numbered().filter(is_same).any(|(_, other)| other.writes) {
            return None;
        }
        let direct = ir::users(array);
        let users = users_of_buffer(array)?;
        let is_member = |op: &OperationRef| group.members.iter().any(|member| member.op == *op);
        let accesses = |op: &OperationRef| {
            let mut accesses = group.numbered().filter(is_same);
            accesses.any(|(n, _)| group.members.get(n).is_some_and(|member| member.op == *op))
        };
        if !users.iter().all(|op| direct.contains(op) || accesses(op)) {
            return None;
        }
        let is_local = users.iter().all(is_member);
        let allocation = ir::defined_by(array, ops::memref::ALLOC).filter(|_| is_local);
        let rows = group.rows_of(number, access);
        Some(Buffer {
            array,
            allocation,
            open: open_extents(access, &rows),
            rows,
            ranges: ranges(group, array, allocation.is_some()),
        })
    }

    /// Whether two arrays can share a slot.
    fn shares(&self, other: &Self, group: &Group) -> bool {
        let touches = |at: usize| {
            let member = group.members.get(at);
            member.is_some_and(|member| is_in_place(member, self.array, other.array))
        };
        let is_apart = |a: &Range, b: &Range| {
            a.last < b.first
                || b.last < a.first
                || a.last == b.first && touches(a.last)
                || b.last == a.first && touches(b.last)
        };
        let mut pairs = self.ranges.iter();
        let has_extents = self.open == other.open && self.open.iter().all(Option::is_some);
        has_extents
            && self.array.r#type() == other.array.r#type()
            && self.rows == other.rows
            && pairs.all(|a| other.ranges.iter().all(|b| is_apart(a, b)))
    }
}

/// Returns the values of an array's dynamic extents other than rows.
fn open_extents(access: &Access, rows: &[Option<usize>]) -> Vec<Option<ValueKey>> {
    let maker = ir::definition(access.array).map(|(maker, _)| maker);
    let dynamic = access.shape.iter().zip(rows).filter(|(extent, _)| extent.is_none()).enumerate();
    let size = |number| ir::shape::dynamic_size(maker?, number).map(ValueKey::of);
    dynamic.filter(|(_, (_, row))| row.is_none()).map(|(number, _)| size(number)).collect()
}

/// Computes the live ranges of an array. An array that is not local may be live before the first and after the last member.
fn ranges(group: &Group, array: Value, is_local: bool) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (number, member) in group.members.iter().enumerate() {
        let mut accesses = member.accesses.iter().filter(|access| access.array == array);
        if accesses.clone().next().is_none() {
            continue;
        }
        let starts = accesses.all(|access| access.writes && !access.reads && member.covers(access));
        match ranges.last_mut() {
            Some(range) if !starts => range.last = number,
            None if !starts && !is_local => ranges.push(Range { first: 0, last: number }),
            _ => ranges.push(Range { first: number, last: number }),
        }
    }
    if let Some(range) = ranges.last_mut().filter(|_| !is_local) {
        range.last = usize::MAX;
    }
    ranges
}

/// Whether an operation accesses both arrays at the same element, so that it can run in place.
fn is_in_place(member: &Member, one: Value, other: Value) -> bool {
    let mut accesses = member.accesses.iter().filter(|access| access.array == one || access.array == other);
    let Some(first) = accesses.next() else {
        return false;
    };
    // The index of a dimension with one element is always 0.
    let forms = |access: &Access| -> Vec<Affine> {
        let forms = access.forms.iter().zip(&first.shape);
        forms.filter(|(_, extent)| **extent != Some(1)).map(|(form, _)| form.clone()).collect()
    };
    member.kind == Kind::Elementwise
        && member.covers(first)
        && accesses.all(|access| forms(access) == forms(first))
}
