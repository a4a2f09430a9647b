// SPDX-License-Identifier: Apache-2.0
//! Reductions along the lanes of vectors: the loop, its remainder, and the reduction across lanes.

use super::payload::Known;
use super::writer::{LastVector, Point, State, Tile, Writer};
use crate::ir::{attributes, ops};
use crate::schedule::counts::as_usize;
use melior::ir::{TypeLike, Value};

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Emits the reduction loop along the lanes. The vectors of a static remainder are added to different accumulators of each row, so
    /// their dependence chains are independent. The vectors of a dynamic remainder are added to the first accumulator.
    pub(super) fn along_lanes(
        &mut self,
        state: &State<'c, 'a>,
        points: &[Point],
        mut accumulators: Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let l = self.plan.lanes_loop;
        let dynamic = self.given.extents.get(&l).copied();
        let extent = self.nest.loops[l].extent;
        let lanes = self.plan.lanes;
        let block = self.plan.vectors * lanes;
        let whole = extent / block * block;
        let end = match dynamic {
            Some(extent) => self.multiple(extent, block),
            None => self.constant(whole),
        };
        if dynamic.is_some() || whole > 0 {
            let range = [self.constant(0), end];
            accumulators =
                self.accumulating_loop(l, range, block, state, &accumulators, |w, state, inner| {
                    w.step(state, points, inner)
                });
        }
        // The first point of each row, and the accumulators with one vector number in all rows.
        let is_first = |point: &&Point| point.vector == 0;
        let firsts: Vec<Point> = points.iter().filter(is_first).cloned().collect();
        let numbered = |number: i64| {
            points.iter().enumerate().filter_map(move |(p, point)| (point.vector == number).then_some(p))
        };
        let of = |accumulators: &[Value<'c, 'a>], number: i64| -> Vec<Value<'c, 'a>> {
            numbered(number).map(|p| accumulators[p]).collect()
        };
        let replace = |accumulators: &mut [Value<'c, 'a>], number: i64, new: Vec<Value<'c, 'a>>| {
            for (p, new) in numbered(number).zip(new) {
                accumulators[p] = new;
            }
        };
        if let Some(extent) = dynamic {
            let inner = of(&accumulators, 0);
            let new = self.accumulating_loop(l, [end, extent], lanes, state, &inner, |w, state, inner| {
                let state = w.with_rest(state, l, 1);
                w.step(&state, &firsts, inner)
            });
            replace(&mut accumulators, 0, new);
            return accumulators;
        }
        for (number, start) in (0..).zip((whole..extent).step_by(as_usize(lanes))) {
            let elements = (extent - start).min(lanes);
            let value = self.constant(start);
            let mut state = self.with_loop(state, l, value);
            state.tile.insert(l, Tile { count: 1, last: LastVector::of_elements(elements, lanes) });
            let new = self.step(&state, &firsts, of(&accumulators, number));
            replace(&mut accumulators, number, new);
        }
        accumulators
    }

    /// Reduces the lanes of each row's accumulators, then finishes and stores the result.
    pub(super) fn reduce_lanes(
        &mut self,
        state: &State<'c, 'a>,
        points: &[Point],
        results: &[Value<'c, 'a>],
    ) {
        let output = self.nest.output;
        let per_row = self.plan.vectors as usize;
        let mut known = Known::default();
        for (row, partial) in results.chunks(per_row).enumerate() {
            let point = &points[row * per_row];
            let sum = self.joined(partial.to_vec());
            let total = self.across(sum);
            let start = self.payload(&self.body.start, state, point, &mut known);
            known.set_reduced(self.combine(start, total));
            let finish = self.payload(&self.body.finish, state, point, &mut known);
            let address = self.address(output, state, point);
            self.at.store(finish, self.view(output), &[address]);
        }
    }

    /// Combines values pairwise, so that the longest dependence chain is short.
    fn joined(&mut self, mut values: Vec<Value<'c, 'a>>) -> Value<'c, 'a> {
        while values.len() > 1 {
            let pairs = values.chunks(2).map(|pair| match pair {
                [one, other] => self.combine(*one, *other),
                _ => pair[0],
            });
            values = pairs.collect();
        }
        values[0]
    }

    /// Reduces the lanes of a vector. For maxima and minima LLVM would narrow the vector down to scalars, whose code is longer, so this
    /// shuffles full vectors instead.
    fn across(&mut self, mut vector: Value<'c, 'a>) -> Value<'c, 'a> {
        let (reduction, element) = (self.body.combine.reduction, self.body.accumulator);
        let lanes = self.plan.lanes;
        let is_extreme = ["maximumf", "minimumf"].contains(&reduction);
        if !is_extreme || !lanes.unsigned_abs().is_power_of_two() {
            let mut attributes = vec![("kind", attributes::combining(self.at.context, reduction))];
            if ["add", "mul"].contains(&reduction) && element.is_float() {
                attributes.push(("fastmath", attributes::fast(self.at.context, "reassoc")));
            }
            return self.at.make(ops::vector::REDUCTION, &[vector], &attributes, element);
        }
        let mut distance = lanes / 2;
        while distance > 0 {
            let mask: Vec<i64> = (0..lanes).map(|n| n ^ distance).collect();
            vector = self.combine(vector, self.at.shuffle(vector, vector, &mask));
            distance /= 2;
        }
        self.at.extract(vector, 0)
    }
}
