// SPDX-License-Identifier: Apache-2.0
//! Plans the register tile of a nest: the loop along the lanes, and the loops that are unrolled around it.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::costs::Costs;
use super::nest::{LoopKind, Nest};
use super::select::{Selected, is_used, selections};
use super::tile::{Tile, Tiling};
use std::fmt::{Display, Formatter};

/// What the lanes of a vector are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMode {
    /// Contiguous elements of the output: accumulators are stored as they are.
    Output,
    /// Partial results of one reduction: accumulators are reduced at the end.
    Reduction,
}

/// A register tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the vector lanes are.
    pub mode: LaneMode,
    /// The loop along the lanes.
    pub lanes_loop: usize,
    /// Elements of one vector.
    pub lanes: i64,
    /// Number of vectors along the lanes' loop.
    pub vectors: i64,
    /// Unrolled parallel loops: (loop, factor).
    pub unroll: Vec<(usize, i64)>,
    /// Reduction loops, outermost first (without the lanes' loop).
    pub reductions: Vec<usize>,
    /// Parallel loops, outermost first, unrolled ones included; with lanes along the output, the lanes' loop too.
    pub parallels: Vec<usize>,
    /// Whether the tiles of the outermost parallel loop are steps that threads may share.
    pub is_split: bool,
    /// The operand that is read from a copy in the order of the kernel, see [`super::packing`].
    pub packed: Option<usize>,
    /// The last of the reductions, along which groups of products are summed at once.
    pub group: Option<usize>,
    /// The first of the reductions that the predicate does not depend on: it is evaluated before them.
    pub hoists: Option<usize>,
    /// The reduction that is computed in parts, so that what one part reads stays in the cache; sums wait in the output in between.
    pub chunk: Option<Chunk>,
}

/// Parts of a reduction loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The loop.
    pub number: usize,
    /// Iterations of a part.
    pub size: i64,
}

/// Steps of the smallest part of a reduction: with fewer, the sums in between cost more than is gained.
const FEWEST_STEPS: i64 = 128;

/// Steps of a part of a reduction that streams: enough rows that a sum in between costs little, and few enough to be read at once.
const STREAM_STEPS: i64 = 16;

/// Iterations of a reduction that may stand inside of shorter ones.
const LONG: i64 = 16;

/// Points of the smallest nest that threads share: fewer take less time than to wake a thread.
const SHARED_POINTS: i64 = 1 << 16;

/// Steps that are enough for any thread to have its part; with fewer, a loop further inside may be the better one.
const ENOUGH_STEPS: i64 = 16;

/// The vector registers of a target, for one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// Elements of one register.
    pub lanes: i64,
    /// Bytes of one register.
    pub bytes: i64,
    /// Number of registers.
    pub registers: i64,
    /// Elements of the cache of one core that holds what a kernel reads again.
    pub cache: i64,
    /// What operations on vectors cost.
    pub costs: Costs,
}

impl Vectors {
    /// Vectors of half the width, where twice as many start in one cycle: a processor that computes its widest vectors in halves.
    pub(super) fn halves(self) -> Option<Self> {
        (self.costs.fma_ports == 1 && self.lanes > 1).then_some(Vectors {
            lanes: self.lanes / 2,
            bytes: self.bytes / 2,
            costs: Costs { fma_ports: 2, ..self.costs },
            ..self
        })
    }
}

impl Display for Plan {
    /// Loops are numbers, outermost first: `lanes=1x2 unroll=0x6 order=1,0 packed=1 part=2x512` has two vectors along the loop 1, six
    /// steps of the loop 0 at once, the tiles of the loop 0 inside of those of the loop 1, a copy of the operand 1 in the order of the
    /// kernel, and parts of 512 steps of the reduction 2.
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        let joined = |items: Vec<String>| items.join(",");
        write!(f, "lanes={}x{}", self.lanes_loop, self.vectors)?;
        let unrolled = self.unroll.iter().map(|(l, n)| format!("{l}x{n}"));
        let unrolled: Vec<String> = unrolled.collect();
        if !unrolled.is_empty() {
            write!(f, " unroll={}", joined(unrolled))?;
        }
        let order = self.parallels.iter().map(usize::to_string).collect();
        write!(f, " order={}", joined(order))?;
        if let Some(operand) = self.packed {
            write!(f, " packed={operand}")?;
        }
        match self.chunk {
            Some(chunk) => write!(f, " part={}x{}", chunk.number, chunk.size),
            None => Ok(()),
        }
    }
}

