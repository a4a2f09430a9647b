// SPDX-License-Identifier: Apache-2.0
//! How many rows the threads of a block of a GPU compute together: the arrays that nothing else reads fit into the memory that they share.

use super::blocks::Blocks;
use super::columns::Columns;
use super::emit::largest_block;
use super::group::{Group, Row};
use super::member::{Access, ESTIMATE, Kind, Member, element_bytes, extents};
use super::storage::Storage;
use crate::ir::ValueKey;
use crate::schedule::gpu::{blocks, row_products};
use crate::schedule::targets::gpus::Gpu;
use melior::ir::Value;
use row_products::Product;
use skript_dialect::melior;
use std::collections::HashSet;

/// Rows of a group at least: fewer leave most of the processors without work.
const FEWEST: i64 = 64;

/// Rows of a block with contractions.
const ROWS: [i64; 4] = [64, 32, 16, 8];

/// Blocks for so many processors at least.
const PROCESSORS: i64 = 8;

/// Elements of a contraction's other operand that are read instead of one that is written to memory and read again, in the time that
/// this takes.
const READ: i64 = 6;

/// Rows of a tile that computes a contraction alone.
const TILE: i64 = 64;

/// The blocks of a group; `None` if its operations are computed one after the other.
///
/// What contractions write counts as an array of the block, too, while `grows`: more members may read it, and nothing else.
pub(super) fn blocks(group: &Group, gpu: &Gpu, grows: bool) -> Option<Blocks> {
    if !suits(group) {
        return None;
    }
    let one = Blocks(vec![1; group.rows.len()]);
    if group.has_product() {
        return of_products(group, gpu, grows);
    }
    if !one.have_strides(group) {
        return None;
    }
    let bytes = local_bytes(group, &one, false)?;
    (bytes <= i64::from(gpu.shared_memory) / 2).then_some(one)
}

/// Whether the threads of a block may compute the operations of a group together: there are enough rows for all blocks, and consecutive
/// elements of arrays are of one row.
pub(super) fn suits(group: &Group) -> bool {
    let one = Blocks(vec![1; group.rows.len()]);
    let mut members = group.members.iter();
    let is_shared = members.all(|member| match member.kind {
        Kind::Elementwise | Kind::Reduction => blocks::is_shared(member.op),
        Kind::Product => blocks::is_shared(member.op) && row_products::is_tiled(member.op),
        Kind::Window => false,
    });
    let rows = group.rows.iter().map(|row| row.extent.unwrap_or(FEWEST));
    let has_enough = rows.fold(1, i64::saturating_mul) >= FEWEST;
    is_shared && has_enough && are_next(group, &one)
}

/// Whether consecutive elements of each array are of one row.
fn are_next(group: &Group, one: &Blocks) -> bool {
    group.numbered().all(|(number, access)| {
        let Some(extents) = extents(access.array) else {
            return false;
        };
        let mut long = extents.into_iter().zip(group.rows_of(number, access));
        let last = long.rfind(|(extent, _)| *extent != Some(1));
        // An array of rows alone has one element of each.
        let is_row = one.bytes_of(group, number, access) == element_bytes(access.array);
        last.is_none_or(|(_, row)| row.is_none()) || is_row
    })
}

/// Bytes of the arrays of a block that nothing else reads; `None` if an extent has no bound.
fn local_bytes(group: &Group, blocks: &Blocks, grows: bool) -> Option<i64> {
    let storage = Storage::of(group);
    let (mut places, mut results, mut all) = (HashSet::new(), HashSet::new(), 0_i64);
    for (number, access) in group.numbered() {
        let is_counted = match storage.place(access.array) {
            Some(place) => storage.home(place).is_none() && places.insert(place),
            None => grows && is_passed_on(group, access.array) && results.insert(ValueKey::of(access.array)),
        };
        if !is_counted {
            continue;
        }
        all = all.checked_add(largest_bytes(group, (number, access), blocks)?)?;
    }
    Some(all)
}

/// Whether a contraction writes an array that another member reads.
fn is_passed_on(group: &Group, array: Value) -> bool {
    let of = |number: usize| group.members.get(number);
    let own = || group.numbered().filter(|(_, access)| access.array == array);
    let is_product = |number| of(number).is_some_and(|member| member.kind == Kind::Product);
    own().any(|(number, access)| access.writes && is_product(number))
        && own().any(|(number, access)| access.reads && !is_product(number))
}

