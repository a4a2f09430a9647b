// SPDX-License-Identifier: Apache-2.0
//! Emits the loop over sequences of blocks.

use super::super::member::{Access, Member};
use super::super::tile::{Loops, Tile, allocate, before_last, erase, part, sequential};
use super::blocks::{Kind, Range};
use super::{Local, Part, Strips, moved};
use crate::ir::builder::arith::Integers;
use crate::ir::memref::{self, Extent};
use crate::ir::{Builder, ValueKey, ops};
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use skript_dialect::{PassError, melior};
use std::collections::{HashMap, HashSet};

/// A dimension, a value and a factor whose product is the first position, and the size.
type Slice = (usize, ValueKey, i64, i64);

/// The state of emission for one range of a block.
#[derive(Clone)]
struct Scope<'c, 'a> {
    at: Builder<'c, 'a>,
    /// The insertion point before the loop over the blocks of a sequence.
    outside: Builder<'c, 'a>,
    /// The number of the image.
    image: Option<Value<'c, 'a>>,
    /// The number of the block.
    block: Value<'c, 'a>,
    range: Range,
    /// The arrays of the strip, by the arrays that they replace. Each range has separate arrays, except the array of the windows. So later
    /// operations can be fused into a kernel, which makes some of the arrays unnecessary.
    arrays: HashMap<ValueKey, Value<'c, 'a>>,
    /// First iterations, by the offset from the block's first iteration, and by the distance between blocks.
    firsts: HashMap<(i64, i64), Value<'c, 'a>>,
    /// Slices of arrays of strips, by array, offsets and sizes.
    parts: HashMap<(ValueKey, Vec<(i64, i64)>), Value<'c, 'a>>,
    /// Slices of other arrays, by array, and by the first position and the size along the sliced dimensions.
    moved: HashMap<(ValueKey, Vec<Slice>), Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// Replaces the operations by a loop over sequences of blocks; returns the keys of the erased operations.
    pub(in super::super) fn emit(&self, context: &'c Context) -> Result<HashSet<usize>, PassError> {
        let members: Vec<&Member> = self.parts.iter().map(|part| &part.member).collect();
        let at = before_last(&members, context)?;
        let division = self.division;
        let rows = division.rows * division.blocks / division.sequences;
        let work = self.parts.iter().map(|part| {
            let rows = match part.shift {
                None => rows,
                Some(_) => rows * self.step,
            };
            let image = part.image.map(|image| (image, 1));
            let extents = [(part.row, rows)].into_iter().chain(image);
            part.member.work(&extents.collect())
        });
        let work = work.fold(0, i64::saturating_add);
        let mut counts = vec![at.idx(division.sequences)];
        if let Some(images) = self.number_of_images(&at)? {
            counts.insert(0, images);
        }
        let loops = Loops::open(counts, &at);
        let (sequence, images) = loops.positions.split_last().ok_or("a loop without a position")?;
        self.emit_sequence(images.first().copied(), *sequence, &loops.body)?;
        loops.close(work, &at)?;
        let unused = self.locals.values().filter(|local| !self.is_shared(local));
        Ok(erase(&members, unused.map(|local| local.allocation)))
    }

    /// Returns the number of images; `None` if there is no loop over images.
    fn number_of_images(&self, at: &Builder<'c, 'a>) -> Result<Option<Value<'c, 'a>>, PassError> {
        match self.images {
            Some(1) => return Ok(None),
            Some(images) => return Ok(Some(at.idx(images))),
            None => {}
        }
        let windows = self.parts.last().ok_or("strips without windows")?;
        let image = windows.image.ok_or("images without a loop")?;
        let mut accesses = windows.member.accesses.iter();
        let written = accesses.find(|access| access.writes).ok_or("windows without a result")?;
        let dimension = written.dimension(image).flatten();
        let dimension = dimension.ok_or("images without a dimension")?;
        let array = windows.member.op.operand(written.operand)?;
        Ok(Some(memref::extent(at, array, dimension)?))
    }

