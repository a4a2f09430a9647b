// SPDX-License-Identifier: Apache-2.0
//! Plans the register tile of a nest: the loop along the lanes, and the loops that are unrolled around it.

use super::costs::Costs;
use super::nest::{LoopKind, Nest};
use super::select::{Selected, is_used, selections};
use super::tile::{Tile, Tiling};
use std::fmt::{Display, Formatter};

/// The content of the lanes of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMode {
    /// Contiguous elements of the output. Accumulators are stored directly.
    Output,
    /// Partial results of one reduction. Accumulators are reduced at the end.
    Reduction,
}

/// A register tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The content of the vector lanes.
    pub mode: LaneMode,
    /// The loop along the lanes.
    pub lanes_loop: usize,
    /// Elements of one vector.
    pub lanes: i64,
    /// Number of vectors along the loop of the lanes.
    pub vectors: i64,
    /// Unrolled parallel loops: (loop, factor).
    pub unroll: Vec<(usize, i64)>,
    /// Reduction loops, outermost first, without the loop of the lanes.
    pub reductions: Vec<usize>,
    /// Parallel loops, outermost first, including unrolled ones. With lanes along the output, also the loop of the lanes.
    pub parallels: Vec<usize>,
    /// Whether the tiles of the outermost parallel loop are steps that threads may share.
    pub is_split: bool,
    /// The operand that is read from a copy in the order of the kernel, see [`super::packing`].
    pub packed: Option<usize>,
    /// The last reduction, along which groups of products are summed by one instruction.
    pub group: Option<usize>,
    /// The first reduction that the predicate does not depend on. The predicate is evaluated before it.
    pub hoists: Option<usize>,
    /// The reduction that is computed in parts, so that the data of one part fit the cache. The output holds the sums between parts.
    pub chunk: Option<Chunk>,
}

/// Parts of a reduction loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The loop.
    pub number: usize,
    /// The number of iterations in a part.
    pub size: i64,
}

/// The minimum number of steps in a part of a reduction. In smaller parts, storing the intermediate sums costs more than is saved.
const MIN_STEPS: i64 = 128;

/// The number of steps in a part of a streaming reduction. Fewer steps would make intermediate sums expensive; more rows could not be
/// read at once.
const STREAM_STEPS: i64 = 16;

/// The minimum number of iterations of a reduction that may be inside a shorter one.
const LONG: i64 = 16;

/// The minimum number of points in a nest that threads share. Smaller nests take less time than waking up a thread.
const SHARED_POINTS: i64 = 1 << 16;

/// The number of steps that is sufficient for all threads. If a loop has fewer steps, an inner loop may be better.
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
    /// The size, in elements, of the cache of one core for data that a kernel reads again.
    pub cache: i64,
    /// Costs of operations on vectors.
    pub costs: Costs,
}

