// SPDX-License-Identifier: Apache-2.0
//! The loop over sequences of blocks.

use super::super::emit::{erase, local};
use super::super::member::{Access, Member};
use super::blocks::{Kind, Range};
use super::{Local, Part, Strips, moved};
use crate::ir::linalg::index_of;
use crate::ir::memref::{self, Extent};
use crate::ir::{self, Builder, Copier, ValueKey, location, mutation, ops, scf};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Location, Type, Value, ValueLike};
use skript_dialect::{PassError, melior};
use std::collections::{HashMap, HashSet};

/// The value of `arith.cmpi` that compares signed numbers by `<`.
const LESS: i64 = 2;

/// What the blocks of a sequence have in common.
struct Place<'c, 'a> {
    /// Before the loop over them.
    outside: Builder<'c, 'a>,
    image: Option<Value<'c, 'a>>,
    /// The array that the windows read.
    windowed: Value<'c, 'a>,
}

/// A dimension, the value that its first position is a multiple of, the factor, and the size.
type Slice = (usize, ValueKey, i64, i64);

/// What the operations of one range of a block have in common.
#[derive(Clone)]
struct Scope<'c, 'a> {
    at: Builder<'c, 'a>,
    /// Before the loop over the blocks of a sequence.
    outside: Builder<'c, 'a>,
    /// The number of the image.
    image: Option<Value<'c, 'a>>,
    /// The number of the block.
    block: Value<'c, 'a>,
    range: Range,
    /// The arrays of the strip, by those that they replace. The others than that of the windows are of this range alone: a kernel can
    /// then compute what follows it as well, without them.
    arrays: HashMap<ValueKey, Value<'c, 'a>>,
    /// First iterations, by their distance from those of a block, and by those from one block to the next.
    firsts: HashMap<(i64, i64), Value<'c, 'a>>,
    /// Parts of arrays of strips, by array, offsets and sizes.
    parts: HashMap<(ValueKey, Vec<(i64, i64)>), Value<'c, 'a>>,
    /// Parts of other arrays, by array, and by first position and size of the dimensions that they are a part of.
    moved: HashMap<(ValueKey, Vec<Slice>), Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// Replaces the operations by a loop over sequences of blocks; returns the keys of the operations that are no more.
    ///
    /// # Errors
    /// The builder's error.
    pub(in super::super) fn emit(&self, context: &'c Context) -> Result<HashSet<usize>, PassError> {
        let last = self.parts.last().ok_or("strips without windows")?.member.op;
        let locations: Vec<Location> = self.parts.iter().map(|p| p.member.op.location()).collect();
        let location = location::fused(context, &locations, None);
        let at = Builder::before(context, last)?.with_location(location);
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
        let mut counts = vec![at.index(division.sequences)?];
        if let Some(images) = self.number_of_images(&at)? {
            counts.insert(0, images);
        }
        let (region, inside, position) = at.region(&vec![Type::index(context); counts.len()]);
        let (sequence, images) = position.split_last().ok_or("a loop without a position")?;
        self.emit_sequence(images.first().copied(), *sequence, &inside)?;
        inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
        scf::close_parallel(&at, &counts, work, region)?;
        let members: Vec<&Member> = self.parts.iter().map(|part| &part.member).collect();
        let own = self.locals.values().filter(|local| !self.is_shared(local));
        let allocations: Vec<OperationRef> = own.map(|local| local.allocation).collect();
        let allocations = allocations.into_iter();
        Ok(erase(&members, allocations))
    }

    /// The number of images; `None` if they are not apart.
    fn number_of_images(&self, at: &Builder<'c, 'a>) -> Result<Option<Value<'c, 'a>>, PassError> {
        match self.images {
            Some(1) => return Ok(None),
            Some(images) => return Ok(Some(at.index(images)?)),
            None => {}
        }
        let windows = self.parts.last().ok_or("strips without windows")?;
        let image = windows.image.ok_or("images without a loop")?;
        let mut accesses = windows.member.accesses.iter();
        let written = accesses.find(|access| access.writes);
        let written = written.ok_or("windows without a result")?;
        let dimension = written.dimension(image).flatten();
        let dimension = dimension.ok_or("images without a dimension")?;
        let array = windows.member.op.operand(written.operand)?;
        let dimension = i64::try_from(dimension).unwrap_or(i64::MAX);
        let operands = [array, at.index(dimension)?];
        let index = Type::index(at.context);
        Ok(Some(at.value(ops::memref::DIM, &operands, &[], index)?))
    }

