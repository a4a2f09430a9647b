// SPDX-License-Identifier: Apache-2.0
//! Selects the number of rows in a block on a GPU: the arrays of the block that have no other readers must fit shared memory.

use super::blocks::Blocks;
use super::columns::Columns;
use super::emit::largest_block;
use super::group::{Group, Row};
use super::member::{Access, ESTIMATE, Kind, Member, element_bytes};
use super::storage::Storage;
use crate::ir::ValueKey;
use crate::schedule::contraction::{Product, cycles, is_tiled, partial_bytes};
use crate::schedule::targets::gpus::Gpu;
use crate::schedule::works::is_shared;
use melior::ir::Value;
use skript_dialect::melior;
use std::collections::HashSet;

/// Minimum number of rows of a group: with fewer rows, most SMs would have no work.
const MIN_ROWS: i64 = 64;

/// Candidates for the number of rows of a block with contractions.
const ROWS: [i64; 4] = [64, 32, 16, 8];

/// Maximum number of SMs per block.
const PROCESSORS: i64 = 8;

/// Cost of writing one element to device memory and reading it again, as the number of elements of a contraction's other operand that are
/// read in the same time.
const READ: i64 = 6;

/// Number of rows of a tile in the kernel of an unfused contraction.
const TILE: i64 = 64;

