// SPDX-License-Identifier: Apache-2.0
//! Selects the loop of a nest's vector lanes, and the operand to pack, by the estimated fraction of peak performance.

use super::nest::{Address, CLOSEST, LoopKind, Nest};
use super::plan::{LaneMode, Vectors};

/// Minimum number of points of a nest with a packed operand.
const PACKED_POINTS: i64 = 1 << 16;

/// Minimum number of rows that use each element of an operand that is packed in every call.
const MIN_ROWS: i64 = 16;

/// The performance of a kernel without a packed operand, as a fraction of the performance with a packed operand: each step of its
/// reduction reads another row.
const UNPACKED: f64 = 0.93;

/// Estimates the fraction of peak performance that a nest reaches; `None` if plain loops are as fast as a tile.
pub(crate) fn fraction_of_peak(nest: &Nest, vectors: Vectors) -> Option<f64> {
    let (_, selections) = selections(nest, vectors, &[]);
    let selected = selections.first()?;
    Some(match selected.packed {
        Some(_) => selected.fraction,
        None => selected.fraction * UNPACKED,
    })
}

/// A candidate for the vector lanes.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    pub(super) mode: LaneMode,
    pub(super) lanes_loop: usize,
    pub(super) packed: Option<usize>,
    /// The reduction loop along which dot-product instructions sum groups of products.
    pub(super) group: Option<usize>,
    /// The estimated fraction of peak performance.
    fraction: f64,
}

/// Minimum estimated speedup for which narrow vectors are selected: a tile with the same number of registers has fewer elements.
const NARROW: f64 = 1.3;

/// Whether a nest has a reduction, and enough work that a tile may be faster than plain loops.
fn is_worth(nest: &Nest, vectors: Vectors) -> bool {
    let reduces = nest.loops.iter().any(|l| l.kind == LoopKind::Reduction);
    reduces && nest.volume() >= 4 * vectors.lanes
}

/// Returns the vectors for a nest, and the candidates for their lanes, sorted by decreasing estimated performance. The list is empty if
/// plain loops are as fast.
pub(super) fn selections(
    nest: &Nest,
    vectors: Vectors,
    used_dimensions: &[usize],
) -> (Vectors, Vec<Selected>) {
    let with_selections = |vectors: Vectors| {
        if is_worth(nest, vectors) {
            (vectors, selections_of(nest, vectors, used_dimensions))
        } else {
            (vectors, Vec::new())
        }
    };
    let fraction =
        |(_, selections): &(Vectors, Vec<Selected>)| selections.first().map_or(0.0, |best| best.fraction);
    let widest = with_selections(vectors);
    let has_products = |half: &Vectors| nest.dot.is_none_or(|dot| dot.is_for(half.lanes));
    let narrow = vectors.halves().filter(has_products).map(with_selections);
    narrow.filter(|narrow| fraction(narrow) > fraction(&widest) * NARROW).unwrap_or(widest)
}

/// Returns the candidates for the lanes of vectors of one width, the best candidate first.
fn selections_of(nest: &Nest, vectors: Vectors, used_dimensions: &[usize]) -> Vec<Selected> {
    let lanes = vectors.lanes;
    let filled = |l: usize| {
        if nest.loops[l].source.is_some() {
            return DYNAMIC_FILLED;
        }
        let extent = nest.loops[l].extent;
        extent as f64 / ((extent + lanes - 1) / lanes * lanes) as f64
    };
    let plain = select_lanes(nest, lanes).map(|(mode, lanes_loop)| {
        let fraction = match mode {
            // Rows along a dynamic extent are computed one by one.
            LaneMode::Reduction if has_dynamic_rows(nest) => 0.25,
            LaneMode::Reduction => 0.6,
            LaneMode::Output => {
                let strides = nest.inputs().iter().map(|o| o.strides[lanes_loop]);
                let farthest = strides.max().unwrap_or(0);
                // The number of products that one instruction sums.
                let at_once = nest.group_size() as f64;
                let large = (0..nest.inputs().len()).filter(|&n| {
                    let varies = nest.operands[n].strides[lanes_loop] != 0;
                    varies && nest.span(n) > vectors.cache / 2
                });
                // If few rows use a row of a large operand, the latency of reading the row from memory dominates.
                let large = large
                    .map(|n| {
                        let rows = rows_of(nest, n) * at_once;
                        0.7 * rows / (rows + FAR_ROWS)
                    })
                    .fold(1.0, f64::min);
                let filled = filled(lanes_loop);
                let fraction = match farthest {
                    0 | 1 => filled * large,
                    // Bytes that are not contiguous take one operation each; contiguous bytes are read in words of four.
                    2..=CLOSEST => filled * 0.4 / at_once,
                    _ => filled * 0.2 / at_once,
                };
                // A predicate on the lanes is evaluated for each vector.
                if is_used(nest, lanes_loop, used_dimensions) { fraction * 0.4 } else { fraction }
            }
        };
        Selected { mode, lanes_loop, packed: None, group: None, fraction }
    });
    let costs = vectors.costs;
    let packed = (0..nest.loops.len()).filter_map(|l| {
        let operand = packable(nest, l, lanes, used_dimensions)?;
        // A constant operand is packed once, before all calls. Reading its copy from memory costs about as much as one row.
        let packing = if nest.constants.contains(&operand) { 1.0 } else { f64::from(costs.packing_rows) };
        let packing = packing / (rows_of(nest, operand) * calls_of(nest, operand) as f64);
        let scatter = match nest.output()?.strides[l] {
            1 => 0.0,
            _ => f64::from(costs.scatter_steps) / nest.reduced() as f64,
        };
        let group = nest.group_along(operand);
        let at_once = group.map_or(1.0, |l| nest.products_at_once(nest.loops[l].extent));
        Some(Selected {
            mode: LaneMode::Output,
            lanes_loop: l,
            packed: Some(operand),
            group,
            fraction: at_once * filled(l) / (1.0 + scatter + packing),
        })
    });
    let mut all: Vec<Selected> = packed.collect();
    // Among equal candidates, the candidate along the innermost loop comes first.
    all.reverse();
    all.sort_by(|a, b| b.fraction.total_cmp(&a.fraction));
    if let Some(plain) = plain {
        let is_better = |packed: &Selected| packed.fraction > plain.fraction * MIN_PACKING_GAIN;
        let position = all.iter().take_while(|packed| is_better(packed)).count();
        all.insert(position, plain);
    }
    // Strides along the lanes are static; those of a copy always are.
    all.retain(|selected| {
        let mut others = nest.operands.iter().enumerate().filter(|(n, _)| selected.packed != Some(*n));
        others.all(|(_, own)| own.extents[selected.lanes_loop].is_empty())
    });
    all
}

