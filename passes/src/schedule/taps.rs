// SPDX-License-Identifier: Apache-2.0
//! The innermost loop of a window in steps: neighbouring taps share the vectors that they are selected from.
//!
//! The elements of a window of step 2 are two apart: two contiguous vectors cover them, and a shuffle selects every other element. The
//! next tap selects the elements in between, from the same two vectors. So as many taps as the step are computed together.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::nest::CLOSEST;
use super::plan::LaneMode;
use super::writer::{Point, State, Taps, Writer};

/// Iterations of the longest loop that is unrolled.
const MOST_TAPS: i64 = 8;

/// Points of all taps: more code does not fit the cache of decoded instructions.
const MOST_POINTS: i64 = 128;

impl Writer<'_> {
    /// The taps of a loop that share vectors; `None` if it is no innermost loop of a window in steps.
    fn taps(&self, level: usize, points: &[Point]) -> Option<Taps> {
        let number = *self.plan.reductions.get(level)?;
        let own = &self.nest.loops[number];
        let is_innermost = level + 1 == self.plan.reductions.len();
        let is_part = self.plan.chunk.is_some_and(|chunk| chunk.number == number);
        let is_short = own.source.is_none() && own.extent <= MOST_TAPS;
        let is_small = own.extent * points.len() as i64 <= MOST_POINTS;
        let is_plain = self.plan.mode == LaneMode::Output && self.plan.group.is_none() && !is_part;
        if !(is_plain && is_innermost && is_short && is_small) {
            return None;
        }
        let counts = (0..self.nest.inputs().len()).map(|position| self.lane_stride(position));
        let mut taps = counts.map(|count| Taps { number, count });
        taps.find(|taps| {
            let mut inputs = 0..self.nest.inputs().len();
            own.extent >= taps.count && inputs.any(|position| self.shares(position, *taps))
        })
    }

    /// Whether taps select from the same vectors of an operand.
    fn shares(&self, position: usize, taps: Taps) -> bool {
        let strides = &self.nest.operands[position].strides;
        let is_static = !self.strides.contains_key(&(position, taps.number));
        let is_close = (2..=CLOSEST).contains(&taps.count);
        is_close && is_static && self.lane_stride(position) == taps.count && strides[taps.number] == 1
    }

    /// The innermost reduction, if its taps share vectors.
    pub(super) fn unrolled_taps(
        &mut self,
        level: usize,
        state: &State,
        points: &[Point],
        mut accumulators: Vec<String>,
    ) -> Result<Vec<String>, Vec<String>> {
        let Some(taps) = self.taps(level, points) else {
            return Err(accumulators);
        };
        let extent = self.nest.loops[taps.number].extent;
        let mut first = 0;
        while first < extent {
            let count = taps.count.min(extent - first);
            let position = self.constant(first);
            let mut state = self.at(state, taps.number, &position);
            state.taps = Some(taps).filter(|taps| taps.count == count);
            for tap in 0..count {
                let own = |point: &Point| Point {
                    steps: [point.steps.as_slice(), &[(taps.number, tap)]].concat(),
                    vector: point.vector,
                };
                let points: Vec<Point> = points.iter().map(own).collect();
                accumulators = self.reductions(level + 1, &state, &points, accumulators);
            }
            first += count;
        }
        Ok(accumulators)
    }

    /// The tap of a point among those that select from the same vectors of an operand, and the point of the first of them.
    pub(super) fn first_tap(&self, position: usize, state: &State, point: &Point) -> Option<(i64, Point)> {
        let taps = state.taps.filter(|taps| self.shares(position, *taps))?;
        let (others, own): (Vec<_>, Vec<_>) = point.steps.iter().partition(|(l, _)| *l != taps.number);
        let (_, tap) = *own.first()?;
        let first = Point { steps: others, vector: point.vector };
        Some((tap, first))
    }
}