/// Selects the blocks of a group; `None` if fusing its operations is not possible or not faster.
///
/// While the group grows (`grows`), results of contractions also count as arrays of the block, because members that are added later may
/// be their only readers.
pub(super) fn blocks(group: &Group, gpu: &Gpu, grows: bool) -> Option<Blocks> {
    if !is_supported(group) {
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

/// Whether the threads of a block can compute the operations of a group cooperatively: there must be enough rows, and consecutive
/// elements of arrays must be in the same row.
pub(super) fn is_supported(group: &Group) -> bool {
    let one = Blocks(vec![1; group.rows.len()]);
    let mut members = group.members.iter();
    let is_shared = members.all(|member| match member.kind {
        Kind::Elementwise | Kind::Reduction => is_shared(member.op),
        Kind::Product => is_shared(member.op) && is_tiled(member.op),
        Kind::Window => false,
    });
    let rows = group.rows.iter().map(|row| row.extent.unwrap_or(MIN_ROWS));
    let has_enough = rows.fold(1, i64::saturating_mul) >= MIN_ROWS;
    is_shared && has_enough && are_next(group, &one)
}

/// Whether consecutive elements of each array are in the same row.
fn are_next(group: &Group, one: &Blocks) -> bool {
    group.numbered().all(|(number, access)| {
        let mut long = access.shape.iter().copied().zip(group.rows_of(number, access));
        let last = long.rfind(|(extent, _)| *extent != Some(1));
        // An array may also have one element per row.
        let is_row = one.bytes_of(group, number, access) == element_bytes(access.array);
        last.is_none_or(|(_, row)| row.is_none()) || is_row
    })
}

/// Bytes of the arrays of a block that have no other readers; `None` if an extent has no upper bound.
fn local_bytes(group: &Group, blocks: &Blocks, grows: bool) -> Option<i64> {
    let storage = Storage::new(group);
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
    let accesses = || group.numbered().filter(|(_, access)| access.array == array);
    let is_product = |number| of(number).is_some_and(|member| member.kind == Kind::Product);
    accesses().any(|(number, access)| access.writes && is_product(number))
        && accesses().any(|(number, access)| access.reads && !is_product(number))
}

/// A row loop that the other operands of all contractions do not depend on.
struct CommonRow {
    /// The position among the rows of the group.
    position: usize,
    /// The number of rows along this loop.
    extent: i64,
    /// The number of combinations of the other rows.
    others: i64,
}

impl CommonRow {
    /// Returns the last common row among some rows of a group.
    fn last(group: &Group, rows: &[Row]) -> Option<Self> {
        let is_common = |row: &Row| group.products().all(|(number, member)| row.is_free_in(number, member));
        let position = rows.iter().rposition(is_common)?;
        let extent = |row: &Row| row.extent.unwrap_or(ESTIMATE);
        let others = rows.iter().enumerate().filter(|(n, _)| *n != position);
        Some(CommonRow {
            position,
            extent: extent(rows.get(position)?),
            others: others.map(|(_, row)| extent(row)).fold(1, i64::saturating_mul),
        })
    }

    /// Estimates the time of all blocks of `rows` rows, each of which computes `products` and has `used` bytes of arrays; `None` if there
    /// are too few blocks for the SMs.
    fn time(
        &self,
        rows: i64,
        used: i64,
        products: impl Iterator<Item = Option<Product>>,
        gpu: &Gpu,
    ) -> Option<i64> {
        let count = self.others.saturating_mul(self.extent.saturating_add(rows - 1) / rows);
        let processors = i64::from(gpu.processors);
        if count <= 1 || count.saturating_mul(PROCESSORS) < processors {
            return None;
        }
        let memory = i64::from(gpu.shared_memory) - used - partial_bytes(gpu);
        let cycles = cycles(&products.collect::<Option<Vec<_>>>()?, memory, gpu)?;
        let waves = (count + processors - 1) / processors;
        Some(waves.saturating_mul(cycles))
    }
}

/// Selects blocks of several rows that read the same other operands of all contractions.
fn of_products(group: &Group, gpu: &Gpu, grows: bool) -> Option<Blocks> {
    let row = CommonRow::last(group, &group.rows)?;
    let storage = Storage::new(group);
    let sized = |rows: i64| {
        let size = rows.min(row.extent);
        let mut blocks = Blocks(vec![1; group.rows.len()]);
        *blocks.0.get_mut(row.position)? = size;
        let local = local_bytes(group, &blocks, grows).filter(|_| blocks.have_strides(group))?;
        // A contraction gains from fusion only if one of its arrays is local to the block.
        let is_local =
            |access: &Access| storage.place(access.array).is_some_and(|place| storage.home(place).is_none());
        let is_gain = group.products().all(|(number, member)| {
            let other = other_bytes(group, &blocks, (number, member), row.position);
            (grows || member.accesses.iter().any(is_local)) && is_worth(other, local / size, rows)
        });
        let products = group.products().map(|contraction| product(group, contraction, size));
        let time = row.time(rows, local, products, gpu)?;
        is_gain.then_some((blocks, time))
    };
    ROWS.into_iter().filter_map(sized).min_by_key(|(_, time)| *time).map(|(blocks, _)| blocks)
}

/// Whether reading `other` bytes again for each block is worthwhile, if each of its rows saves `saved` bytes.
fn is_worth(other: i64, saved: i64, rows: i64) -> bool {
    let more = other.saturating_mul((TILE - rows).max(0)) / TILE;
    more <= READ.saturating_mul(saved).saturating_mul(rows)
}

/// Candidates for the number of columns of a block.
const COLUMNS: [i64; 4] = [128, 64, 32, 16];

/// Selects the blocks of rows and columns of a group whose rows are too long; `None` if no blocks are faster.
pub(super) fn of_columns(columns: &Columns, gpu: &Gpu) -> Option<Blocks> {
    let group = &columns.group;
    let (along, rows) = group.rows.split_last()?;
    let row = CommonRow::last(group, rows)?;
    let length = along.extent.unwrap_or(LONG);
    let with_width = |width: i64| {
        let mut blocks = Blocks(vec![1; group.rows.len()]);
        *blocks.0.last_mut()? = width;
        Some(blocks)
    };
    // `saved` is the number of bytes that a row without blocks would have in device memory.
    let undivided = with_width(length)?;
    let saved = bytes_of_columns(columns, &undivided)?;
    let sized = |rows: i64, width: i64| {
        let [size, width] = [rows.min(row.extent), width.min(length)];
        let mut blocks = with_width(width)?;
        *blocks.0.get_mut(row.position)? = size;
        let mut used = bytes_of_columns(columns, &blocks)?;
        for (number, access) in columns.results() {
            used = used.checked_add(largest_bytes(group, (number, access), &blocks)?)?;
        }
        let is_gain = group.products().all(|(number, member)| {
            let other = other_bytes(group, &undivided, (number, member), row.position);
            is_worth(other, saved, rows)
        });
        let products = group.products().map(|(number, member)| {
            let product = product(group, (number, member), size)?;
            let l = *along.loops.get(number)?;
            Some(if *member.reductions.get(l)? {
                Product { depth: width, ..product }
            } else {
                Product { sizes: [size, width], ..product }
            })
        });
        let parts = length.saturating_add(width - 1) / width;
        let time = row.time(rows, used, products, gpu)?.saturating_mul(parts);
        is_gain.then_some((blocks, time))
    };
    let sizes = ROWS.into_iter().flat_map(|rows| COLUMNS.map(|width| (rows, width)));
    let candidates = sizes.filter_map(|(rows, width)| sized(rows, width));
    candidates.min_by_key(|(_, time)| *time).map(|(blocks, _)| blocks)
}

/// The estimate of a dynamic number of columns, for rows that are too long.
const LONG: i64 = 2048;

/// Bytes of the arrays in the memory of a block, except the results of reductions along the columns.
fn bytes_of_columns(columns: &Columns, blocks: &Blocks) -> Option<i64> {
    let group = &columns.group;
    let storage = Storage::new(group);
    let (mut places, mut all) = (HashSet::new(), 0_i64);
    for (number, access) in group.numbered() {
        let mut results = columns.results();
        let is_sum = results.any(|(_, result)| result.array == access.array);
        if let Some(place) = storage.place(access.array)
            && !is_sum
            && places.insert(place)
        {
            all = all.checked_add(largest_bytes(group, (number, access), blocks)?)?;
        }
    }
    Some(all)
}

/// Bytes of the largest slice of an array in a block.
fn largest_bytes(group: &Group, (number, access): (usize, &Access), blocks: &Blocks) -> Option<i64> {
    let largest = largest_block(access.array, &group.rows_of(number, access), blocks)?;
    let bytes = element_bytes(access.array)?;
    largest.into_iter().try_fold(bytes, |all, n| all.checked_mul(n))
}

/// Bytes of the operands of a contraction that do not depend on the rows of the block.
fn other_bytes(group: &Group, blocks: &Blocks, (number, member): (usize, &Member), position: usize) -> i64 {
    let inputs = member.inputs();
    let others = inputs.filter(|access| {
        let rows = group.rows_of(number, access);
        !rows.contains(&Some(position))
    });
    let bytes = others.map(|access| blocks.bytes_of(group, number, access));
    bytes.fold(0, |all: i64, bytes| all.saturating_add(bytes.unwrap_or(i64::MAX)))
}

/// Returns the sizes of the part of a contraction that a block computes.
fn product(group: &Group, (number, member): (usize, &Member), rows: i64) -> Option<Product> {
    let of_rows = group.rows.iter().filter_map(|row| row.loops.get(number));
    let of_rows: HashSet<usize> = of_rows.copied().collect();
    let (mut columns, mut depth) = (1_i64, 1_i64);
    for (l, reduces) in member.reductions.iter().enumerate() {
        let extent = member.extent(l)?.unwrap_or(ESTIMATE);
        if *reduces {
            depth = depth.saturating_mul(extent);
        } else if !of_rows.contains(&l) {
            columns = columns.saturating_mul(extent);
        }
    }
    let inputs = member.inputs();
    let mut bytes = inputs.map(|access| element_bytes(access.array));
    Some(Product {
        sizes: [rows, columns],
        depth,
        bytes: bytes.try_fold(0, |max: i64, bytes| Some(max.max(bytes?)))?,
    })
}
