// SPDX-License-Identifier: Apache-2.0
//! Windows of what a contraction computes: both are computed together, for one block of rows of windows after the other.
//!
//! A pooling reads the result of a convolution, which left the nearest cache before. A strip is the rows that the windows of a block read:
//! the operations that compute them write a small array. Blocks that follow each other are a sequence. Rows that windows of two of its
//! blocks read are computed once; those that windows of two sequences read are computed twice.

mod blocks;
mod emit;
mod lifetime;

use super::group::{Touched, is_free};
use super::member::{Access, Kind, Member, extents};
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

/// Results of contractions as large as so many caches are read from far away: smaller ones are in the next cache.
const CACHES: i64 = 4;

/// An operation and the rows that it computes.
struct Part<'c, 'a> {
    member: Member<'c, 'a>,
    /// Its loop over rows.
    row: usize,
    /// Its loop over images.
    image: Option<usize>,
    /// The row of the windowed array that its first iteration computes; `None` for operations on the result of the windows.
    shift: Option<i64>,
}

/// An array that is replaced by one of a strip.
struct Local<'c, 'a> {
    array: Value<'c, 'a>,
    allocation: OperationRef<'c, 'a>,
    /// The dimension of rows.
    dimension: usize,
    /// The dimension of images, which are computed apart from each other.
    images: Option<usize>,
    /// The row of the windowed array that is its first one.
    shift: i64,
}

/// A windowed reduction with the operations that compute what it reads.
pub(super) struct Strips<'c, 'a> {
    /// In the order of the block.
    parts: Vec<Part<'c, 'a>>,
    locals: HashMap<ValueKey, Local<'c, 'a>>,
    /// The number of rows of windows.
    extent: i64,
    /// The number of images; `None` if it is dynamic.
    images: Option<i64>,
    /// Rows from one window to the next, and of one window.
    step: i64,
    window: i64,
    /// The array that the windows read.
    input: Value<'c, 'a>,
    division: Division,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// The windowed reduction at a position of a block, if its operand leaves the cache before it is read.
    pub(super) fn around(
        block: &[OperationRef<'c, 'a>],
        position: usize,
        effects: &mut Effects<'c, 'a>,
        cache: i64,
    ) -> Option<Self> {
        let op = *block.get(position)?;
        let member = Member::of(op).filter(|member| member.kind == Kind::Window)?;
        if member.is_contraction() {
            return None;
        }
        let before = block.get(..position)?;
        let images = Self::with(member.clone(), Some(0), before, effects, cache);
        images.or_else(|| Self::with(member, None, before, effects, cache))
    }

    /// With a dimension of images of the windowed array, or without one.
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
        // The outermost rows of windows that are not of the same dimension as channels: consecutive rows are near in memory.
        let loops = 0..member.reductions.len();
        let mut windows = loops.filter_map(|l| window(&member, input, l));
        let (row, dimension, step, window) = windows.next()?;
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
        let bytes = strips.bytes_of_image(local)?;
        let bytes = bytes.saturating_mul(count.unwrap_or(1));
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

    /// Replaces an array by one of a strip, if it is allocated; whether it does. The dimensions are those of rows and images.
    fn localize(&mut self, array: Value<'c, 'a>, [rows, images]: [Option<usize>; 2], shift: i64) -> bool {
        let Some(dimension) = rows else {
            return false;
        };
        let maker = ir::definition(array).map(|(maker, _)| maker);
        let Some(allocation) = maker.filter(|maker| ir::name(*maker) == ops::memref::ALLOC) else {
            return false;
        };
        let known = extents(array).is_some_and(|extents| {
            let mut dimensions = extents.iter().enumerate();
            dimensions.all(|(d, extent)| extent.is_some() || images == Some(d))
        });
        let local = Local { array, allocation, dimension, images, shift };
        if known {
            self.locals.insert(ValueKey::of(array), local);
        }
        known
    }

    /// Adds the operations before the windows that compute what they read.
    fn collect(
        &mut self,
        before: &[OperationRef<'c, 'a>],
        result: ValueKey,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<()> {
        let mut contractions = 0;
        // Operations that stay before the loop, and must not need what moves into it.
        let mut others: Vec<Touched> = Vec::new();
        for op in before.iter().rev().copied() {
            let makes = |local: &Local| local.allocation == op;
            if self.locals.values().any(makes) || is_free(op) {
                continue;
            }
            let own = Touched::of(op, effects);
            let is_apart = others.iter().all(|other| !other.conflicts(&own));
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
                None => others.push(own),
            }
        }
        (contractions == 1).then_some(())
    }

