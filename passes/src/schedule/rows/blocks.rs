// SPDX-License-Identifier: Apache-2.0
//! Selects the number of rows in a block of a group, so that the arrays of a block fit the cache.

use super::group::{Group, Row};
use super::member::{Access, ESTIMATE, Kind, element_bytes};
use super::storage::Storage;
use crate::ir::{self, ValueKey, ops};
use std::collections::HashSet;

/// Minimum number of bytes of a long row. A block of long rows has one row: it fits the L1 cache, and the hardware prefetcher handles
/// consecutive rows well. Blocks with shorter rows, or with rows whose elements are not contiguous, have several rows, whose reductions
/// are computed together.
const LONG_ROW: i64 = 1 << 10;

/// Maximum number of rows in a block: larger blocks have no further reuse.
const MAX_ROWS: i64 = 64;

/// Minimum number of rows of a product in a block: they amortize reading the other operand again for each block.
const MIN_OF_PRODUCT: i64 = 16;

/// The number of rows in a block is a multiple of this, so that kernels can divide it into equal tiles.
const TILE: i64 = 8;

/// The number of rows in a block along each row loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks(pub(super) Vec<i64>);

impl Blocks {
    /// `None` if blocks are not faster, or if the strides of a block of an array are unknown.
    pub(super) fn new(group: &Group, cache: i64) -> Option<Self> {
        Self::sized(group, cache).filter(|blocks| blocks.have_strides(group))
    }

    fn sized(group: &Group, cache: i64) -> Option<Self> {
        let has_product = group.has_product();
        let limit = if has_product { cache / 8 * 5 } else { cache / 4 };
        let storage = Storage::new(group);
        let mut blocks = Blocks(vec![1; group.rows.len()]);
        if blocks.bytes(group, &storage)? > cache {
            return None;
        }
        let mut accesses = group.numbered();
        let is_long = accesses.any(|(number, access)| {
            let has_rows = group.rows_of(number, access).iter().any(Option::is_some);
            let bytes = blocks.bytes_of(group, number, access);
            has_rows && bytes.is_some_and(|bytes| bytes >= LONG_ROW)
        });
        if is_long && !has_product && !group.has_columns() {
            return group.has_several_rows().then_some(blocks);
        }
        for position in (0..group.rows.len()).rev() {
            let extent = group.rows.get(position)?.extent;
            let max_rows = extent.map_or(MAX_ROWS, |extent| extent.min(MAX_ROWS));
            let fits = |rows: i64| {
                let mut larger = blocks.clone();
                larger.0.splice(position..=position, [rows]);
                larger.bytes(group, &storage).is_some_and(|bytes| bytes <= limit)
            };
            let rows = (1..=max_rows).rev().find(|rows| *rows == 1 || fits(*rows))?;
            let rows = rounded(rows, extent);
            *blocks.0.get_mut(position)? = rows;
            if extent != Some(rows) {
                break;
            }
        }
        if has_product && !blocks.fits_products(group, cache) {
            return None;
        }
        let is_whole = |(row, block): (&Row, &i64)| row.extent == Some(*block);
        let is_one = group.rows.iter().zip(&blocks.0).all(is_whole);
        (!is_one).then_some(blocks)
    }

    /// Bytes of the arrays that a block of rows accesses, except the arrays that all rows share.
    fn bytes(&self, group: &Group, storage: &Storage) -> Option<i64> {
        let mut counted: HashSet<Place> = HashSet::new();
        let mut all = 0_i64;
        for (number, access) in group.numbered() {
            let has_rows = group.rows_of(number, access).iter().any(Option::is_some);
            let place = match storage.place(access.array) {
                Some(place) => Place::Shared(place),
                None => Place::Own(ValueKey::of(access.array)),
            };
            if has_rows && counted.insert(place) {
                all = all.checked_add(self.bytes_of(group, number, access)?)?;
            }
        }
        Some(all)
    }

