// SPDX-License-Identifier: Apache-2.0
//! Arrays of a group that can be in one place: where one ends, the other begins, element by element.

use super::group::Group;
use super::member::{Access, Kind, Member, extents};
use crate::ir::memref::users_of_buffer;
use crate::ir::{self, ValueKey, ops};
use crate::schedule::buffer_uses::has_own_buffer;
use crate::structure::Affine;
use melior::ir::operation::OperationRef;
use melior::ir::{Value, ValueLike};
use std::collections::HashMap;

/// The members from one that writes all elements of an array to the last one that reads them.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    last: usize,
}

/// An array that members write, and what follows reads if it is not local.
struct Own<'c, 'a> {
    array: Value<'c, 'a>,
    /// Of an array that members alone access.
    allocation: Option<OperationRef<'c, 'a>>,
    /// By dimension.
    rows: Vec<Option<usize>>,
    /// The dynamic extents beside rows; `None` for those that are not known.
    open: Vec<Option<ValueKey>>,
    ranges: Vec<Range>,
}

/// The place of each array that members alone access. An array that others access as well is in a place if it is the only one of them
/// there; all others of the place are in its memory.
pub(super) struct Storage<'c, 'a> {
    places: HashMap<ValueKey, usize>,
    /// By place: the array that others access as well.
    homes: HashMap<usize, Value<'c, 'a>>,
    /// The allocations of arrays that members alone access.
    locals: HashMap<ValueKey, OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Storage<'c, 'a> {
    pub(super) fn of(group: &Group<'c, 'a>) -> Self {
        let mut owns: Vec<Own> = Vec::new();
        for (number, access) in group.numbered() {
            let is_known = owns.iter().any(|own| own.array == access.array);
            let rows = || group.rows_of(number, access);
            if let Some(own) = Own::of(group, access.array, rows).filter(|_| !is_known) {
                owns.push(own);
            }
        }
        let mut places: Vec<Vec<&Own>> = Vec::new();
        let mut storage = Storage { places: HashMap::new(), homes: HashMap::new(), locals: HashMap::new() };
        let fits =
            |own: &Own<'c, 'a>, place: &Vec<&Own<'c, 'a>>| place.iter().all(|other| own.shares(other, group));
        for own in &owns {
            let Some(allocation) = own.allocation else {
                continue;
            };
            let found = places.iter().position(|place| fits(own, place));
            let number = found.unwrap_or(places.len());
            match places.get_mut(number) {
                Some(place) => place.push(own),
                None => places.push(vec![own]),
            }
            let key = ValueKey::of(own.array);
            storage.places.insert(key, number);
            storage.locals.insert(key, allocation);
        }
        for own in owns.iter().filter(|own| own.allocation.is_none()) {
            let mut free = places.iter().enumerate();
            let free = free.find(|(number, place)| !storage.homes.contains_key(number) && fits(own, place));
            if let Some((number, _)) = free {
                storage.places.insert(ValueKey::of(own.array), number);
                storage.homes.insert(number, own.array);
            }
        }
        storage
    }

    /// The array of a place that others access as well.
    pub(super) fn home(&self, place: usize) -> Option<Value<'c, 'a>> {
        self.homes.get(&place).copied()
    }

    /// The place of an array; `None` if it is the only one there.
    pub(super) fn place(&self, array: Value) -> Option<usize> {
        self.places.get(&ValueKey::of(array)).copied()
    }

    /// The allocations of the arrays that members alone access.
    pub(super) fn allocation(&self, array: Value) -> Option<OperationRef<'c, 'a>> {
        self.locals.get(&ValueKey::of(array)).copied()
    }
}

impl<'c: 'a, 'a> Own<'c, 'a> {
    fn of(
        group: &Group<'c, 'a>,
        array: Value<'c, 'a>,
        rows: impl Fn() -> Vec<Option<usize>>,
    ) -> Option<Self> {
        let is_written = |(_, access): (usize, &Access)| access.writes && access.array == array;
        let is_own = has_own_buffer(array) && group.numbered().any(is_written);
        if !is_own {
            return None;
        }
        // Other views of the array would have other types.
        let users = ir::users(array);
        let all = users_of_buffer(array)?;
        let is_member = |op: &OperationRef| group.members.iter().any(|member| member.op == *op);
        let accesses = |op: &OperationRef| {
            let mut accesses = group.numbered().map(|(number, access)| {
                let member = group.members.get(number);
                member.is_some_and(|member| member.op == *op) && access.array == array
            });
            accesses.any(|is_own| is_own)
        };
        let mut known = all.iter();
        if !known.all(|op| users.contains(op) || accesses(op)) {
            return None;
        }
        let is_local = all.iter().all(is_member);
        let allocation = ir::definition(array).map(|(op, _)| op);
        let allocation = allocation.filter(|op| is_local && ir::name(*op) == ops::memref::ALLOC);
        let rows = rows();
        Some(Own {
            array,
            allocation,
            open: open_extents(array, &rows),
            rows,
            ranges: ranges(group, array, allocation.is_some()),
        })
    }

    /// Whether two arrays can be in one place.
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

/// The values of an array's dynamic extents beside its rows.
fn open_extents(array: Value, rows: &[Option<usize>]) -> Vec<Option<ValueKey>> {
    let maker = ir::definition(array).map(|(maker, _)| maker);
    let extents = extents(array).unwrap_or_default().into_iter().zip(rows);
    let open = extents.filter(|(extent, _)| extent.is_none()).enumerate();
    let open = open.filter(|(_, (_, row))| row.is_none());
    let size = |number| ir::shape::dynamic_size(maker?, number).map(ValueKey::of);
    open.map(|(number, _)| size(number)).collect()
}

/// What others write before the group, or read after it, is there as long.
fn ranges(group: &Group, array: Value, is_local: bool) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (number, member) in group.members.iter().enumerate() {
        let mut own = member.accesses.iter().filter(|access| access.array == array);
        if own.clone().next().is_none() {
            continue;
        }
        let starts = own.all(|access| access.writes && !access.reads && member.covers(access));
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

/// Whether an operation reads one array and writes the other at the same element.
fn is_in_place(member: &Member, one: Value, other: Value) -> bool {
    let mut own = member.accesses.iter().filter(|access| access.array == one || access.array == other);
    let Some(first) = own.next() else {
        return false;
    };
    let extents = extents(first.array).unwrap_or_default();
    // An index of a dimension with one element does not matter.
    let forms = |access: &Access| -> Vec<Affine> {
        let forms = access.forms.iter().zip(&extents);
        forms.filter(|(_, extent)| **extent != Some(1)).map(|(form, _)| form.clone()).collect()
    };
    member.kind == Kind::Elementwise
        && member.covers(first)
        && own.all(|access| forms(access) == forms(first))
}
