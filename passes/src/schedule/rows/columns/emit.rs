// SPDX-License-Identifier: Apache-2.0
//! Emits the loop over blocks of columns inside the loop over blocks of rows.

use super::super::blocks::Blocks;
use super::super::emit::{Block, Span, dynamic_extent, extents_of, largest_block, spans, view};
use super::super::member::{Access, Member};
use super::super::storage::Storage;
use super::super::tile::{Loops, Tile, allocate, before_last, erase_group, first_elements, sequential};
use super::payload::Payload;
use super::{Columns, Role, Sum};
use crate::ir::builder::arith::Integers;
use crate::ir::builder::arith::Reals;
use crate::ir::{self, Builder, ValueKey, linalg, maps, ops};
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};
use skript_symbolic::Affine;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Replaces the operations of a group by a loop over blocks of rows that contains a loop over blocks of columns; returns the keys of
/// the erased operations.
pub(in super::super) fn emit<'c: 'a, 'a>(
    columns: &Columns<'c, 'a>,
    blocks: &Blocks,
    context: &'c Context,
) -> Result<HashSet<usize>, PassError> {
    let group = &columns.group;
    let before = before_last(&group.members.iter().collect::<Vec<_>>(), context)?;
    let mut all = Vec::new();
    for (row, rows) in group.rows.iter().zip(&blocks.0) {
        all.push(spans(group, row, (*rows, true), &before)?.0);
    }
    let (along, rows) = all.split_last().ok_or("a group without columns")?;
    let is_any = match group.rows.last().filter(|row| row.extent.is_none()) {
        None => None,
        Some(row) => {
            let extent = dynamic_extent(group, row, &before)?;
            Some(before.cmpi(Integers::NotEqual, extent, before.idx(0)))
        }
    };
    let loops = Loops::open(rows.iter().filter_map(|span| span.blocks).collect(), &before);
    let inside = loops.body;
    let storage = Storage::new(group);
    let mut part = Part {
        columns,
        blocks,
        storage: &storage,
        block: Block::new(rows, &loops),
        is_any,
        sums: Vec::new(),
        copies: Vec::new(),
        arrays: HashMap::new(),
    };
    part.allocate(&inside)?;
    part.emit(along, &inside)?;
    let rows: i64 = blocks.0.iter().fold(1, |all, n| all.saturating_mul(*n));
    loops.close(rows, &before)?;
    Ok(erase_group(group, &storage, |_| false))
}

/// An array that is allocated for one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Home {
    /// The place that arrays with columns share.
    Place(usize),
    /// An array with rows only.
    Rows(ValueKey),
}