/// The contractions of a group.
fn products<'g, 'c, 'a>(group: &'g Group<'c, 'a>) -> impl Iterator<Item = (usize, &'g Member<'c, 'a>)> {
    group.members.iter().enumerate().filter(|(_, member)| member.kind == Kind::Product)
}

/// The last of some rows that all contractions read the same other operands of, its extent, and the number of all others.
fn common_row(group: &Group, rows: &[Row]) -> Option<(usize, i64, i64)> {
    let is_common = |row: &Row| {
        products(group).all(|(number, member)| {
            let l = row.loops.get(number).copied().unwrap_or_default();
            let mut inputs = member.accesses.iter().filter(|access| !access.writes);
            inputs.any(|access| access.dimension(l) == Some(None))
        })
    };
    let position = rows.iter().rposition(is_common)?;
    let extent = rows.get(position)?.extent.unwrap_or(ESTIMATE);
    let others = rows.iter().enumerate().filter(|(n, _)| *n != position);
    Some((
        position,
        extent,
        others.map(|(_, row)| row.extent.unwrap_or(ESTIMATE)).fold(1, i64::saturating_mul),
    ))
}

/// Whether so many blocks have work for the processors.
fn has_work(count: i64, gpu: &Gpu) -> bool {
    count > 1 && count.saturating_mul(PROCESSORS) >= i64::from(gpu.processors)
}

/// Several rows: those that read the same other operands of all contractions.
fn of_products(group: &Group, gpu: &Gpu, grows: bool) -> Option<Blocks> {
    let (position, extent, others) = common_row(group, &group.rows)?;
    let storage = Storage::of(group);
    let sized = |rows: i64| {
        let mut blocks = Blocks(vec![1; group.rows.len()]);
        *blocks.0.get_mut(position)? = rows.min(extent);
        let local = local_bytes(group, &blocks, grows).filter(|_| blocks.have_strides(group))?;
        let count = others.saturating_mul(extent.saturating_add(rows - 1) / rows);
        let processors = i64::from(gpu.processors);
        if !has_work(count, gpu) {
            return None;
        }
        let keeps = |member: &Member| {
            let mut arrays = member.accesses.iter().map(|access| access.array);
            grows || arrays.any(|array| storage.place(array).is_some_and(|p| storage.home(p).is_none()))
        };
        let is_worth = products(group).all(|(number, member)| {
            // Else it is as well computed alone.
            if !keeps(member) {
                return false;
            }
            let other = other_bytes(group, &blocks, (number, member), position);
            is_worth(other, local / rows.min(extent), rows)
        });
        let used = local + row_products::partial_bytes(gpu);
        let memory = i64::from(gpu.shared_memory) - used;
        let products: Option<Vec<Product>> = products(group)
            .map(|(number, member)| product(group, (number, member), rows.min(extent)))
            .collect();
        let cycles = row_products::cycles(&products?, memory, gpu)?;
        let waves = (count + processors - 1) / processors;
        is_worth.then(|| (blocks, waves.saturating_mul(cycles)))
    };
    let found = ROWS.into_iter().filter_map(sized);
    found.min_by_key(|(_, cycles)| *cycles).map(|found| found.0)
}

/// Whether a block may read so many bytes again for its rows, each of which saves some.
fn is_worth(other: i64, saved: i64, rows: i64) -> bool {
    let more = other.saturating_mul((TILE - rows).max(0)) / TILE;
    more <= READ.saturating_mul(saved).saturating_mul(rows)
}

/// Columns of a block.
const COLUMNS: [i64; 4] = [128, 64, 32, 16];

