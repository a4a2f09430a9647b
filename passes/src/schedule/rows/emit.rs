// SPDX-License-Identifier: Apache-2.0
//! Emits tiles of whole rows.

use super::blocks::Blocks;
use super::group::{Group, Row};
use super::member::{Access, Kind, element_bytes};
use super::storage::Storage;
use super::tile::{self, Loops, STACK, Tile, before_last, erase_group};
use crate::extents::size;
use crate::ir::memref::Extent;
use crate::ir::{self, Builder, ValueKey};
use melior::Context;
use melior::ir::Value;
use skript_dialect::{PassError, melior};
use std::collections::{HashMap, HashSet};

/// Replaces the operations of a group by loops over full blocks of rows and over the remaining rows, or with `has_one_loop` by a loop whose
/// last blocks have fewer rows. Returns the keys of the erased operations.
pub(super) fn emit<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    blocks: &Blocks,
    has_one_loop: bool,
    context: &'c Context,
) -> Result<HashSet<usize>, PassError> {
    let before = before_last(&group.members.iter().collect::<Vec<_>>(), context)?;
    let storage = Storage::new(group);
    let homes = homes(group, blocks, &storage);
    for spans in all_spans(group, blocks, has_one_loop, &before)? {
        let loops = Loops::open(spans.iter().filter_map(|span| span.blocks).collect(), &before);
        let mut rows = Rows {
            group,
            block: Block::new(&spans, &loops),
            spans,
            storage: &storage,
            homes: &homes,
            before,
            is_loop: loops.is_any(),
            known: HashMap::new(),
            parts_of_homes: HashMap::new(),
        };
        for (number, member) in group.members.iter().enumerate() {
            rows.emit_member(number, member, &loops.body)?;
        }
        loops.close(rows.work(), &before)?;
    }
    Ok(erase_group(group, &storage, |array| {
        let home = storage.place(array).and_then(|place| homes.get(&place));
        home.is_none_or(|home| matches!(home, Home::Array(home) if home.array == array))
    }))
}

/// The memory of the arrays that share a place.
enum Home<'c, 'a> {
    /// The memory of one of them.
    Array(Access<'c, 'a>),
    /// An array for one block, with at most these extents.
    Block(Vec<i64>),
}

/// The memory of each place. It is the array of the place that is also accessed outside the group, if there is one. Other places are
/// on the stack while its space suffices; arrays of dynamic size use the memory of one of them.
fn homes<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    blocks: &Blocks,
    storage: &Storage<'c, 'a>,
) -> HashMap<usize, Home<'c, 'a>> {
    let mut free = STACK;
    let mut homes = HashMap::new();
    for (number, access) in group.numbered() {
        let Some(place) = storage.place(access.array) else {
            continue;
        };
        if homes.contains_key(&place) {
            continue;
        }
        if let Some(home) = storage.home(place) {
            let mut accesses = group.numbered().map(|(_, access)| access);
            let home = accesses.find(|access| access.array == home);
            homes.extend(home.map(|home| (place, Home::Array(home.clone()))));
            continue;
        }
        let rows = group.rows_of(number, access);
        let largest = largest_block(access.array, &rows, blocks);
        let bytes = largest.as_ref().and_then(|extents| {
            extents.iter().try_fold(element_bytes(access.array)?, |all, n| all.checked_mul(*n))
        });
        let mut open =
            access.shape.iter().zip(rows).filter(|(extent, row)| extent.is_none() && row.is_none());
        match (largest, bytes.filter(|bytes| *bytes <= free)) {
            (Some(largest), Some(bytes)) => {
                homes.insert(place, Home::Block(largest));
                free -= bytes;
            }
            _ if open.next().is_some() => {
                homes.insert(place, Home::Array(access.clone()));
            }
            _ => {}
        }
    }
    homes
}

/// The maximum extents of the part of an array that a block accesses.
pub(super) fn largest_block(array: Value, rows: &[Option<usize>], blocks: &Blocks) -> Option<Vec<i64>> {
    let extents = rows.iter().enumerate().map(|(dimension, row)| match row {
        Some(row) => blocks.0.get(*row).copied(),
        None => i64::try_from(size::extent(array, dimension)?).ok(),
    });
    extents.collect()
}

