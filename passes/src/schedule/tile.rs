// SPDX-License-Identifier: Apache-2.0
//! The register tile of an outer product: how many vectors and rows take the fewest cycles.
//!
//! A step of the reduction multiplies each vector of the tile by a broadcast element of each row. The tile's accumulators, the
//! vectors and one broadcast element share the registers.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::costs::Costs;
use super::nest::{Address, CLOSEST, LoopKind, Nest};
use super::plan::{Plan, Vectors};

/// Cycles beyond the latency that a step takes: out-of-order execution does not fill every slot.
const SLACK: f64 = 1.0;

/// Largest number of rows or vectors of a tile.
const LARGEST: i64 = 16;

/// Rows of a tile along a dynamic extent: its remainder is computed row by row.
const DYNAMIC_ROWS: i64 = 8;

/// A second loop that is unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Second {
    pub(super) number: usize,
    /// Whether the vectors vary along it; the broadcast elements do otherwise.
    has_vectors: bool,
}

/// The sizes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) vectors: i64,
    pub(super) rows: i64,
    /// Steps along the second loop.
    pub(super) others: i64,
    pub(super) second: Option<Second>,
}

/// The tiles that a nest can have.
pub(super) struct Tiling<'a> {
    nest: &'a Nest,
    lanes: i64,
    lanes_loop: usize,
    is_packed: bool,
    registers: i64,
    costs: Costs,
    /// The loop along which the vectors do not vary.
    pub(super) rows: Option<usize>,
    seconds: Vec<Second>,
    /// Cycles from one vector to the next that comes from the second level of the cache.
    cycles_of_vector: f64,
    /// Cycles of the predicate of one vector.
    predicate: f64,
    /// What it costs to read a vector, in loads.
    vector_loads: f64,
}

impl<'a> Tiling<'a> {
    pub(super) fn of(plan: &Plan, nest: &'a Nest, vectors: Vectors, has_predicate: bool) -> Self {
        let lanes_loop = plan.lanes_loop;
        let varies = |operand: &Address, l: usize| operand.strides[l] != 0;
        let is_vector = |operand: &&Address| varies(operand, lanes_loop);
        let reuses_vectors = |l: usize| nest.inputs().iter().filter(is_vector).all(|o| !varies(o, l));
        let reuses_broadcasts =
            |l: usize| nest.inputs().iter().filter(|o| !is_vector(o)).all(|o| !varies(o, l));
        let parallels = || plan.parallels.iter().copied().filter(move |l| *l != lanes_loop);
        let rows = parallels().filter(|l| reuses_vectors(*l));
        let rows = rows.max_by_key(|&l| (nest.loops[l].extent.min(LARGEST), l));
        let seconds = parallels().filter(|l| Some(*l) != rows && nest.loops[*l].source.is_none());
        let mut seconds: Vec<Second> = seconds
            .filter_map(|number| {
                (reuses_broadcasts(number) || reuses_vectors(number))
                    .then_some(Second { number, has_vectors: !reuses_vectors(number) })
            })
            .collect();
        if nest.inputs().iter().all(|operand| is_vector(&operand)) {
            // Nothing is shared but what windows of neighbouring rows read.
            let farthest = |second: &Second| {
                let strides = nest.inputs().iter().map(|o| o.strides[second.number]);
                strides.max()
            };
            seconds.sort_by_key(farthest);
        }
        let is_packed = plan.packed.is_some();
        let vector_loads =
            nest.inputs().iter().enumerate().filter(|(n, _)| plan.packed != Some(*n)).map(|(_, o)| {
                match o.strides[lanes_loop] {
                    0 | 1 => 1.0,
                    close @ 2..=CLOSEST => 2.0 * close as f64,
                    _ => plan.lanes as f64,
                }
            });
        let vector_loads = vector_loads.fold(1.0, f64::max);
        let is_simple = vector_loads == 1.0 && nest.inputs().len() <= 2;
        Tiling {
            nest,
            lanes: plan.lanes,
            lanes_loop,
            is_packed,
            // A payload of more than a product holds other values beside them.
            registers: if is_simple { vectors.registers } else { vectors.registers * 7 / 8 },
            cycles_of_vector: vectors.bytes as f64 / f64::from(vectors.costs.l2_bytes)
                * new_share(nest, lanes_loop),
            rows,
            seconds,
            predicate: if has_predicate { f64::from(vectors.costs.predicate) } else { 0.0 },
            costs: vectors.costs,
            vector_loads,
        }
    }