    /// The blocks of one sequence, one after the other.
    fn emit_sequence(
        &self,
        image: Option<Value<'c, 'a>>,
        sequence: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let windowed = self.locals.get(&ValueKey::of(self.input));
        let windowed = windowed.ok_or("windows of another array")?;
        let windowed = windowed.rows(self.strip(self.division.rows), at)?;
        let place = Place { outside: *at, image, windowed };
        let division = self.division;
        if division.sequences == division.blocks {
            self.emit_range(sequence, Range::Shared, &place, at)?;
            return self.emit_range(sequence, Range::Own, &place, at);
        }
        let from = self.first_block(sequence, at)?;
        let index = Type::index(at.context);
        let next = at.value(ops::arith::ADDI, &[sequence, at.index(1)?], &[], index)?;
        let to = self.first_block(next, at)?;
        self.emit_range(from, Range::Shared, &place, at)?;
        let (region, inside, position) = at.region(&[index]);
        let block = *position.first().ok_or("a loop without a position")?;
        self.emit_range(block, Range::Own, &place, &inside)?;
        self.emit_carry(windowed, &inside)?;
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let operands = [from, to, at.index(1)?];
        at.create(ops::scf::FOR, &operands, &[], &[], vec![region])?;
        Ok(())
    }

    /// The first block of a sequence.
    fn first_block(&self, sequence: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let index = Type::index(at.context);
        let division = self.division;
        let blocks = at.index(division.blocks)?;
        let before = at.value(ops::arith::MULI, &[sequence, blocks], &[], index)?;
        let sequences = at.index(division.sequences)?;
        Ok(at.value(ops::arith::DIVUI, &[before, sequences], &[], index)?)
    }

    /// Moves the rows that the next block reads as well to the beginning.
    fn emit_carry(&self, array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let shared = self.shared();
        let local = self.locals.get(&ValueKey::of(self.input));
        let Some(local) = local.filter(|_| shared > 0) else {
            return Ok(());
        };
        let rows = |from: i64| {
            let sizes = memref::extents(array.r#type());
            let mut sizes = sizes.into_iter().map(|size| (0, size)).collect::<Vec<_>>();
            let own = sizes.get_mut(local.dimension);
            *own.ok_or("an unknown dimension")? = (from, shared);
            view(array, &sizes, at)
        };
        let (from, to) = (rows(self.division.rows * self.step)?, rows(0)?);
        at.create(ops::memref::COPY, &[from, to], &[], &[], Vec::new())?;
        Ok(())
    }

    /// The rows of one range, as far as there are any: another code for each kind of block.
    fn emit_range(
        &self,
        block: Value<'c, 'a>,
        range: Range,
        place: &Place<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let kinds = self.kinds(&self.division, range).ok_or("too many kinds of blocks")?;
        let scope = Scope {
            at: *at,
            outside: place.outside,
            image: place.image,
            block,
            range,
            arrays: HashMap::from([(ValueKey::of(self.input), place.windowed)]),
            firsts: HashMap::new(),
            parts: HashMap::new(),
            moved: HashMap::new(),
        };
        self.emit_kinds(&kinds, &scope)
    }

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
        let is_own = at.compare(LESS, scope.block, at.index(kind.end)?)?;
        at.create(ops::scf::IF, &[is_own], &[], &[], branches)?;
        Ok(())
    }

    fn emit_kind(&self, kind: &Kind, mut scope: Scope<'c, 'a>) -> Result<(), PassError> {
        for (part, span) in self.parts.iter().zip(&kind.spans) {
            if span.1 > 0 {
                self.emit_part(part, *span, &mut scope)?;
            }
        }
        Ok(())
    }

    /// An operation on some rows.
    fn emit_part(
        &self,
        part: &Part<'c, 'a>,
        (from, rows): (i64, i64),
        scope: &mut Scope<'c, 'a>,
    ) -> Result<(), PassError> {
        // What the operation accesses stands before it, where there is no loop between as well.
        for access in &part.member.accesses {
            if let Some(local) = self.locals.get(&ValueKey::of(access.array)) {
                self.array(local, scope)?;
            }
        }
        let own = scope.at.with_location(part.member.op.location());
        let copy = Copier::new().rebuild(part.member.op, &own, &mut |_, _, _| Ok(false))?;
        let before = Builder::before(own.context, copy)?;
        let first = scope.first(from, self.advance(&self.division, part), &before)?;
        for access in &part.member.accesses {
            let view = match self.locals.get(&ValueKey::of(access.array)) {
                Some(local) => {
                    let array = self.array(local, scope)?;
                    let rows = match part.shift {
                        None => (0, self.strip(rows)),
                        Some(shift) => (from + shift - self.origin(local, scope.range), rows),
                    };
                    scope.part(access, array, (local, rows), &before)?
                }
                None => scope.moved(part, access, (first, rows), &before)?,
            };
            mutation::set_operand(copy, access.operand, view);
        }
        offset_indices(copy, part.row, first, own.context)?;
        match part.image.zip(scope.image) {
            Some((l, image)) => offset_indices(copy, l, image, own.context),
            None => Ok(()),
        }
    }

    /// The array of the strip that replaces another one.
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

    /// The row of the first block, counted from the first one that its windows read, that is the first one of an array.
    fn origin(&self, local: &Local<'c, 'a>, range: Range) -> i64 {
        match range {
            Range::Own if local.array != self.input => self.shared(),
            Range::Own | Range::Shared => 0,
        }
    }
}