/// The blocks of rows and columns of a group whose rows are too long; `None` if it gains nothing.
pub(super) fn of_columns(columns: &Columns, gpu: &Gpu) -> Option<Blocks> {
    let group = &columns.group;
    let (along, rows) = group.rows.split_last()?;
    let (position, extent, others) = common_row(group, rows)?;
    let length = along.extent.unwrap_or(LONG);
    let ones = || Blocks(vec![1; group.rows.len()]);
    // What a row has in memory otherwise.
    let mut row = ones();
    *row.0.last_mut()? = length;
    let saved = bytes_of_columns(columns, &row)?;
    let sized = |rows: i64, width: i64| {
        let mut blocks = ones();
        *blocks.0.get_mut(position)? = rows.min(extent);
        *blocks.0.last_mut()? = width.min(length);
        let mut used = bytes_of_columns(columns, &blocks)?;
        for (number, access) in columns.results() {
            used = used.checked_add(largest_bytes(group, (number, access), &blocks)?)?;
        }
        let memory = i64::from(gpu.shared_memory) - used - row_products::partial_bytes(gpu);
        let count = others.saturating_mul(extent.saturating_add(rows - 1) / rows);
        if !has_work(count, gpu) {
            return None;
        }
        let mut others = ones();
        *others.0.last_mut()? = length;
        let is_worth = products(group).all(|(number, member)| {
            let other = other_bytes(group, &others, (number, member), position);
            is_worth(other, saved, rows)
        });
        let of = |(number, member): (usize, &Member)| {
            let own = product(group, (number, member), rows.min(extent))?;
            let l = *along.loops.get(number)?;
            Some(if *member.reductions.get(l)? {
                Product { depth: width.min(length), ..own }
            } else {
                Product { sizes: [rows.min(extent), width.min(length)], ..own }
            })
        };
        let products: Option<Vec<Product>> = products(group).map(of).collect();
        let cycles = row_products::cycles(&products?, memory, gpu)?;
        let parts = length.saturating_add(width - 1) / width;
        let processors = i64::from(gpu.processors);
        let waves = (count + processors - 1) / processors;
        let all = waves.saturating_mul(parts).saturating_mul(cycles);
        is_worth.then_some((blocks, all))
    };
    let sizes = ROWS.into_iter().flat_map(|rows| COLUMNS.map(|width| (rows, width)));
    let found = sizes.filter_map(|(rows, width)| sized(rows, width));
    found.min_by_key(|(_, cycles)| *cycles).map(|found| found.0)
}

/// An estimate of the columns of rows that are too long.
const LONG: i64 = 2048;

/// Bytes of the arrays of a block that have columns, or that are in its memory as well, without sums.
fn bytes_of_columns(columns: &Columns, blocks: &Blocks) -> Option<i64> {
    let group = &columns.group;
    let storage = Storage::of(group);
    let (mut places, mut all) = (HashSet::new(), 0_i64);
    for (number, access) in group.numbered() {
        let mut results = columns.results();
        let is_sum = results.any(|(_, own)| own.array == access.array);
        if let Some(place) = storage.place(access.array)
            && !is_sum
            && places.insert(place)
        {
            all = all.checked_add(largest_bytes(group, (number, access), blocks)?)?;
        }
    }
    Some(all)
}

/// Bytes of the largest part of an array that a block has.
fn largest_bytes(group: &Group, (number, access): (usize, &Access), blocks: &Blocks) -> Option<i64> {
    let largest = largest_block(access.array, &group.rows_of(number, access), blocks)?;
    let bytes = element_bytes(access.array)?;
    largest.into_iter().try_fold(bytes, |all, n| all.checked_mul(n))
}

/// Bytes of the operands of a contraction that all rows of a block read.
fn other_bytes(group: &Group, blocks: &Blocks, (number, member): (usize, &Member), position: usize) -> i64 {
    let inputs = member.accesses.iter().filter(|access| !access.writes);
    let others = inputs.filter(|access| {
        let rows = group.rows_of(number, access);
        !rows.contains(&Some(position))
    });
    let bytes = others.map(|access| blocks.bytes_of(group, number, access));
    bytes.fold(0, |all: i64, bytes| all.saturating_add(bytes.unwrap_or(i64::MAX)))
}

/// What a block computes of a contraction.
fn product(group: &Group, (number, member): (usize, &Member), rows: i64) -> Option<Product> {
    let of_rows = group.rows.iter().filter_map(|row| row.loops.get(number));
    let of_rows: HashSet<usize> = of_rows.copied().collect();
    let (mut columns, mut depth) = (1_i64, 1_i64);
    for (l, reduces) in member.reductions.iter().enumerate() {
        let extent = member.extent(l)?.unwrap_or(ESTIMATE);
        match reduces {
            true => depth = depth.saturating_mul(extent),
            false if !of_rows.contains(&l) => columns = columns.saturating_mul(extent),
            false => {}
        }
    }
    let inputs = member.accesses.iter().filter(|access| !access.writes);
    let mut bytes = inputs.map(|access| element_bytes(access.array));
    Some(Product {
        sizes: [rows, columns],
        depth,
        bytes: bytes.try_fold(0, |most: i64, bytes| Some(most.max(bytes?)))?,
    })
}