/// The rows of one dimension that a loop computes.
#[derive(Clone, Copy)]
pub(super) struct Span<'c, 'a> {
    /// The first row; `None` for 0.
    first: Option<Value<'c, 'a>>,
    /// The number of rows in a block.
    rows: i64,
    /// The number of blocks; `None` if there is one.
    pub(super) blocks: Option<Value<'c, 'a>>,
    /// The total number of rows, if the last block may have fewer rows than others.
    all: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Span<'c, 'a> {
    /// The first row of a block; `None` for 0.
    fn first_row(&self, position: Option<Value<'c, 'a>>, at: &Builder<'c, 'a>) -> Option<Value<'c, 'a>> {
        let Some(position) = position else {
            return self.first;
        };
        let scaled = match self.rows {
            1 => position,
            rows => at.muli(position, at.idx(rows)),
        };
        Some(match self.first {
            None => scaled,
            Some(first) => at.addi(scaled, first),
        })
    }

    /// The number of rows of a block.
    fn size(&self, first: Option<Value<'c, 'a>>, at: &Builder<'c, 'a>) -> Extent<'c, 'a> {
        let Some((all, first)) = self.all.zip(first) else {
            return Extent::Known(self.rows);
        };
        let left = at.subi(all, first);
        Extent::Value(at.minsi(left, at.idx(self.rows)))
    }
}

/// The loops of a group: over full blocks, then over the remaining rows. Each has a span for each row.
fn all_spans<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    blocks: &Blocks,
    has_one_loop: bool,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Vec<Span<'c, 'a>>>, PassError> {
    let mut whole = Vec::new();
    let mut remainder = None;
    for (position, (row, rows)) in group.rows.iter().zip(&blocks.0).enumerate() {
        let (full, left) = spans(group, row, (*rows, has_one_loop), at)?;
        whole.push(full);
        remainder = remainder.or(left.map(|left| (position, left)));
    }
    let mut all = vec![whole.clone()];
    if let Some((position, left)) = remainder {
        let mut spans = whole;
        if let Some(span) = spans.get_mut(position) {
            *span = left;
        }
        all.push(spans);
    }
    Ok(all)
}

/// The full blocks of a row, and the remainder.
pub(super) fn spans<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    row: &Row,
    (rows, has_one_loop): (i64, bool),
    at: &Builder<'c, 'a>,
) -> Result<(Span<'c, 'a>, Option<Span<'c, 'a>>), PassError> {
    let span = |first, rows, blocks| Span { first, rows, blocks, all: None };
    if let Some(extent) = row.extent {
        let (count, left) = (extent / rows, extent % rows);
        if left > 0 && has_one_loop {
            let span = Span { all: Some(at.idx(extent)), ..span(None, rows, Some(at.idx(count + 1))) };
            return Ok((span, None));
        }
        let blocks = match count {
            1 => None,
            count => Some(at.idx(count)),
        };
        let remainder = match left {
            0 => None,
            left => Some(span(Some(at.idx(count * rows)), left, None)),
        };
        return Ok((span(None, rows, blocks), remainder));
    }
    let extent = dynamic_extent(group, row, at)?;
    if rows == 1 {
        return Ok((span(None, 1, Some(extent)), None));
    }
    let size = at.idx(rows);
    // Tiles of a product have many rows, and a tile of one row takes as long as a full one.
    if group.members.iter().any(|m| m.kind == Kind::Product) {
        let blocks = at.ceildivui(extent, size);
        let all = Some(extent);
        return Ok((Span { all, ..span(None, rows, Some(blocks)) }, None));
    }
    let count = at.divui(extent, size);
    let first = at.muli(count, size);
    let left = at.subi(extent, first);
    Ok((span(None, rows, Some(count)), Some(span(Some(first), 1, Some(left)))))
}

/// The dynamic extent of a row.
pub(super) fn dynamic_extent<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    row: &Row,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let place = group.numbered().find_map(|(number, access)| {
        let dimension = access.dimension(*row.loops.get(number)?).flatten()?;
        Some((access.array, dimension))
    });
    let (array, dimension) = place.ok_or("a row that subscripts no array")?;
    Ok(ir::memref::dynamic_extent(at, array, dimension)?)
}

/// The first row and the number of rows of a tile, by row of the group.
pub(super) struct Block<'c, 'a> {
    pub(super) firsts: Vec<Option<Value<'c, 'a>>>,
    pub(super) sizes: Vec<Extent<'c, 'a>>,
}

impl<'c: 'a, 'a> Block<'c, 'a> {
    /// The block at the position of loops over blocks of rows.
    pub(super) fn new(spans: &[Span<'c, 'a>], loops: &Loops<'c, 'a>) -> Self {
        let mut positions = loops.positions.iter().copied();
        let mut block = Block { firsts: Vec::new(), sizes: Vec::new() };
        for span in spans {
            let position = span.blocks.and_then(|_| positions.next());
            block.push(span, position, &loops.body);
        }
        block
    }

    /// Adds the rows of a span at the position of its loop.
    pub(super) fn push(
        &mut self,
        span: &Span<'c, 'a>,
        position: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) {
        let first = span.first_row(position, at);
        self.sizes.push(span.size(first, at));
        self.firsts.push(first);
    }

    /// The first row of the block in a loop of a member.
    pub(super) fn first(&self, group: &Group, number: usize, l: usize) -> Option<Value<'c, 'a>> {
        let mut rows = group.rows.iter().zip(&self.firsts);
        rows.find(|(row, _)| row.loops.get(number) == Some(&l)).and_then(|(_, first)| *first)
    }
}

