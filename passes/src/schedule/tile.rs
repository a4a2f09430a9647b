// SPDX-License-Identifier: Apache-2.0
//! The register tile of an outer product: selects the number of vectors and rows by a model of cycles.
//!
//! A step of the reduction multiplies each vector of the tile by a broadcast element of each row. The tile's accumulators, the
//! vectors and one broadcast element must fit the registers.

use super::costs::Costs;
use super::nest::{Address, CLOSEST, LoopKind, Nest};
use super::plan::{Plan, Vectors};

/// Cycles of a latency-bound step in addition to the latency: out-of-order execution does not fill every slot.
const SLACK: f64 = 1.0;

/// Maximum number of rows or vectors of a tile.
const MAX_SIZE: i64 = 16;

/// Maximum number of rows of a tile along a dynamic extent: the remainder is computed row by row.
const MAX_DYNAMIC_ROWS: i64 = 8;

/// A second unrolled loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Second {
    pub(super) number: usize,
    /// Whether the vectors vary along the loop; otherwise the broadcast elements vary.
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

/// The candidates for the tile of a nest, and their cost model.
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
    /// Cycles to read a vector from the L2 cache.
    cycles_of_vector: f64,
    /// Cycles of the predicate of one vector.
    predicate: f64,
    /// Number of loads to read a vector.
    vector_loads: f64,
}

impl<'a> Tiling<'a> {
    pub(super) fn new(plan: &Plan, nest: &'a Nest, vectors: Vectors, has_predicate: bool) -> Self {
        let lanes_loop = plan.lanes_loop;
        let varies = |operand: &Address, l: usize| operand.strides[l] != 0;
        let is_vector = |operand: &&Address| varies(operand, lanes_loop);
        let reuses_vectors = |l: usize| nest.inputs().iter().filter(is_vector).all(|o| !varies(o, l));
        let reuses_broadcasts =
            |l: usize| nest.inputs().iter().filter(|o| !is_vector(o)).all(|o| !varies(o, l));
        let parallels = || plan.parallels.iter().copied().filter(move |l| *l != lanes_loop);
        let rows = parallels().filter(|l| reuses_vectors(*l));
        let rows = rows.max_by_key(|&l| (nest.loops[l].extent.min(MAX_SIZE), l));
        let seconds = parallels().filter(|l| Some(*l) != rows && nest.loops[*l].source.is_none());
        let mut seconds: Vec<Second> = seconds
            .filter_map(|number| {
                (reuses_broadcasts(number) || reuses_vectors(number))
                    .then_some(Second { number, has_vectors: !reuses_vectors(number) })
            })
            .collect();
        if nest.inputs().iter().all(|operand| is_vector(&operand)) {
            // Only windows of neighbouring rows share elements, so loops with small strides come first.
            let max_stride = |second: &Second| nest.inputs().iter().map(|o| o.strides[second.number]).max();
            seconds.sort_by_key(max_stride);
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
            // A payload that is not just a product needs registers for other values.
            registers: if is_simple { vectors.registers } else { vectors.registers * 7 / 8 },
            cycles_of_vector: vectors.bytes as f64 / f64::from(vectors.costs.l2_bytes)
                * new_fraction(nest, lanes_loop),
            rows,
            seconds,
            predicate: if has_predicate { f64::from(vectors.costs.predicate) } else { 0.0 },
            costs: vectors.costs,
            vector_loads,
        }
    }

