// SPDX-License-Identifier: Apache-2.0
//! How many rows a group computes together: what they access stays in the cache.

use super::group::{Group, Row};
use super::member::{Access, ESTIMATE, Kind, element_bytes, extents};
use super::storage::Storage;
use crate::ir::{self, ValueKey, ops};
use std::collections::HashSet;

/// Bytes of a row of one array from which on a block is one row: it stays in the nearest cache, and reading row after row is what
/// processors expect. Reductions of shorter rows are computed several at once, and so are those of rows whose elements are not
/// next to each other.
const LONG_ROW: i64 = 1 << 10;

/// Rows that a block has at most: more share nothing else.
const MOST_ROWS: i64 = 64;

/// Rows of a product that are enough to read its other operand again for each block.
const FEWEST_OF_PRODUCT: i64 = 16;

/// Blocks have a number of rows that kernels divide into equal tiles.
const TILE: i64 = 8;

/// The number of rows in a block, by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks(pub(super) Vec<i64>);

impl Blocks {
    /// `None` if the group gains nothing from blocks, or if one is a part of an array with strides that are not known.
    pub(super) fn of(group: &Group, cache: i64) -> Option<Self> {
        Self::sized(group, cache).filter(|blocks| blocks.have_strides(group))
    }

    fn sized(group: &Group, cache: i64) -> Option<Self> {
        let mut members = group.members.iter();
        let has_product = members.any(|member| member.kind == Kind::Product);
        let limit = if has_product { cache / 8 * 5 } else { cache / 4 };
        let storage = Storage::of(group);
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
            let most = extent.map_or(MOST_ROWS, |extent| extent.min(MOST_ROWS));
            let fits = |rows: i64| {
                let mut larger = blocks.clone();
                if let Some(own) = larger.0.get_mut(position) {
                    *own = rows;
                }
                larger.bytes(group, &storage).is_some_and(|bytes| bytes <= limit)
            };
            let rows = (1..=most).rev().find(|rows| *rows == 1 || fits(*rows))?;
            let rows = rounded(rows, extent);
            *blocks.0.get_mut(position)? = rows;
            if extent != Some(rows) {
                break;
            }
        }
        if has_product && !blocks.suits_products(group, cache) {
            return None;
        }
        let is_whole = |(row, block): (&Row, &i64)| row.extent == Some(*block);
        let is_one = group.rows.iter().zip(&blocks.0).all(is_whole);
        (!is_one).then_some(blocks)
    }

    /// Bytes of the arrays that a block of rows accesses, without those that all rows share.
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

    /// Bytes of an array that a block of rows accesses. Other dynamic extents are estimated.
    pub(super) fn bytes_of(&self, group: &Group, number: usize, access: &Access) -> Option<i64> {
        let rows = group.rows_of(number, access);
        let mut bytes = element_bytes(access.array)?;
        for (extent, row) in extents(access.array)?.into_iter().zip(rows) {
            let size = match row {
                Some(row) => *self.0.get(row)?,
                None => extent.unwrap_or(ESTIMATE),
            };
            bytes = bytes.checked_mul(size)?;
        }
        Some(bytes)
    }

    /// Whether the strides of each array's part follow from the part's extents: a dynamic extent is whole in the part, or there is
    /// one element along all dimensions before it.
    pub(super) fn have_strides(&self, group: &Group) -> bool {
        group.numbered().all(|(number, access)| {
            let rows = group.rows_of(number, access);
            let extents = extents(access.array).unwrap_or_default();
            let mut dimensions = extents.into_iter().zip(rows);
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

    /// Whether products have enough rows in a block, and an other operand that a cache holds.
    fn suits_products(&self, group: &Group, cache: i64) -> bool {
        let mut products =
            group.members.iter().enumerate().filter(|(_, member)| member.kind == Kind::Product);
        products.all(|(number, member)| {
            let rows = group.rows.iter().zip(&self.0);
            // The rows that some operand does not depend on are those of the product.
            let own = rows.filter(|(row, _)| {
                let l = row.loops.get(number).copied().unwrap_or_default();
                let mut inputs = member.accesses.iter();
                inputs.any(|access| access.dimension(l) == Some(None))
            });
            let own: i64 = own.map(|(_, block)| *block).product();
            let mut inputs = member.accesses.iter().filter(|access| !access.writes);
            own >= FEWEST_OF_PRODUCT
                && inputs.all(|access| {
                    let bytes = self.bytes_of(group, number, access);
                    bytes.is_some_and(|bytes| bytes <= cache * 2)
                })
        })
    }
}

/// Whether several members access arrays that have other elements beside the rows': each but the first finds a block in the cache.
/// Windows are computed by blocks if those of a padded array are, which nothing else accesses: it need not be in memory.
pub(super) fn gains(group: &Group) -> bool {
    if group.members.iter().any(|m| m.kind == Kind::Window) {
        let storage = Storage::of(group);
        let written = group.numbered().filter(|(_, access)| access.writes);
        let parts = written.filter(|(_, access)| !access.part.is_empty());
        let parts: Vec<(usize, &Access)> = parts.collect();
        // A kernel computes other operations with the elements that it writes.
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

/// What arrays are in.
#[derive(PartialEq, Eq, Hash)]
enum Place {
    Own(ValueKey),
    Shared(usize),
}

/// At most so many rows: a divisor of the extent if it is not much smaller, or a number of tiles.
fn rounded(rows: i64, extent: Option<i64>) -> i64 {
    let divides = |rows: &i64| extent.is_some_and(|extent| extent % rows == 0);
    let divisor = (rows / 2 + 1..=rows).rev().find(divides);
    let tiles = if rows >= TILE { rows / TILE * TILE } else { rows };
    divisor.unwrap_or(tiles).max(1)
}
