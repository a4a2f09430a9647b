// SPDX-License-Identifier: Apache-2.0
//! Plans the register tile of a nest: the loop along the lanes, and the loops that are unrolled around it.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::nest::{Address, LoopKind, Nest};
use super::payload::CLOSEST;
use super::tile::Tiling;

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

/// Iterations of a reduction that may stand inside of shorter ones.
const LONG: i64 = 16;

/// Points of the smallest nest that threads share: fewer take less time than to wake a thread.
const SHARED_POINTS: i64 = 1 << 18;

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
}

impl Plan {
    /// A tile for the nest. `None` if plain loops are as fast: without a reduction, with too little work, or without a
    /// loop along contiguous elements.
    pub fn of(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Option<Plan> {
        let lanes = vectors.lanes;
        let reduces = nest.loops.iter().any(|l| l.kind == LoopKind::Reduction);
        if !reduces || nest.volume() < 4 * lanes {
            return None;
        }
        let Selected {
            mode,
            lanes_loop,
            packed,
            ..
        } = select(nest, vectors, used_dimensions)?;
        let of_kind = |kind| {
            (0..nest.loops.len()).filter(move |&l| l != lanes_loop && nest.loops[l].kind == kind)
        };
        let mut plan = Plan {
            mode,
            lanes_loop,
            lanes,
            vectors: 1,
            unroll: Vec::new(),
            reductions: of_kind(LoopKind::Reduction).collect(),
            parallels: of_kind(LoopKind::Parallel).collect(),
            is_split: false,
            packed,
            hoists: None,
            chunk: None,
        };
        match mode {
            LaneMode::Output => {
                let has_predicate = is_used(nest, lanes_loop, used_dimensions);
                plan.tile_output(nest, vectors, has_predicate);
            }
            LaneMode::Reduction => plan.tile_reduction(nest, vectors.registers / 2),
        }
        match (plan.mode, packed) {
            (LaneMode::Reduction, _) => {}
            (LaneMode::Output, None) => plan.parallels.push(lanes_loop),
            (LaneMode::Output, Some(operand)) => {
                plan.order(nest, operand, vectors.cache, used_dimensions);
            }
        }
        plan.split(nest);
        Some(plan)
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
        if self.mode == LaneMode::Output
            && self.packed.is_none()
            && outermost != Some(&self.lanes_loop)
        {
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

    /// Orders the loops around a packed operand: the lanes' loop stands where the least memory beyond the cache is accessed, and the
    /// reductions that the predicate depends on, and short ones, come first.
    fn order(&mut self, nest: &Nest, operand: usize, cache: i64, used_dimensions: &[usize]) {
        let varies = |l: &usize| nest.operands[operand].strides[*l] != 0;
        let batches = self.parallels.iter().take_while(|l| varies(l)).count();
        let positions = batches..=self.parallels.len();
        let traffic = |position: &usize| self.traffic(nest, operand, cache, *position);
        let best = positions.rev().min_by_key(traffic);
        self.parallels
            .insert(best.unwrap_or(batches), self.lanes_loop);
        let used_dimensions = [used_dimensions, &nest.skipped].concat();
        let is_used = |l: &usize| is_used(nest, *l, &used_dimensions);
        self.split_reduction(nest, operand, cache, is_used);
        if !nest.keeps_order {
            // The innermost loop has many iterations, where one has.
            let is_long = |l: &usize| nest.loops[*l].extent >= LONG;
            self.reductions.sort_by_key(|l| (!is_used(l), is_long(l)));
        }
        let last = self.reductions.iter().rposition(is_used);
        let first = last.map_or(0, |last| last + 1);
        self.hoists = Some(first).filter(|_| !is_used(&self.lanes_loop));
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
            let again = again.fold(1, |all: i64, (_, l)| {
                all.saturating_mul(self.tiles(nest, *l))
            });
            total = total.saturating_add(accessed(0).saturating_mul(again));
        }
        total
    }

    /// The elements of an operand that the loops of an order from a position on access, in one tile of the loops before.
    fn accessed(
        &self,
        nest: &Nest,
        operand: usize,
        is_packed: bool,
        order: &[usize],
        from: usize,
    ) -> i64 {
        let strides = &nest.operands[operand].strides;
        let varies = |l: &&usize| strides[**l] != 0;
        let tile = order.iter().take(from).filter(varies);
        let tile: i64 = tile.map(|l| self.factor(*l)).product();
        let inside = order.iter().skip(from).chain(&self.reductions);
        let (points, span) = inside
            .filter(varies)
            .fold((tile, tile), |(points, span), l| {
                let extent = nest.loops[*l].extent;
                let along = strides[*l].saturating_mul(extent - 1);
                (points.saturating_mul(extent), span.saturating_add(along))
            });
        match is_packed {
            true => points,
            false => points.min(span),
        }
    }

    /// Computes a reduction in parts if what the loops inside of the lanes' loop read does not stay in the cache.
    fn split_reduction(
        &mut self,
        nest: &Nest,
        packed: usize,
        cache: i64,
        is_used: impl Fn(&usize) -> bool,
    ) {
        let Some(position) = self.parallels.iter().position(|l| *l == self.lanes_loop) else {
            return;
        };
        let read: i64 = (0..nest.inputs().len())
            .map(|o| self.accessed(nest, o, o == packed, &self.parallels, position + 1))
            .fold(0, i64::saturating_add);
        let longest = self.reductions.iter().copied().filter(|l| !is_used(l));
        let Some(number) = longest.max_by_key(|l| nest.loops[*l].extent) else {
            return;
        };
        // Parts of an inner loop change the order.
        if nest.keeps_order && self.reductions.first() != Some(&number) {
            return;
        }
        let extent = nest.loops[number].extent;
        let parts = (read + cache / 2 - 1) / (cache / 2).max(1);
        let size = (extent + parts - 1) / parts.max(1);
        let others = nest.reduced() / extent.max(1);
        if read > cache * 3 / 4 && size < extent && size * others >= FEWEST_STEPS {
            self.chunk = Some(Chunk { number, size });
        }
    }

    /// Steps of a parallel loop for which a tile is computed each.
    pub fn factor(&self, l: usize) -> i64 {
        let unrolled = self.unroll.iter().find(|u| u.0 == l);
        match unrolled {
            Some((_, factor)) => *factor,
            None if l == self.lanes_loop && self.mode == LaneMode::Output => {
                self.vectors * self.lanes
            }
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
        let tiles: Vec<i64> = self
            .parallels
            .iter()
            .map(|&l| self.tiles(nest, l))
            .collect();
        let enough = tiles.iter().position(|&tiles| tiles >= ENOUGH_STEPS);
        let most = || (0..tiles.len()).rev().max_by_key(|&n| tiles[n]);
        let Some(position) = enough.or_else(most).filter(|&n| tiles[n] > 1) else {
            return;
        };
        let outermost = self.parallels.remove(position);
        self.parallels.insert(0, outermost);
        self.is_split = true;
    }

    /// Outer products: the tile that computes the nest in the fewest cycles, by [`Tiling::cycles`].
    fn tile_output(&mut self, nest: &Nest, vectors: Vectors, has_predicate: bool) {
        let tiling = Tiling::of(self, nest, vectors, has_predicate);
        let Some(best) = tiling.best() else { return };
        self.vectors = best.vectors;
        let loops = [
            tiling.rows.map(|l| (l, best.rows)),
            best.second.map(|second| (second.number, best.others)),
        ];
        let unrolled = loops.into_iter().flatten();
        // The rows are unrolled even if there is one: a tile is transposed along them.
        self.unroll = unrolled
            .enumerate()
            .filter(|(n, (_, factor))| *n == 0 || *factor > 1)
            .map(|(_, unrolled)| unrolled)
            .collect();
    }

    /// Dot products: several rows share the vector that does not depend on them.
    fn tile_reduction(&mut self, nest: &Nest, mut budget: i64) {
        let mut order: Vec<usize> = self.parallels.clone();
        order.retain(|&l| nest.loops[l].source.is_none());
        order.sort_by_key(|&l| std::cmp::Reverse(nest.loops[l].extent));
        for (rank, l) in order.into_iter().take(2).enumerate() {
            let most = if rank == 0 { 8 } else { 4 };
            let factor = factor_of(nest.loops[l].extent, 1, most.min(budget));
            if factor > 1 {
                self.unroll.push((l, factor));
                budget /= factor;
            }
        }
        let rows: i64 = self.unroll.iter().map(|u| u.1).product();
        let extent = nest.loops[self.lanes_loop].extent;
        while rows * self.vectors < 8 && self.vectors * 2 * self.lanes <= extent {
            self.vectors *= 2;
        }
    }
}

/// The largest divisor of `extent` from `least` to `most` if it is not much smaller than `most`; otherwise `most`, and a
/// remainder is peeled.
fn factor_of(extent: i64, least: i64, most: i64) -> i64 {
    let most = most.min(extent).max(1);
    let divisors = (1..=most).rev().find(|f| extent % f == 0);
    let divisor = divisors.filter(|f| f * 2 >= most && *f >= least.min(most));
    divisor.unwrap_or(most)
}

/// Points of the smallest nest that has an operand copied.
const PACKED_POINTS: i64 = 1 << 16;

/// The rows that use each element of the smallest operand that is copied in every call.
const LEAST_ROWS: i64 = 16;

/// The rows that a copy of an operand costs: to copy an element takes as long as to use it so many times.
const PACKING_ROWS: f64 = 48.0;

/// The steps of a reduction that it costs to write a vector whose elements are apart.
const SCATTER_STEPS: f64 = 8.0;

/// The share of the rate of a packed kernel that one without a packed operand reaches: its vectors come from as many rows as its
/// reduction has steps.
const UNPACKED: f64 = 0.93;

/// The share of the peak rate that a nest is estimated to reach; `None` if plain loops are as fast as a tile.
pub(crate) fn share_of_peak(nest: &Nest, vectors: Vectors) -> Option<f64> {
    let selected = select(nest, vectors, &[])?;
    Some(match selected.packed {
        Some(_) => selected.share,
        None => selected.share * UNPACKED,
    })
}

/// What the lanes are.
struct Selected {
    mode: LaneMode,
    lanes_loop: usize,
    packed: Option<usize>,
    /// The estimated share of the peak rate.
    share: f64,
}

/// The lanes' mode and loop, and the operand that is packed: the best by the estimated share of the peak rate.
fn select(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Option<Selected> {
    let lanes = vectors.lanes;
    let filled = |l: usize| {
        let extent = nest.loops[l].extent;
        extent as f64 / ((extent + lanes - 1) / lanes * lanes) as f64
    };
    let plain = select_lanes(nest, lanes);
    let share = match plain {
        None => 0.0,
        Some((LaneMode::Reduction, _)) => 0.6,
        Some((LaneMode::Output, l)) => {
            let is_used = is_used(nest, l, used_dimensions);
            let strides = nest.inputs().iter().map(|o| o.strides[l]);
            let farthest = strides.max().unwrap_or(0);
            let is_large = nest
                .inputs()
                .iter()
                .enumerate()
                .any(|(n, o)| o.strides[l] != 0 && nest.span(n) > vectors.cache / 2);
            let share = match farthest {
                0 | 1 if is_large => filled(l) * 0.7,
                0 | 1 => filled(l),
                2..=CLOSEST => filled(l) * 0.4,
                _ => filled(l) * 0.2,
            };
            // A predicate on the lanes is evaluated for each vector.
            if is_used { share * 0.4 } else { share }
        }
    };
    let packed = (0..nest.loops.len())
        .filter_map(|l| {
            let operand = packable(nest, l, lanes, used_dimensions)?;
            let rows = nest.volume() / nest.elements(operand).max(1);
            let packing = match nest.constants.contains(&operand) {
                true => 0.0,
                false => PACKING_ROWS / rows as f64,
            };
            let scatter = match nest.output()?.strides[l] {
                1 => 0.0,
                _ => SCATTER_STEPS / nest.reduced() as f64,
            };
            let share = filled(l) / (1.0 + scatter + packing);
            Some((share, l, operand))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match (plain, packed) {
        (plain, Some((best, l, operand))) if best > share * 1.05 || plain.is_none() => {
            Some(Selected {
                mode: LaneMode::Output,
                lanes_loop: l,
                packed: Some(operand),
                share: best,
            })
        }
        (plain, _) => plain.map(|(mode, l)| Selected {
            mode,
            lanes_loop: l,
            packed: None,
            share,
        }),
    }
}

/// Whether the payload uses the value of a loop.
fn is_used(nest: &Nest, l: usize, used_dimensions: &[usize]) -> bool {
    let dimension = nest.loops[l].dimension;
    dimension.is_some_and(|d| used_dimensions.contains(&d))
}

/// The only operand that varies along a loop, if a copy of it with the lanes along this loop may pay.
fn packable(nest: &Nest, l: usize, lanes: i64, used_dimensions: &[usize]) -> Option<usize> {
    let own = &nest.loops[l];
    if own.kind != LoopKind::Parallel
        || own.source.is_some()
        || is_used(nest, l, used_dimensions)
        || own.extent < lanes / 2
        || nest.volume() < PACKED_POINTS
    {
        return None;
    }
    let varying: Vec<usize> = (0..nest.inputs().len())
        .filter(|&n| nest.operands[n].strides[l] != 0)
        .collect();
    let [operand] = varying.as_slice() else {
        return None;
    };
    let strides = &nest.operands[*operand].strides;
    let shared = |r: usize| nest.loops[r].kind == LoopKind::Parallel && strides[r] == 0;
    let rows = (0..nest.loops.len()).filter(|&r| shared(r));
    let rows: i64 = rows.map(|r| nest.loops[r].extent).product();
    let reduces =
        (0..nest.loops.len()).any(|r| nest.loops[r].kind == LoopKind::Reduction && strides[r] != 0);
    let is_static = |r: usize| nest.loops[r].source.is_none() || strides[r] == 0;
    let least = match nest.constants.contains(operand) {
        true => LEAST_ROWS / 4,
        false => LEAST_ROWS,
    };
    (rows >= least && reduces && (0..nest.loops.len()).all(is_static)).then_some(*operand)
}

/// The loop for the lanes. In order of preference: contiguous in the output; contiguous along a reduction; contiguous
/// in the output with gathered inputs.
fn select_lanes(nest: &Nest, lanes: i64) -> Option<(LaneMode, usize)> {
    let output = nest.output()?;
    let dense = |l: usize| {
        nest.inputs().iter().all(|o| matches!(o.strides[l], 0 | 1))
            && nest.inputs().iter().any(|o| o.strides[l] == 1)
    };
    let along_output = |l: &usize| {
        let own = &nest.loops[*l];
        own.kind == LoopKind::Parallel && own.source.is_none() && output.strides[*l] == 1
    };
    let along_reduction =
        |l: &usize| !nest.keeps_order && nest.loops[*l].kind == LoopKind::Reduction && dense(*l);
    let extent = |l: &usize| nest.loops[*l].extent;
    let all = || 0..nest.loops.len();
    let output_loop = all()
        .filter(along_output)
        .filter(|l| dense(*l))
        .max_by_key(extent);
    let reduction_loop = all().filter(along_reduction).max_by_key(extent);
    match (output_loop, reduction_loop) {
        (Some(o), r) if extent(&o) >= lanes / 2 || r.is_none_or(|r| extent(&r) < lanes) => {
            (extent(&o) >= 4).then_some((LaneMode::Output, o))
        }
        (_, Some(r)) if extent(&r) >= lanes => Some((LaneMode::Reduction, r)),
        _ => {
            // Gathers are profitable only if several outputs use each of them, or if shuffles replace them.
            let gathered = all().filter(along_output).max_by_key(extent)?;
            let shared = all().any(|l| {
                nest.loops[l].kind == LoopKind::Parallel
                    && extent(&l) >= 4
                    && nest
                        .inputs()
                        .iter()
                        .all(|o| o.strides[gathered] == 0 || o.strides[l] == 0)
            });
            let close = |o: &Address| (0..=CLOSEST).contains(&o.strides[gathered]);
            let is_close = nest.inputs().iter().all(close);
            (extent(&gathered) >= lanes / 2 && (shared || is_close))
                .then_some((LaneMode::Output, gathered))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::Loop;
    use super::*;
    use LoopKind::{Parallel as P, Reduction as R};

    const WIDE: Vectors = Vectors {
        lanes: 16,
        bytes: 64,
        registers: 32,
        cache: 1 << 18,
    };

    fn nest(loops: &[(i64, LoopKind)], operands: &[&[i64]]) -> Nest {
        Nest {
            loops: loops
                .iter()
                .map(|(extent, kind)| Loop {
                    extent: *extent,
                    kind: *kind,
                    dimension: None,
                    source: None,
                })
                .collect(),
            operands: operands
                .iter()
                .map(|s| Address {
                    offset: 0,
                    strides: s.to_vec(),
                })
                .collect(),
            output: operands.len() - 1,
            constants: Vec::new(),
            skipped: Vec::new(),
            keeps_order: false,
        }
    }

    #[test]
    fn a_row_major_product_runs_along_the_columns() {
        // C[i, j] += A[i, l] · B[l, j]
        let n = nest(
            &[(64, P), (96, P), (128, R)],
            &[&[128, 0, 1], &[0, 1, 96], &[96, 1, 0]],
        );
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 1));
        assert_eq!(plan.unroll[0], (0, 8));
        assert!(plan.vectors * 8 <= 24);
    }

    #[test]
    fn sixteen_registers_hold_a_smaller_tile() {
        let n = nest(
            &[(64, P), (96, P), (128, R)],
            &[&[128, 0, 1], &[0, 1, 96], &[96, 1, 0]],
        );
        let narrow = Vectors {
            lanes: 8,
            bytes: 32,
            registers: 16,
            cache: 1 << 17,
        };
        let plan = Plan::of(&n, narrow, &[]).unwrap();
        let accumulators = plan.vectors * plan.unroll.iter().map(|u| u.1).product::<i64>();
        // A step holds the vectors of one operand and a broadcast of the other beside the accumulators.
        assert!(
            accumulators >= 8 && accumulators + plan.vectors < 16,
            "{plan:?}"
        );
    }

    #[test]
    fn a_matrix_vector_product_runs_along_the_reduction() {
        // y[n] += x[c] · w[n, c]
        let n = nest(&[(4096, P), (9216, R)], &[&[0, 1], &[9216, 1], &[1, 0]]);
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Reduction, 1));
        assert_eq!(plan.unroll, [(0, 8)]);
    }

    #[test]
    fn a_sum_in_order_has_no_lanes_of_its_own() {
        let mut n = nest(&[(4096, P), (9216, R)], &[&[0, 1], &[9216, 1], &[1, 0]]);
        n.keeps_order = true;
        let plan = Plan::of(&n, WIDE, &[]);
        assert!(plan.is_none_or(|plan| plan.mode == LaneMode::Output));
    }

    #[test]
    fn a_narrow_window_shares_its_broadcasts_between_rows() {
        // out[n, oh, ow] += in[c, oh + kh, ow + kw] · filter[n, c, kh, kw], 12 × 12 outputs
        let n = nest(
            &[(384, P), (12, P), (12, P), (192, R), (3, R), (3, R)],
            &[
                &[0, 14, 1, 196, 14, 1],
                &[1728, 0, 0, 9, 3, 1],
                &[144, 12, 1, 0, 0, 0],
            ],
        );
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!(
            (plan.mode, plan.lanes_loop, plan.vectors),
            (LaneMode::Output, 2, 1)
        );
        assert_eq!(plan.unroll, [(0, 6), (1, 4)]);
        assert_eq!(plan.reductions, [3, 4, 5]);
    }

    #[test]
    fn strided_windows_gather_when_the_gather_is_shared() {
        let n = nest(
            &[(4, P), (54, P), (54, P), (3, R), (11, R), (11, R)],
            &[
                &[0, 896, 4, 50176, 224, 1],
                &[363, 0, 0, 121, 11, 1],
                &[2916, 54, 1, 0, 0, 0],
            ],
        );
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 2));
    }

    #[test]
    fn windows_on_small_maps_pack_the_filter() {
        // 512 → 512 channels, 3 × 3 on 7 × 7: the lanes are output channels, the rows a row of the map.
        let n = nest(
            &[(512, P), (7, P), (7, P), (512, R), (3, R), (3, R)],
            &[
                &[0, 9, 1, 81, 9, 1],
                &[4608, 0, 0, 9, 3, 1],
                &[49, 7, 1, 0, 0, 0],
            ],
        );
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!((plan.lanes_loop, plan.packed), (0, Some(1)));
        assert_eq!(plan.transposed(&n), Some(2));
        assert_eq!(plan.unroll[0], (2, 7));
    }

    #[test]
    fn a_predicate_is_evaluated_before_the_reductions_that_it_does_not_use() {
        let mut n = nest(
            &[(64, P), (56, P), (56, P), (64, R), (3, R), (3, R)],
            &[
                &[0, 58, 1, 3364, 58, 1],
                &[576, 0, 0, 9, 3, 1],
                &[3136, 56, 1, 0, 0, 0],
            ],
        );
        for (dimension, own) in n.loops.iter_mut().enumerate() {
            own.dimension = Some(dimension);
        }
        // The predicate uses the positions of the map and of the window.
        let plan = Plan::of(&n, WIDE, &[1, 2, 4, 5]).unwrap();
        assert_eq!(plan.packed, Some(1));
        assert_eq!(plan.reductions, [4, 5, 3]);
        assert_eq!(plan.hoists, Some(2));
        // A predicate on the channel leaves no lanes to pack along.
        let plan = Plan::of(&n, WIDE, &[0]).unwrap();
        assert_eq!(plan.packed, None);
    }

    #[test]
    fn few_rows_have_more_vectors() {
        // C[i, j] += A[i, l] · B[l, j] with three rows
        let n = nest(
            &[(3, P), (1021, P), (4099, R)],
            &[&[4099, 0, 1], &[0, 1, 1021], &[1021, 1, 0]],
        );
        let plan = Plan::of(&n, WIDE, &[]).unwrap();
        assert_eq!(plan.lanes_loop, 1);
        assert!(plan.vectors >= 6, "{plan:?}");
    }

    #[test]
    fn maps_and_tiny_nests_are_left_to_loops() {
        assert_eq!(
            Plan::of(&nest(&[(4096, P)], &[&[1], &[1]]), WIDE, &[]),
            None
        );
        assert_eq!(
            Plan::of(&nest(&[(2, P), (2, R)], &[&[2, 1], &[1, 0]]), WIDE, &[]),
            None
        );
    }
}
