// SPDX-License-Identifier: Apache-2.0
//! Selects what the lanes of a nest's vectors are, and the operand that is packed, by the estimated share of the peak rate.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::nest::{Address, CLOSEST, LoopKind, Nest};
use super::plan::{LaneMode, Vectors};

/// Points of the smallest nest that has an operand copied.
const PACKED_POINTS: i64 = 1 << 16;

/// The rows that use each element of the smallest operand that is copied in every call.
const LEAST_ROWS: i64 = 16;

/// The share of the rate of a packed kernel that one without a packed operand reaches: its vectors come from as many rows as its
/// reduction has steps.
const UNPACKED: f64 = 0.93;

/// The share of the peak rate that a nest is estimated to reach; `None` if plain loops are as fast as a tile.
pub(crate) fn share_of_peak(nest: &Nest, vectors: Vectors) -> Option<f64> {
    let (_, selections) = selections(nest, vectors, &[]);
    let selected = selections.first()?;
    Some(match selected.packed {
        Some(_) => selected.share,
        None => selected.share * UNPACKED,
    })
}

/// What the lanes are.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    pub(super) mode: LaneMode,
    pub(super) lanes_loop: usize,
    pub(super) packed: Option<usize>,
    /// The reduction along which groups of products are summed at once.
    pub(super) group: Option<usize>,
    /// The estimated share of the peak rate.
    share: f64,
}

/// Narrow vectors are selected if they are estimated to be so many times as fast: a tile of as many registers has fewer elements.
const NARROW: f64 = 1.3;

/// Whether a nest has a reduction, and enough work that a tile may be faster than plain loops.
fn is_worth(nest: &Nest, vectors: Vectors) -> bool {
    let reduces = nest.loops.iter().any(|l| l.kind == LoopKind::Reduction);
    reduces && nest.volume() >= 4 * vectors.lanes
}

/// The vectors that suit a nest, and what their lanes may be, the best by the estimated share of the peak rate first; nothing if plain
/// loops are as fast.
pub(super) fn selections(
    nest: &Nest,
    vectors: Vectors,
    used_dimensions: &[usize],
) -> (Vectors, Vec<Selected>) {
    let of = |vectors: Vectors| {
        if is_worth(nest, vectors) {
            (vectors, selections_of(nest, vectors, used_dimensions))
        } else {
            (vectors, Vec::new())
        }
    };
    let share = |found: &(Vectors, Vec<Selected>)| found.1.first().map_or(0.0, |best| best.share);
    let widest = of(vectors);
    let has_products = |half: &Vectors| nest.dot.is_none_or(|dot| dot.is_for(half.lanes));
    let narrow = vectors.halves().filter(has_products).map(of);
    narrow.filter(|narrow| share(narrow) > share(&widest) * NARROW).unwrap_or(widest)
}