    /// The part that an operation is, if it writes an array of the strip, or the result of the windows.
    fn part(&mut self, op: OperationRef<'c, 'a>, result: ValueKey) -> Option<Part<'c, 'a>> {
        let member = Member::of(op)?;
        let mut writes = member.accesses.iter().filter(|access| access.writes);
        let written = writes.next()?.clone();
        if writes.next().is_some() {
            return None;
        }
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
        // What it reads at the same rows alone may be of the strip as well.
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

    /// Replaces an array that one operation reads and others before it compute.
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

    /// What initializes the result of the windows computes the same rows.
    fn initial(&self, member: Member<'c, 'a>, written: &Access<'c, 'a>) -> Option<Part<'c, 'a>> {
        let last = self.parts.last()?;
        let mut accesses = last.member.accesses.iter();
        let output = accesses.find(|access| access.writes)?;
        if output.array != written.array || output.part != written.part {
            return None;
        }
        let own = |l: usize| {
            let dimension = output.dimension(l).flatten()?;
            let own = written.forms.get(dimension)?.as_index()?;
            let others = member.accesses.iter().filter(|access| !access.writes);
            let mut others = others.map(|access| access.dimension(own));
            let is_one = others.all(|dimension| dimension == Some(None));
            (is_one && member.reductions.get(own) == Some(&false)).then_some(own)
        };
        let row = own(last.row)?;
        let image = match last.image {
            Some(image) => Some(own(image)?),
            None => None,
        };
        Some(Part { member, row, image, shift: None })
    }

    /// Whether an operation accesses arrays of the strip at its own rows alone, and others so that a block needs a part of them.
    fn agrees(&self, part: &Part<'c, 'a>) -> bool {
        let loops = [Some(part.row), part.image];
        let is_parallel = |l: &usize| part.member.reductions.get(*l) == Some(&false);
        let agrees = |access: &Access| match self.locals.get(&ValueKey::of(access.array)) {
            Some(local) => {
                let offset = access.part.get(local.dimension).map_or(0, |(o, _)| *o);
                let dimensions = [Some(local.dimension), local.images];
                let mut pairs = loops.iter().zip(dimensions);
                let is_own =
                    pairs.all(|(l, dimension)| l.is_none_or(|l| access.dimension(l) == Some(dimension)));
                let has_images = local.images.is_none_or(|images| access.is_whole(images));
                is_own && has_images && part.shift == Some(local.shift + offset)
            }
            None => !access.writes && moved(part, access).is_some(),
        };
        loops.iter().flatten().all(is_parallel) && part.member.accesses.iter().all(agrees)
    }

    /// Whether nothing else accesses the arrays of a strip, and nothing reads the result of the windows.
    fn is_sound(&self, result: ValueKey) -> bool {
        let reads =
            self.parts.iter().flat_map(|part| part.member.accesses.iter().filter(|access| !access.writes));
        let mut reads = reads.map(|access| root_of(access.array));
        self.locals.values().all(|local| self.is_apart(local))
            && reads.all(|root| root != result)
            && self.parts.iter().all(|part| match part.shift {
                Some(_) => self.agrees(part),
                None => true,
            })
    }
}

/// The rows of windows along a loop: the loop, the dimension, the rows from one window to the next, and those of one.
fn window(member: &Member, input: &Access, l: usize) -> Option<(usize, usize, i64, i64)> {
    let mut dimensions = input.forms.iter().enumerate();
    let (dimension, form) = dimensions.find(|(_, form)| form.indices().contains(&l))?;
    if !dimensions.all(|(_, form)| !form.indices().contains(&l)) {
        return None;
    }
    if form.offset() != 0 {
        return None;
    }
    let (mut step, mut window) = (0, 1);
    for (index, factor) in form.as_linear()? {
        let is_reduction = member.reductions.get(index) == Some(&true);
        match index == l {
            true => step = factor,
            false if is_reduction && factor > 0 => {
                window += factor * (member.extent(index).flatten()? - 1);
            }
            false => return None,
        }
    }
    let has_reduction = form.indices().len() > 1;
    (step > 0 && window >= step && has_reduction).then_some((l, dimension, step, window))
}

/// How the part of an array that a block reads moves along a dimension.
struct Moved {
    dimension: usize,
    step: i64,
    /// Rows that one iteration reads.
    window: i64,
    /// Whether it moves with images instead of rows.
    is_image: bool,
}

/// How an operand depends on rows and images, by dimension; `None` if in another way than windows do. What depends on images depends on
/// rows as well: others are as weights, of which a kernel needs all at once.
fn moved(part: &Part, access: &Access) -> Option<Vec<Moved>> {
    let along = |l: usize, is_image: bool| {
        let depends = |form: &Affine| form.indices().contains(&l);
        let mut dimensions = access.forms.iter().enumerate();
        let Some((dimension, form)) = dimensions.find(|(_, form)| depends(form)) else {
            return Some(None);
        };
        let is_one = dimensions.all(|(_, form)| !depends(form));
        if !is_one || form.offset() != 0 {
            return None;
        }
        let (mut step, mut window) = (0, 1);
        for (index, factor) in form.as_linear()? {
            if factor <= 0 {
                return None;
            }
            if index == l {
                step = factor
            } else {
                window += factor * (part.member.extent(index).flatten()? - 1)
            }
        }
        (step > 0).then_some(Some(Moved { dimension, step, window, is_image }))
    };
    let rows = along(part.row, false)?;
    let images = match part.image {
        Some(image) => along(image, true)?,
        None => None,
    };
    let is_apart = match (&rows, &images) {
        (Some(rows), Some(images)) => rows.dimension != images.dimension,
        (None, Some(_)) => false,
        (_, None) => true,
    };
    is_apart.then(|| rows.into_iter().chain(images).collect())
}