impl<'c: 'a, 'a> Local<'c, 'a> {
    /// An array of some rows.
    fn rows(&self, rows: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let mut shape = memref::extents(self.array.r#type());
        *shape.get_mut(self.dimension).ok_or("an unknown dimension")? = rows;
        if let Some(images) = self.images.and_then(|images| shape.get_mut(images)) {
            *images = 1;
        }
        let sizes: Vec<Extent> = shape.iter().map(|size| Extent::Known(*size)).collect();
        let at = at.with_location(self.allocation.location());
        local(self.array, &shape, &sizes, true, &at)
    }
}

impl<'c: 'a, 'a> Scope<'c, 'a> {
    /// The first iteration in a block.
    fn first(&mut self, from: i64, advance: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        if let Some(first) = self.firsts.get(&(from, advance)) {
            return Ok(*first);
        }
        let index = Type::index(at.context);
        let scaled = match advance {
            1 => self.block,
            advance => {
                let factors = [self.block, at.index(advance)?];
                at.value(ops::arith::MULI, &factors, &[], index)?
            }
        };
        let first = match from {
            0 => scaled,
            from => at.value(ops::arith::ADDI, &[scaled, at.index(from)?], &[], index)?,
        };
        self.firsts.insert((from, advance), first);
        Ok(first)
    }

    /// The part of a strip that an operation accesses.
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
        let own = parts.get_mut(local.dimension);
        *own.ok_or("an unknown dimension")? = rows;
        if let Some(images) = local.images.and_then(|images| parts.get_mut(images)) {
            *images = (0, 1);
        }
        let key = (ValueKey::of(strip), parts);
        if let Some(part) = self.parts.get(&key) {
            return Ok(*part);
        }
        let part = view(strip, &key.1, at)?;
        self.parts.insert(key, part);
        Ok(part)
    }

    /// The part of another array that some iterations access.
    fn moved(
        &mut self,
        part: &Part<'c, 'a>,
        access: &Access<'c, 'a>,
        (first, rows): (Value<'c, 'a>, i64),
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        // It may be a view.
        let array = part.member.op.operand(access.operand)?;
        let moved = moved(part, access).unwrap_or_default();
        let slices = moved.iter().map(|own| {
            let (from, rows) = match (own.is_image, self.image) {
                (true, Some(image)) => (image, 1),
                _ => (first, rows),
            };
            (own, from, (rows - 1) * own.step + own.window)
        });
        let slices: Vec<_> = slices.collect();
        let key =
            slices.iter().map(|(own, from, size)| (own.dimension, ValueKey::of(*from), own.step, *size));
        let key = (ValueKey::of(array), key.collect());
        if let Some(part) = self.moved.get(&key) {
            return Ok(*part);
        }
        let index = Type::index(at.context);
        let extents = memref::extents(array.r#type());
        let mut firsts = vec![None; extents.len()];
        let mut sizes: Vec<Extent> = extents.into_iter().map(Extent::Known).collect();
        for (own, from, size) in slices {
            let from = match own.step {
                1 => from,
                step => at.value(ops::arith::MULI, &[from, at.index(step)?], &[], index)?,
            };
            let unknown = "an unknown dimension";
            *firsts.get_mut(own.dimension).ok_or(unknown)? = Some(from);
            *sizes.get_mut(own.dimension).ok_or(unknown)? = Extent::Known(size);
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

/// A part of an array; the array itself, if it is all of it.
fn view<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    parts: &[(i64, i64)],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let whole = memref::extents(array.r#type());
    let mut pairs = parts.iter().zip(&whole);
    if pairs.all(|(part, size)| *part == (0, *size)) {
        return Ok(array);
    }
    let (offsets, sizes): (Vec<i64>, Vec<i64>) = parts.iter().copied().unzip();
    let steps = vec![1; sizes.len()];
    Ok(memref::subview(at, array, &offsets, &sizes, &steps)?)
}

/// Adds the first row to the index of rows that a payload reads.
fn offset_indices<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    row: usize,
    first: Value<'c, 'a>,
    context: &'c Context,
) -> Result<(), PassError> {
    for own in ir::nested(op).into_iter().filter(|own| index_of(*own) == Some(row)) {
        let value: Value = own.result(0)?.into();
        let users = ir::users(value);
        let Some(user) = ir::first_block(op).and_then(|block| {
            let mut operations = ir::operations(block).into_iter();
            operations.find(|other| users.contains(other))
        }) else {
            continue;
        };
        let at = Builder::before(context, user)?.with_location(own.location());
        let sum = at.value(ops::arith::ADDI, &[value, first], &[], Type::index(context))?;
        for user in users {
            let operands: Vec<Value> = user.operands().collect();
            for (number, operand) in operands.into_iter().enumerate() {
                if operand == value {
                    mutation::set_operand(user, number, sum);
                }
            }
        }
    }
    Ok(())
}