impl Vectors {
    /// Vectors of half the width, for processors that start twice as many of them in a cycle.
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
    /// Loops are numbered, outermost first. For example, `lanes=1x2 unroll=0x6 order=1,0 packed=1 part=2x512` has two vectors along loop
    /// 1, unrolls six steps of loop 0, has the loop over tiles of loop 0 inside that of loop 1, reads a copy of operand 1 in the order
    /// of the kernel, and computes reduction 2 in parts of 512 steps.
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        let joined = |items: Vec<String>| items.join(",");
        write!(f, "lanes={}x{}", self.lanes_loop, self.vectors)?;
        let unrolled: Vec<String> = self.unroll.iter().map(|(l, n)| format!("{l}x{n}")).collect();
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
    /// A tile for the nest. `None` if plain loops are as fast, because there is no reduction, too little work, or no
    /// loop along contiguous elements.
    pub fn new(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Option<Plan> {
        let (vectors, selections) = selections(nest, vectors, used_dimensions);
        let selected = selections.first()?;
        let tiles = selected.tiles(nest, vectors, used_dimensions);
        tiles.into_iter().next()?.ordered(nest, vectors.cache, used_dimensions).into_iter().next()
    }

    /// The plan that [`Plan::new`] selects, then other plans that combine the points of each element in the same order and therefore
    /// have bitwise equal results: with other tiles, positions of the loop of the lanes, parts of the reduction, or lanes.
    pub fn candidates(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Plan> {
        let (vectors, all) = selections(nest, vectors, used_dimensions);
        let mut candidates: Vec<Plan> = Vec::new();
        for (rank, selected) in all.iter().enumerate() {
            let tiles = selected.tiles(nest, vectors, used_dimensions);
            let mut others = Vec::new();
            for (number, tiled) in tiles.iter().take(MAX_TILES).enumerate() {
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
        distinct.truncate(MAX_CANDIDATES);
        distinct
    }

    /// Whether elements of the output are not contiguous along the lanes. Then the initial value of a sum, or the sum of the previous
    /// parts, is added at its end.
    fn are_apart(&self, nest: &Nest) -> bool {
        let stride = nest.output().map(|output| output.strides[self.lanes_loop]);
        self.mode == LaneMode::Output && stride != Some(1)
    }

    /// Whether the points of an element are combined in the order of the reductions. Parts of an inner reduction change this order.
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

    /// A plan with the same steps and the same packed operand, but small tiles, for a payload with a predicate.
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

    /// The unrolled loop along which the output is contiguous, if it is not contiguous along the lanes.
    pub fn transposed(&self, nest: &Nest) -> Option<usize> {
        let strides = &nest.output()?.strides;
        let apart = self.mode == LaneMode::Output && strides[self.lanes_loop] != 1;
        self.unroll.iter().find(|(l, _)| strides[*l] == 1).map(|(l, _)| *l).filter(|_| apart)
    }

    /// The plans for different orders of the loops around the tile, best first.
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

    /// Plans for different orders of the loops with a packed operand. The first plan has the loop of the lanes where it causes the least
    /// traffic outside the cache. Others have other parts of the reduction, or other positions of this loop. Reductions that the
    /// predicate depends on, and short ones, come first.
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
                // If a loop has many iterations, it is innermost.
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

    /// The number of elements that are read from outside the cache if the loop of the lanes is at a position among the parallel loops.
    /// An operand is read again for each iteration of a loop that it does not vary along, unless the data of the inner loops fit the
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

    /// The number of elements of an operand that the loops from a position on access, in one tile of the loops before it.
    fn accessed(&self, nest: &Nest, operand: usize, is_packed: bool, order: &[usize], from: usize) -> i64 {
        let strides = &nest.operands[operand].strides;
        let varies = |l: &&usize| strides[**l] != 0;
        let tile: i64 = order.iter().take(from).filter(varies).map(|l| self.factor(*l)).product();
        let inside = order.iter().skip(from).chain(&self.reductions);
        let (points, span) = inside.filter(varies).fold((tile, tile), |(points, span), l| {
            let extent = nest.loops[*l].extent;
            let along = strides[*l].saturating_mul(extent - 1);
            (points.saturating_mul(extent), span.saturating_add(along))
        });
        if is_packed { points } else { points.min(span) }
    }

    /// Computes a reduction in parts if the data of the loops inside the loop of the lanes do not fit the cache.
    fn split_reduction(&mut self, nest: &Nest, packed: usize, cache: i64, is_used: impl Fn(&usize) -> bool) {
        let Some(position) = self.parallels.iter().position(|l| *l == self.lanes_loop) else {
            return;
        };
        let read: i64 = (0..nest.inputs().len())
            .map(|o| self.accessed(nest, o, o == packed, &self.parallels, position + 1))
            .fold(0, i64::saturating_add);
        let is_static = |l: &usize| nest.loops[*l].source.is_none();
        let longest = self.reductions.iter().copied();
        // The remainder of a group is summed after all parts.
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
        if read > cache * 3 / 4 && size < extent && size * others >= MIN_STEPS {
            self.chunk = Some(Chunk { number, size });
        }
    }

    /// Parts of a reduction across the rows of an array that reads each element once. Without parts, each tile would read a few elements
    /// of every row. With parts, rows are read sequentially.
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

    /// The number of steps of a parallel loop in a tile.
    pub fn factor(&self, l: usize) -> i64 {
        let unrolled = self.unroll.iter().find(|u| u.0 == l);
        match unrolled {
            Some((_, factor)) => *factor,
            None if l == self.lanes_loop && self.mode == LaneMode::Output => self.vectors * self.lanes,
            None => 1,
        }
    }

    /// The number of tiles along a parallel loop, including the remainder.
    pub fn tiles(&self, nest: &Nest, l: usize) -> i64 {
        let factor = self.factor(l);
        (nest.loops[l].extent + factor - 1) / factor
    }

    /// Lets threads share a nest with enough work. The outermost loop with enough tiles becomes the first loop, or the loop with the
    /// most tiles if no loop has enough.
    fn split(&mut self, nest: &Nest) {
        if nest.volume() < SHARED_POINTS {
            return;
        }
        let tiles: Vec<i64> = self.parallels.iter().map(|&l| self.tiles(nest, l)).collect();
        let enough = tiles.iter().position(|&tiles| tiles >= ENOUGH_STEPS);
        let longest = || (0..tiles.len()).rev().max_by_key(|&n| tiles[n]);
        let Some(position) = enough.or_else(longest).filter(|&n| tiles[n] > 1) else {
            return;
        };
        let outermost = self.parallels.remove(position);
        self.parallels.insert(0, outermost);
        self.is_split = true;
    }

    /// This plan with a tile of an outer product.
    fn with_tile(&self, tile: &Tile, rows: Option<usize>) -> Plan {
        let loops = [rows.map(|l| (l, tile.rows)), tile.second.map(|second| (second.number, tile.others))];
        let unrolled = loops.into_iter().flatten();
        // Rows are unrolled even if there is only one, because a tile is transposed along them.
        let unroll = unrolled
            .enumerate()
            .filter(|(n, (_, factor))| *n == 0 || *factor > 1)
            .map(|(_, unrolled)| unrolled)
            .collect();
        Plan { vectors: tile.vectors, unroll, ..self.clone() }
    }

    /// Plans with tiles of dot products, where several rows share the vector that does not depend on them. All plans have the same
    /// number of vectors.
    fn dot_products(&self, nest: &Nest, registers: i64) -> Vec<Plan> {
        let mut order: Vec<usize> = self.parallels.clone();
        order.retain(|&l| nest.loops[l].source.is_none());
        order.sort_by_key(|&l| std::cmp::Reverse(nest.loops[l].extent));
        let extent = nest.loops[self.lanes_loop].extent;
        let mut plans: Vec<Plan> = Vec::new();
        for max_rows in MAX_DOT_ROWS {
            let mut budget = registers;
            let mut plan = self.clone();
            for (&l, max_factor) in order.iter().zip(max_rows) {
                let factor = factor_of(nest.loops[l].extent, 1, max_factor.min(budget));
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

/// The maximum numbers of rows along two loops, for different tiles of dot products.
const MAX_DOT_ROWS: [[i64; 2]; 4] = [[8, 4], [8, 1], [4, 2], [4, 1]];

/// The maximum number of tiles among the candidates.
const MAX_TILES: usize = 5;

/// The maximum number of plans that are measured.
const MAX_CANDIDATES: usize = 8;

/// The largest divisor of `extent` between `min` and `max` if it is not much smaller than `max`. Otherwise `max`, with a
/// remainder.
fn factor_of(extent: i64, min: i64, max: i64) -> i64 {
    let max = max.min(extent).max(1);
    let divisor = (1..=max).rev().find(|f| extent % f == 0);
    divisor.filter(|f| f * 2 >= max && *f >= min.min(max)).unwrap_or(max)
}

impl Selected {
    /// Plans with different tiles, without an order of loops, best first.
    fn tiles(&self, nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Plan> {
        let of_kind =
            |kind| (0..nest.loops.len()).filter(move |&l| l != self.lanes_loop && nest.loops[l].kind == kind);
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
                let tiling = Tiling::new(&plan, nest, vectors, has_predicate);
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
