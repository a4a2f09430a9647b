// SPDX-License-Identifier: Apache-2.0
//! Emits a vectorized kernel: a function on flat arrays, with register tiles inside loops.

use super::body::{Body, Operand};
use super::nest::Nest;
use super::payload::Known;
use super::plan::{LaneMode, Plan};
use super::signature::Signature;
use super::writer::{Given, LastVector, Part, Point, Predicate, State, Tile, Writer};
use crate::ir::attribute_names::{NOALIAS, STEPS};
use crate::ir::builder::arith::Integers;
use crate::ir::func::Definition;
use crate::ir::{attributes, ops, types};
use melior::ir::{Location, Operation, Type, Value, ValueLike};
use std::collections::HashMap;

/// The function of a kernel. With steps ([`Plan::steps`]), its last two arguments are the first step and the end of the steps.
pub fn kernel<'c: 'a, 'a>(
    nest: &Nest,
    plan: &Plan,
    body: &Body<'c>,
    signature: &Signature<'c>,
    location: Location<'c>,
) -> Operation<'c> {
    let context = types::context_of(body.accumulator);
    let index = Type::index(context);
    let dynamic = nest.loops.iter().enumerate().filter(|(_, r#loop)| r#loop.source.is_some());
    let dynamic: Vec<usize> = dynamic.map(|(l, _)| l).collect();
    let placed: Vec<usize> = signature.placed().collect();
    let steps = if plan.steps(nest).is_some() { 2 } else { 0 };
    let indices = placed.len() + dynamic.len() + nest.sizes + steps;
    let arrays = signature.arrays.iter().map(|r#type| (*r#type, &[NOALIAS][..]));
    let captures = body.captures.iter().map(|r#type| (*r#type, &[][..]));
    let all = arrays.chain(captures).chain(vec![(index, &[][..]); indices]);
    let function: Definition<'c, 'a> = Definition::new(context, location, &all.collect::<Vec<_>>());
    let (arrays, others) = function.arguments.split_at(signature.arrays.len());
    let (captures, others) = others.split_at(body.captures.len());
    let (offsets, others) = others.split_at(placed.len());
    let (extents, others) = others.split_at(dynamic.len());
    let (sizes, steps) = others.split_at(nest.sizes);
    let offsets: HashMap<usize, Value> = placed.into_iter().zip(offsets.iter().copied()).collect();
    let views = arrays.iter().enumerate().map(|(position, array)| {
        let offset = offsets.get(&position).copied();
        (position, signature.view(position, *array, offset, &function.at))
    });
    let given = Given {
        views: views.collect(),
        captures: captures.to_vec(),
        extents: dynamic.into_iter().zip(extents.iter().copied()).collect(),
        sizes: sizes.to_vec(),
        steps: steps.try_into().ok(),
        scratch: plan.scratch(nest, body.accumulator, &function.at),
    };
    let unit = attributes::unit(context);
    let attributes = given.steps.map(|_| (STEPS, unit));
    let mut writer = Writer::new(nest, plan.clone(), body, signature, function.at, given);
    let start = writer.start();
    writer.parts(&start);
    function.finish(KERNEL, &[], attributes.as_slice())
}

/// The name of a kernel until equal kernels are merged.
pub(super) const KERNEL: &str = "KERNEL";

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// The state with loop `l` at `value` (a constant or a loop variable).
    pub(super) fn with_loop(
        &mut self,
        state: &State<'c, 'a>,
        l: usize,
        value: Value<'c, 'a>,
    ) -> State<'c, 'a> {
        let mut state = state.clone();
        if !self.is_zero(value) {
            for position in 0..state.bases.len() {
                let stride = self.nest.operands[position].strides[l];
                if stride != 0 {
                    let product = if stride == 1 {
                        value
                    } else {
                        let stride = self.stride(position, l);
                        self.at.muli(value, stride)
                    };
                    state.bases[position] = self.at.addi(state.bases[position], product);
                }
            }
        }
        state.values.insert(l, value);
        state
    }

    /// All points of the current tile.
    fn points(&self, state: &State<'c, 'a>) -> Vec<Point> {
        let vectors = match self.plan.mode {
            LaneMode::Output => state.tile[&self.plan.lanes_loop].count,
            LaneMode::Reduction => self.plan.vectors,
        };
        let mut rows: Vec<Vec<(usize, i64)>> = vec![Vec::new()];
        for &(l, _) in &self.plan.unroll {
            let count = state.tile[&l].count;
            rows = rows
                .into_iter()
                .flat_map(|row| {
                    (0..count).map(move |step| {
                        let mut row = row.clone();
                        row.push((l, step));
                        row
                    })
                })
                .collect();
        }
        rows.iter()
            .flat_map(|steps| (0..vectors).map(|vector| Point { steps: steps.clone(), vector }))
            .collect()
    }

    /// The mask of a vector of the tile, if it is not full.
    pub(super) fn mask(&mut self, state: &State<'c, 'a>, vector: i64) -> Option<Value<'c, 'a>> {
        let tile = state.tile.get(&self.plan.lanes_loop)?;
        if !tile.is_partial(vector) {
            return None;
        }
        match tile.last {
            LastVector::Full => None,
            LastVector::Partial(elements) => Some(self.at.constant_mask(elements, self.plan.lanes)),
            LastVector::Dynamic => {
                let before = self.constant(vector * self.plan.lanes);
                let remaining = self.at.subi(state.rest(), before);
                let kind = self.vector_type(types::flag(self.at.context));
                Some(self.at.make(ops::vector::CREATE_MASK, &[remaining], &[], kind))
            }
        }
    }

    /// Whether a vector of the tile has one element.
    fn is_single(&self, state: &State<'c, 'a>, vector: i64) -> bool {
        let tile = state.tile.get(&self.plan.lanes_loop);
        tile.is_some_and(|tile| tile.is_partial(vector) && tile.last == LastVector::Partial(1))
    }

    /// The distance between the elements of adjacent lanes.
    pub(super) fn lane_stride(&self, operand: usize) -> i64 {
        match (self.plan.packed == Some(operand), self.plan.group) {
            (true, Some(_)) => self.nest.group_size(),
            (true, None) => 1,
            (false, _) => self.nest.operands[operand].strides[self.plan.lanes_loop],
        }
    }

    /// The number of iterations of a loop.
    pub(super) fn extent(&mut self, l: usize) -> Value<'c, 'a> {
        match self.given.extents.get(&l) {
            Some(extent) => *extent,
            None => self.constant(self.nest.loops[l].extent),
        }
    }

    /// Emits the loop over the parts of a reduction, if there is one, and the loops inside it.
    fn parts(&mut self, state: &State<'c, 'a>) {
        let Some(chunk) = self.plan.chunk else {
            return self.parallel(0, state);
        };
        let extent = self.nest.loops[chunk.number].extent;
        let last = (extent - 1) / chunk.size * chunk.size;
        let (zero, end) = (self.constant(0), self.constant(extent));
        self.loop_in([zero, end], chunk.size, |w, from| {
            let next = w.offset(from, chunk.size);
            let last = w.constant(last);
            let part = Part {
                number: chunk.number,
                to: w.at.minsi(next, end),
                is_first: w.at.cmpi(Integers::Equal, from, zero),
                is_last: w.at.cmpi(Integers::Equal, from, last),
                from,
            };
            w.parallel(0, &State { part: Some(part), ..state.clone() });
        });
    }

    /// Emits a tile: accumulators, reduction loops, stores.
    pub(super) fn tile(&mut self, state: &State<'c, 'a>) {
        let points = self.points(state);
        let is_contiguous = self.lane_stride(self.nest.output) == 1;
        let accumulators = match self.plan.mode {
            LaneMode::Output if is_contiguous => self.starts(state, &points),
            LaneMode::Output | LaneMode::Reduction => {
                let kind = self.sums();
                points.iter().map(|_| self.at.splat(self.body.combine.identity, kind)).collect()
            }
        };
        let results = self.reductions(0, state, &points, accumulators);
        let transposed = self.plan.transposed(self.nest);
        match (self.plan.mode, transposed) {
            (LaneMode::Output, Some(rows)) => self.transpose(rows, state, &points, &results),
            (LaneMode::Output, None) if is_contiguous => self.finishes(state, &points, &results),
            (LaneMode::Output, None) => self.combine_and_finish(state, &points, &results),
            (LaneMode::Reduction, _) => self.reduce_lanes(state, &points, &results),
        }
    }

    /// Combines results of the reduction with the initial values of the elements, and stores them.
    pub(super) fn combine_and_finish(
        &mut self,
        state: &State<'c, 'a>,
        points: &[Point],
        results: &[Value<'c, 'a>],
    ) {
        let starts = self.starts(state, points);
        let reduced: Vec<Value> =
            starts.iter().zip(results).map(|(start, result)| self.combine(*start, *result)).collect();
        self.finishes(state, points, &reduced);
    }

    /// The initial values of the elements: the start values in the first part of a reduction, the partial results in others.
    fn starts(&mut self, state: &State<'c, 'a>, points: &[Point]) -> Vec<Value<'c, 'a>> {
        let output = Operand::Input(self.nest.output);
        let start = &self.body.start;
        let all = |w: &mut Self, operand: &Operand| {
            let mut known = Known::default();
            let values = points.iter().map(|point| {
                let value = w.payload(operand, state, point, &mut known);
                w.widened(value, &mut known)
            });
            values.collect::<Vec<_>>()
        };
        match &state.part {
            None => all(self, start),
            Some(part) => self.choice(part.is_first, points.len(), |w, is_first| {
                all(w, if is_first { start } else { &output })
            }),
        }
    }

    /// Finishes and stores the results of the reduction; parts before the last one store partial results.
    fn finishes(&mut self, state: &State<'c, 'a>, points: &[Point], results: &[Value<'c, 'a>]) {
        let all = |w: &mut Self, finish: &Operand| {
            let mut known = Known::default();
            for (point, result) in points.iter().zip(results) {
                w.finish(state, point, *result, finish, &mut known);
            }
            Vec::new()
        };
        let finish = &self.body.finish;
        match state.part.as_ref().filter(|_| *finish != Operand::Reduced) {
            None => all(self, finish),
            Some(part) => self.branch(part.is_last, &[], |w, is_last| {
                all(w, if is_last { finish } else { &Operand::Reduced })
            }),
        };
    }

    /// Finishes and stores the result of the reduction at a point.
    fn finish(
        &mut self,
        state: &State<'c, 'a>,
        point: &Point,
        reduced: Value<'c, 'a>,
        finish: &Operand,
        known: &mut Known<'c, 'a>,
    ) {
        known.set_reduced(reduced);
        let finish = self.payload(finish, state, point, known);
        let value = self.widened(finish, known);
        let output = self.nest.output;
        let array = self.view(output);
        let address = self.address(output, state, point);
        // LLVM 22 miscompiles a masked store of narrowed elements if a constant mask has a single lane: it stores the wide element.
        if self.is_single(state, point.vector) {
            return self.at.store(self.at.extract(value, 0), array, &[address]);
        }
        let mask = self.mask(state, point.vector);
        let none = Vec::new();
        match (self.lane_stride(output), mask) {
            (1, Some(mask)) => {
                self.at.op(ops::vector::MASKEDSTORE, &[array, address, mask, value], &[], &[], none);
            }
            (1, None) => self.at.store_vector(value, array, &[address], None),
            (stride, mask) => {
                let [steps, mask] = self.apart(stride, mask);
                self.at.op(ops::vector::SCATTER, &[array, address, steps, mask, value], &[], &[], none);
            }
        }
    }

    /// The combination of two values of one type.
    pub(super) fn combine(&self, left: Value<'c, 'a>, right: Value<'c, 'a>) -> Value<'c, 'a> {
        self.body.combine.operator.apply(&self.at, &[left, right], left.r#type())
    }

    /// Emits the reduction loops from `level` on; the loop along lanes is innermost.
    pub(super) fn reductions(
        &mut self,
        level: usize,
        state: &State<'c, 'a>,
        points: &[Point],
        accumulators: Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let body = self.body;
        if self.plan.hoists == Some(level) && state.predicate == Predicate::Open {
            if let Some(predicate) = &body.predicate {
                return self.hoisted(level, predicate, state, points, &accumulators);
            }
            if let Some(skips) = &body.skips {
                return self.skipped(level, skips, state, points, &accumulators);
            }
        }
        let accumulators = match self.unrolled_taps(level, state, points, accumulators) {
            Ok(results) => return results,
            Err(accumulators) => accumulators,
        };
        if let Some(&l) = self.plan.reductions.get(level) {
            if self.plan.group == Some(l) {
                return self.grouped(l, state, points, accumulators);
            }
            let range = [self.constant(0), self.extent(l)];
            return self.accumulating_loop(l, range, 1, state, &accumulators, |w, state, inner| {
                w.reductions(level + 1, state, points, inner)
            });
        }
        match self.plan.mode {
            LaneMode::Output => self.step(state, points, accumulators),
            LaneMode::Reduction => self.along_lanes(state, points, accumulators),
        }
    }

    /// The state for `count` vectors, of which only the remaining elements of a loop are computed.
    pub(super) fn with_rest(&mut self, state: &State<'c, 'a>, l: usize, count: i64) -> State<'c, 'a> {
        let mut state = state.clone();
        let extent = self.extent(l);
        state.rest = state.values.get(&l).map(|start| self.at.subi(extent, *start));
        state.tile.insert(l, Tile { count, last: LastVector::Dynamic });
        state
    }

    /// Rounds a value down to a multiple of a number.
    pub(super) fn multiple(&mut self, value: Value<'c, 'a>, factor: i64) -> Value<'c, 'a> {
        let factor = self.constant(factor);
        self.at.muli(self.at.divui(value, factor), factor)
    }

    /// Emits a loop with the accumulators as loop-carried values.
    pub(super) fn accumulating_loop(
        &mut self,
        l: usize,
        range: [Value<'c, 'a>; 2],
        step: i64,
        state: &State<'c, 'a>,
        accumulators: &[Value<'c, 'a>],
        body: impl FnOnce(&mut Self, &State<'c, 'a>, Vec<Value<'c, 'a>>) -> Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let part = state.part.as_ref().filter(|part| part.number == l);
        let [from, end] = part.map_or(range, |part| [part.from, part.to]);
        let (step, at) = (self.constant(step), self.at);
        let r#loop = at.for_([from, end, step], accumulators, |inside, iteration, inner| {
            self.at = inside;
            let state = self.with_loop(state, l, iteration);
            body(self, &state, inner.to_vec())
        });
        self.at = at;
        at.results(r#loop)
    }

    /// The payload at every point, combined with the accumulators.
    pub(super) fn step(
        &mut self,
        state: &State<'c, 'a>,
        points: &[Point],
        accumulators: Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let mut known = Known::default();
        let mut results = Vec::new();
        for (number, (point, accumulator)) in points.iter().zip(accumulators).enumerate() {
            let value = self.payload(&self.body.value, state, point, &mut known);
            let value = self.widened(value, &mut known);
            let mut result = self.combine(accumulator, value);
            let guard = self.guard(state, number, point, &mut known);
            let lanes = match self.plan.mode {
                LaneMode::Reduction => self.mask(state, point.vector),
                LaneMode::Output => None,
            };
            for mask in guard.into_iter().chain(lanes) {
                result = self.at.select(mask, result, accumulator);
            }
            results.push(result);
        }
        results
    }

    /// The predicate at a point, unless it is known to be true.
    pub(super) fn guard(
        &mut self,
        state: &State<'c, 'a>,
        number: usize,
        point: &Point,
        known: &mut Known<'c, 'a>,
    ) -> Option<Value<'c, 'a>> {
        match (&self.body.predicate, &state.predicate) {
            (None, _) | (_, Predicate::Holds) => None,
            (_, Predicate::Values(values)) => Some(values[number]),
            (Some(predicate), Predicate::Open) => Some(self.payload(predicate, state, point, known)),
        }
    }
}
