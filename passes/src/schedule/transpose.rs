// SPDX-License-Identifier: Apache-2.0
//! Stores a tile whose output is contiguous along its rows: blocks are transposed in registers.
//!
//! Each block passes through memory of the stack once, so that the code that finishes a lane of the output is a loop.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::plan::Plan;
use super::squares::transposed;
use super::writer::{LastVector, Point, State, Tile, Writer};
use crate::ir::ops;

impl Plan {
    /// The rows of a transposed tile in memory: a multiple of the lanes.
    fn padded_rows(&self, rows: i64) -> i64 {
        (rows + self.lanes - 1) / self.lanes * self.lanes
    }

    /// The type of the memory that a tile is transposed in.
    pub(super) fn scratch_type(&self, element: &str) -> String {
        // Any unrolled loop may be the one along which the output is contiguous.
        let rows = self.unroll.iter().map(|u| u.1).max().unwrap_or(1);
        let elements = self.padded_rows(rows) * self.vectors * self.lanes;
        format!("memref<{elements}x{element}>")
    }
}

impl Writer<'_> {
    /// Stores a tile whose output is contiguous along `rows`, an unrolled loop.
    pub(super) fn transpose(&mut self, rows: usize, state: &State, points: &[Point], results: &[String]) {
        let element = self.body.accumulator.clone();
        let scratch = self.plan.scratch_type(&element);
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
        // The same tile with the lanes along the rows.
        let plan = Plan { lanes: count, lanes_loop: rows, packed: None, ..self.plan.clone() };
        for corner in points.iter().filter(|p| p.vector == 0 && row_of(p) == 0) {
            let own = points.iter().zip(results);
            let own: Vec<(&Point, &String)> = own.filter(|(p, _)| others(p) == others(corner)).collect();
            for vector in 0..tile.count {
                let column = own.iter().filter(|(p, _)| p.vector == vector);
                let column: Vec<String> = column.map(|(_, result)| (*result).clone()).collect();
                self.transpose_column(&column, vector, height, &scratch);
            }
            let (from, one) = (self.constant(0), self.constant(1));
            let (lane, along) = (self.fresh(), format!("vector<{count}x{element}>"));
            self.line(&format!("scf.for {lane} = {from} to {end} step {one} {{"));
            self.depth += 1;
            let stride = self.constant(height);
            let at = self.define(&format!("{} {lane}, {stride} : index", ops::arith::MULI));
            let value = self.define(&format!("vector.load %scratch[{at}] : {scratch}, {along}"));
            let mut row = self.at(state, lanes_loop, &lane);
            row.tile.insert(rows, Tile::full(1));
            self.with_plan(&plan, |writer| {
                writer.combine_and_finish(&row, std::slice::from_ref(corner), &[value]);
            });
            self.depth -= 1;
            self.line("}");
        }
    }

    /// The number of elements of a tile along the lanes.
    fn elements_of_tile(&mut self, state: &State, tile: Tile) -> String {
        let lanes = self.plan.lanes;
        match tile.last {
            LastVector::Full => self.constant(tile.count * lanes),
            LastVector::Partial(elements) => self.constant((tile.count - 1) * lanes + elements),
            LastVector::Dynamic => {
                let most = self.constant(tile.count * lanes);
                self.define(&format!("{} {}, {most} : index", ops::arith::MINSI, state.rest))
            }
        }
    }

    /// Stores one vector of each row, transposed: each lane's elements of all rows are contiguous, `height` apart from the next
    /// lane's.
    fn transpose_column(&mut self, column: &[String], vector: i64, height: i64, scratch: &str) {
        let lanes = self.plan.lanes;
        let kind = self.vector_type(&self.body.accumulator.clone());
        for (block, part) in column.chunks(lanes as usize).enumerate() {
            let mut vectors = part.to_vec();
            if vectors.len() < lanes as usize {
                // Rows that the tile has not: their elements are not read.
                let poison = self.define(&format!("{} : {kind}", ops::ub::POISON));
                vectors.resize(lanes as usize, poison);
            }
            self.transpose_block(&mut vectors, &kind);
            for (lane, value) in (0..).zip(vectors) {
                let at = (vector * lanes + lane) * height + block as i64 * lanes;
                let at = self.constant(at);
                self.line(&format!("vector.store {value}, %scratch[{at}] : {scratch}, {kind}"));
            }
        }
    }

    /// Transposes as many vectors as they have lanes.
    pub(super) fn transpose_block(&mut self, vectors: &mut [String], kind: &str) {
        transposed(vectors, &mut |a, b, lanes| {
            let lanes: Vec<String> = lanes.iter().map(ToString::to_string).collect();
            let lanes = lanes.join(", ");
            self.define(&format!("vector.shuffle {a}, {b} [{lanes}] : {kind}, {kind}"))
        });
    }
}
