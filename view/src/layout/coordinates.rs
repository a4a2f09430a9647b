// SPDX-License-Identifier: Apache-2.0
//! Computes coordinates in the layers: each item is as close to its neighbours as the order and the widths permit.
//!
//! All items of a layer are placed at once: the positions minimize the weighted sum of squared distances to the desired
//! positions, among all positions with sufficient distances. Apart from the widths, this is isotonic regression, solved by
//! merging adjacent items that would be in the wrong order.

use super::{GAP, Grid};

/// The number of passes, alternately down and up.
const PASSES: usize = 14;

/// Computes the centres of all items, in pixels.
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
                // The last passes use both directions.
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

/// The mean of the median neighbours; the current position of items without neighbours.
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

/// A run of merged items: their total weight, their weighted mean, and their number.
struct Run {
    weight: f64,
    mean: f64,
    count: usize,
}

fn place(grid: &Grid, layer: &[usize], wanted: &[f64], x: &mut [f64]) {
    // `shift` is the minimum distance from the first item. After subtracting it, positions only have to be ordered.
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