    /// Returns the tiles that fit the registers; the tile with the fewest cycles comes first. Among tiles with about the same number of
    /// cycles, the first tile in the order of [`Tiling::all`] is the best.
    pub(super) fn ranked(&self) -> Vec<Tile> {
        let tiles = self.all().into_iter().map(|tile| (self.cycles(&tile), tile));
        let mut tiles: Vec<(f64, Tile)> = tiles.collect();
        let mut best: Option<(f64, usize)> = None;
        for (position, (cycles, _)) in tiles.iter().enumerate() {
            if best.is_none_or(|(min_cycles, _)| *cycles < min_cycles * 0.999) {
                best = Some((*cycles, position));
            }
        }
        if let Some((_, position)) = best {
            tiles[..=position].rotate_right(1);
            tiles[1..].sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        tiles.into_iter().map(|(_, tile)| self.balanced(tile)).collect()
    }

    /// Returns the tiles that fit the registers, sorted by decreasing number of rows.
    fn all(&self) -> Vec<Tile> {
        let extent = |l: usize| self.nest.loops[l].extent;
        let max_vectors = ((extent(self.lanes_loop) + self.lanes - 1) / self.lanes).min(MAX_SIZE);
        let rows: Vec<i64> = match self.rows {
            None => vec![1],
            Some(l) if self.nest.loops[l].source.is_some() => {
                (1..=MAX_DYNAMIC_ROWS.min(extent(l))).rev().collect()
            }
            Some(l) => (1..=extent(l).min(MAX_SIZE)).rev().collect(),
        };
        let seconds = self.seconds.iter().copied().map(Some);
        let mut tiles = Vec::new();
        for second in std::iter::once(None).chain(seconds) {
            let max_others = second.map_or(1, |s| extent(s.number).min(MAX_SIZE));
            for others in (if second.is_some() { 2 } else { 1 })..=max_others {
                for &rows in &rows {
                    let tile = |vectors| Tile { vectors, rows, others, second };
                    let tile = (1..=max_vectors).map(tile);
                    tiles.extend(tile.take_while(|tile| self.fits(tile)));
                }
            }
        }
        tiles
    }

    /// If all inputs vary along the lanes, returns the number of inputs whose vectors the steps of the second loop share; `None` if it
    /// is zero.
    fn shared(&self, tile: &Tile) -> Option<i64> {
        let inputs = self.nest.inputs();
        let are_vectors = inputs.iter().all(|input| input.strides[self.lanes_loop] != 0);
        let second = tile.second.map(|second| second.number);
        let is_shared = |input: &&Address| second.is_none_or(|l| input.strides[l] == 0);
        let shared = inputs.iter().filter(is_shared).count();
        // Without a second loop, each input is read for one step; one input is counted as the vectors of the tile.
        let others = match second {
            None => shared.saturating_sub(1),
            Some(_) => shared,
        };
        i64::try_from(others).ok().filter(|count| are_vectors && *count > 0)
    }

    /// Balances the sizes of the tiles without changing their number.
    fn balanced(&self, tile: Tile) -> Tile {
        let size = |l: Option<usize>, max_size: i64| {
            let static_loop = l.map(|l| &self.nest.loops[l]).filter(|l| l.source.is_none());
            static_loop.map_or(max_size, |l| sizes(l.extent, max_size).0.0)
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
        // One register holds the broadcast element, or a vector that is used once.
        accumulators + vectors < self.registers
    }

    /// Estimates the cycles of one step of the reduction for all tiles.
    fn cycles(&self, tile: &Tile) -> f64 {
        let lanes_loop = &self.nest.loops[self.lanes_loop];
        let width = tile.vectors * self.lanes;
        let (whole, rest) = if self.is_packed {
            // A packed operand is padded to full tiles.
            ((lanes_loop.extent + width - 1) / width, 0)
        } else {
            (lanes_loop.extent / width, lanes_loop.extent % width)
        };
        let lanes = [(tile.vectors, whole), ((rest + self.lanes - 1) / self.lanes, i64::from(rest > 0))];
        let along = |l: Option<usize>, max_size: i64| match l {
            None => [(1, 1), (1, 0)],
            Some(l) => {
                let (full, smaller) = sizes(self.nest.loops[l].extent, max_size);
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
        // The other candidates for the second loop multiply the number of tiles.
        let number = tile.second.map(|second| second.number);
        let repeated = self.seconds.iter().filter(|s| Some(s.number) != number);
        repeated.fold(total, |total, s| total * self.nest.loops[s.number].extent as f64)
    }

    /// Estimates the cycles of one step of the reduction for one tile.
    fn step(&self, tile: &Tile) -> f64 {
        let (vectors, broadcasts) = loads(tile);
        let shared = self.shared(tile).map_or(0, |shared| shared * tile.vectors);
        let loads = (vectors + shared) as f64 * self.vector_loads + broadcasts as f64;
        let products = (tile.vectors * tile.rows * tile.others) as f64;
        let ports = f64::from(self.costs.fma_ports);
        let latency = f64::from(self.costs.fma_latency) + SLACK;
        let bound = (products / ports).max(loads / ports).max(latency);
        // All rows use the same predicate of a vector.
        let predicates = tile.vectors as f64 * self.predicate;
        let load = f64::from(self.costs.load_percent) / 100.0;
        bound.max(vectors as f64 * self.cycles_of_vector) + load * loads + predicates
    }
}

/// Estimates the fraction of the vectors that a step reads for the first time: windows overlap, and the overlap is in the L1 cache.
fn new_fraction(nest: &Nest, lanes_loop: usize) -> f64 {
    let is_vector = |o: &&Address| o.strides[lanes_loop] != 0;
    let fractions = nest.inputs().iter().filter(is_vector).map(|operand| {
        let is_overlapping = |r: usize, l: usize| {
            let (step, along) = (operand.strides[r], operand.strides[l]);
            let is_window = step > 0 && along % step == 0;
            is_window && (1..nest.loops[r].extent).contains(&(along / step))
        };
        let windows = nest
            .loops_of_kind(LoopKind::Reduction)
            .filter(|r| nest.loops_of_kind(LoopKind::Parallel).any(|l| is_overlapping(*r, l)));
        windows.fold(1.0, |fraction, r| fraction / nest.loops[r].extent as f64)
    });
    fractions.fold(0.0, f64::max)
}

/// Returns the number of vectors and of broadcast elements of a step.
fn loads(tile: &Tile) -> (i64, i64) {
    match tile.second {
        Some(Second { has_vectors: true, .. }) => (tile.vectors * tile.others, tile.rows),
        _ => (tile.vectors, tile.rows * tile.others),
    }
}

/// Divides a loop into the minimum number of tiles of at most `max_size` iterations. Returns the two sizes of tiles, which differ by 1, and
/// the number of tiles of each size.
pub(super) fn sizes(extent: i64, max_size: i64) -> ((i64, i64), (i64, i64)) {
    let tiles = (extent + max_size - 1) / max_size;
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
