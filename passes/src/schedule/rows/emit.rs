// SPDX-License-Identifier: Apache-2.0
//! The loop over blocks of rows.

use super::blocks::Blocks;
use super::group::{Group, Row};
use super::member::{Access, Kind, Member, element_bytes, extents};
use super::storage::Storage;
use crate::extents::size;
use crate::ir::linalg::index_of;
use crate::ir::memref::Extent;
use crate::ir::{self, Builder, Copier, ValueKey, attributes, location, mutation, ops, scf};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Location, Region, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{PassError, melior};
use std::collections::{HashMap, HashSet};

/// Bytes of arrays that are on the stack of a thread, for one block.
pub(super) const STACK: i64 = 256 << 10;

/// Replaces the operations of a group by loops over blocks of rows, or by one whose last blocks have fewer rows; returns the keys of the operations that are no more.
///
/// # Errors
/// The builder's error.
pub(super) fn emit<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    blocks: &Blocks,
    has_one_loop: bool,
    context: &'c Context,
) -> Result<HashSet<usize>, PassError> {
    let before = before_last(group, context)?;
    let storage = Storage::of(group);
    let homes = homes(group, blocks, &storage);
    let home_of = |array: Value<'c, 'a>| {
        let place = storage.place(array)?;
        homes.get(&place).map(|home| (place, home))
    };
    for spans in all_spans(group, blocks, has_one_loop, &before)? {
        let part = Part { group, spans, home: &home_of };
        part.emit(&before)?;
    }
    let unused = group.numbered().filter_map(|(_, access)| {
        let (_, home) = home_of(access.array)?;
        let allocation = storage.allocation(access.array)?;
        let is_kept = matches!(home, Home::Array(home) if home.array == access.array);
        (!is_kept).then_some((ValueKey::of(access.array), allocation))
    });
    let unused: HashMap<ValueKey, OperationRef> = unused.collect();
    let members: Vec<&Member> = group.members.iter().collect();
    Ok(erase(&members, unused.into_values()))
}

/// Where the operations of a group are computed together: before the last one.
pub(super) fn before_last<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    context: &'c Context,
) -> Result<Builder<'c, 'a>, PassError> {
    let last = group.members.last().ok_or("a group without operations")?.op;
    let locations: Vec<Location> = group.members.iter().map(|m| m.op.location()).collect();
    let location = location::fused(context, &locations, None);
    Ok(Builder::before(context, last)?.with_location(location))
}

/// Erases operations that were replaced, the views that they alone used, and allocations; returns the keys of what was erased.
pub(super) fn erase<'c: 'a, 'a>(
    members: &[&Member<'c, 'a>],
    allocations: impl Iterator<Item = OperationRef<'c, 'a>>,
) -> HashSet<usize> {
    let views = members.iter().flat_map(|member| {
        let parts = member.accesses.iter().filter(|access| !access.part.is_empty());
        parts.filter_map(|access| member.op.operand(access.operand).ok())
    });
    let views: Vec<OperationRef> =
        views.filter_map(|view| ir::definition(view).map(|(view, _)| view)).collect();
    let mut keys = HashSet::new();
    let mut erase = |op: OperationRef<'c, 'a>| {
        if keys.insert(ir::key(op)) {
            ir::erase(op);
        }
    };
    members.iter().rev().for_each(|member| erase(member.op));
    let mut seen = HashSet::new();
    let views = views.into_iter().filter(|view| seen.insert(ir::key(*view)));
    // What views an array that is no more is no more, either.
    let unused = views.filter(|view| {
        let mut results = view.results();
        results.all(|result| ir::users(result.into()).is_empty())
    });
    unused.collect::<Vec<_>>().into_iter().for_each(&mut erase);
    allocations.for_each(&mut erase);
    keys
}

/// Where the arrays of a place are.
enum Home<'c, 'a> {
    /// In the memory of one of them.
    Array(Access<'c, 'a>),
    /// In an array of one block, which has at most these extents.
    Block(Vec<i64>),
}

/// The homes of the places of arrays that members alone access: the memory of the array that others access as well, the stack as
/// long as it has some left, and for arrays of dynamic size that of one of them.
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
            let mut extents = extents.iter();
            extents.try_fold(element_bytes(access.array)?, |all, n| all.checked_mul(*n))
        });
        let dimensions = extents(access.array).unwrap_or_default().into_iter();
        let mut open = dimensions.zip(rows).filter(|(extent, row)| extent.is_none() && row.is_none());
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
    /// The number of all rows, if the last block may have fewer than others.
    all: Option<Value<'c, 'a>>,
}

