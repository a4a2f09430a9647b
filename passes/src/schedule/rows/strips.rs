// SPDX-License-Identifier: Apache-2.0
//! Strips: fuses windows with the contraction that computes their input, in blocks of rows of windows.
//!
//! A pooling reads the result of a convolution, which has been evicted from the L1 cache before. A strip contains the rows that the
//! windows of a block read: the operations that compute these rows write a small array. Consecutive blocks form a sequence. The rows that
//! two adjacent blocks of a sequence share are computed once; the rows that two sequences share are computed twice.

mod blocks;
mod emit;
mod lifetime;

use super::group::{Touched, is_free};
use super::member::{Access, Kind, Member, shape};
use crate::ir::effects::Effects;
use crate::ir::memref::{root_of, users_of_buffer};
use crate::ir::{self, ValueKey, ops};
use crate::schedule::buffer_uses::has_own_buffer;
use crate::structure::Affine;
use blocks::Division;
use melior::ir::Value;
use melior::ir::operation::OperationRef;
use skript_dialect::melior;
use std::collections::HashMap;

/// Minimum size of a contraction's result, as a multiple of the cache: larger results are evicted from the next cache level, too.
const CACHES: i64 = 4;

/// An operation and the rows that it computes.
struct Part<'c, 'a> {
    member: Member<'c, 'a>,
    /// The loop over rows.
    row: usize,
    /// The loop over images.
    image: Option<usize>,
    /// The row of the windowed array that the first iteration computes; `None` for operations on the result of the windows.
    shift: Option<i64>,
}

/// An array that is replaced by an array of a strip.
struct Local<'c, 'a> {
    array: Value<'c, 'a>,
    allocation: OperationRef<'c, 'a>,
    /// The dimension of rows.
    dimension: usize,
    /// The dimension of images, which are computed independently.
    images: Option<usize>,
    /// The row of the windowed array that corresponds to the first row of this array.
    shift: i64,
}

/// A windowed reduction with the operations that compute its input.
pub(super) struct Strips<'c, 'a> {
    /// The operations, in the order of the block.
    parts: Vec<Part<'c, 'a>>,
    /// The arrays that are replaced.
    locals: HashMap<ValueKey, Local<'c, 'a>>,
    /// The number of rows of windows.
    extent: i64,
    /// The number of images; `None` if it is dynamic.
    images: Option<i64>,
    /// The number of rows from one window to the next.
    step: i64,
    /// The number of rows of a window.
    window: i64,
    /// The array that the windows read.
    input: Value<'c, 'a>,
    division: Division,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// Analyzes the windowed reduction at a position of a block; `None` if its operand is not evicted from the cache before it is read.
    pub(super) fn around(
        block: &[OperationRef<'c, 'a>],
        position: usize,
        effects: &mut Effects<'c, 'a>,
        cache: i64,
    ) -> Option<Self> {
        let op = *block.get(position)?;
        let member = Member::from_op(op).filter(|member| member.kind == Kind::Window)?;
        if member.is_contraction() {
            return None;
        }
        let before = block.get(..position)?;
        let images = Self::with(member.clone(), Some(0), before, effects, cache);
        images.or_else(|| Self::with(member, None, before, effects, cache))
    }

    /// Analyzes the strips with or without a dimension of images in the windowed array.
    fn with(
        member: Member<'c, 'a>,
        images: Option<usize>,
        before: &[OperationRef<'c, 'a>],
        effects: &mut Effects<'c, 'a>,
        cache: i64,
    ) -> Option<Self> {
        let output = member.accesses.iter().find(|access| access.writes)?;
        if !has_own_buffer(output.array) {
            return None;
        }
        let mut read = member.accesses.iter().filter(|a| !a.writes && a.reads);
        let (input, None) = (read.next()?, read.next()) else {
            return None;
        };
        if !input.part.is_empty() {
            return None;
        }
        // The outermost loop over rows of windows is divided: consecutive rows are close in memory.
        let loops = 0..member.reductions.len();
        let mut windows = loops.filter_map(|l| window(&member, input, l));
        let (row, Moved { dimension, step, window }) = windows.next()?;
        let extent = member.extent(row).flatten()?;
        let image = match images {
            Some(images) => Some(input.forms.get(images)?.as_index()?),
            None => None,
        };
        let count = image.map_or(Some(Some(1)), |image| member.extent(image))?;
        let is_apart = |image| {
            let apart = member.is_divisible(image, false) && image != row && count != Some(1);
            apart && output.dimension(image).flatten().is_some()
        };
        if !image.is_none_or(is_apart) {
            return None;
        }
        let is_plain = |access: &Access| access.writes || access.array == input.array;
        let others = member.accesses.iter().filter(|access| !is_plain(access));
        if !member.is_divisible(row, false) || output.dimension(row).flatten().is_none() {
            return None;
        }
        let loops = [Some(row), image];
        let mut subscripts = others.flat_map(|access| loops.iter().flatten().map(|l| access.dimension(*l)));
        if !subscripts.all(|d| d == Some(None)) {
            return None;
        }

        let input = input.array;
        let mut strips = Strips {
            parts: Vec::new(),
            locals: HashMap::new(),
            extent,
            images: count,
            step,
            window,
            input,
            division: Division::default(),
        };
        let result = root_of(output.array);
        if !strips.localize(input, [Some(dimension), images], 0) {
            return None;
        }
        let local = strips.locals.get(&ValueKey::of(input))?;
        let bytes = strips.bytes_of_image(local)?.saturating_mul(count.unwrap_or(1));
        if bytes <= cache.saturating_mul(CACHES) {
            return None;
        }
        strips.parts.push(Part { member, row, image, shift: None });
        strips.collect(before, result, effects)?;
        if !strips.is_sound(result) {
            return None;
        }
        strips.division = strips.divide(cache)?;
        Some(strips)
    }

