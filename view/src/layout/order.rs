// SPDX-License-Identifier: Apache-2.0
//! Orders the items in each layer by the medians of their neighbours, alternately from the top and from the bottom.

use super::{Grid, element};

/// The number of passes over all layers; additional passes rarely reduce crossings.
const PASSES: usize = 12;

pub(super) fn untangle(grid: &mut Grid) {
    let mut position = vec![0usize; grid.widths.len()];
    for layer in &grid.layers {
        number(layer, &mut position);
    }
    let mut best = (crossings(grid, &position), grid.layers.clone());
    for pass in 0..PASSES {
        if best.0 == 0 {
            break;
        }
        let downwards = pass % 2 == 0;
        let count = grid.layers.len();
        for step in 0..count {
            let at = if downwards { step } else { count - 1 - step };
            let neighbours = if downwards { &grid.above } else { &grid.below };
            if let Some(layer) = grid.layers.get_mut(at) {
                sort(layer, neighbours, &position);
                number(layer, &mut position);
            }
        }
        let crossed = crossings(grid, &position);
        if crossed < best.0 {
            best = (crossed, grid.layers.clone());
        }
    }
    grid.layers = best.1;
}

fn number(layer: &[usize], position: &mut [usize]) {
    for (at, item) in layer.iter().enumerate() {
        if let Some(slot) = position.get_mut(*item) {
            *slot = at;
        }
    }
}

/// Sorts a layer by the medians of the neighbours of each item; items without neighbours keep their positions.
fn sort(layer: &mut [usize], neighbours: &[Vec<usize>], position: &[usize]) {
    let wanted = |item: &usize| {
        let mut places: Vec<usize> = neighbours.get(*item)?.iter().map(|n| element(position, *n)).collect();
        places.sort_unstable();
        let last = places.len().checked_sub(1)?;
        let (low, high) = (places.get(last / 2)?, places.get(last.div_ceil(2))?);
        Some(low + high)
    };
    let free: Vec<usize> =
        (0..layer.len()).filter(|at| layer.get(*at).is_some_and(|item| wanted(item).is_some())).collect();
    let mut sorted: Vec<(usize, usize)> =
        layer.iter().filter_map(|item| Some((wanted(item)?, *item))).collect();
    sorted.sort_by_key(|(wanted, _)| *wanted);
    for (slot, (_, item)) in free.iter().zip(sorted) {
        if let Some(slot) = layer.get_mut(*slot) {
            *slot = item;
        }
    }
}

/// Counts edge crossings between adjacent layers. Crossings are inversions, which a Fenwick tree counts.
fn crossings(grid: &Grid, position: &[usize]) -> u64 {
    let mut all = 0u64;
    for (layer, below) in grid.layers.iter().zip(grid.layers.iter().skip(1)) {
        let mut sums = vec![0u64; below.len() + 1];
        let mut before = 0u64;
        for item in layer {
            let ends = grid.below.get(*item).into_iter().flatten();
            let mut ends: Vec<usize> = ends.map(|end| element(position, *end)).collect();
            ends.sort_unstable();
            for end in &ends {
                // Counts the ends of earlier items that are to the right of this end.
                let mut index = end + 1;
                let mut left = 0;
                while index > 0 {
                    left += element(&sums, index);
                    index &= index - 1;
                }
                all += before - left;
            }
            for end in &ends {
                let mut index = end + 1;
                while let Some(sum) = sums.get_mut(index) {
                    *sum += 1;
                    index += index & index.wrapping_neg();
                }
                before += 1;
            }
        }
    }
    all
}