/// The loops of a group: whole blocks, then the rows that are left. Each has a span for each row.
fn all_spans<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    blocks: &Blocks,
    has_one_loop: bool,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Vec<Span<'c, 'a>>>, PassError> {
    let mut whole = Vec::new();
    let mut rest = None;
    for (position, (row, rows)) in group.rows.iter().zip(&blocks.0).enumerate() {
        let (own, left) = spans(group, row, (*rows, has_one_loop), at)?;
        whole.push(own);
        rest = rest.or(left.map(|left| (position, left)));
    }
    let mut all = vec![whole.clone()];
    if let Some((position, left)) = rest {
        let mut spans = whole;
        if let Some(own) = spans.get_mut(position) {
            *own = left;
        }
        all.push(spans);
    }
    Ok(all)
}

/// The whole blocks of a row, and what is left.
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
            let span = Span { all: Some(at.index(extent)?), ..span(None, rows, Some(at.index(count + 1)?)) };
            return Ok((span, None));
        }
        let blocks = match count {
            1 => None,
            count => Some(at.index(count)?),
        };
        let rest = match left {
            0 => None,
            left => Some(span(Some(at.index(count * rows)?), left, None)),
        };
        return Ok((span(None, rows, blocks), rest));
    }
    let extent = dynamic_extent(group, row, at)?;
    if rows == 1 {
        return Ok((span(None, 1, Some(extent)), None));
    }
    let index = Type::index(at.context);
    let binary = |name, left, right| at.value(name, &[left, right], &[], index);
    let size = at.index(rows)?;
    // Tiles of a product have many rows: one row takes as long.
    if group.members.iter().any(|m| m.kind == Kind::Product) {
        let blocks = binary(ops::arith::CEILDIVUI, extent, size)?;
        let all = Some(extent);
        return Ok((Span { all, ..span(None, rows, Some(blocks)) }, None));
    }
    let count = binary(ops::arith::DIVUI, extent, size)?;
    let first = binary(ops::arith::MULI, count, size)?;
    let left = binary(ops::arith::SUBI, extent, first)?;
    Ok((span(None, rows, Some(count)), Some(span(Some(first), 1, Some(left)))))
}

/// The extent of a row that is dynamic.
pub(super) fn dynamic_extent<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    row: &Row,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let found = group.numbered().find_map(|(number, access)| {
        let dimension = access.dimension(*row.loops.get(number)?).flatten()?;
        Some((access.array, dimension))
    });
    let (array, dimension) = found.ok_or("a row that subscripts no array")?;
    extent_of(array, dimension, at)
}

/// The dynamic extent of an array.
fn extent_of<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    // The array of an allocation may be replaced.
    let open = extents(array).unwrap_or_default().into_iter().take(dimension);
    let number = open.filter(Option::is_none).count();
    let maker = ir::definition(array).map(|(maker, _)| maker);
    let maker = maker.filter(|maker| ir::name(*maker) == ops::memref::ALLOC);
    if let Some(size) = maker.and_then(|maker| ir::shape::dynamic_size(maker, number)) {
        return Ok(size);
    }
    let dimension = at.index(i64::try_from(dimension).unwrap_or(i64::MAX))?;
    let index = Type::index(at.context);
    Ok(at.value(ops::memref::DIM, &[array, dimension], &[], index)?)
}

/// One loop of a group.
struct Part<'g, 'c, 'a> {
    group: &'g Group<'c, 'a>,
    /// By row.
    spans: Vec<Span<'c, 'a>>,
    /// The place and the home of an array that is not where it was.
    home: &'g HomeOf<'g, 'c, 'a>,
}

type HomeOf<'g, 'c, 'a> = dyn Fn(Value<'c, 'a>) -> Option<(usize, &'g Home<'c, 'a>)> + 'g;