/// What the lanes of vectors of one width may be, the best first.
fn selections_of(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Selected> {
    let lanes = vectors.lanes;
    let filled = |l: usize| {
        let extent = nest.loops[l].extent;
        extent as f64 / ((extent + lanes - 1) / lanes * lanes) as f64
    };
    let plain = select_lanes(nest, lanes).map(|(mode, lanes_loop)| {
        let share = match mode {
            // Rows of a dynamic extent are computed one by one.
            LaneMode::Reduction if has_dynamic_rows(nest) => 0.25,
            LaneMode::Reduction => 0.6,
            LaneMode::Output => {
                let strides = nest.inputs().iter().map(|o| o.strides[lanes_loop]);
                let farthest = strides.max().unwrap_or(0);
                // As many bytes as a quarter of the elements have.
                let at_once = nest.group_size() as f64;
                let large = (0..nest.inputs().len()).filter(|&n| {
                    let varies = nest.operands[n].strides[lanes_loop] != 0;
                    varies && nest.span(n) > vectors.cache / 2
                });
                // Where few rows use a row of a large operand, it takes longer to find the row in memory.
                let large = large
                    .map(|n| {
                        let rows = rows_of(nest, n) * at_once;
                        0.7 * rows / (rows + FAR_ROWS)
                    })
                    .fold(1.0, f64::min);
                let filled = filled(lanes_loop);
                let share = match farthest {
                    0 | 1 => filled * large,
                    // Bytes that are apart take as many operations as words, of which each has four.
                    2..=CLOSEST => filled * 0.4 / at_once,
                    _ => filled * 0.2 / at_once,
                };
                // A predicate on the lanes is evaluated for each vector.
                if is_used(nest, lanes_loop, used_dimensions) { share * 0.4 } else { share }
            }
        };
        Selected { mode, lanes_loop, packed: None, group: None, share }
    });
    let costs = vectors.costs;
    let packed = (0..nest.loops.len()).filter_map(|l| {
        let operand = packable(nest, l, lanes, used_dimensions)?;
        // What is prepared is read from memory, which takes about as long as one row.
        let packing = if nest.constants.contains(&operand) { 1.0 } else { f64::from(costs.packing_rows) };
        let packing = packing / (rows_of(nest, operand) * calls_of(nest, operand) as f64);
        let scatter = match nest.output()?.strides[l] {
            1 => 0.0,
            _ => f64::from(costs.scatter_steps) / nest.reduced() as f64,
        };
        let group = nest.group_along(operand);
        let at_once = group.map_or(1.0, |own| nest.products_at_once(nest.loops[own].extent));
        Some(Selected {
            mode: LaneMode::Output,
            lanes_loop: l,
            packed: Some(operand),
            group,
            share: at_once * filled(l) / (1.0 + scatter + packing),
        })
    });
    let mut all: Vec<Selected> = packed.collect();
    // Of equals, the one along the innermost loop.
    all.reverse();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    if let Some(plain) = plain {
        let is_better = |packed: &Selected| packed.share > plain.share * CLEARLY;
        let position = all.iter().take_while(|packed| is_better(packed)).count();
        all.insert(position, plain);
    }
    all
}

/// The points that use each element of an operand.
fn rows_of(nest: &Nest, operand: usize) -> f64 {
    nest.volume() as f64 / nest.elements(operand).max(1) as f64
}

/// The calls of the kernel that use one copy of an operand.
fn calls_of(nest: &Nest, operand: usize) -> i64 {
    let mut repeats = nest.repeats.iter();
    let own = repeats.find(|(position, _)| *position == operand);
    own.map_or(1, |(_, calls)| *calls)
}

/// Rows of a product that take as long as to find a row of a large operand in memory.
const FAR_ROWS: f64 = 4.0;

/// A copy pays where it is estimated to be so many times as fast.
const CLEARLY: f64 = 1.05;

/// Whether a parallel loop has a dynamic extent.
fn has_dynamic_rows(nest: &Nest) -> bool {
    let mut loops = nest.loops.iter();
    loops.any(|l| l.kind == LoopKind::Parallel && l.source.is_some())
}

/// Whether the payload uses the value of a loop.
pub(super) fn is_used(nest: &Nest, l: usize, used_dimensions: &[usize]) -> bool {
    let dimension = nest.loops[l].dimension;
    dimension.is_some_and(|d| used_dimensions.contains(&d))
}

/// The only operand that varies along a loop, if a copy of it with the lanes along this loop may pay.
fn packable(nest: &Nest, l: usize, lanes: i64, used_dimensions: &[usize]) -> Option<usize> {
    let own = &nest.loops[l];
    if own.kind != LoopKind::Parallel
        || is_used(nest, l, used_dimensions)
        || own.extent < lanes / 2
        || nest.volume() < PACKED_POINTS
    {
        return None;
    }
    let varying: Vec<usize> =
        (0..nest.inputs().len()).filter(|&n| nest.operands[n].strides[l] != 0).collect();
    let [operand] = varying.as_slice() else {
        return None;
    };
    let strides = &nest.operands[*operand].strides;
    let shared = |r: usize| nest.loops[r].kind == LoopKind::Parallel && strides[r] == 0;
    let rows = (0..nest.loops.len()).filter(|&r| shared(r));
    let rows: i64 = rows.map(|r| nest.loops[r].extent).product();
    let rows = rows.saturating_mul(calls_of(nest, *operand));
    let reduces = (0..nest.loops.len()).any(|r| nest.loops[r].kind == LoopKind::Reduction && strides[r] != 0);
    // The dynamic extent is that of the outermost loop of the copy.
    let dynamic = (0..nest.loops.len()).filter(|&r| nest.loops[r].source.is_some());
    let dynamic = dynamic.filter(|&r| strides[r] != 0).count();
    let least = if nest.constants.contains(operand) { 1 } else { LEAST_ROWS };
    (rows >= least && reduces && dynamic <= 1).then_some(*operand)
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
        own.kind == LoopKind::Parallel && output.strides[*l] == 1
    };
    let along_reduction =
        |l: &usize| !nest.keeps_order && nest.loops[*l].kind == LoopKind::Reduction && dense(*l);
    let extent = |l: &usize| nest.loops[*l].extent;
    let all = || 0..nest.loops.len();
    let output_loop = all().filter(along_output).filter(|l| dense(*l)).max_by_key(extent);
    let reduction_loop = all().filter(along_reduction).max_by_key(extent);
    match (output_loop, reduction_loop) {
        (Some(o), r) if extent(&o) >= lanes / 2 || r.is_none_or(|r| extent(&r) < lanes) => {
            (extent(&o) >= 4).then_some((LaneMode::Output, o))
        }
        (_, Some(r)) if extent(&r) >= lanes => Some((LaneMode::Reduction, r)),
        _ => {
            // Gathers are profitable only if several outputs use each of them, or if shuffles replace them.
            let is_static = |l: &usize| nest.loops[*l].source.is_none();
            let gathered = all().filter(along_output).filter(is_static);
            let gathered = gathered.max_by_key(extent)?;
            let shared = all().any(|l| {
                nest.loops[l].kind == LoopKind::Parallel
                    && extent(&l) >= 4
                    && nest.inputs().iter().all(|o| o.strides[gathered] == 0 || o.strides[l] == 0)
            });
            let close = |o: &Address| (0..=CLOSEST).contains(&o.strides[gathered]);
            let is_close = nest.inputs().iter().all(close);
            (extent(&gathered) >= lanes / 2 && (shared || is_close)).then_some((LaneMode::Output, gathered))
        }
    }
}