    /// Marks an array to be replaced by an array of a strip, if it is allocated. Returns whether it is replaced. The dimensions are the
    /// dimensions of rows and images.
    fn localize(&mut self, array: Value<'c, 'a>, [rows, images]: [Option<usize>; 2], shift: i64) -> bool {
        let Some(dimension) = rows else {
            return false;
        };
        let maker = ir::definition(array).map(|(maker, _)| maker);
        let Some(allocation) = maker.filter(|maker| ir::name(*maker) == ops::memref::ALLOC) else {
            return false;
        };
        let known = shape(array).is_some_and(|extents| {
            extents.iter().enumerate().all(|(d, extent)| extent.is_some() || images == Some(d))
        });
        let local = Local { array, allocation, dimension, images, shift };
        if known {
            self.locals.insert(ValueKey::of(array), local);
        }
        known
    }

    /// Adds the operations that compute the input of the windows.
    fn collect(
        &mut self,
        before: &[OperationRef<'c, 'a>],
        result: ValueKey,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<()> {
        let mut contractions = 0;
        // The operations that remain before the loop, which must not depend on operations that move into it.
        let mut others: Vec<Touched> = Vec::new();
        for op in before.iter().rev().copied() {
            let makes = |local: &Local| local.allocation == op;
            if self.locals.values().any(makes) || is_free(op) {
                continue;
            }
            let touched = Touched::from_op(op, effects);
            let is_apart = others.iter().all(|other| !other.conflicts(&touched));
            match self.part(op, result) {
                Some(part) => {
                    if !is_apart {
                        return None;
                    }
                    contractions += i32::from(part.member.is_contraction());
                    self.parts.insert(0, part);
                    let is_open = self.locals.values().any(|local| !self.is_closed(local));
                    if contractions > 0 && !is_open {
                        break;
                    }
                }
                None => others.push(touched),
            }
        }
        (contractions == 1).then_some(())
    }

    /// Creates the part for an operation that writes an array of the strip, or the result of the windows; `None` for other operations.
    fn part(&mut self, op: OperationRef<'c, 'a>, result: ValueKey) -> Option<Part<'c, 'a>> {
        let member = Member::from_op(op)?;
        let written = member.written()?.clone();
        if root_of(written.array) == result {
            return self.initial(member, &written);
        }
        let local = self.locals.get(&ValueKey::of(written.array))?;
        let row = written.forms.get(local.dimension)?.as_index()?;
        let image = match local.images {
            Some(images) => Some(written.forms.get(images)?.as_index()?),
            None => None,
        };
        let offset = written.part.get(local.dimension).map_or(0, |(o, _)| *o);
        let shift = local.shift + offset;
        // Arrays that the operation reads only at the same rows may also belong to the strip.
        if member.kind == Kind::Elementwise {
            for read in member.accesses.clone().into_iter().filter(|access| !access.writes) {
                let of = |l: usize| read.dimension(l).flatten();
                let dimensions = [of(row), image.and_then(of)];
                let is_known = self.locals.contains_key(&ValueKey::of(read.array));
                let has_images = image.is_none() == dimensions[1].is_none();
                if has_images && !is_known && read.part.is_empty() {
                    self.localize_if_free(op, read.array, dimensions, shift);
                }
            }
        }
        let part = Part { member, row, image, shift: Some(shift) };
        self.agrees(&part).then_some(part)
    }

    /// Marks an array to be replaced if `reader` is its last user.
    fn localize_if_free(
        &mut self,
        reader: OperationRef<'c, 'a>,
        array: Value<'c, 'a>,
        dimensions: [Option<usize>; 2],
        shift: i64,
    ) {
        let users = users_of_buffer(array).unwrap_or_default();
        let is_before = |op: &OperationRef<'c, 'a>| *op == reader || ir::is_before(*op, reader);
        if !users.is_empty() && users.iter().all(is_before) {
            self.localize(array, dimensions, shift);
        }
    }

    /// Creates the part that initializes the result of the windows, for the same rows.
    fn initial(&self, member: Member<'c, 'a>, written: &Access<'c, 'a>) -> Option<Part<'c, 'a>> {
        let last = self.parts.last()?;
        let mut accesses = last.member.accesses.iter();
        let output = accesses.find(|access| access.writes)?;
        if output.array != written.array || output.part != written.part {
            return None;
        }
        let same_rows = |l: usize| {
            let dimension = output.dimension(l).flatten()?;
            let l = written.forms.get(dimension)?.as_index()?;
            let mut others = member.inputs();
            let is_alone = others.all(|access| access.dimension(l) == Some(None));
            (is_alone && member.reductions.get(l) == Some(&false)).then_some(l)
        };
        let row = same_rows(last.row)?;
        let image = match last.image {
            Some(image) => Some(same_rows(image)?),
            None => None,
        };
        Some(Part { member, row, image, shift: None })
    }

    /// Whether an operation accesses arrays of the strip only at its rows, and other arrays so that a block accesses a slice of them.
    fn agrees(&self, part: &Part<'c, 'a>) -> bool {
        let loops = [Some(part.row), part.image];
        let is_parallel = |l: &usize| part.member.reductions.get(*l) == Some(&false);
        let agrees = |access: &Access| match self.locals.get(&ValueKey::of(access.array)) {
            Some(local) => {
                let offset = access.part.get(local.dimension).map_or(0, |(o, _)| *o);
                let dimensions = [Some(local.dimension), local.images];
                let mut pairs = loops.iter().zip(dimensions);
                let is_at_rows =
                    pairs.all(|(l, dimension)| l.is_none_or(|l| access.dimension(l) == Some(dimension)));
                let has_images = local.images.is_none_or(|images| access.is_whole(images));
                is_at_rows && has_images && part.shift == Some(local.shift + offset)
            }
            None => !access.writes && moved(part, access).is_some(),
        };
        loops.iter().flatten().all(is_parallel) && part.member.accesses.iter().all(agrees)
    }

    /// Whether no other operation accesses the arrays of a strip, and no operation of the strip reads the result of the windows.
    fn is_sound(&self, result: ValueKey) -> bool {
        let reads = self.parts.iter().flat_map(|part| part.member.inputs());
        let mut reads = reads.map(|access| root_of(access.array));
        self.locals.values().all(|local| self.is_apart(local))
            && reads.all(|root| root != result)
            && self.parts.iter().all(|part| match part.shift {
                Some(_) => self.agrees(part),
                None => true,
            })
    }
}

/// Returns the movement of windows along a loop, if the other loops of the subscript are the positions in a window.
fn window(member: &Member, input: &Access, l: usize) -> Option<(usize, Moved)> {
    let moved = moved_along(member, input, l)??;
    let indices = input.forms.get(moved.dimension)?.indices();
    let is_position = |index: &usize| *index == l || member.reductions.get(*index) == Some(&true);
    let is_window = indices.len() > 1 && indices.iter().all(is_position);
    (is_window && moved.window >= moved.step).then_some((l, moved))
}

/// The movement of the slice of an array that an iteration reads, along a dimension.
struct Moved {
    dimension: usize,
    /// The distance between the slices of consecutive iterations.
    step: i64,
    /// The number of elements that one iteration reads.
    window: i64,
}

/// Returns the movement of an operand with rows, and with images; `None` if the operand does not move like a window. An operand that
/// depends on images must also depend on rows. Other operands are weights, all of which a kernel reads.
fn moved(part: &Part, access: &Access) -> Option<[Option<Moved>; 2]> {
    let rows = moved_along(&part.member, access, part.row)?;
    let images = match part.image {
        Some(image) => moved_along(&part.member, access, image)?,
        None => None,
    };
    let is_apart = match (&rows, &images) {
        (Some(rows), Some(images)) => rows.dimension != images.dimension,
        (None, Some(_)) => false,
        (_, None) => true,
    };
    is_apart.then_some([rows, images])
}

/// Returns the movement of an operand with a loop: `Some(None)` if the operand does not depend on the loop, `None` if it does not move
/// like a window.
fn moved_along(member: &Member, access: &Access, l: usize) -> Option<Option<Moved>> {
    let depends = |form: &Affine| form.indices().contains(&l);
    let mut dimensions = access.forms.iter().enumerate();
    let Some((dimension, form)) = dimensions.find(|(_, form)| depends(form)) else {
        return Some(None);
    };
    if dimensions.any(|(_, form)| depends(form)) || form.offset() != 0 {
        return None;
    }
    let (mut step, mut window) = (0, 1);
    for (index, factor) in form.as_linear()? {
        if factor <= 0 {
            return None;
        }
        if index == l { step = factor } else { window += factor * (member.extent(index).flatten()? - 1) }
    }
    (step > 0).then_some(Some(Moved { dimension, step, window }))
}
