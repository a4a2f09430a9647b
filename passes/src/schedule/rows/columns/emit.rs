// SPDX-License-Identifier: Apache-2.0
//! The loop over blocks of columns, in the loop over blocks of rows.

use super::super::blocks::Blocks;
use super::super::emit::{
    Loops, Span, allocate, before_last, copy_member, dynamic_extent, erase, extents_of, first_row,
    largest_block, part_of, rows_of_block, spans, view,
};
use super::super::member::{Access, Member};
use super::super::storage::Storage;
use super::payload::Payload;
use super::{Columns, Role, Sum, written};
use crate::ir::memref::Extent;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{PassError, melior};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Replaces the operations of a group by a loop over blocks of rows, with one over blocks of columns in it; returns the keys of the
/// operations that are no more.
///
/// # Errors
/// The builder's error.
pub(in super::super) fn emit<'c: 'a, 'a>(
    columns: &Columns<'c, 'a>,
    blocks: &Blocks,
    context: &'c Context,
) -> Result<HashSet<usize>, PassError> {
    let group = &columns.group;
    let before = before_last(group, context)?;
    let mut all = Vec::new();
    for (row, rows) in group.rows.iter().zip(&blocks.0) {
        all.push(spans(group, row, (*rows, true), &before)?.0);
    }
    let (along, rows) = all.split_last().ok_or("a group without columns")?;
    let is_any = match group.rows.last().filter(|row| row.extent.is_none()) {
        None => None,
        Some(row) => {
            let extent = dynamic_extent(group, row, &before)?;
            Some(before.compare(NOT_EQUAL, extent, before.index(0)?)?)
        }
    };
    let mut loops = Loops::open(rows, &before)?;
    let inside = loops.body;
    let storage = Storage::of(group);
    let mut part = Part {
        columns,
        blocks,
        storage: &storage,
        firsts: std::mem::take(&mut loops.firsts),
        sizes: std::mem::take(&mut loops.sizes),
        is_any,
        sums: Vec::new(),
        copies: Vec::new(),
        arrays: HashMap::new(),
    };
    part.allocate(&inside)?;
    part.emit(along, &inside)?;
    let rows: i64 = blocks.0.iter().fold(1, |all, n| all.saturating_mul(*n));
    loops.close(rows, &before)?;
    let unused = group.numbered().filter_map(|(_, access)| {
        let allocation = storage.allocation(access.array)?;
        Some((ValueKey::of(access.array), allocation))
    });
    let unused: HashMap<ValueKey, OperationRef> = unused.collect();
    let members: Vec<&Member> = group.members.iter().collect();
    Ok(erase(&members, unused.into_values()))
}

/// The predicate `ne` of `arith.cmpi`.
const NOT_EQUAL: i64 = 1;

/// An array that is in the memory of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Home {
    /// The place of arrays with columns.
    Place(usize),
    /// An array of rows.
    Rows(ValueKey),
}