impl<'c: 'a, 'a> Part<'_, 'c, 'a> {
    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let loops = Loops::open(&self.spans, at)?;
        let (firsts, sizes) = (&loops.firsts, &loops.sizes);
        let mut known: HashMap<(ValueKey, Vec<Option<usize>>), Value> = HashMap::new();
        let mut stack: HashMap<usize, Value> = HashMap::new();
        for number in 0..self.group.members.len() {
            copy_member(self.group, number, firsts, &loops.body, |access, before| {
                let rows = self.group.rows_of(number, access);
                let key = (ValueKey::of(access.array), rows.clone());
                let view = match known.get(&key) {
                    Some(view) => *view,
                    None => {
                        let sizes = extents_of(access, &key.1, sizes, at)?;
                        let view = match (self.home)(access.array) {
                            None => view(access, &sizes, &key.1, firsts, before)?,
                            Some((place, home)) => match stack.get(&place) {
                                Some(known) => *known,
                                None => {
                                    let own = match home {
                                        Home::Array(home) => view(home, &sizes, &key.1, firsts, before)?,
                                        Home::Block(largest) => {
                                            let is_loop = loops.is_any();
                                            local(access.array, largest, &sizes, is_loop, before)?
                                        }
                                    };
                                    stack.insert(place, own);
                                    own
                                }
                            },
                        };
                        known.insert(key, view);
                        view
                    }
                };
                if access.part.is_empty() { Ok(view) } else { self.part(access, &rows, view, before) }
            })?;
        }
        loops.close(self.work(), at)
    }

    /// The part of a block that an operand is a view of: rows are whole in it.
    fn part(
        &self,
        access: &Access<'c, 'a>,
        rows: &[Option<usize>],
        block: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
        for ((offset, size), row) in access.part.iter().zip(rows) {
            let span = row.and_then(|row| self.spans.get(row));
            offsets.push(*offset);
            sizes.push(span.map_or(*size, |span| span.rows));
        }
        let steps = vec![1; sizes.len()];
        Ok(ir::memref::subview(at, block, &offsets, &sizes, &steps)?)
    }

    /// Operations on scalars of one iteration.
    fn work(&self) -> i64 {
        let work = self.group.members.iter().enumerate().map(|(number, member)| {
            let rows = self.group.rows.iter().zip(&self.spans);
            let rows: HashMap<usize, i64> =
                rows.filter_map(|(row, span)| Some((*row.loops.get(number)?, span.rows))).collect();
            member.work(&rows)
        });
        work.fold(0, i64::saturating_add)
    }
}

/// The loops over blocks of rows, while their body is written.
pub(super) struct Loops<'c, 'a> {
    region: Region<'c>,
    counts: Vec<Value<'c, 'a>>,
    /// The body; what is around it if there is one block.
    pub(super) body: Builder<'c, 'a>,
    /// By row: the first one of the block, and the number of its rows.
    pub(super) firsts: Vec<Option<Value<'c, 'a>>>,
    pub(super) sizes: Vec<Extent<'c, 'a>>,
}

impl<'c: 'a, 'a> Loops<'c, 'a> {
    pub(super) fn open(spans: &[Span<'c, 'a>], at: &Builder<'c, 'a>) -> Result<Self, PassError> {
        let counts: Vec<Value> = spans.iter().filter_map(|span| span.blocks).collect();
        let index = Type::index(at.context);
        let (region, inside, positions) = at.region(&vec![index; counts.len()]);
        let body = if counts.is_empty() { *at } else { inside };
        let mut positions = positions.into_iter();
        let (mut firsts, mut sizes) = (Vec::new(), Vec::new());
        for span in spans {
            let position = span.blocks.and_then(|_| positions.next());
            let first = first_row(span, position, &body)?;
            sizes.push(rows_of_block(span, first, &body)?);
            firsts.push(first);
        }
        Ok(Loops { region, counts, body, firsts, sizes })
    }

    /// Whether there are several blocks.
    fn is_any(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Creates the loops, if there are several blocks. `work` are operations on scalars of one of them.
    pub(super) fn close(self, work: i64, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        if self.is_any() {
            let nothing = Vec::new();
            self.body.create(ops::scf::REDUCE, &[], &[], &[], nothing)?;
            scf::close_parallel(at, &self.counts, work, self.region)?;
        }
        Ok(())
    }
}

/// A copy of an operation on the arrays of a block, each of which `array` creates before it.
pub(super) fn copy_member<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    number: usize,
    firsts: &[Option<Value<'c, 'a>>],
    at: &Builder<'c, 'a>,
    mut array: impl FnMut(&Access<'c, 'a>, &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError>,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let member = group.members.get(number).ok_or("an unknown operation")?;
    let at = &at.with_location(member.op.location());
    let mut arrays = Vec::new();
    for access in &member.accesses {
        arrays.push(array(access, at)?);
    }
    let copy = Copier::new().rebuild(member.op, at, &mut |_, _, _| Ok(false))?;
    shift_positions(group, number, copy, firsts)?;
    for (access, array) in member.accesses.iter().zip(arrays) {
        mutation::set_operand(copy, access.operand, array);
    }
    Ok(copy)
}

