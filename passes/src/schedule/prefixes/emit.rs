// SPDX-License-Identifier: Apache-2.0
//! Emits the loop with the accumulator for all prefixes.
//!
//! Step i ≥ 0 completes element i, or the i-th element from the end for suffixes. Steps before 0 reduce all terms of the first
//! element except the last one.

use super::Prefixes;
use super::lanes::Lanes;
use crate::ir::builder::arith::Integers;
use crate::ir::generic::Operand;
use crate::ir::linalg::index_of;
use crate::ir::{Builder, Copier, attributes, maps, ops, scf, splat, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_symbolic::Affine;

/// The number of steps in a block, which has a separate sum.
const BLOCK: i64 = 128;
/// The number of rows that are computed together, because each step of a row waits for the step before it. Inputs and outputs of
/// more rows at a distance of 4 KiB would not fit in the 8 ways of an L1 cache.
const GROUP: i64 = 4;
/// The number of elements of the innermost dimension that a thread computes in each step.
const TILE: i64 = 256;
/// The minimum extent of the innermost dimension for vectors along it.
const MIN_LANES: i64 = 8;

/// The steps, which are the same for all rows.
struct Steps<'c, 'a> {
    /// The number of prefixes.
    count: Value<'c, 'a>,
    /// The first step, at most 0; `None` for 0.
    first: Option<Value<'c, 'a>>,
    /// The first term and the end of the terms; `None` if each step has a term.
    range: Option<[Value<'c, 'a>; 2]>,
}

impl<'c: 'a, 'a> Prefixes<'c, 'a> {
    /// Replaces the operation by loops; `number` is unique in the function.
    pub(super) fn replace(&self, number: i64, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        let dimensions = output.indices().ok_or(Error::OperationBuild)?;
        let kind = types::memref(&output.shape, output.element.r#type());
        let result = at.alloc(kind, &at.dynamic_extents(output.value)?);
        let steps = self.steps(at)?;

        let rows: Vec<usize> = dimensions.iter().copied().filter(|l| *l != self.end).collect();
        let lanes = rows.last().copied().filter(|l| {
            let is_wide = self.nest.extent(*l).is_none_or(|extent| extent >= MIN_LANES);
            is_wide && dimensions.last() == Some(l)
        });
        match lanes {
            Some(lane) => self.vectors(&rows, lane, &steps, result, at)?,
            None => self.scalars(&rows, &steps, number, result, at)?,
        }

        let unit = attributes::unit(at.context);
        let flags = [("restrict", unit), ("writable", unit)];
        let tensor = at.value(ops::bufferization::TO_TENSOR, &[result], &flags, output.value.r#type())?;
        crate::ir::replace_uses(self.nest.op.result(0)?.into(), tensor);
        crate::ir::erase(self.nest.op);
        Ok(())
    }

    fn steps(&self, at: &Builder<'c, 'a>) -> Result<Steps<'c, 'a>, Error> {
        let count = self.extent(self.end, at)?;
        let range = match self.range {
            Some((first, last)) => [at.idx(first), at.idx(last)],
            None => [at.idx(0), self.extent(self.reduction, at)?],
        };
        let (static_count, static_range) = (
            self.nest.extent(self.end),
            self.range.or_else(|| self.nest.extent(self.reduction).map(|last| (0, last))),
        );
        // Whether all steps from 0 on have a term, and whether there are no steps before 0.
        let known = static_count.zip(static_range).map(|(count, (first, last))| {
            let terms = [self.offset, count - 1 + self.offset];
            let is_complete = terms.iter().all(|term| (first..last).contains(term));
            let starts_at_zero = if self.is_reversed { terms[1] >= last - 1 } else { terms[0] <= first };
            (is_complete, starts_at_zero)
        });
        let starts_at_zero = known.is_some_and(|(_, zero)| zero)
            || !self.is_reversed && self.range.is_none() && self.offset <= 0;
        let before = || {
            // The terms before the offset for prefixes, or after it for suffixes.
            let offset = at.idx(self.offset);
            let first = if self.is_reversed {
                at.subi(at.addi(count, offset), range[1])
            } else {
                at.subi(range[0], offset)
            };
            at.minsi(first, at.idx(0))
        };
        Ok(Steps {
            count,
            first: (!starts_at_zero).then(before),
            range: known.is_none_or(|(complete, zero)| !complete || !zero).then_some(range),
        })
    }

    /// Emits a parallel loop over rows, or over groups of rows.
    fn scalars(
        &self,
        rows: &[usize],
        steps: &Steps<'c, 'a>,
        number: i64,
        result: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let is_complete = steps.first.is_none() && steps.range.is_none();
        let lanes = if is_complete { self.lanes(number, at)? } else { None };
        let Some(last) = rows.last() else {
            return self.group(&[Vec::new()], steps, lanes.as_ref(), result, at);
        };
        let mut counts: Vec<Value> = rows.iter().map(|l| self.extent(*l, at)).collect::<Result<_, _>>()?;
        let groups = self
            .nest
            .extent(*last)
            .filter(|count| !self.is_blocked() && lanes.is_none() && count % GROUP == 0);
        if let (Some(count), Some(rows)) = (counts.last_mut(), groups) {
            *count = at.idx(rows / GROUP);
        }
        let size = if groups.is_some() { GROUP } else { 1 };
        let (region, inside, position) = at.region(&vec![at.index_type(); rows.len()]);
        let (first, outer) = position.split_last().ok_or(Error::OperationBuild)?;
        let row = |number: i64| {
            let place = inside.addi(inside.muli(*first, inside.idx(size)), inside.idx(number));
            rows.iter().copied().zip(outer.iter().copied().chain([place])).collect::<Vec<_>>()
        };
        self.group(&(0..size).map(row).collect::<Vec<_>>(), steps, lanes.as_ref(), result, &inside)?;
        inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
        let work = self.nest.extent(self.end).unwrap_or(BLOCK).saturating_mul(size);
        scf::close_parallel(at, &counts, work, region)
    }

    /// Emits the prefixes of a group of rows, with the accumulators in registers. With blocks or vectors, `rows` has one row.
    fn group(
        &self,
        rows: &[Vec<(usize, Value<'c, 'a>)>],
        steps: &Steps<'c, 'a>,
        lanes: Option<&Lanes<'c, 'a>>,
        result: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut first = steps.first.unwrap_or(at.idx(0));
        let mut starts = vec![self.start(at)?; rows.len()];
        if let Some((lanes, row)) = lanes.zip(rows.first()) {
            let start = self.start(at)?;
            starts = vec![self.row_of_vectors(lanes, row, start, [steps.count, result], at)?];
            first = at.idx(lanes.elements());
        }
        if !self.is_blocked() {
            scf::fold_all::<Error>(at, [first, steps.count, at.idx(1)], &starts, |inside, step, before| {
                let totals = rows.iter().zip(before).map(|(row, before)| {
                    let total = self.reduced(*before, row, step, steps, inside)?;
                    self.complete(total, row, step, steps, result, inside)?;
                    Ok(total)
                });
                totals.collect()
            })?;
            return Ok(());
        }
        let (row, start) = rows.iter().zip(starts).next().ok_or(Error::OperationBuild)?;
        scf::fold(at, [first, steps.count, at.idx(BLOCK)], start, |inside, block, total| {
            let end = inside.minsi(inside.addi(block, inside.idx(BLOCK)), steps.count);
            let neutral = inside.literal(self.combine.neutral(total.r#type()));
            let sum = scf::fold(inside, [block, end, inside.idx(1)], neutral, |inside, step, before| {
                let sum = self.reduced(before, row, step, steps, inside)?;
                self.complete(self.combined(total, sum, inside), row, step, steps, result, inside)?;
                Ok(sum)
            })?;
            Ok(self.combined(total, sum, inside))
        })?;
        Ok(())
    }

    /// Emits the prefixes of tiles of rows along the innermost dimension, with the accumulators in arrays. Each step is a loop over
    /// lanes, whose iterations are independent.
    fn vectors(
        &self,
        rows: &[usize],
        lane: usize,
        steps: &Steps<'c, 'a>,
        result: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let element = result_element(result);
        let extents: Vec<Value> = rows.iter().map(|l| self.extent(*l, at)).collect::<Result<_, _>>()?;
        let shape: Vec<i64> =
            rows.iter().map(|l| self.nest.extents.get(*l).copied().unwrap_or(types::DYNAMIC)).collect();
        let sizes: Vec<Value> = extents
            .iter()
            .copied()
            .zip(&shape)
            .filter(|(_, extent)| **extent < 0)
            .map(|(size, _)| size)
            .collect();
        let array = || at.alloc(types::memref(&shape, element), &sizes);
        let (totals, sums) = (array(), self.is_blocked().then(array));

        let width = *extents.last().ok_or(Error::OperationBuild)?;
        let mut counts = extents;
        if let Some(last) = counts.last_mut() {
            *last = at.ceildivui(width, at.idx(TILE));
        }
        let (region, inside, position) = at.region(&vec![at.index_type(); rows.len()]);
        let (tile, outer) = position.split_last().ok_or(Error::OperationBuild)?;
        let outer: Vec<(usize, Value)> = rows.iter().copied().zip(outer.iter().copied()).collect();
        let begin = inside.muli(*tile, inside.idx(TILE));
        let lanes = [begin, inside.minsi(inside.addi(begin, inside.idx(TILE)), width), inside.idx(1)];
        let arrays = Arrays { totals, sums, result };
        self.tile(&arrays, &outer, (lane, lanes), steps, &inside)?;
        inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
        let work = self.nest.extent(self.end).unwrap_or(BLOCK).saturating_mul(TILE);
        scf::close_parallel(at, &counts, work, region)
    }

    /// Emits the prefixes of a tile of rows.
    fn tile(
        &self,
        arrays: &Arrays<'c, 'a>,
        outer: &[(usize, Value<'c, 'a>)],
        (lane, lanes): (usize, [Value<'c, 'a>; 3]),
        steps: &Steps<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let row = |value| outer.iter().copied().chain([(lane, value)]).collect::<Vec<_>>();
        let place = |value| outer.iter().map(|(_, value)| *value).chain([value]).collect::<Vec<_>>();
        repeat(at, lanes, |inside, value| {
            let start = self.start(inside)?;
            inside.store(start, arrays.totals, &place(value));
            Ok(())
        })?;
        let accumulators = arrays.sums.unwrap_or(arrays.totals);
        let advance = |inside: &Builder<'c, 'a>, step: Value<'c, 'a>| {
            repeat(inside, lanes, |inside, value| {
                let place = place(value);
                let before = inside.load(accumulators, &place);
                let sum = self.reduced(before, &row(value), step, steps, inside)?;
                inside.store(sum, accumulators, &place);
                let total = match arrays.sums {
                    Some(_) => self.combined(inside.load(arrays.totals, &place), sum, inside),
                    None => sum,
                };
                self.complete(total, &row(value), step, steps, arrays.result, inside)
            })
        };
        let first = steps.first.unwrap_or(at.idx(0));
        let Some(sums) = arrays.sums else {
            return repeat(at, [first, steps.count, at.idx(1)], advance);
        };
        repeat(at, [first, steps.count, at.idx(BLOCK)], |inside, block| {
            let neutral = inside.literal(self.combine.neutral(result_element(sums)));
            inside.each(lanes, |inside, value| inside.store(neutral, sums, &place(value)));
            let end = inside.minsi(inside.addi(block, inside.idx(BLOCK)), steps.count);
            repeat(inside, [block, end, inside.idx(1)], advance)?;
            inside.each(lanes, |inside, value| {
                let place = place(value);
                let total =
                    self.combined(inside.load(arrays.totals, &place), inside.load(sums, &place), &inside);
                inside.store(total, arrays.totals, &place);
            });
            Ok(())
        })
    }

    /// Whether the sum of the current block is separate from the sum of previous blocks.
    fn is_blocked(&self) -> bool {
        let is_long = self.nest.extent(self.end).is_none_or(|count| count > BLOCK);
        is_long && self.combine.reduction == "add" && self.combine.operator.is_fast("reassoc")
    }

    pub(super) fn combined(
        &self,
        left: Value<'c, 'a>,
        right: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Value<'c, 'a> {
        self.combine.operator.apply(at, &[left, right], left.r#type())
    }

    /// The accumulator after a step.
    fn reduced(
        &self,
        before: Value<'c, 'a>,
        row: &[(usize, Value<'c, 'a>)],
        step: Value<'c, 'a>,
        steps: &Steps<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let last = at.idx(self.offset);
        let number = at.addi(self.element(step, steps, at), last);
        let Some([first, end]) = steps.range else {
            return Ok(self.combined(before, self.term(row, number, at)?, at));
        };
        let is_term = at.andi(
            at.cmpi(Integers::SignedAtLeast, number, first),
            at.cmpi(Integers::SignedLess, number, end),
        );
        let mut outcome = Ok(());
        let results = at.if_else(is_term, &[before.r#type()], |inside, holds| {
            let term = if holds {
                self.term(row, number, &inside).map(|term| self.combined(before, term, &inside))
            } else {
                Ok(before)
            };
            vec![term.unwrap_or_else(|e| {
                outcome = Err(e);
                before
            })]
        });
        outcome?;
        results.first().copied().ok_or(Error::OperationBuild)
    }

    /// Stores the element that a step completes, if there is one.
    fn complete(
        &self,
        total: Value<'c, 'a>,
        row: &[(usize, Value<'c, 'a>)],
        step: Value<'c, 'a>,
        steps: &Steps<'c, 'a>,
        result: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        let write = |inside: &Builder<'c, 'a>| {
            let element = self.element(step, steps, inside);
            let mut total = total;
            if !self.starts_uniformly() {
                let row = at_end(row, self.end, element);
                total = self.combined(self.read(output, &row, inside)?, total, inside);
            }
            inside.store(total, result, &self.place(row, element)?);
            Ok(())
        };
        if steps.first.is_none() {
            return write(at);
        }
        let mut outcome = Ok(());
        let is_element = at.cmpi(Integers::SignedAtLeast, step, at.idx(0));
        at.when(is_element, |inside| outcome = write(&inside));
        outcome
    }

    /// The position of an element of a row in the result.
    pub(super) fn place(
        &self,
        row: &[(usize, Value<'c, 'a>)],
        element: Value<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let loops = self.nest.output().and_then(Operand::indices).ok_or(Error::OperationBuild)?;
        let row = at_end(row, self.end, element);
        let known = loops.iter().filter_map(|l| row.iter().find(|(number, _)| number == l));
        Ok(known.map(|(_, value)| *value).collect())
    }

    /// The element of the result that a step completes.
    fn element(&self, step: Value<'c, 'a>, steps: &Steps<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        if !self.is_reversed {
            return step;
        }
        at.subi(at.subi(steps.count, at.idx(1)), step)
    }

    /// The initial accumulator: the start value of all elements, or the neutral element if start values differ.
    fn start(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let output = self.nest.output().ok_or(Error::OperationBuild)?;
        let value = splat::value(output.value, at)?;
        Ok(value.unwrap_or_else(|| at.literal(self.combine.neutral(output.element.r#type()))))
    }

    /// A term of a row.
    fn term(
        &self,
        row: &[(usize, Value<'c, 'a>)],
        number: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let loops: Vec<(usize, Value)> = row.iter().copied().chain([(self.reduction, number)]).collect();
        let mut copier = Copier::new();
        let needed = self.nest.needed([self.term], &[]);
        for operand in self.nest.inputs() {
            let is_used = operand.element == self.term
                || needed.iter().any(|op| op.operands().any(|value| value == operand.element));
            if is_used {
                copier.set(operand.element, self.read(operand, &loops, at)?);
            }
        }
        for op in needed {
            copier.copy(op, &at.with_location(op.location()), &mut |copier, op, to| {
                let Some(l) = index_of(op) else { return Ok(false) };
                copier.set(op.result(0)?, value_of(&loops, l, to));
                Ok(true)
            })?;
        }
        Ok(copier.get(self.term))
    }

    /// An element of an operand. Loops that are not in the list are at 0.
    pub(super) fn read(
        &self,
        operand: &Operand<'c, 'a>,
        loops: &[(usize, Value<'c, 'a>)],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kind = operand.value.r#type();
        if types::extents(kind).is_none() {
            return Ok(operand.value);
        }
        let operands = [vec![operand.value], self.subscripts(operand, loops, at)?].concat();
        at.value(ops::tensor::EXTRACT, &operands, &[], types::element_or_self(kind))
    }

    /// The subscripts of an operand. Loops that are not in the list are at 0.
    pub(super) fn subscripts(
        &self,
        operand: &Operand<'c, 'a>,
        loops: &[(usize, Value<'c, 'a>)],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let position: Vec<Value> = (0..self.nest.reductions.len()).map(|l| value_of(loops, l, at)).collect();
        let subscript = |form: &Affine| {
            let map = maps::map(at.context, position.len(), std::slice::from_ref(form))
                .ok_or(Error::OperationBuild)?;
            at.value(ops::affine::APPLY, &position, &[("map", map)], at.index_type())
        };
        operand.forms.iter().map(subscript).collect()
    }

    fn extent(&self, l: usize, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        if let Some(extent) = self.nest.extent(l) {
            return Ok(at.idx(extent));
        }
        let (tensor, dimension) = self.nest.place(l).ok_or(Error::OperationBuild)?;
        at.extent(tensor, i64::try_from(dimension).map_err(|_| Error::OperationBuild)?)
    }
}

/// The arrays for tiles of rows.
struct Arrays<'c, 'a> {
    totals: Value<'c, 'a>,
    /// The sums of the current block.
    sums: Option<Value<'c, 'a>>,
    result: Value<'c, 'a>,
}

fn result_element<'c>(array: Value<'c, '_>) -> Type<'c> {
    types::element_or_self(array.r#type())
}

/// The positions of the loops of a row, and of the loop over its prefixes.
fn at_end<'c, 'a>(
    row: &[(usize, Value<'c, 'a>)],
    end: usize,
    element: Value<'c, 'a>,
) -> Vec<(usize, Value<'c, 'a>)> {
    row.iter().copied().chain([(end, element)]).collect()
}

pub(super) fn value_of<'c: 'a, 'a>(
    loops: &[(usize, Value<'c, 'a>)],
    l: usize,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    loops.iter().find(|(number, _)| *number == l).map_or_else(|| at.idx(0), |(_, value)| *value)
}

/// Emits `scf.for` without loop-carried values, with a fallible body.
fn repeat<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    bounds: [Value<'c, 'a>; 3],
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut outcome = Ok(());
    at.each(bounds, |inside, step| outcome = body(&inside, step));
    outcome
}