/// The number of points that use each element of an operand.
fn rows_of(nest: &Nest, operand: usize) -> f64 {
    nest.volume() as f64 / nest.elements(operand).max(1) as f64
}

/// The number of calls of the kernel that use one copy of an operand.
fn calls_of(nest: &Nest, operand: usize) -> i64 {
    nest.repeats.iter().find(|(position, _)| *position == operand).map_or(1, |(_, calls)| *calls)
}

/// Latency of reading a row of a large operand from memory, as the number of rows of a product that take the same time.
const FAR_ROWS: f64 = 4.0;

/// The expected fraction of the lanes along a dynamic extent that have elements: the extent may be smaller than a vector.
const DYNAMIC_FILLED: f64 = 0.75;

/// Minimum estimated speedup for which an operand is packed.
const MIN_PACKING_GAIN: f64 = 1.05;

/// Whether a parallel loop has a dynamic extent.
fn has_dynamic_rows(nest: &Nest) -> bool {
    nest.loops.iter().any(|l| l.kind == LoopKind::Parallel && l.source.is_some())
}

/// Whether the payload uses the index of a loop.
pub(super) fn is_used(nest: &Nest, l: usize, used_dimensions: &[usize]) -> bool {
    nest.loops[l].dimension.is_some_and(|d| used_dimensions.contains(&d))
}

/// Returns the only operand that varies along a loop, if packing it with the lanes along this loop may be profitable.
fn packable(nest: &Nest, l: usize, lanes: i64, used_dimensions: &[usize]) -> Option<usize> {
    let lanes_loop = &nest.loops[l];
    if lanes_loop.kind != LoopKind::Parallel
        || is_used(nest, l, used_dimensions)
        || lanes_loop.extent < lanes / 2
        || nest.volume() < PACKED_POINTS
    {
        return None;
    }
    let varying: Vec<usize> =
        (0..nest.inputs().len()).filter(|&n| nest.operands[n].strides[l] != 0).collect();
    let [operand] = varying.as_slice() else {
        return None;
    };
    // The function that packs receives extents of loops only.
    if nest.operands[*operand].has_sizes() {
        return None;
    }
    let strides = &nest.operands[*operand].strides;
    let shared = |r: usize| nest.loops[r].kind == LoopKind::Parallel && strides[r] == 0;
    let rows: i64 = (0..nest.loops.len()).filter(|&r| shared(r)).map(|r| nest.loops[r].extent).product();
    let rows = rows.saturating_mul(calls_of(nest, *operand));
    let reduces = (0..nest.loops.len()).any(|r| nest.loops[r].kind == LoopKind::Reduction && strides[r] != 0);
    // At most one dynamic extent is supported: it becomes the outermost loop of the copy.
    let is_dynamic = |r: &usize| nest.loops[*r].source.is_some() && strides[*r] != 0;
    let dynamic = (0..nest.loops.len()).filter(is_dynamic).count();
    let min_rows = if nest.constants.contains(operand) { 1 } else { MIN_ROWS };
    (rows >= min_rows && reduces && dynamic <= 1).then_some(*operand)
}

/// Selects the loop for the lanes, in this order of preference: a loop along which the output and the inputs are contiguous; a reduction
/// along which the inputs are contiguous; a loop along which the output is contiguous and inputs are gathered.
fn select_lanes(nest: &Nest, lanes: i64) -> Option<(LaneMode, usize)> {
    let output = nest.output()?;
    let dense = |l: usize| {
        nest.inputs().iter().all(|o| matches!(o.strides[l], 0 | 1))
            && nest.inputs().iter().any(|o| o.strides[l] == 1)
    };
    let along_output = |l: &usize| {
        let candidate = &nest.loops[*l];
        candidate.kind == LoopKind::Parallel && output.strides[*l] == 1
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
            // A gather is profitable only if several outputs use it, or if shuffles replace it.
            let gathered = all().filter(along_output).max_by_key(extent)?;
            let is_static = nest.loops[gathered].source.is_none();
            let shared = all().any(|l| {
                nest.loops[l].kind == LoopKind::Parallel
                    && extent(&l) >= 4
                    && nest.inputs().iter().all(|o| o.strides[gathered] == 0 || o.strides[l] == 0)
            });
            let close = |o: &Address| (0..=CLOSEST).contains(&o.strides[gathered]);
            let is_close = nest.inputs().iter().all(close);
            (extent(&gathered) >= lanes / 2 && (shared && is_static || is_close))
                .then_some((LaneMode::Output, gathered))
        }
    }
}
