// SPDX-License-Identifier: Apache-2.0
//! Coordinates in the layers: each item is as near to its neighbours as the order and the widths permit.
//!
//! A layer is placed at once: of all positions with enough distance, those with the least sum of weighted squares of the
//! distances to what the items want. Without the widths, that is a regression by a monotone function, whose solution
//! merges neighbours that would be in the wrong order until none is.

use super::{GAP, Grid};

/// The number of passes, down and up in turn.
const PASSES: usize = 14;

/// The middles of all items in pixels.
pub(super) fn assign(grid: &Grid) -> Vec<i32> {
    let mut x = vec![0.0f64; grid.widths.len()];
    for layer in &grid.layers {
        let wanted: Vec<f64> = layer.iter().map(|_| 0.0).collect();
        place(grid, layer, &wanted, &mut x);
    }
    for pass in 0..PASSES {
        let count = grid.layers.len();
        for step in 0..count {
            let at = if pass % 2 == 0 { step } else { count - 1 - step };
            let neighbours: &[&Vec<Vec<usize>>] = match (pass + 2 >= PASSES, pass % 2) {
                // At the end both, so that neither direction has the last word.
                (true, _) => &[&grid.above, &grid.below],
                (false, 0) => &[&grid.above],
                (false, _) => &[&grid.below],
            };
            let Some(layer) = grid.layers.get(at) else {
                continue;
            };
            let wanted: Vec<f64> = layer.iter().map(|item| wanted(*item, neighbours, &x)).collect();
            place(grid, layer, &wanted, &mut x);
        }
    }
    let rounded = x.into_iter().map(|x| x.round() as i32);
    rounded.collect()
}

/// The mean of the neighbours in the middle; where the item is, if it has none.
fn wanted(item: usize, neighbours: &[&Vec<Vec<usize>>], x: &[f64]) -> f64 {
    let at = |item: usize| x.get(item).copied().unwrap_or(0.0);
    let lists = neighbours.iter().filter_map(|lists| lists.get(item));
    let mut places: Vec<f64> = lists.flatten().map(|n| at(*n)).collect();
    places.sort_by(f64::total_cmp);
    match places.len().checked_sub(1) {
        None => at(item),
        Some(last) => {
            let middle = |at: usize| places.get(at).copied().unwrap_or(0.0);
            (middle(last / 2) + middle(last.div_ceil(2))) / 2.0
        }
    }
}

/// Items that were merged: their weight, their weighted mean, and their number.
struct Run {
    weight: f64,
    mean: f64,
    count: usize,
}

fn place(grid: &Grid, layer: &[usize], wanted: &[f64], x: &mut [f64]) {
    // `shift` is the least distance from the first item; without it, positions need only be in order.
    let mut shift = 0.0;
    let mut before: Option<usize> = None;
    let mut shifts = Vec::with_capacity(layer.len());
    let mut runs: Vec<Run> = Vec::new();
    for (item, wanted) in layer.iter().zip(wanted) {
        if let Some(before) = before {
            let width = |item: usize| grid.widths.get(item).copied().unwrap_or(0.0);
            let points = usize::from(before >= grid.boxes) + usize::from(*item >= grid.boxes);
            let gap = GAP / if points == 2 { 2.0 } else { 1.0 };
            shift += (width(before) + width(*item)) / 2.0 + gap;
        }
        before = Some(*item);
        shifts.push(shift);
        // Points are straightened before boxes are moved.
        let weight = if *item >= grid.boxes { 4.0 } else { 1.0 };
        let mut run = Run { weight, mean: wanted - shift, count: 1 };
        while let Some(last) = runs.pop_if(|last| last.mean > run.mean) {
            let weight = last.weight + run.weight;
            run = Run {
                mean: (last.mean * last.weight + run.mean * run.weight) / weight,
                weight,
                count: last.count + run.count,
            };
        }
        runs.push(run);
    }
    let means = runs.iter().flat_map(|run| std::iter::repeat_n(run.mean, run.count));
    for ((item, shift), mean) in layer.iter().zip(&shifts).zip(means) {
        if let Some(slot) = x.get_mut(*item) {
            *slot = mean + shift;
        }
    }
}
