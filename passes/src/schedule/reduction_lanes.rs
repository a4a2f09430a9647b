// SPDX-License-Identifier: Apache-2.0
//! Reductions along the lanes of vectors: the loop, what is left of it, and the reduction across lanes.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::payload::Known;
use super::writer::{LastVector, Point, State, Tile, Writer};

impl Writer<'_> {
    /// The reduction loop along the lanes. The vectors of a remainder are added to different accumulators of each row, whose chains of
    /// operations run side by side; those of a dynamic one to the first.
    pub(super) fn along_lanes(
        &mut self,
        state: &State,
        points: &[Point],
        mut accumulators: Vec<String>,
    ) -> Vec<String> {
        let l = self.plan.lanes_loop;
        let is_dynamic = self.nest.loops[l].source.is_some();
        let extent = self.nest.loops[l].extent;
        let block = self.plan.vectors * self.plan.lanes;
        let whole = extent / block * block;
        let end = if is_dynamic { self.multiple(&format!("%n{l}"), block) } else { self.constant(whole) };
        if is_dynamic || whole > 0 {
            let range = (self.constant(0), end.clone());
            accumulators = self.accumulating_loop(l, range, block, state, accumulators, |w, state, inner| {
                w.step(state, points, inner)
            });
        }
        // The first vector of each row, and the accumulators of one number in all rows.
        let is_first = |point: &&Point| point.vector == 0;
        let chosen: Vec<Point> = points.iter().filter(is_first).cloned().collect();
        let numbered = |number: i64| {
            points.iter().enumerate().filter_map(move |(p, point)| (point.vector == number).then_some(p))
        };
        let of = |accumulators: &[String], number: i64| -> Vec<String> {
            numbered(number).map(|p| accumulators[p].clone()).collect()
        };
        let replace = |accumulators: &mut [String], number: i64, new: Vec<String>| {
            for (p, new) in numbered(number).zip(new) {
                accumulators[p] = new;
            }
        };
        if is_dynamic {
            let range = (end, format!("%n{l}"));
            let inner = of(&accumulators, 0);
            let lanes = self.plan.lanes;
            let new = self.accumulating_loop(l, range, lanes, state, inner, |w, state, inner| {
                let state = w.with_rest(state, l, 1);
                w.step(&state, &chosen, inner)
            });
            replace(&mut accumulators, 0, new);
            return accumulators;
        }
        let lanes = usize::try_from(self.plan.lanes).unwrap_or(1);
        for (number, start) in (0..).zip((whole..extent).step_by(lanes)) {
            let elements = (extent - start).min(self.plan.lanes);
            let value = self.constant(start);
            let mut state = self.at(state, l, &value);
            state.tile.insert(l, Tile { count: 1, last: LastVector::of_elements(elements, self.plan.lanes) });
            let new = self.step(&state, &chosen, of(&accumulators, number));
            replace(&mut accumulators, number, new);
        }
        accumulators
    }

    /// Reduces the lanes of each row's accumulators, and stores what follows from the result.
    pub(super) fn reduce_lanes(&mut self, state: &State, points: &[Point], results: &[String]) {
        let output = self.nest.output;
        let element = self.body.accumulator.clone();
        let kind = self.vector_type(&element);
        let per_row = self.plan.vectors as usize;
        let mut known = Known::default();
        for (row, partial) in results.chunks(per_row).enumerate() {
            let point = &points[row * per_row];
            let sum = self.joined(partial.to_vec(), &kind);
            let total = self.across(&sum, &kind, &element);
            let start = self.payload(&self.body.start.clone(), state, point, &mut known);
            let reduced = self.combine(&start.name, &total, &element);
            known.set_reduced(self.reduced(&reduced, false));
            let finish = self.payload(&self.body.finish.clone(), state, point, &mut known);
            let address = self.address(output, state, point);
            self.line(&format!(
                "memref.store {}, %l{output}[{address}] : {}",
                finish.name,
                self.signature.flat(output)
            ));
        }
    }

    /// Values combined pair by pair, so that the longest chain of operations is short.
    fn joined(&mut self, mut values: Vec<String>, kind: &str) -> String {
        while values.len() > 1 {
            let pairs = values.chunks(2).map(|pair| match pair {
                [one, other] => self.combine(one, other, kind),
                _ => pair.concat(),
            });
            let pairs: Vec<String> = pairs.collect();
            values = pairs;
        }
        values.concat()
    }

    /// The lanes of a vector combined. LLVM narrows vectors of maxima until it has scalars, for which it has longer code: halves are
    /// exchanged in whole vectors.
    fn across(&mut self, vector: &str, kind: &str, element: &str) -> String {
        let reduction = self.body.combine.reduction;
        let lanes = self.plan.lanes;
        let is_extreme = ["maximumf", "minimumf"].contains(&reduction);
        if !is_extreme || !lanes.unsigned_abs().is_power_of_two() {
            let fast = match reduction {
                "add" | "mul" if element.starts_with('f') => " fastmath<reassoc>",
                _ => "",
            };
            return self
                .define(&format!("vector.reduction <{reduction}>, {vector}{fast} : {kind} into {element}"));
        }
        let mut vector = vector.to_string();
        let mut distance = lanes / 2;
        while distance > 0 {
            let mask: Vec<String> = (0..lanes).map(|n| (n ^ distance).to_string()).collect();
            let mask = mask.join(", ");
            let other = self.define(&format!("vector.shuffle {vector}, {vector} [{mask}] : {kind}, {kind}"));
            vector = self.combine(&vector, &other, kind);
            distance /= 2;
        }
        self.define(&format!("vector.extract {vector}[0] : {element} from {kind}"))
    }
}