    /// Emits the blocks of one sequence, one after the other.
    fn emit_sequence(
        &self,
        image: Option<Value<'c, 'a>>,
        sequence: Value<'c, 'a>,
        outside: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let windowed = self.locals.get(&ValueKey::of(self.input)).ok_or("windows of another array")?;
        let windowed = windowed.rows(self.strip(self.division.rows), outside)?;
        let arrays = HashMap::from([(ValueKey::of(self.input), windowed)]);
        let range = |at: &Builder<'c, 'a>, block: Value<'c, 'a>, range: Range| {
            let kinds = self.kinds(&self.division, range).ok_or("too many kinds of blocks")?;
            let scope = Scope {
                at: *at,
                outside: *outside,
                image,
                block,
                range,
                arrays: arrays.clone(),
                firsts: HashMap::new(),
                parts: HashMap::new(),
                moved: HashMap::new(),
            };
            self.emit_kinds(&kinds, &scope)
        };
        let division = self.division;
        if division.sequences == division.blocks {
            range(outside, sequence, Range::Shared)?;
            return range(outside, sequence, Range::Own);
        }
        let from = self.first_block(sequence, outside);
        let next = outside.addi(sequence, outside.idx(1));
        let to = self.first_block(next, outside);
        range(outside, from, Range::Shared)?;
        sequential(outside, [from, to], |inside, block| {
            range(inside, block, Range::Own)?;
            self.emit_carry(windowed, inside)
        })
    }

    fn first_block(&self, sequence: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let division = self.division;
        let blocks = at.idx(division.blocks);
        let before = at.muli(sequence, blocks);
        let sequences = at.idx(division.sequences);
        at.divui(before, sequences)
    }

    /// Moves the rows that the next block also reads to the beginning.
    fn emit_carry(&self, array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let shared = self.shared();
        let local = self.locals.get(&ValueKey::of(self.input));
        let Some(local) = local.filter(|_| shared > 0) else {
            return Ok(());
        };
        let rows = |from: i64| {
            let sizes = memref::extents(array.r#type());
            let mut sizes = sizes.into_iter().map(|size| (0, size)).collect::<Vec<_>>();
            let slot = sizes.get_mut(local.dimension);
            *slot.ok_or("an unknown dimension")? = (from, shared);
            part(array, &sizes, at)
        };
        let (from, to) = (rows(self.division.rows * self.step)?, rows(0)?);
        at.create(ops::memref::COPY, &[from, to], &[], &[], Vec::new())?;
        Ok(())
    }

    /// Emits the rows of one range; each kind of block has separate code.
    fn emit_kinds(&self, kinds: &[Kind], scope: &Scope<'c, 'a>) -> Result<(), PassError> {
        let Some((kind, others)) = kinds.split_first() else {
            return Ok(());
        };
        if others.is_empty() {
            return self.emit_kind(kind, scope.clone());
        }
        let at = scope.at;
        let branch = |kinds: &[Kind]| {
            let (region, inside, _) = at.region(&[]);
            let scope = Scope { at: inside, ..scope.clone() };
            self.emit_kinds(kinds, &scope)?;
            inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
            Ok::<_, PassError>(region)
        };
        let branches = vec![branch(std::slice::from_ref(kind))?, branch(others)?];
        let is_of_kind = at.cmpi(Integers::SignedLess, scope.block, at.idx(kind.end));
        at.create(ops::scf::IF, &[is_of_kind], &[], &[], branches)?;
        Ok(())
    }

    fn emit_kind(&self, kind: &Kind, mut scope: Scope<'c, 'a>) -> Result<(), PassError> {
        for (part, span) in self.parts.iter().zip(&kind.spans) {
            let (from, rows) = *span;
            if rows > 0 {
                let at = scope.at.with_location(part.member.op.location());
                let first = scope.first(from, self.advance(&self.division, part), &at)?;
                Rows { strips: self, scope: &mut scope, part, from, rows, first }.emit_member(
                    0,
                    &part.member,
                    &at,
                )?;
            }
        }
        Ok(())
    }

    /// Returns the array of the strip that replaces a local array.
    fn array(&self, local: &Local<'c, 'a>, scope: &mut Scope<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let key = ValueKey::of(local.array);
        if let Some(array) = scope.arrays.get(&key) {
            return Ok(*array);
        }
        let rows = match scope.range {
            Range::Shared => self.shared(),
            Range::Own => self.division.rows * self.step,
        };
        let array = local.rows(rows, &scope.outside)?;
        scope.arrays.insert(key, array);
        Ok(array)
    }

    /// The first row of a strip's array, relative to the first row that the windows of the block read.
    fn origin(&self, local: &Local<'c, 'a>, range: Range) -> i64 {
        match range {
            Range::Own if local.array != self.input => self.shared(),
            Range::Own | Range::Shared => 0,
        }
    }
}

/// The tile policy of strips: a number of rows of one image.
struct Rows<'s, 'c, 'a> {
    strips: &'s Strips<'c, 'a>,
    scope: &'s mut Scope<'c, 'a>,
    part: &'s Part<'c, 'a>,
    /// The first row, relative to the first iteration of the block.
    from: i64,
    /// The number of rows.
    rows: i64,
    /// The first iteration.
    first: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Tile<'c, 'a> for Rows<'_, 'c, 'a> {
    fn first(&self, _: usize, l: usize) -> Option<Value<'c, 'a>> {
        if l == self.part.row {
            return Some(self.first);
        }
        self.scope.image.filter(|_| self.part.image == Some(l))
    }