/// The policy of whole rows.
struct Rows<'g, 'c, 'a> {
    group: &'g Group<'c, 'a>,
    spans: Vec<Span<'c, 'a>>,
    block: Block<'c, 'a>,
    storage: &'g Storage<'c, 'a>,
    homes: &'g HashMap<usize, Home<'c, 'a>>,
    before: Builder<'c, 'a>,
    is_loop: bool,
    /// The part of each array, by its rows.
    known: HashMap<(ValueKey, Vec<Option<usize>>), Value<'c, 'a>>,
    /// The part of the memory of each place.
    parts_of_homes: HashMap<usize, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Tile<'c, 'a> for Rows<'_, 'c, 'a> {
    fn first(&self, number: usize, l: usize) -> Option<Value<'c, 'a>> {
        self.block.first(self.group, number, l)
    }

    fn operand(
        &mut self,
        number: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let rows = self.group.rows_of(number, access);
        let key = (ValueKey::of(access.array), rows);
        let array = match self.known.get(&key) {
            Some(array) => *array,
            None => {
                let array = self.array(access, &key.1, at)?;
                self.known.insert(key.clone(), array);
                array
            }
        };
        if access.part.is_empty() {
            return Ok(array);
        }
        // Keep all rows of the tile.
        let parts = access.part.iter().zip(&key.1).map(|((offset, size), row)| {
            let span = row.and_then(|row| self.spans.get(row));
            (*offset, span.map_or(*size, |span| span.rows))
        });
        tile::part(array, &parts.collect::<Vec<_>>(), at)
    }
}

impl<'c: 'a, 'a> Rows<'_, 'c, 'a> {
    /// The part of an array that the tile accesses, or the array of the tile that replaces it.
    fn array(
        &mut self,
        access: &Access<'c, 'a>,
        rows: &[Option<usize>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let sizes = extents_of(access, rows, &self.block.sizes, &self.before)?;
        let place = self.storage.place(access.array);
        let Some((place, home)) = place.and_then(|place| Some((place, self.homes.get(&place)?))) else {
            return view(access, &sizes, rows, &self.block.firsts, at);
        };
        if let Some(known) = self.parts_of_homes.get(&place) {
            return Ok(*known);
        }
        let part = match home {
            Home::Array(home) => view(home, &sizes, rows, &self.block.firsts, at)?,
            Home::Block(largest) => {
                let extents = sizes.iter().zip(largest).map(|(size, max_size)| match size {
                    Extent::Known(size) => *size,
                    Extent::Value(_) => *max_size,
                });
                let whole = tile::allocate(access.array, &extents.collect::<Vec<_>>(), self.is_loop, at)?;
                tile::first_elements(whole, &sizes, at)?
            }
        };
        self.parts_of_homes.insert(place, part);
        Ok(part)
    }

    /// The number of scalar operations in one tile.
    fn work(&self) -> i64 {
        let work = self.group.members.iter().enumerate().map(|(number, member)| {
            let rows = self.group.rows.iter().zip(&self.spans);
            let extents = rows.filter_map(|(row, span)| Some((*row.loops.get(number)?, span.rows)));
            member.work(&extents.collect())
        });
        work.fold(0, i64::saturating_add)
    }
}

/// The extents of the part of an array that a block accesses. `before` is before the loop.
pub(super) fn extents_of<'c: 'a, 'a>(
    access: &Access<'c, 'a>,
    rows: &[Option<usize>],
    of_rows: &[Extent<'c, 'a>],
    before: &Builder<'c, 'a>,
) -> Result<Vec<Extent<'c, 'a>>, PassError> {
    let extents = access.shape.iter().zip(rows).enumerate();
    let size = |(dimension, (extent, row)): (usize, (&Option<i64>, &Option<usize>))| match row {
        Some(row) => Ok(*of_rows.get(*row).ok_or("an unknown row")?),
        None => Ok(match extent {
            Some(extent) => Extent::Known(*extent),
            None => Extent::Value(ir::memref::dynamic_extent(before, access.array, dimension)?),
        }),
    };
    extents.map(size).collect()
}

/// The part of an array that a block accesses.
pub(super) fn view<'c: 'a, 'a>(
    access: &Access<'c, 'a>,
    sizes: &[Extent<'c, 'a>],
    rows: &[Option<usize>],
    firsts: &[Option<Value<'c, 'a>>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if rows.iter().all(Option::is_none) {
        return Ok(access.array);
    }
    let first = |row: &Option<usize>| row.and_then(|row| firsts.get(row).copied().flatten());
    let firsts: Vec<Option<Value>> = rows.iter().map(first).collect();
    Ok(ir::memref::block(at, access.array, &firsts, sizes)?)
}
