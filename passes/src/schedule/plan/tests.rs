// SPDX-License-Identifier: Apache-2.0
//! Tests the plans of nests whose best tiles are known.

use super::super::nest::{Address, Loop};
use super::*;
use LoopKind::{Parallel as P, Reduction as R};

const WIDE: Vectors = Vectors { lanes: 16, bytes: 64, registers: 32, cache: 1 << 18, costs: Costs::TYPICAL };

fn nest(loops: &[(i64, LoopKind)], operands: &[&[i64]]) -> Nest {
    Nest {
        loops: loops
            .iter()
            .map(|(extent, kind)| Loop { extent: *extent, kind: *kind, dimension: None, source: None })
            .collect(),
        operands: operands.iter().map(|s| Address::with_strides(s.to_vec())).collect(),
        output: operands.len() - 1,
        ..Nest::default()
    }
}

#[test]
fn a_row_major_product_runs_along_the_columns() {
    // C[i, j] += A[i, l] · B[l, j]
    let n = nest(&[(64, P), (96, P), (128, R)], &[&[128, 0, 1], &[0, 1, 96], &[96, 1, 0]]);
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 1));
    assert_eq!(plan.unroll[0], (0, 8));
    assert!(plan.vectors * 8 <= 24);
}

#[test]
fn sixteen_registers_hold_a_smaller_tile() {
    let n = nest(&[(64, P), (96, P), (128, R)], &[&[128, 0, 1], &[0, 1, 96], &[96, 1, 0]]);
    let narrow = Vectors { lanes: 8, bytes: 32, registers: 16, cache: 1 << 17, costs: Costs::TYPICAL };
    let plan = Plan::new(&n, narrow, &[]).unwrap();
    let accumulators = plan.vectors * plan.unroll.iter().map(|u| u.1).product::<i64>();
    // In addition to the accumulators, a step uses the vectors of one operand and a broadcast element of the other.
    assert!(accumulators >= 8 && accumulators + plan.vectors < 16, "{plan:?}");
}

#[test]
fn a_matrix_vector_product_runs_along_the_reduction() {
    // y[n] += x[c] · w[n, c]
    let n = nest(&[(4096, P), (9216, R)], &[&[0, 1], &[9216, 1], &[1, 0]]);
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Reduction, 1));
    assert_eq!(plan.unroll, [(0, 8)]);
}

#[test]
fn a_sum_in_order_has_no_lanes_along_the_reduction() {
    let mut n = nest(&[(4096, P), (9216, R)], &[&[0, 1], &[9216, 1], &[1, 0]]);
    n.keeps_order = true;
    let plan = Plan::new(&n, WIDE, &[]);
    assert!(plan.is_none_or(|plan| plan.mode == LaneMode::Output));
}

#[test]
fn candidates_combine_the_points_of_an_element_in_one_order() {
    // Windows on small maps with long sums: the elements along the lanes are not contiguous.
    let windows = nest(
        &[(512, P), (7, P), (7, P), (512, R), (3, R), (3, R)],
        &[&[0, 9, 1, 81, 9, 1], &[4608, 0, 0, 9, 3, 1], &[49, 7, 1, 0, 0, 0]],
    );
    let product = nest(&[(512, P), (2048, P), (4096, R)], &[&[4096, 0, 1], &[0, 1, 2048], &[2048, 1, 0]]);
    // Windows with contiguous channels: the channel loop is the innermost loop.
    let contiguous = nest(
        &[(56, P), (56, P), (64, P), (64, R), (3, R), (3, R)],
        &[&[58 * 64, 64, 0, 1, 58 * 64, 64], &[0, 0, 576, 9, 3, 1], &[56 * 64, 64, 1, 0, 0, 0]],
    );
    let small = Vectors { cache: 1 << 16, ..WIDE };
    for (nest, vectors) in [(windows, small), (product, small), (contiguous, WIDE)] {
        let plans = Plan::candidates(&nest, vectors, &[]);
        assert_eq!(plans.first(), Plan::new(&nest, vectors, &[]).as_ref());
        assert!(plans.len() > 3, "{plans:?}");
        let are_parts_outermost =
            |plan: &Plan| plan.chunk.is_none_or(|chunk| Some(&chunk.number) == plan.reductions.first());
        let is_apart = nest.output().unwrap().strides[plans[0].lanes_loop] != 1;
        for (number, plan) in plans.iter().enumerate() {
            assert_eq!(plan.reductions, plans[0].reductions);
            let are_outermost = are_parts_outermost(plan) && are_parts_outermost(&plans[0]);
            let may_differ = !is_apart && are_outermost;
            assert!(may_differ || plan.chunk == plans[0].chunk, "{plan:?}");
            assert!(!plans[..number].contains(plan));
        }
    }
}

