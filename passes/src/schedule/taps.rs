// SPDX-License-Identifier: Apache-2.0
//! The innermost loop of a strided window: neighbouring taps select their elements from the same vectors.
//!
//! The elements that a tap of a stride-2 window reads are two apart: two contiguous vectors cover them, and a shuffle selects every
//! other element. The next tap selects the elements in between from the same two vectors. So the taps of one stride are computed
//! together.

use super::nest::CLOSEST;
use super::plan::LaneMode;
use super::writer::{Point, State, Taps, Writer};
use melior::ir::Value;

/// Maximum number of iterations of an unrolled loop.
const MAX_TAPS: i64 = 8;

/// Maximum number of points of all taps: more code does not fit the cache of decoded instructions.
const MAX_POINTS: i64 = 128;

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Returns the taps of a loop that read the same vectors; `None` if the loop is not the innermost one of a strided window.
    fn taps(&self, level: usize, points: &[Point]) -> Option<Taps> {
        let number = *self.plan.reductions.get(level)?;
        let taps_loop = &self.nest.loops[number];
        let is_innermost = level + 1 == self.plan.reductions.len();
        let is_part = self.plan.chunk.is_some_and(|chunk| chunk.number == number);
        let is_short = taps_loop.source.is_none() && taps_loop.extent <= MAX_TAPS;
        let is_small = taps_loop.extent * points.len() as i64 <= MAX_POINTS;
        let is_plain = self.plan.mode == LaneMode::Output && self.plan.group.is_none() && !is_part;
        if !(is_plain && is_innermost && is_short && is_small) {
            return None;
        }
        let counts = (0..self.nest.inputs().len()).map(|position| self.lane_stride(position));
        let mut taps = counts.map(|count| Taps { number, count });
        taps.find(|taps| {
            let mut inputs = 0..self.nest.inputs().len();
            taps_loop.extent >= taps.count && inputs.any(|position| self.shares(position, *taps))
        })
    }

    /// Whether the taps select from the same vectors of an operand.
    fn shares(&self, position: usize, taps: Taps) -> bool {
        let strides = &self.nest.operands[position].strides;
        let is_static = !self.strides.contains_key(&(position, taps.number));
        let is_close = (2..=CLOSEST).contains(&taps.count);
        is_close && is_static && self.lane_stride(position) == taps.count && strides[taps.number] == 1
    }

    /// Emits the innermost reduction if its taps read the same vectors; otherwise returns the accumulators as the error.
    pub(super) fn unrolled_taps(
        &mut self,
        level: usize,
        state: &State<'c, 'a>,
        points: &[Point],
        mut accumulators: Vec<Value<'c, 'a>>,
    ) -> Result<Vec<Value<'c, 'a>>, Vec<Value<'c, 'a>>> {
        let Some(taps) = self.taps(level, points) else {
            return Err(accumulators);
        };
        let extent = self.nest.loops[taps.number].extent;
        let mut first = 0;
        while first < extent {
            let count = taps.count.min(extent - first);
            let position = self.constant(first);
            let mut state = self.with_loop(state, taps.number, position);
            state.taps = Some(taps).filter(|taps| taps.count == count);
            for tap in 0..count {
                let shifted = |point: &Point| Point {
                    steps: [point.steps.as_slice(), &[(taps.number, tap)]].concat(),
                    vector: point.vector,
                };
                let points: Vec<Point> = points.iter().map(shifted).collect();
                accumulators = self.reductions(level + 1, &state, &points, accumulators);
            }
            first += count;
        }
        Ok(accumulators)
    }

    /// Returns the index of a point's tap among the taps that select from the same vectors of an operand, and the point of the first
    /// of these taps.
    pub(super) fn first_tap(
        &self,
        position: usize,
        state: &State<'c, 'a>,
        point: &Point,
    ) -> Option<(i64, Point)> {
        let taps = state.taps.filter(|taps| self.shares(position, *taps))?;
        let (others, tap): (Vec<_>, Vec<_>) = point.steps.iter().partition(|(l, _)| *l != taps.number);
        let (_, tap) = *tap.first()?;
        let first = Point { steps: others, vector: point.vector };
        Some((tap, first))
    }
}