/// The operations on a block of rows.
struct Part<'g, 'c, 'a> {
    columns: &'g Columns<'c, 'a>,
    blocks: &'g Blocks,
    storage: &'g Storage<'c, 'a>,
    /// By row; with the columns while they are computed.
    firsts: Vec<Option<Value<'c, 'a>>>,
    sizes: Vec<Extent<'c, 'a>>,
    /// Whether there are columns; `None` if there are.
    is_any: Option<Value<'c, 'a>>,
    sums: Vec<Value<'c, 'a>>,
    /// The last maximum, the maximum as functions read it, and the factors of sums.
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
        let mut made = Vec::new();
        for (number, access) in columns.results() {
            let whole = allocate(access.array, &largest(number, access)?, true, at)?;
            let rows = columns.group.rows_of(number, access);
            let sizes = extents_of(access, &rows, &self.sizes, at)?;
            made.push(part_of(whole, &sizes, at)?);
        }
        self.copies = made.split_off(columns.sums.len());
        self.sums = made;
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

    /// Where an array that nothing else accesses is, but for sums.
    fn home(&self, number: usize, access: &Access<'c, 'a>) -> Option<Home> {
        self.storage.allocation(access.array)?;
        if self.columns.has_columns(number, access) {
            self.storage.place(access.array).map(Home::Place)
        } else {
            let key = ValueKey::of(access.array);
            let mut results = self.columns.results();
            results.all(|(_, own)| own.array != access.array).then_some(Home::Rows(key))
        }
    }

    fn emit(&mut self, along: &Span<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        let of = |is_own: fn(&Role) -> bool| {
            columns.roles.iter().enumerate().filter(move |(_, role)| is_own(role)).map(|(n, _)| n)
        };
        for number in of(|role| *role == Role::Before) {
            self.member(number, at)?;
        }
        let (region, inside, position) = at.region(&[Type::index(at.context)]);
        let first = first_row(along, position.first().copied(), &inside)?;
        self.sizes.push(rows_of_block(along, first, &inside)?);
        self.firsts.push(first);
        for number in of(|role| ![Role::Before, Role::After].contains(role)) {
            self.of_columns(number, &inside)?;
        }
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let count = match along.blocks {
            Some(count) => count,
            None => at.index(1)?,
        };
        let bounds = [at.index(0)?, count, at.index(1)?];
        at.create(ops::scf::FOR, &bounds, &[], &[], vec![region])?;
        self.firsts.pop();
        self.sizes.pop();
        for sum in 0..columns.sums.len() {
            self.end(sum, at)?;
        }
        for number in of(|role| *role == Role::After) {
            self.member(number, at)?;
        }
        Ok(())
    }

    /// A member that is computed for each block of columns.
    fn of_columns(&self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let columns = self.columns;
        match columns.roles.get(number) {
            Some(Role::Into(sum)) if columns.maximum == Some(*sum) => {
                let maximum = self.sum(*sum)?;
                let [last, read, factors] = self.copies()?;
                let kind = element(maximum);
                self.each(&[maximum], &[last], "linalg.yield %a0 : $0", number, at)?;
                self.member(number, at)?;
                let function = columns.function.unwrap_or(ops::math::EXP);
                let payload = format!(
                    "%none = arith.constant {} : {kind}\n%zero = arith.constant 0.0 : {kind}\n\
                     %is_none = arith.cmpf oeq, %a0, %none : {kind}\n\
                     %r = arith.select %is_none, %zero, %a0 : {kind}\n\
                     %d = arith.subf %a1, %r : {kind}\n%f = {function} %d : {kind}\n\
                     linalg.yield %r, %f : {kind}, {kind}",
                    least(&kind)?
                );
                self.each(&[maximum, last], &[read, factors], &payload, number, at)
            }
            Some(Role::Into(sum)) if self.has_weights(*sum) => {
                let [_, _, factors] = self.copies()?;
                let own = self.sum(*sum)?;
                let payload = "%p = arith.mulf %a0, %a1 : $0\nlinalg.yield %p : $0";
                self.each(&[own, factors], &[own], payload, number, at)?;
                self.member(number, at)
            }
            _ => self.member(number, at),
        }
    }

    /// What follows from a sum after all columns.
    fn end(&self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let Some(sum) = self.columns.sums.get(number) else {
            return Ok(());
        };
        let access = self.written(sum)?;
        let own = self.sum(number)?;
        let is_local = self.storage.allocation(access.array).is_some();
        if is_local && !self.is_read_after(access) {
            return Ok(());
        }
        let target = if is_local { own } else { self.global(sum.member, access, at)? };
        if !sum.has_weights {
            return if is_local {
                Ok(())
            } else {
                self.each(&[own], &[target], "linalg.yield %a0 : $0", sum.member, at)
            };
        }
        let maximum = self.columns.maximum.ok_or("weights without a maximum")?;
        let kind = element(own);
        let mut inputs = vec![own, self.sum(maximum)?];
        let mut payload = format!(
            "%none = arith.constant {} : {kind}\n%nan = arith.constant {} : {kind}\n\
             %is_none = arith.cmpf oeq, %a1, %none : {kind}\n\
             %s = arith.select %is_none, %nan, %a0 : {kind}\n",
            least(&kind)?,
            not_a_number(&kind)?
        );
        let mut result = "%s";
        if let Some(divisor) = sum.divisor {
            inputs.push(self.sum(divisor)?);
            payload.push_str(&format!("%q = arith.divf %s, %a2 : {kind}\n"));
            result = "%q";
        }
        if let Some(is_any) = self.is_any {
            payload.push_str(&format!("%e = arith.select %a{}, {result}, %a0 : {kind}\n", inputs.len()));
            result = "%e";
            inputs.push(is_any);
        }
        payload.push_str(&format!("linalg.yield {result} : {kind}"));
        self.each(&inputs, &[target], &payload, sum.member, at)
    }

    /// Whether a member after all columns reads an array.
    fn is_read_after(&self, access: &Access<'c, 'a>) -> bool {
        let roles = self.columns.roles.iter();
        let members = self.columns.group.members.iter().zip(roles);
        let mut after = members.filter(|(_, role)| **role == Role::After);
        after.any(|(member, _)| {
            let mut accesses = member.accesses.iter();
            accesses.any(|own| own.array == access.array)
        })
    }

    fn has_weights(&self, sum: usize) -> bool {
        let own = self.columns.sums.get(sum);
        own.is_some_and(|sum| sum.has_weights)
    }

    fn written(&self, sum: &Sum) -> Result<&Access<'c, 'a>, PassError> {
        let member = self.columns.group.members.get(sum.member);
        Ok(member.and_then(written).ok_or("a sum without a result")?)
    }

    fn sum(&self, number: usize) -> Result<Value<'c, 'a>, PassError> {
        Ok(*self.sums.get(number).ok_or("no array of a sum")?)
    }

    fn copies(&self) -> Result<[Value<'c, 'a>; 3], PassError> {
        let copies = self.copies.as_slice();
        Ok(<[Value; 3]>::try_from(copies).map_err(|_| "no maximum")?)
    }

    /// An elementwise operation on arrays of sums, and on scalars. The arguments of the payload are `%a0`, `%a1`, …; `$0` is the type of the
    /// first one. Arrays with fewer elements have one element of each row.
    fn each(
        &self,
        inputs: &[Value<'c, 'a>],
        outputs: &[Value<'c, 'a>],
        payload: &str,
        member: usize,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let all = [inputs, outputs].concat();
        let output = *outputs.first().ok_or("nothing is written")?;
        let shape = ir::memref::extents(output.r#type());
        let loops: Vec<String> = (0..shape.len()).map(|l| format!("d{l}")).collect();
        let is_array = |value: &Value| MemRefType::try_from(value.r#type()).is_ok();
        let maps = all.iter().map(|array| {
            if !is_array(array) {
                return format!("affine_map<({}) -> ()>", loops.join(", "));
            }
            let extents = ir::memref::extents(array.r#type());
            let own = extents.iter().zip(&shape).zip(&loops);
            let own: Vec<&str> = own
                .map(|((extent, most), l)| if *extent == 1 && *most != 1 { "0" } else { l.as_str() })
                .collect();
            format!("affine_map<({}) -> ({})>", loops.join(", "), own.join(", "))
        });
        let maps: Vec<String> = maps.collect();
        let iterators = vec!["\"parallel\""; shape.len()].join(", ");
        let list = |from: usize, values: &[Value<'c, 'a>]| {
            let names = (from..from + values.len()).map(|n| format!("%{n}"));
            let types = values.iter().map(|value| value.r#type().to_string());
            let (names, types): (Vec<_>, Vec<_>) = (names.collect(), types.collect());
            format!("({} : {})", names.join(", "), types.join(", "))
        };
        let arguments = all.iter().enumerate().map(|(n, array)| format!("%a{n}: {}", element(*array)));
        let arguments: Vec<String> = arguments.collect();
        let first = inputs.first().map(|array| element(*array));
        let payload = payload.replace("$0", &first.unwrap_or_default());
        let text = format!(
            "linalg.generic {{indexing_maps = [{}], iterator_types = [{iterators}]}} ins{} outs{} {{\n^bb0({}):\n{payload}\n}}",
            maps.join(", "),
            list(0, inputs),
            list(inputs.len(), outputs),
            arguments.join(", ")
        );
        let location = self.columns.group.members.get(member);
        let location = location.map_or(at.location, |member| member.op.location());
        at.insert(ir::template(at.context, &all, &text, location)?);
        Ok(())
    }

    /// A member on the arrays of the block.
    fn member(&self, number: usize, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let group = &self.columns.group;
        let member = group.members.get(number).ok_or("an unknown operation")?;
        let role = self.columns.roles.get(number);
        if let Some(Role::Quotients { .. }) = role
            && self.is_in_place(number, member)
        {
            return Ok(());
        }
        let copy = copy_member(group, number, &self.firsts, at, |access, at| self.array(number, access, at))?;
        if let Some(Role::Quotients { weight, sum, .. }) = role {
            let division = Payload::of(copy).and_then(|own| own.quotient([*weight, *sum]));
            let division = division.ok_or("no quotient")?;
            ir::replace_uses(division.result(0)?.into(), division.operand(0)?);
            ir::erase(division);
        }
        Ok(())
    }

    /// Whether quotients are their weights without the division, in the same array.
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
        let payload = Payload::of(member.op);
        let is_same = payload.is_some_and(|payload| payload.is_quotient_alone());
        homes.len() == 1 && !homes.contains(&None) && is_same
    }

    /// The array of an operand in the block.
    fn array(
        &self,
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
                let mut own = columns.sums.iter().enumerate().filter(|(_, sum)| {
                    let result = self.written(sum);
                    sum.member < number && result.is_ok_and(|own| own.array == access.array)
                });
                if let Some((sum, _)) = own.next_back() {
                    return self.sum(sum);
                }
            }
            _ => {}
        }
        if let Some(whole) = self.home(number, access).and_then(|home| self.arrays.get(&home)) {
            let rows = columns.group.rows_of(number, access);
            let sizes = extents_of(access, &rows, &self.sizes, at)?;
            return part_of(*whole, &sizes, at);
        }
        self.global(number, access, at)
    }

    /// The part of an array that others access as well.
    fn global(
        &self,
        number: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let rows = self.columns.group.rows_of(number, access);
        let sizes = extents_of(access, &rows, &self.sizes, at)?;
        view(access, &sizes, &rows, &self.firsts, at)
    }
}

/// The type of an array's elements, or of a scalar.
fn element(value: Value) -> String {
    match MemRefType::try_from(value.r#type()) {
        Ok(kind) => kind.element().to_string(),
        Err(_) => value.r#type().to_string(),
    }
}

/// The least number of a type.
fn least(element: &str) -> Result<&'static str, PassError> {
    match element {
        "f32" => Ok("0xFF800000"),
        "f64" => Ok("0xFFF0000000000000"),
        _ => Err("a maximum of another type".into()),
    }
}

/// What is not a number.
fn not_a_number(element: &str) -> Result<&'static str, PassError> {
    match element {
        "f32" => Ok("0x7FC00000"),
        "f64" => Ok("0x7FF8000000000000"),
        _ => Err("a sum of another type".into()),
    }
}