#[test]
fn a_narrow_window_shares_its_broadcasts_between_rows() {
    // out[n, oh, ow] += in[c, oh + kh, ow + kw] · filter[n, c, kh, kw], 12 × 12 outputs
    let n = nest(
        &[(384, P), (12, P), (12, P), (192, R), (3, R), (3, R)],
        &[&[0, 14, 1, 196, 14, 1], &[1728, 0, 0, 9, 3, 1], &[144, 12, 1, 0, 0, 0]],
    );
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.mode, plan.lanes_loop, plan.vectors), (LaneMode::Output, 2, 1));
    assert_eq!(plan.unroll, [(0, 6), (1, 4)]);
    assert_eq!(plan.reductions, [3, 4, 5]);
}

#[test]
fn strided_windows_gather_when_the_gather_is_shared() {
    let n = nest(
        &[(4, P), (54, P), (54, P), (3, R), (11, R), (11, R)],
        &[&[0, 896, 4, 50176, 224, 1], &[363, 0, 0, 121, 11, 1], &[2916, 54, 1, 0, 0, 0]],
    );
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 2));
}

#[test]
fn windows_on_small_maps_pack_the_filter() {
    // 512 → 512 channels, 3 × 3 on 7 × 7: the lanes are output channels, and the rows of a tile are a row of the map.
    let n = nest(
        &[(512, P), (7, P), (7, P), (512, R), (3, R), (3, R)],
        &[&[0, 9, 1, 81, 9, 1], &[4608, 0, 0, 9, 3, 1], &[49, 7, 1, 0, 0, 0]],
    );
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.lanes_loop, plan.packed), (0, Some(1)));
    assert_eq!(plan.transposed(&n), Some(2));
    assert_eq!(plan.unroll[0], (2, 7));
}

#[test]
fn a_predicate_is_evaluated_before_the_reductions_that_it_does_not_use() {
    let mut n = nest(
        &[(64, P), (56, P), (56, P), (64, R), (3, R), (3, R)],
        &[&[0, 58, 1, 3364, 58, 1], &[576, 0, 0, 9, 3, 1], &[3136, 56, 1, 0, 0, 0]],
    );
    for (dimension, r#loop) in n.loops.iter_mut().enumerate() {
        r#loop.dimension = Some(dimension);
    }
    // The predicate uses the positions of the map and of the window.
    let plan = Plan::new(&n, WIDE, &[1, 2, 4, 5]).unwrap();
    assert_eq!(plan.packed, Some(1));
    assert_eq!(plan.reductions, [4, 5, 3]);
    assert_eq!(plan.hoists, Some(2));
    // A predicate on the channel keeps the lanes from being along the channels, so the filter is not packed.
    let plan = Plan::new(&n, WIDE, &[0]).unwrap();
    assert_eq!(plan.packed, None);
}

#[test]
fn tiles_of_few_rows_have_more_vectors() {
    // C[i, j] += A[i, l] · B[l, j] with three rows
    let n = nest(&[(3, P), (1021, P), (4099, R)], &[&[4099, 0, 1], &[0, 1, 1021], &[1021, 1, 0]]);
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!(plan.lanes_loop, 1);
    assert!(plan.vectors >= 6, "{plan:?}");
}

#[test]
fn short_loops_use_narrow_vectors_if_wide_vectors_take_two_cycles() {
    // A window of 8 channels for each of 32 groups: the lanes are output channels.
    let mut n = nest(
        &[(32, P), (8, P), (28, P), (28, P), (8, R), (3, R), (3, R)],
        &[&[7200, 0, 30, 1, 900, 30, 1], &[576, 72, 0, 0, 9, 3, 1], &[6272, 784, 28, 1, 0, 0, 0]],
    );
    for (dimension, r#loop) in n.loops.iter_mut().enumerate() {
        r#loop.dimension = Some(dimension);
    }
    let halved = Vectors { costs: Costs { fma_ports: 1, ..Costs::TYPICAL }, ..WIDE };
    // The predicate uses the positions of the map.
    let plan = Plan::new(&n, halved, &[2, 3]).unwrap();
    assert_eq!((plan.lanes_loop, plan.lanes), (1, 8));
    let plan = Plan::new(&n, WIDE, &[2, 3]).unwrap();
    assert_eq!((plan.lanes_loop, plan.lanes), (1, 16));
}

#[test]
fn columns_are_summed_row_by_row() {
    let n = nest(&[(1024, P), (4096, R)], &[&[1, 1024], &[1, 0]]);
    let plan = Plan::new(&n, WIDE, &[]).unwrap();
    assert_eq!((plan.mode, plan.lanes_loop), (LaneMode::Output, 0));
    assert_eq!(plan.chunk, Some(Chunk { number: 1, size: STREAM_STEPS }));
    // A row has one tile.
    let n = nest(&[(64, P), (4096, R)], &[&[1, 64], &[1, 0]]);
    assert_eq!(Plan::new(&n, WIDE, &[]).unwrap().chunk, None);
}

#[test]
fn maps_and_tiny_nests_are_left_to_loops() {
    assert_eq!(Plan::new(&nest(&[(4096, P)], &[&[1], &[1]]), WIDE, &[]), None);
    assert_eq!(Plan::new(&nest(&[(2, P), (2, R)], &[&[2, 1], &[1, 0]]), WIDE, &[]), None);
}
