// SPDX-License-Identifier: Apache-2.0
//! Plans the register tile of a nest: the loop along the lanes, and the loops that are unrolled around it.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::nest::{LoopKind, Nest};

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
}

/// Points of the smallest nest that threads share: fewer take less time than to wake a thread.
const SHARED_POINTS: i64 = 1 << 18;

/// Steps that are enough for any thread to have its part; with fewer, a loop further inside may be the better one.
const ENOUGH_STEPS: i64 = 16;

/// The vector registers of a target, for one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// Elements of one register.
    pub lanes: i64,
    /// Number of registers.
    pub registers: i64,
}

impl Vectors {
    /// Number of accumulators that leave registers for the operands of a step: 24 of 32, 12 of 16.
    fn accumulators(self) -> i64 {
        self.registers * 3 / 4
    }
}

impl Plan {
    /// A tile for the nest. `None` if plain loops are as fast: without a reduction, with too little work, or without a
    /// loop along contiguous elements.
    pub fn of(nest: &Nest, vectors: Vectors) -> Option<Plan> {
        let lanes = vectors.lanes;
        let reduces = nest.loops.iter().any(|l| l.kind == LoopKind::Reduction);
        if !reduces || nest.volume() < 4 * lanes {
            return None;
        }
        let (mode, lanes_loop) = select_lanes(nest, lanes)?;
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
        };
        match mode {
            LaneMode::Output => plan.tile_output(nest, vectors.accumulators()),
            LaneMode::Reduction => plan.tile_reduction(nest, vectors.registers / 2),
        }
        if plan.mode == LaneMode::Output {
            plan.parallels.push(lanes_loop);
        }
        plan.split(nest);
        Some(plan)
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