    fn operand(
        &mut self,
        _: usize,
        access: &Access<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let Some(local) = self.strips.locals.get(&ValueKey::of(access.array)) else {
            return self.scope.moved(self.part, access, (self.first, self.rows), at);
        };
        let array = self.strips.array(local, self.scope)?;
        let rows = match self.part.shift {
            None => (0, self.strips.strip(self.rows)),
            Some(shift) => (self.from + shift - self.strips.origin(local, self.scope.range), self.rows),
        };
        self.scope.part(access, array, (local, rows), at)
    }
}

impl<'c: 'a, 'a> Local<'c, 'a> {
    /// Allocates an array with a number of rows.
    fn rows(&self, rows: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let mut shape = memref::extents(self.array.r#type());
        *shape.get_mut(self.dimension).ok_or("an unknown dimension")? = rows;
        if let Some(images) = self.images.and_then(|images| shape.get_mut(images)) {
            *images = 1;
        }
        allocate(self.array, &shape, true, &at.with_location(self.allocation.location()))
    }
}

impl<'c: 'a, 'a> Scope<'c, 'a> {
    /// Computes the first iteration in a block.
    fn first(&mut self, from: i64, advance: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        if let Some(first) = self.firsts.get(&(from, advance)) {
            return Ok(*first);
        }
        let scaled = match advance {
            1 => self.block,
            advance => at.muli(self.block, at.idx(advance)),
        };
        let first = match from {
            0 => scaled,
            from => at.addi(scaled, at.idx(from)),
        };
        self.firsts.insert((from, advance), first);
        Ok(first)
    }

    /// Views the slice of a strip's array that an operation accesses.
    fn part(
        &mut self,
        access: &Access<'c, 'a>,
        strip: Value<'c, 'a>,
        (local, rows): (&Local<'c, 'a>, (i64, i64)),
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let whole = memref::extents(strip.r#type());
        let mut parts: Vec<(i64, i64)> = whole.iter().map(|size| (0, *size)).collect();
        if !access.part.is_empty() {
            parts.clone_from(&access.part);
        }
        let slot = parts.get_mut(local.dimension);
        *slot.ok_or("an unknown dimension")? = rows;
        if let Some(images) = local.images.and_then(|images| parts.get_mut(images)) {
            *images = (0, 1);
        }
        let key = (ValueKey::of(strip), parts);
        if let Some(part) = self.parts.get(&key) {
            return Ok(*part);
        }
        let part = part(strip, &key.1, at)?;
        self.parts.insert(key, part);
        Ok(part)
    }

    /// Views the slice of another array that a range of iterations accesses.
    fn moved(
        &mut self,
        part: &Part<'c, 'a>,
        access: &Access<'c, 'a>,
        (first, rows): (Value<'c, 'a>, i64),
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        // The operand may be a view of the array.
        let array = part.member.op.operand(access.operand)?;
        let [by_row, by_image] = moved(part, access).ok_or("an operand that does not move with rows")?;
        let moves =
            [(by_row, (first, rows)), (by_image, self.image.map_or((first, rows), |image| (image, 1)))];
        let slices = moves.into_iter().filter_map(|(moved, (from, count))| {
            let moved = moved?;
            let size = (count - 1) * moved.step + moved.window;
            Some((moved, from, size))
        });
        let slices: Vec<_> = slices.collect();
        let key = slices
            .iter()
            .map(|(moved, from, size)| (moved.dimension, ValueKey::of(*from), moved.step, *size));
        let key = (ValueKey::of(array), key.collect());
        if let Some(part) = self.moved.get(&key) {
            return Ok(*part);
        }
        let extents = memref::extents(array.r#type());
        let mut firsts = vec![None; extents.len()];
        let mut sizes: Vec<Extent> = extents.into_iter().map(Extent::Known).collect();
        for (moved, from, size) in slices {
            let from = match moved.step {
                1 => from,
                step => at.muli(from, at.idx(step)),
            };
            let unknown = "an unknown dimension";
            *firsts.get_mut(moved.dimension).ok_or(unknown)? = Some(from);
            *sizes.get_mut(moved.dimension).ok_or(unknown)? = Extent::Known(size);
        }
        let part = if firsts.iter().all(Option::is_none) {
            array
        } else {
            memref::block(at, array, &firsts, &sizes)?
        };
        self.moved.insert(key, part);
        Ok(part)
    }
}