impl Plan {
    /// A tile for the nest. `None` if plain loops are as fast: without a reduction, with too little work, or without a
    /// loop along contiguous elements.
    pub fn of(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Option<Plan> {
        let (vectors, selections) = selections(nest, vectors, used_dimensions);
        let selected = selections.first()?;
        let tiles = selected.tiles(nest, vectors, used_dimensions);
        let tiled = tiles.into_iter().next()?;
        let ordered = tiled.ordered(nest, vectors.cache, used_dimensions);
        ordered.into_iter().next()
    }

    /// The plan that [`Plan::of`] selects, then others that combine the points of each element in the same order, so that results are
    /// the same bits: other tiles, other positions of the lanes' loop, other parts of the reduction, other lanes.
    pub fn candidates(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Plan> {
        let (vectors, all) = selections(nest, vectors, used_dimensions);
        let mut candidates: Vec<Plan> = Vec::new();
        for (rank, selected) in all.iter().enumerate() {
            let tiles = selected.tiles(nest, vectors, used_dimensions);
            let mut others = Vec::new();
            for (number, tiled) in tiles.iter().take(MOST_TILES).enumerate() {
                let mut ordered = tiled.ordered(nest, vectors.cache, used_dimensions);
                others.extend(ordered.drain(1.min(ordered.len())..).filter(|_| number == 0));
                candidates.append(&mut ordered);
                if rank > 0 {
                    break;
                }
            }
            candidates.extend(others.into_iter().filter(|_| rank == 0));
        }
        let Some(first) = candidates.first().cloned() else {
            return candidates;
        };
        let mut distinct: Vec<Plan> = Vec::new();
        for mut plan in candidates {
            let are_in_order = plan.keeps_order_in_parts() && first.keeps_order_in_parts();
            if plan.are_apart(nest) || !are_in_order {
                plan.chunk = first.chunk;
            }
            if plan.has_order_of(&first, nest) && !distinct.contains(&plan) {
                distinct.push(plan);
            }
        }
        distinct.truncate(MOST_CANDIDATES);
        distinct
    }

    /// Whether elements of the output are apart along the lanes: a sum then begins with its first point, and what it starts from, or the
    /// sum of the parts before, is added at its end.
    fn are_apart(&self, nest: &Nest) -> bool {
        let stride = nest.output().map(|output| output.strides[self.lanes_loop]);
        self.mode == LaneMode::Output && stride != Some(1)
    }

    /// Whether the points of an element are combined in the order of the reductions: parts of an inner one come before all of the outer
    /// ones.
    fn keeps_order_in_parts(&self) -> bool {
        let number = self.chunk.map(|chunk| chunk.number);
        number.is_none_or(|number| self.reductions.first() == Some(&number))
    }

    /// Whether the points of an element are combined in the same order.
    fn has_order_of(&self, other: &Plan, nest: &Nest) -> bool {
        let is_same =
            self.mode == other.mode && self.reductions == other.reductions && self.group == other.group;
        let are_in_order = self.keeps_order_in_parts() && other.keeps_order_in_parts();
        let lanes = |plan: &Plan| (plan.lanes_loop, plan.vectors);
        let is_apart = self.are_apart(nest);
        is_same
            && is_apart == other.are_apart(nest)
            && (!is_apart && are_in_order || self.chunk == other.chunk)
            && (self.mode == LaneMode::Output || lanes(self) == lanes(other))
    }

    /// The plan of the same steps and the same packed operand, with small tiles, for a payload with a predicate.
    pub fn guarded(&self) -> Plan {
        let mut plan = self.clone();
        let outermost = self.parallels.first().filter(|_| self.is_split);
        for (l, factor) in &mut plan.unroll {
            if Some(&*l) != outermost {
                *factor = 1;
            }
        }
        if self.mode == LaneMode::Output && self.packed.is_none() && outermost != Some(&self.lanes_loop) {
            plan.vectors = 1;
        }
        plan.hoists = None;
        plan.chunk = None;
        plan
    }

    /// The unrolled loop along which the output is contiguous, if it is not so along the lanes.
    pub fn transposed(&self, nest: &Nest) -> Option<usize> {
        let strides = &nest.output()?.strides;
        let apart = self.mode == LaneMode::Output && strides[self.lanes_loop] != 1;
        let contiguous = self.unroll.iter().find(|(l, _)| strides[*l] == 1);
        contiguous.map(|(l, _)| *l).filter(|_| apart)
    }

    /// The orders of the loops around the tile, the best one first.
    fn ordered(&self, nest: &Nest, cache: i64, used_dimensions: &[usize]) -> Vec<Plan> {
        let mut plans = match (self.mode, self.packed) {
            (LaneMode::Reduction, _) => vec![self.clone()],
            (LaneMode::Output, None) => {
                let mut plan = self.clone();
                plan.parallels.push(self.lanes_loop);
                plan.chunk = plan.chunk_of_stream(nest, cache, used_dimensions);
                vec![plan]
            }
            (LaneMode::Output, Some(operand)) => self.around_packed(nest, operand, cache, used_dimensions),
        };
        plans.iter_mut().for_each(|plan| plan.split(nest));
        plans
    }

    /// Orders of the loops around a packed operand: the lanes' loop stands where the least memory beyond the cache is accessed, and the
    /// reductions that the predicate depends on, and short ones, come first. Then other positions, and other parts of the reduction.
    fn around_packed(&self, nest: &Nest, operand: usize, cache: i64, used_dimensions: &[usize]) -> Vec<Plan> {
        let varies = |l: &usize| nest.operands[operand].strides[*l] != 0;
        let batches = self.parallels.iter().take_while(|l| varies(l)).count();
        let mut positions: Vec<usize> = (batches..=self.parallels.len()).rev().collect();
        positions.sort_by_cached_key(|position| self.traffic(nest, operand, cache, *position));
        let used_dimensions = [used_dimensions, &nest.skipped].concat();
        let is_used = |l: &usize| is_used(nest, *l, &used_dimensions);
        let at = |position: usize| {
            let mut plan = self.clone();
            plan.parallels.insert(position, self.lanes_loop);
            plan.split_reduction(nest, operand, cache, is_used);
            if !nest.keeps_order {
                // The innermost loop has many iterations, where one has.
                let is_long = |l: &usize| nest.loops[*l].extent >= LONG;
                let is_group = |l: &usize| Some(*l) == plan.group;
                plan.reductions.sort_by_key(|l| (is_group(l), !is_used(l), is_long(l)));
            }
            let decides = |l: &usize| is_used(l) || nest.is_tested(*l);
            let last = plan.reductions.iter().rposition(decides);
            let first = last.map_or(0, |last| last + 1);
            // A branch at each point takes longer than a selection.
            let is_before = nest.tested.is_empty() || first < plan.reductions.len();
            plan.hoists = Some(first).filter(|_| is_before && !decides(&self.lanes_loop));
            plan
        };
        let mut plans: Vec<Plan> = positions.into_iter().map(at).collect();
        if let Some(first) = plans.first().cloned()
            && let Some(chunk) = first.chunk
        {
            let extent = nest.loops[chunk.number].extent;
            let half = (chunk.size + 1) / 2;
            let smaller = Chunk {
                size: if first.group == Some(chunk.number) { nest.in_groups(half) } else { half },
                ..chunk
            };
            let larger = Chunk { size: chunk.size * 2, ..chunk };
            let chunks = [Some(smaller), Some(larger).filter(|c| c.size < extent), None];
            plans.splice(1..1, chunks.map(|chunk| Plan { chunk, ..first.clone() }));
        }
        plans
    }

    /// Elements that are read from beyond the cache if the lanes' loop stands at a position among the parallel loops: an operand is
    /// read again for each iteration of a loop that it does not vary along, unless all that the loops inside access stays in the
    /// cache.
    fn traffic(&self, nest: &Nest, packed: usize, cache: i64, position: usize) -> i64 {
        let (outer, inner) = self.parallels.split_at(position);
        let order = [outer, &[self.lanes_loop], inner].concat();
        let mut total = 0_i64;
        for operand in 0..nest.inputs().len() {
            let is_packed = operand == packed;
            let accessed = |from: usize| self.accessed(nest, operand, is_packed, &order, from);
            let again = order.iter().enumerate().filter(|(n, l)| {
                let varies = nest.operands[operand].strides[**l] != 0;
                !varies && accessed(n + 1) > cache / 2
            });
            let again = again.fold(1, |all: i64, (_, l)| all.saturating_mul(self.tiles(nest, *l)));
            total = total.saturating_add(accessed(0).saturating_mul(again));
        }
        total
    }

    /// The elements of an operand that the loops of an order from a position on access, in one tile of the loops before.
    fn accessed(&self, nest: &Nest, operand: usize, is_packed: bool, order: &[usize], from: usize) -> i64 {
        let strides = &nest.operands[operand].strides;
        let varies = |l: &&usize| strides[**l] != 0;
        let tile = order.iter().take(from).filter(varies);
        let tile: i64 = tile.map(|l| self.factor(*l)).product();
        let inside = order.iter().skip(from).chain(&self.reductions);
        let (points, span) = inside.filter(varies).fold((tile, tile), |(points, span), l| {
            let extent = nest.loops[*l].extent;
            let along = strides[*l].saturating_mul(extent - 1);
            (points.saturating_mul(extent), span.saturating_add(along))
        });
        if is_packed { points } else { points.min(span) }
    }

    /// Computes a reduction in parts if what the loops inside of the lanes' loop read does not stay in the cache.
    fn split_reduction(&mut self, nest: &Nest, packed: usize, cache: i64, is_used: impl Fn(&usize) -> bool) {
        let Some(position) = self.parallels.iter().position(|l| *l == self.lanes_loop) else {
            return;
        };
        let read: i64 = (0..nest.inputs().len())
            .map(|o| self.accessed(nest, o, o == packed, &self.parallels, position + 1))
            .fold(0, i64::saturating_add);
        let is_static = |l: &usize| nest.loops[*l].source.is_none();
        let longest = self.reductions.iter().copied();
        // What is left of a group is summed after all parts.
        let is_whole = |l: &usize| Some(*l) != self.group || nest.loops[*l].extent % nest.group_size() == 0;
        let Some(number) = longest
            .filter(|l| !is_used(l) && is_static(l) && is_whole(l))
            .max_by_key(|l| nest.loops[*l].extent)
        else {
            return;
        };
        // Parts of an inner loop change the order.
        if nest.keeps_order && self.reductions.first() != Some(&number) {
            return;
        }
        let extent = nest.loops[number].extent;
        let parts = (read + cache / 2 - 1) / (cache / 2).max(1);
        let size = (extent + parts - 1) / parts.max(1);
        let size = if Some(number) == self.group { nest.in_groups(size) } else { size };
        let others = nest.reduced() / extent.max(1);
        if read > cache * 3 / 4 && size < extent && size * others >= FEWEST_STEPS {
            self.chunk = Some(Chunk { number, size });
        }
    }

    /// Parts of a reduction that reads each element of an array once, along other elements than its lanes: several tiles would
    /// each walk over all rows of the array, a few elements of each. With parts, each row is read from its first element to its last.
    fn chunk_of_stream(&self, nest: &Nest, cache: i64, used_dimensions: &[usize]) -> Option<Chunk> {
        let number = *self.reductions.first()?;
        let is_static = nest.loops[number].source.is_none() && !is_used(nest, number, used_dimensions);
        let extent = nest.loops[number].extent;
        let is_stream = |n: &usize| {
            let strides = &nest.operands[*n].strides;
            let is_row = strides[self.lanes_loop] == 1 && strides[number] > 1;
            is_row && nest.elements(*n) == nest.volume() && nest.span(*n) > cache / 8
        };
        let has_tiles = self.tiles(nest, self.lanes_loop) > 1 && extent >= 2 * STREAM_STEPS;
        let is_streaming = has_tiles && is_static && (0..nest.inputs().len()).any(|n| is_stream(&n));
        is_streaming.then_some(Chunk { number, size: STREAM_STEPS })
    }

    /// Steps of a parallel loop for which a tile is computed each.
    pub fn factor(&self, l: usize) -> i64 {
        let unrolled = self.unroll.iter().find(|u| u.0 == l);
        match unrolled {
            Some((_, factor)) => *factor,
            None if l == self.lanes_loop && self.mode == LaneMode::Output => self.vectors * self.lanes,
            None => 1,
        }
    }

    /// Tiles along a parallel loop, the remainder's included.
    pub fn tiles(&self, nest: &Nest, l: usize) -> i64 {
        let factor = self.factor(l);
        (nest.loops[l].extent + factor - 1) / factor
    }

    /// Lets threads share a nest with enough work: the outermost loop with enough tiles, else the one with most, comes
    /// first.
    fn split(&mut self, nest: &Nest) {
        if nest.volume() < SHARED_POINTS {
            return;
        }
        let tiles: Vec<i64> = self.parallels.iter().map(|&l| self.tiles(nest, l)).collect();
        let enough = tiles.iter().position(|&tiles| tiles >= ENOUGH_STEPS);
        let most = || (0..tiles.len()).rev().max_by_key(|&n| tiles[n]);
        let Some(position) = enough.or_else(most).filter(|&n| tiles[n] > 1) else {
            return;
        };
        let outermost = self.parallels.remove(position);
        self.parallels.insert(0, outermost);
        self.is_split = true;
    }

    /// The plan with a tile of an outer product.
    fn with_tile(&self, tile: &Tile, rows: Option<usize>) -> Plan {
        let loops = [rows.map(|l| (l, tile.rows)), tile.second.map(|second| (second.number, tile.others))];
        let unrolled = loops.into_iter().flatten();
        // The rows are unrolled even if there is one: a tile is transposed along them.
        let unroll = unrolled
            .enumerate()
            .filter(|(n, (_, factor))| *n == 0 || *factor > 1)
            .map(|(_, unrolled)| unrolled)
            .collect();
        Plan { vectors: tile.vectors, unroll, ..self.clone() }
    }

    /// Tiles of dot products: several rows share the vector that does not depend on them. All have as many vectors.
    fn dot_products(&self, nest: &Nest, registers: i64) -> Vec<Plan> {
        let mut order: Vec<usize> = self.parallels.clone();
        order.retain(|&l| nest.loops[l].source.is_none());
        order.sort_by_key(|&l| std::cmp::Reverse(nest.loops[l].extent));
        let extent = nest.loops[self.lanes_loop].extent;
        let mut plans: Vec<Plan> = Vec::new();
        for most in MOST_DOT_ROWS {
            let mut budget = registers;
            let mut plan = self.clone();
            for (&l, most) in order.iter().zip(most) {
                let factor = factor_of(nest.loops[l].extent, 1, most.min(budget));
                if factor > 1 {
                    plan.unroll.push((l, factor));
                    budget /= factor;
                }
            }
            let rows: i64 = plan.unroll.iter().map(|u| u.1).product();
            match plans.first() {
                Some(first) => plan.vectors = first.vectors,
                None => {
                    while rows * plan.vectors < 8 && plan.vectors * 2 * self.lanes <= extent {
                        plan.vectors *= 2;
                    }
                }
            }
            plans.push(plan);
        }
        plans
    }
}

/// Rows along two loops of a tile of dot products.
const MOST_DOT_ROWS: [[i64; 2]; 4] = [[8, 4], [8, 1], [4, 2], [4, 1]];

/// Tiles among the candidates.
const MOST_TILES: usize = 5;

/// Plans that are worth to be measured.
const MOST_CANDIDATES: usize = 8;

/// The largest divisor of `extent` from `least` to `most` if it is not much smaller than `most`; otherwise `most`, and a
/// remainder is peeled.
fn factor_of(extent: i64, least: i64, most: i64) -> i64 {
    let most = most.min(extent).max(1);
    let divisors = (1..=most).rev().find(|f| extent % f == 0);
    let divisor = divisors.filter(|f| f * 2 >= most && *f >= least.min(most));
    divisor.unwrap_or(most)
}

impl Selected {
    /// Plans with their tiles, without an order of loops; the best one first.
    fn tiles(&self, nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Plan> {
        let of_kind = |kind| {
            let all = 0..nest.loops.len();
            all.filter(move |&l| l != self.lanes_loop && nest.loops[l].kind == kind)
        };
        let plan = Plan {
            mode: self.mode,
            lanes_loop: self.lanes_loop,
            lanes: vectors.lanes,
            vectors: 1,
            unroll: Vec::new(),
            reductions: of_kind(LoopKind::Reduction).collect(),
            parallels: of_kind(LoopKind::Parallel).collect(),
            is_split: false,
            packed: self.packed,
            group: self.group,
            hoists: None,
            chunk: None,
        };
        match self.mode {
            LaneMode::Output => {
                let has_predicate = is_used(nest, self.lanes_loop, used_dimensions);
                let tiling = Tiling::of(&plan, nest, vectors, has_predicate);
                let tiles: Vec<Plan> =
                    tiling.ranked().into_iter().map(|t| plan.with_tile(&t, tiling.rows)).collect();
                if tiles.is_empty() { vec![plan] } else { tiles }
            }
            LaneMode::Reduction => plan.dot_products(nest, vectors.registers / 2),
        }
    }
}

#[cfg(test)]
mod tests;