    /// Bytes of an array that a block of rows accesses. Dynamic extents other than the rows are estimated.
    pub(super) fn bytes_of(&self, group: &Group, number: usize, access: &Access) -> Option<i64> {
        let rows = group.rows_of(number, access);
        let mut bytes = element_bytes(access.array)?;
        for (extent, row) in access.shape.iter().zip(rows) {
            let size = match row {
                Some(row) => *self.0.get(row)?,
                None => extent.unwrap_or(ESTIMATE),
            };
            bytes = bytes.checked_mul(size)?;
        }
        Some(bytes)
    }

    /// Whether the strides of each array's slice in a block can be computed from the extents of the slice: the slice contains the full
    /// dynamic extent, or it has one element along all dimensions before it.
    pub(super) fn have_strides(&self, group: &Group) -> bool {
        group.numbered().all(|(number, access)| {
            let rows = group.rows_of(number, access);
            let mut dimensions = access.shape.iter().copied().zip(rows);
            let is_one = |(extent, row): &(Option<i64>, Option<usize>)| {
                let size = match row {
                    Some(row) => self.0.get(*row).copied(),
                    None => *extent,
                };
                size == Some(1)
            };
            let first = dimensions.find(|dimension| !is_one(dimension));
            first.is_none() || dimensions.all(|(extent, row)| extent.is_some() || row.is_none())
        })
    }

    /// Whether each product has enough rows in a block, and its other operand fits a cache.
    fn fits_products(&self, group: &Group, cache: i64) -> bool {
        group.products().all(|(number, member)| {
            // The rows of a product are the row loops that one of its operands does not depend on.
            let rows = group.rows.iter().zip(&self.0).filter(|(row, _)| row.is_free_in(number, member));
            let count: i64 = rows.map(|(_, block)| *block).product();
            let mut inputs = member.inputs();
            count >= MIN_OF_PRODUCT
                && inputs.all(|access| {
                    let bytes = self.bytes_of(group, number, access);
                    bytes.is_some_and(|bytes| bytes <= cache * 2)
                })
        })
    }
}

/// Whether a block is faster because several members access arrays with more than one element per row: for all members except the
/// first, the block is in the cache. Windows are computed in blocks only if their padded array is local to the group, so that the
/// padded array is never written to memory completely.
pub(super) fn gains(group: &Group) -> bool {
    if group.members.iter().any(|m| m.kind == Kind::Window) {
        let storage = Storage::new(group);
        let written = group.numbered().filter(|(_, access)| access.writes);
        let parts: Vec<(usize, &Access)> = written.filter(|(_, access)| !access.part.is_empty()).collect();
        // Operations other than fills and copies are fused into the kernel that writes their operands.
        let pads = [ops::linalg::FILL, ops::memref::COPY];
        let is_pad = |number: usize| {
            let member = group.members.get(number);
            member.is_some_and(|member| pads.contains(&ir::name(member.op).as_str()))
        };
        let is_local = |access: &Access| storage.allocation(access.array).is_some();
        let mut pads = parts.iter();
        return !parts.is_empty() && pads.all(|(number, access)| is_pad(*number) && is_local(access));
    }
    let rows = Blocks(vec![1; group.rows.len()]);
    let is_long =
        |number: usize, access: &Access| rows.bytes_of(group, number, access) != element_bytes(access.array);
    let long =
        group.members.iter().enumerate().filter(|(n, member)| member.accesses.iter().any(|a| is_long(*n, a)));
    long.count() > 1
}

/// The memory of an array.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    Own(ValueKey),
    Shared(usize),
}

/// Rounds the number of rows down: to a divisor of the extent if it is greater than half, otherwise to a multiple of the tile.
fn rounded(rows: i64, extent: Option<i64>) -> i64 {
    let divides = |rows: &i64| extent.is_some_and(|extent| extent % rows == 0);
    let divisor = (rows / 2 + 1..=rows).rev().find(divides);
    let tiles = if rows >= TILE { rows / TILE * TILE } else { rows };
    divisor.unwrap_or(tiles).max(1)
}
