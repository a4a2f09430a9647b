// SPDX-License-Identifier: Apache-2.0
//! Stores a tile whose output is contiguous along its rows: blocks are transposed in registers.
//!
//! Each block is stored to the stack once, so that a loop can finish the lanes of the output.

use super::nest::Nest;
use super::plan::Plan;
use super::squares::transposed;
use super::writer::{LastVector, Point, State, Tile, Writer};
use crate::ir::{Builder, attributes, ops, types, vector};
use melior::ir::{Type, Value};

impl Plan {
    /// The number of rows of a transposed tile in memory, rounded up to a multiple of the lanes.
    fn padded_rows(&self, rows: i64) -> i64 {
        (rows + self.lanes - 1) / self.lanes * self.lanes
    }

    /// Allocates the stack memory in which tiles are transposed; `None` if tiles are not transposed.
    pub(super) fn scratch<'c: 'a, 'a>(
        &self,
        nest: &Nest,
        element: Type<'c>,
        at: &Builder<'c, 'a>,
    ) -> Option<Value<'c, 'a>> {
        self.transposed(nest)?;
        // Any unrolled loop may be the one along which the output is contiguous.
        let rows = self.unroll.iter().map(|u| u.1).max().unwrap_or(1);
        let elements = self.padded_rows(rows) * self.vectors * self.lanes;
        Some(at.alloca(types::memref(&[elements], element)))
    }
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Stores a tile whose output is contiguous along `rows`, an unrolled loop.
    pub(super) fn transpose(
        &mut self,
        rows: usize,
        state: &State<'c, 'a>,
        points: &[Point],
        results: &[Value<'c, 'a>],
    ) {
        let scratch = self.given.scratch;
        let scratch =
            scratch.unwrap_or_else(|| unreachable!("internal compiler error: a tile without memory"));
        let lanes_loop = self.plan.lanes_loop;
        let tile = state.tile[&lanes_loop];
        let end = self.elements_of_tile(state, tile);
        let count = state.tile[&rows].count;
        let height = self.plan.padded_rows(count);
        let row_of = |point: &Point| point.steps.iter().find(|s| s.0 == rows).map_or(0, |s| s.1);
        let others = |p: &Point| {
            let others = p.steps.iter().filter(|s| s.0 != rows);
            others.copied().collect::<Vec<_>>()
        };
        // The plan of the same tile with the lanes along the rows.
        let plan = Plan { lanes: count, lanes_loop: rows, packed: None, ..self.plan.clone() };
        for corner in points.iter().filter(|p| p.vector == 0 && row_of(p) == 0) {
            let pairs = points.iter().zip(results).filter(|(p, _)| others(p) == others(corner));
            let pairs: Vec<(&Point, &Value)> = pairs.collect();
            for vector in 0..tile.count {
                let column = pairs.iter().filter(|(p, _)| p.vector == vector);
                let column: Vec<Value> = column.map(|(_, result)| **result).collect();
                self.transpose_column(&column, vector, height, scratch);
            }
            let from = self.constant(0);
            self.loop_in([from, end], 1, |w, lane| {
                let along = vector::of(&[count], w.body.accumulator);
                let place = w.times(lane, height);
                let value = w.at.load_vector(scratch, &[place], along, None);
                let mut row = w.with_loop(state, lanes_loop, lane);
                row.tile.insert(rows, Tile::full(1));
                w.with_plan(plan.clone(), |w| {
                    w.combine_and_finish(&row, std::slice::from_ref(corner), &[value]);
                });
            });
        }
    }

    /// Computes the number of elements of a tile along the lanes.
    fn elements_of_tile(&mut self, state: &State<'c, 'a>, tile: Tile) -> Value<'c, 'a> {
        let lanes = self.plan.lanes;
        match tile.last {
            LastVector::Full => self.constant(tile.count * lanes),
            LastVector::Partial(elements) => self.constant((tile.count - 1) * lanes + elements),
            LastVector::Dynamic => {
                let full = self.constant(tile.count * lanes);
                self.at.minsi(state.rest(), full)
            }
        }
    }

    /// Transposes and stores one vector of each row. The elements of a lane in all rows are contiguous; consecutive lanes are `height`
    /// elements apart.
    fn transpose_column(
        &mut self,
        column: &[Value<'c, 'a>],
        vector: i64,
        height: i64,
        scratch: Value<'c, 'a>,
    ) {
        let lanes = self.plan.lanes;
        for (block, part) in column.chunks(lanes as usize).enumerate() {
            let mut vectors = part.to_vec();
            if vectors.len() < lanes as usize {
                // The missing rows are padded with poison: their elements are not read.
                let poison = {
                    let value = [("value", attributes::poison(self.at.context))];
                    self.at.make(ops::ub::POISON, &[], &value, self.sums())
                };
                vectors.resize(lanes as usize, poison);
            }
            self.transpose_block(&mut vectors);
            for (lane, value) in (0..).zip(vectors) {
                let place = (vector * lanes + lane) * height + block as i64 * lanes;
                let place = self.constant(place);
                self.at.store_vector(value, scratch, &[place], None);
            }
        }
    }

    /// Transposes a square block: the number of vectors equals the number of their lanes.
    pub(super) fn transpose_block(&mut self, vectors: &mut [Value<'c, 'a>]) {
        transposed(vectors, &mut |a, b, lanes| {
            let lanes: Vec<i64> = lanes.iter().map(|lane| *lane as i64).collect();
            self.at.shuffle(*a, *b, &lanes)
        });
    }
}