/// The operations on a block of rows.
struct Part<'g, 'c, 'a> {
    columns: &'g Columns<'c, 'a>,
    blocks: &'g Blocks,
    storage: &'g Storage<'c, 'a>,
    /// Includes the columns while they are computed.
    block: Block<'c, 'a>,
    /// Whether there is a column; `None` if there always is one.
    is_any: Option<Value<'c, 'a>>,
    sums: Vec<Value<'c, 'a>>,
    /// The previous maximum, the maximum that functions read, and the factors of sums.
    copies: Vec<Value<'c, 'a>>,
    arrays: HashMap<Home, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Part<'_, 'c, 'a> {
    /// Allocates the arrays of the block.
    fn allocate(&mut self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        let largest = |number, access: &Access<'c, 'a>| {
            let rows = columns.group.rows_of(number, access);
            largest_block(access.array, &rows, self.blocks).ok_or("an array without bounds")
        };
        let mut results = Vec::new();
        for (number, access) in columns.results() {
            let whole = allocate(access.array, &largest(number, access)?, true, at)?;
            let rows = columns.group.rows_of(number, access);
            let sizes = extents_of(access, &rows, &self.block.sizes, at)?;
            results.push(first_elements(whole, &sizes, at)?);
        }
        self.copies = results.split_off(columns.sums.len());
        self.sums = results;
        for (number, access) in columns.group.numbered() {
            let Some(home) = self.home(number, access) else {
                continue;
            };
            if let Entry::Vacant(free) = self.arrays.entry(home) {
                let rows = columns.group.rows_of(number, access);
                let largest = largest_block(access.array, &rows, self.blocks);
                let largest = largest.ok_or("an array without bounds")?;
                free.insert(allocate(access.array, &largest, true, at)?);
            }
        }
        Ok(())
    }

    /// The allocation of an array that only the group accesses; `None` for sums.
    fn home(&self, number: usize, access: &Access<'c, 'a>) -> Option<Home> {
        self.storage.allocation(access.array)?;
        if self.columns.has_columns(number, access) {
            self.storage.place(access.array).map(Home::Place)
        } else {
            let key = ValueKey::of(access.array);
            let mut results = self.columns.results();
            results.all(|(_, result)| result.array != access.array).then_some(Home::Rows(key))
        }
    }

    fn emit(&mut self, along: &Span<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        let of = |matches: fn(&Role) -> bool| {
            columns.roles.iter().enumerate().filter(move |(_, role)| matches(role)).map(|(n, _)| n)
        };
        for number in of(|role| *role == Role::Before) {
            self.member(number, at)?;
        }
        let count = match along.blocks {
            Some(count) => count,
            None => at.idx(1),
        };
        sequential(at, [at.idx(0), count], |inside, position| {
            self.block.push(along, Some(position), inside);
            of(|role| ![Role::Before, Role::After].contains(role))
                .try_for_each(|number| self.of_columns(number, inside))
        })?;
        self.block.firsts.pop();
        self.block.sizes.pop();
        for sum in 0..columns.sums.len() {
            self.end(sum, at)?;
        }
        for number in of(|role| *role == Role::After) {
            self.member(number, at)?;
        }
        Ok(())
    }

    /// Emits a member that is computed for each block of columns.
    fn of_columns(&mut self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        match columns.roles.get(number) {
            Some(Role::Into(sum)) if columns.maximum == Some(*sum) => {
                let maximum = self.sum(*sum)?;
                let [last, read, factors] = self.copies()?;
                self.each(&[maximum], &[last], number, at, copied)?;
                self.member(number, at)?;
                let function = columns.function.unwrap_or(ops::math::EXP);
                self.each(&[maximum, last], &[read, factors], number, at, |at, elements| {
                    let (maximum, last) = (elements[0], elements[1]);
                    let kind = maximum.r#type();
                    let none = at.real(f64::NEG_INFINITY, kind);
                    let zero = at.zero(kind);
                    let is_none = at.cmpf(Reals::Equal, maximum, none);
                    let read = at.select(is_none, zero, maximum);
                    vec![read, at.make(function, &[at.subf(last, read)], &[], kind)]
                })
            }
            Some(Role::Into(sum)) if self.has_weights(*sum) => {
                let [_, _, factors] = self.copies()?;
                let array = self.sum(*sum)?;
                self.each(&[array, factors], &[array], number, at, |at, elements| {
                    vec![at.mulf(elements[0], elements[1])]
                })?;
                self.member(number, at)
            }
            _ => self.member(number, at),
        }
    }

    /// Emits the result of a sum after all columns.
    fn end(&self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let Some(sum) = self.columns.sums.get(number) else {
            return Ok(());
        };
        let access = self.written(sum)?;
        let array = self.sum(number)?;
        let is_local = self.storage.allocation(access.array).is_some();
        if is_local && !self.is_read_after(access) {
            return Ok(());
        }
        let target = if is_local { array } else { self.global(sum.member, access, at)? };
        if !sum.has_weights {
            return if is_local { Ok(()) } else { self.each(&[array], &[target], sum.member, at, copied) };
        }
        let maximum = self.columns.maximum.ok_or("weights without a maximum")?;
        let divisor = sum.divisor.map(|divisor| self.sum(divisor)).transpose()?;
        let inputs = [Some(array), Some(self.sum(maximum)?), divisor, self.is_any];
        let inputs: Vec<Value> = inputs.into_iter().flatten().collect();
        self.each(&inputs, &[target], sum.member, at, |at, elements| {
            let (sum, maximum) = (elements[0], elements[1]);
            let kind = sum.r#type();
            let (none, nan) = (at.real(f64::NEG_INFINITY, kind), at.real(f64::NAN, kind));
            let is_none = at.cmpf(Reals::Equal, maximum, none);
            let mut result = at.select(is_none, nan, sum);
            if divisor.is_some() {
                result = at.divf(result, elements[2]);
            }
            if self.is_any.is_some() {
                result = at.select(elements[inputs.len() - 1], result, sum);
            }
            vec![result]
        })
    }

    /// Whether a member after all columns reads an array.
    fn is_read_after(&self, access: &Access<'c, 'a>) -> bool {
        let roles = self.columns.roles.iter();
        let members = self.columns.group.members.iter().zip(roles);
        let mut after = members.filter(|(_, role)| **role == Role::After);
        after.any(|(member, _)| {
            let mut accesses = member.accesses.iter();
            accesses.any(|read| read.array == access.array)
        })
    }

    fn has_weights(&self, sum: usize) -> bool {
        self.columns.sums.get(sum).is_some_and(|sum| sum.has_weights)
    }

    fn written(&self, sum: &Sum) -> Result<&Access<'c, 'a>, PassError> {
        let member = self.columns.group.members.get(sum.member);
        Ok(member.and_then(Member::written).ok_or("a sum without a result")?)
    }

    fn sum(&self, number: usize) -> Result<Value<'c, 'a>, PassError> {
        Ok(*self.sums.get(number).ok_or("no array of a sum")?)
    }

    fn copies(&self) -> Result<[Value<'c, 'a>; 3], PassError> {
        let copies = self.copies.as_slice();
        Ok(<[Value; 3]>::try_from(copies).map_err(|_| "no maximum")?)
    }

    /// Emits an elementwise operation on arrays of sums and on scalars. Arrays with fewer elements have one element for each row.
    fn each(
        &self,
        inputs: &[Value<'c, 'a>],
        outputs: &[Value<'c, 'a>],
        member: usize,
        at: &Builder<'c, 'a>,
        payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>>,
    ) -> Result<(), PassError> {
        let output = *outputs.first().ok_or("nothing is written")?;
        let shape = ir::memref::extents(output.r#type());
        let maps = inputs.iter().chain(outputs).map(|array| {
            let is_array = array.r#type().is_mem_ref();
            let extents = if is_array { ir::memref::extents(array.r#type()) } else { Vec::new() };
            let forms = extents.iter().zip(&shape).enumerate().map(|(l, (extent, full))| {
                if *extent == 1 && *full != 1 { Affine::constant(0) } else { Affine::index(l) }
            });
            maps::map(at.context, shape.len(), &forms.collect::<Vec<_>>())
        });
        let maps: Vec<Attribute> = maps.collect::<Option<_>>().ok_or("no map")?;
        let location = self.columns.group.members.get(member);
        let at = at.with_location(location.map_or(at.location, |member| member.op.location()));
        linalg::elementwise(&at, [inputs, outputs], &maps, shape.len(), payload);
        Ok(())
    }

    /// Emits a member on the arrays of the block.
    fn member(&mut self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        let member = columns.group.members.get(number).ok_or("an unknown operation")?;
        let role = columns.roles.get(number);
        if let Some(Role::Quotients { .. }) = role
            && self.is_in_place(number, member)
        {
            return Ok(());
        }
        let copy = self.emit_member(number, member, at)?;
        if let Some(Role::Quotients { weight, sum, .. }) = role {
            let division = Payload::new(copy).and_then(|payload| payload.quotient([*weight, *sum]));
            let division = division.ok_or("no quotient")?;
            ir::replace_uses(division.result(0)?.into(), division.operand(0)?);
            ir::erase(division);
        }
        Ok(())
    }

    /// Whether the quotients without the division are the weights, in the same array.
    fn is_in_place(&self, number: usize, member: &Member<'c, 'a>) -> bool {
        let Some(Role::Quotients { weight, sum, .. }) = self.columns.roles.get(number) else {
            return false;
        };
        let homes = member
            .accesses
            .iter()
            .filter(|access| access.operand != *sum && (access.writes || access.operand == *weight))
            .map(|access| self.home(number, access));
        let homes: HashSet<Option<Home>> = homes.collect();
        let payload = Payload::new(member.op);
        let is_same = payload.is_some_and(|payload| payload.is_quotient_alone());
        homes.len() == 1 && !homes.contains(&None) && is_same
    }

    /// The part of an array that is also accessed outside the group.
    fn global(
        &self,
        number: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let rows = self.columns.group.rows_of(number, access);
        let sizes = extents_of(access, &rows, &self.block.sizes, at)?;
        view(access, &sizes, &rows, &self.block.firsts, at)
    }
}

impl<'c: 'a, 'a> Tile<'c, 'a> for Part<'_, 'c, 'a> {
    fn first(&self, number: usize, l: usize) -> Option<Value<'c, 'a>> {
        self.block.first(&self.columns.group, number, l)
    }

    fn operand(
        &mut self,
        number: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let columns = self.columns;
        match columns.roles.get(number) {
            Some(Role::Into(sum)) if access.writes => return self.sum(*sum),
            Some(Role::Weights { maximum }) if access.operand == *maximum => {
                return Ok(self.copies()?[1]);
            }
            Some(Role::Quotients { sum, divisor, .. }) if access.operand == *sum => {
                return self.sum(*divisor);
            }
            Some(Role::Before) if access.writes => {
                let mut sums = columns.sums.iter();
                if let Some(sum) = sums.position(|sum| sum.first == Some(number)) {
                    return self.sum(sum);
                }
            }
            Some(Role::After) if self.storage.allocation(access.array).is_some() => {
                let is_array = |sum: &Sum| self.written(sum).is_ok_and(|result| result.array == access.array);
                let last = columns.sums.iter().rposition(|sum| sum.member < number && is_array(sum));
                if let Some(sum) = last {
                    return self.sum(sum);
                }
            }
            _ => {}
        }
        if let Some(whole) = self.home(number, access).and_then(|home| self.arrays.get(&home)) {
            let rows = columns.group.rows_of(number, access);
            let sizes = extents_of(access, &rows, &self.block.sizes, at)?;
            return first_elements(*whole, &sizes, at);
        }
        self.global(number, access, at)
    }
}

/// Emits the payload of a copy.
fn copied<'c: 'a, 'a>(_: &Builder<'c, 'a>, elements: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
    vec![elements[0]]
}