/// Adds the first row of the block to the positions of rows that a payload reads.
fn shift_positions<'c: 'a, 'a>(
    group: &Group<'c, 'a>,
    number: usize,
    copy: OperationRef<'c, 'a>,
    firsts: &[Option<Value<'c, 'a>>],
) -> Result<(), PassError> {
    for op in ir::nested(copy) {
        let Some(l) = index_of(op) else {
            continue;
        };
        let mut rows = group.rows.iter().zip(firsts);
        let own = rows.find(|(row, _)| row.loops.get(number) == Some(&l));
        let (Some(first), Some(next)) = (own.and_then(|(_, first)| *first), op.next_in_block()) else {
            continue;
        };
        let at = Builder::before(ir::context::of(op), next)?.with_location(op.location());
        let position: Value = op.result(0)?.into();
        let index = Type::index(at.context);
        let sum = at.value(ops::arith::ADDI, &[first, first], &[], index)?;
        ir::replace_uses(position, sum);
        let made = ir::definition(sum).ok_or("a sum without an operation")?.0;
        mutation::set_operand(made, 0, position);
    }
    Ok(())
}

/// The extents of the part of an array that a block accesses, by those of rows. `before` is before the loop.
pub(super) fn extents_of<'c: 'a, 'a>(
    access: &Access<'c, 'a>,
    rows: &[Option<usize>],
    of_rows: &[Extent<'c, 'a>],
    before: &Builder<'c, 'a>,
) -> Result<Vec<Extent<'c, 'a>>, PassError> {
    let extents = extents(access.array).ok_or("an array without strides")?;
    let extents = extents.into_iter().zip(rows).enumerate();
    let size = |(dimension, (extent, row)): (usize, (Option<i64>, &Option<usize>))| match row {
        Some(row) => Ok(*of_rows.get(*row).ok_or("an unknown row")?),
        None => Ok(match extent {
            Some(extent) => Extent::Known(extent),
            None => Extent::Value(extent_of(access.array, dimension, before)?),
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

/// An array of one block alone: on the stack of the thread, if there are several blocks.
pub(super) fn local<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    largest: &[i64],
    sizes: &[Extent<'c, 'a>],
    is_loop: bool,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let extents = sizes.iter().zip(largest).map(|(size, most)| match size {
        Extent::Known(size) => *size,
        Extent::Value(_) => *most,
    });
    let extents: Vec<i64> = extents.collect();
    let whole = allocate(array, &extents, is_loop, at)?;
    part_of(whole, sizes, at)
}

/// An array of elements like those of another one, for one block.
pub(super) fn allocate<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    extents: &[i64],
    is_loop: bool,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let element = MemRefType::try_from(array.r#type())?.element();
    let name = if is_loop { ops::memref::ALLOCA } else { ops::memref::ALLOC };
    let attributes = [
        ("operandSegmentSizes", attributes::i32s(at.context, &[0, 0])),
        ("alignment", attributes::i64(at.context, 64)),
    ];
    let kind = ir::types::memref(extents, element);
    Ok(at.value(name, &[], &attributes, kind)?)
}

/// The first elements of an array of a block: as many as the block has.
pub(super) fn part_of<'c: 'a, 'a>(
    whole: Value<'c, 'a>,
    sizes: &[Extent<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if sizes.iter().all(|size| size.value().is_none()) {
        Ok(whole)
    } else {
        let none = vec![None; sizes.len()];
        Ok(ir::memref::block(at, whole, &none, sizes)?)
    }
}

/// The first row of a block; `None` for 0.
pub(super) fn first_row<'c: 'a, 'a>(
    span: &Span<'c, 'a>,
    position: Option<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, PassError> {
    let index = Type::index(at.context);
    let Some(position) = position else {
        return Ok(span.first);
    };
    let scaled = match span.rows {
        1 => position,
        rows => at.value(ops::arith::MULI, &[position, at.index(rows)?], &[], index)?,
    };
    Ok(Some(match span.first {
        None => scaled,
        Some(first) => at.value(ops::arith::ADDI, &[scaled, first], &[], index)?,
    }))
}

/// The number of rows of a block.
pub(super) fn rows_of_block<'c: 'a, 'a>(
    span: &Span<'c, 'a>,
    first: Option<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Result<Extent<'c, 'a>, PassError> {
    let Some((all, first)) = span.all.zip(first) else {
        return Ok(Extent::Known(span.rows));
    };
    let index = Type::index(at.context);
    let left = at.value(ops::arith::SUBI, &[all, first], &[], index)?;
    let rows = at.index(span.rows)?;
    let rows = at.value(ops::arith::MINSI, &[left, rows], &[], index)?;
    Ok(Extent::Value(rows))
}