    /// The tiles that fit the registers, the one with the fewest cycles first; of tiles with about as many cycles, the first one that
    /// [`Tiling::all`] lists.
    pub(super) fn ranked(&self) -> Vec<Tile> {
        let tiles = self.all().into_iter().map(|tile| (self.cycles(&tile), tile));
        let mut tiles: Vec<(f64, Tile)> = tiles.collect();
        let mut best: Option<(f64, usize)> = None;
        for (position, (cycles, _)) in tiles.iter().enumerate() {
            if best.is_none_or(|(fewest, _)| *cycles < fewest * 0.999) {
                best = Some((*cycles, position));
            }
        }
        if let Some((_, position)) = best {
            tiles[..=position].rotate_right(1);
            tiles[1..].sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        tiles.into_iter().map(|(_, tile)| self.balanced(tile)).collect()
    }

    /// The tiles that fit the registers, those with many rows first.
    fn all(&self) -> Vec<Tile> {
        let extent = |l: usize| self.nest.loops[l].extent;
        let most_vectors = ((extent(self.lanes_loop) + self.lanes - 1) / self.lanes).min(LARGEST);
        let rows: Vec<i64> = match self.rows {
            None => vec![1],
            Some(l) if self.nest.loops[l].source.is_some() => {
                (1..=DYNAMIC_ROWS.min(extent(l))).rev().collect()
            }
            Some(l) => (1..=extent(l).min(LARGEST)).rev().collect(),
        };
        let seconds = self.seconds.iter().copied().map(Some);
        let mut tiles = Vec::new();
        for second in std::iter::once(None).chain(seconds) {
            let most = second.map_or(1, |s| extent(s.number).min(LARGEST));
            for others in (if second.is_some() { 2 } else { 1 })..=most {
                for &rows in &rows {
                    let tile = |vectors| Tile { vectors, rows, others, second };
                    let tile = (1..=most_vectors).map(tile);
                    tiles.extend(tile.take_while(|tile| self.fits(tile)));
                }
            }
        }
        tiles
    }

    /// Where all inputs vary along the lanes: the number of those that the steps of the second loop share, if there are any.
    fn shared(&self, tile: &Tile) -> Option<i64> {
        let inputs = self.nest.inputs();
        let are_vectors = inputs.iter().all(|own| own.strides[self.lanes_loop] != 0);
        let second = tile.second.map(|second| second.number);
        let is_shared = |own: &&Address| second.is_none_or(|l| own.strides[l] == 0);
        let shared = inputs.iter().filter(is_shared).count();
        // Without a second loop, each is read for one step; one of them counts as the vectors.
        let others = match second {
            None => shared.saturating_sub(1),
            Some(_) => shared,
        };
        i64::try_from(others).ok().filter(|own| are_vectors && *own > 0)
    }

    /// Tiles of nearly equal sizes, as few as with these.
    fn balanced(&self, tile: Tile) -> Tile {
        let size = |l: Option<usize>, most: i64| {
            let own = l.map(|l| &self.nest.loops[l]);
            let own = own.filter(|own| own.source.is_none());
            own.map_or(most, |own| sizes(own.extent, most).0.0)
        };
        Tile {
            rows: size(self.rows, tile.rows),
            others: size(tile.second.map(|s| s.number), tile.others),
            ..tile
        }
    }

    fn fits(&self, tile: &Tile) -> bool {
        let accumulators = tile.vectors * tile.rows * tile.others;
        let vectors = match self.shared(tile) {
            Some(shared) => shared * tile.vectors,
            None => loads(tile).0,
        };
        // One register is for the broadcast element, or for a vector that is used once.
        accumulators + vectors < self.registers
    }

    /// Cycles of one step of the reduction for all tiles.
    fn cycles(&self, tile: &Tile) -> f64 {
        let own = &self.nest.loops[self.lanes_loop];
        let width = tile.vectors * self.lanes;
        let (whole, rest) = if self.is_packed {
            // The copy is filled up.
            ((own.extent + width - 1) / width, 0)
        } else {
            (own.extent / width, own.extent % width)
        };
        let lanes = [(tile.vectors, whole), ((rest + self.lanes - 1) / self.lanes, i64::from(rest > 0))];
        let along = |l: Option<usize>, most: i64| match l {
            None => [(1, 1), (1, 0)],
            Some(l) => {
                let (full, smaller) = sizes(self.nest.loops[l].extent, most);
                [full, smaller]
            }
        };
        let rows = along(self.rows, tile.rows);
        let others = along(tile.second.map(|s| s.number), tile.others);
        let mut total = 0.0;
        for (vectors, lane_tiles) in lanes {
            for (rows, row_tiles) in rows {
                for (others, other_tiles) in others {
                    let part = Tile { vectors, rows, others, second: tile.second };
                    total += self.step(&part) * (lane_tiles * row_tiles * other_tiles) as f64;
                }
            }
        }
        // The other loops repeat all of it.
        let number = tile.second.map(|second| second.number);
        let repeated = self.seconds.iter().filter(|s| Some(s.number) != number);
        repeated.fold(total, |total, s| total * self.nest.loops[s.number].extent as f64)
    }

    /// Cycles of one step of the reduction for one tile.
    fn step(&self, tile: &Tile) -> f64 {
        let (vectors, broadcasts) = loads(tile);
        let shared = self.shared(tile).map_or(0, |shared| shared * tile.vectors);
        let loads = (vectors + shared) as f64 * self.vector_loads + broadcasts as f64;
        let products = (tile.vectors * tile.rows * tile.others) as f64;
        let ports = f64::from(self.costs.fma_ports);
        let latency = f64::from(self.costs.fma_latency) + SLACK;
        let bound = (products / ports).max(loads / ports).max(latency);
        // Rows share the predicate of a vector.
        let predicates = tile.vectors as f64 * self.predicate;
        let load = f64::from(self.costs.load_percent) / 100.0;
        bound.max(vectors as f64 * self.cycles_of_vector) + load * loads + predicates
    }
}

/// The share of the vectors that a step reads for the first time: windows overlap, and what they share is in the first level of the
/// cache.
fn new_share(nest: &Nest, lanes_loop: usize) -> f64 {
    let is_vector = |o: &&Address| o.strides[lanes_loop] != 0;
    let shares = nest.inputs().iter().filter(is_vector).map(|operand| {
        let is_overlapping = |r: usize, l: usize| {
            let (step, along) = (operand.strides[r], operand.strides[l]);
            let is_window = step > 0 && along % step == 0;
            is_window && (1..nest.loops[r].extent).contains(&(along / step))
        };
        let of_kind = |kind| (0..nest.loops.len()).filter(move |l| nest.loops[*l].kind == kind);
        let windows = of_kind(LoopKind::Reduction)
            .filter(|r| of_kind(LoopKind::Parallel).any(|l| is_overlapping(*r, l)));
        windows.fold(1.0, |share, r| share / nest.loops[r].extent as f64)
    });
    shares.fold(0.0, f64::max)
}

/// The vectors and the broadcast elements of a step.
fn loads(tile: &Tile) -> (i64, i64) {
    match tile.second {
        Some(Second { has_vectors: true, .. }) => (tile.vectors * tile.others, tile.rows),
        _ => (tile.vectors, tile.rows * tile.others),
    }
}

/// The sizes of the fewest tiles of at most `most` iterations, and how many there are of each; sizes differ by one at most.
pub(super) fn sizes(extent: i64, most: i64) -> ((i64, i64), (i64, i64)) {
    let tiles = (extent + most - 1) / most;
    let full = (extent + tiles - 1) / tiles;
    let smaller = full * tiles - extent;
    ((full, tiles - smaller), (full - 1, smaller))
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn tiles_differ_by_one_row() {
        assert_eq!(sizes(14, 6), ((5, 2), (4, 1)));
        assert_eq!(sizes(12, 6), ((6, 2), (5, 0)));
        assert_eq!(sizes(7, 14), ((7, 1), (6, 0)));
    }
}