    /// The number of steps of a kernel that threads may share; `None` for one that computes all at once.
    pub fn steps(&self, nest: &Nest) -> Option<i64> {
        let outermost = self.parallels.first().filter(|_| self.is_split);
        outermost.map(|&l| self.tiles(nest, l))
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

    /// Outer products. A loop along which a vector operand does not change reuses its load; one along which the
    /// broadcast operand does not change reuses the broadcast.
    fn tile_output(&mut self, nest: &Nest, accumulators: i64) {
        let extent = nest.loops[self.lanes_loop].extent;
        self.vectors = match (extent + self.lanes - 1) / self.lanes {
            1 => 1,
            2 | 4 => 2,
            3 => 3,
            n if n % 3 == 0 => 3,
            _ => 2,
        };
        let varies = |operand: &super::nest::Address, l: usize| operand.strides[l] != 0;
        let reuses_vectors = |l: usize| {
            nest.inputs()
                .iter()
                .all(|o| !(varies(o, self.lanes_loop) && varies(o, l)))
        };
        let reuses_broadcasts = |l: usize| {
            nest.inputs()
                .iter()
                .all(|o| varies(o, self.lanes_loop) || !varies(o, l))
        };
        let largest = |candidates: Vec<usize>| {
            candidates
                .into_iter()
                .max_by_key(|&l| (nest.loops[l].extent.min(accumulators), l))
        };
        let rows = largest(
            self.parallels
                .iter()
                .copied()
                .filter(|&l| reuses_vectors(l))
                .collect(),
        );
        if let Some(rows) = rows {
            let factor = factor_of(
                nest.loops[rows].extent,
                (accumulators / self.vectors).min(12),
            );
            self.unroll.push((rows, factor));
        }
        let used = self.vectors * self.unroll.iter().map(|u| u.1).product::<i64>();
        let second = largest(
            self.parallels
                .iter()
                .copied()
                .filter(|&l| Some(l) != rows && reuses_broadcasts(l))
                .collect(),
        );
        if let Some(second) = second
            && accumulators / used >= 2
        {
            let factor = factor_of(nest.loops[second].extent, (accumulators / used).min(3));
            if factor > 1 {
                self.unroll.push((second, factor));
            }
        }
    }

    /// Dot products: several rows share the vector that does not depend on them.
    fn tile_reduction(&mut self, nest: &Nest, mut budget: i64) {
        let mut order: Vec<usize> = self.parallels.clone();
        order.sort_by_key(|&l| std::cmp::Reverse(nest.loops[l].extent));
        for (rank, l) in order.into_iter().take(2).enumerate() {
            let most = if rank == 0 { 8 } else { 4 };
            let factor = factor_of(nest.loops[l].extent, most.min(budget));
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

/// The largest divisor of `extent` up to `most` if it is not much smaller; otherwise `most`, and a remainder is peeled.
fn factor_of(extent: i64, most: i64) -> i64 {
    let most = most.min(extent).max(1);
    (1..=most)
        .rev()
        .find(|f| extent % f == 0)
        .filter(|f| f * 2 >= most)
        .unwrap_or(most)
}

/// The loop for the lanes. In order of preference: contiguous in the output; contiguous along a reduction; contiguous
/// in the output with gathered inputs.
fn select_lanes(nest: &Nest, lanes: i64) -> Option<(LaneMode, usize)> {
    let output = nest.output()?;
    let dense = |l: usize| {
        nest.inputs().iter().all(|o| matches!(o.strides[l], 0 | 1))
            && nest.inputs().iter().any(|o| o.strides[l] == 1)
    };
    let along_output =
        |l: &usize| nest.loops[*l].kind == LoopKind::Parallel && output.strides[*l] == 1;
    let along_reduction = |l: &usize| nest.loops[*l].kind == LoopKind::Reduction && dense(*l);
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
            // Gathers are profitable only if several outputs use each of them.
            let gathered = all().filter(along_output).max_by_key(extent)?;
            let shared = all().any(|l| {
                nest.loops[l].kind == LoopKind::Parallel
                    && extent(&l) >= 4
                    && nest
                        .inputs()
                        .iter()
                        .all(|o| o.strides[gathered] == 0 || o.strides[l] == 0)
            });
            (extent(&gathered) >= lanes / 2 && shared).then_some((LaneMode::Output, gathered))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::{Address, Loop};
    use super::*;
    use LoopKind::{Parallel as P, Reduction as R};

    const WIDE: Vectors = Vectors {
        lanes: 16,
        registers: 32,
    };

    fn nest(loops: &[(i64, LoopKind)], operands: &[&[i64]]) -> Nest {
        Nest {
            loops: loops
                .iter()
                .map(|(extent, kind)| Loop {
                    extent: *extent,
                    kind: *kind,
                    dimension: None,
                })
                .collect(),
            operands: operands
                .iter()
                .map(|s| Address {
                    offset: 0,
                    strides: s.to_vec(),
                })
                .collect(),
        }
    }

    #[test]
    fn a_row_major_product_runs_along_the_columns() {
        // C[i, j] += A[i, l] · B[l, j]
        let n = nest(
            &[(64, P), (96, P), (128, R)],
            &[&[128, 0, 1], &[0, 1, 96], &[96, 1, 0]],
        );
        let plan = Plan::of(&n, WIDE).unwrap();
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
            registers: 16,
        };
        let plan = Plan::of(&n, narrow).unwrap();
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
        let plan = Plan::of(&n, WIDE).unwrap();
        assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Reduction, 1));
        assert_eq!(plan.unroll, [(0, 8)]);
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
        let plan = Plan::of(&n, WIDE).unwrap();
        assert_eq!(
            (plan.mode, plan.lanes_loop, plan.vectors),
            (LaneMode::Output, 2, 1)
        );
        assert_eq!(plan.unroll, [(0, 12), (1, 2)]);
        assert_eq!(plan.reductions, [3, 4, 5]);
    }

    #[test]
    fn strided_windows_gather_when_the_gather_is_shared() {
        let n = nest(
            &[(64, P), (54, P), (54, P), (3, R), (11, R), (11, R)],
            &[
                &[0, 896, 4, 50176, 224, 1],
                &[363, 0, 0, 121, 11, 1],
                &[2916, 54, 1, 0, 0, 0],
            ],
        );
        let plan = Plan::of(&n, WIDE).unwrap();
        assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 2));
    }

    #[test]
    fn maps_and_tiny_nests_are_left_to_loops() {
        assert_eq!(Plan::of(&nest(&[(4096, P)], &[&[1], &[1]]), WIDE), None);
        assert_eq!(
            Plan::of(&nest(&[(2, P), (2, R)], &[&[2, 1], &[1, 0]]), WIDE),
            None
        );
    }
}
