// SPDX-License-Identifier: Apache-2.0
//! The order in each layer: items are sorted by the medians of their neighbours, down and up in turn.

use super::Grid;

/// The number of passes over all layers; later ones hardly change anything.
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

/// Sorts a layer by the medians of neighbours; items without neighbours stay where they are.
fn sort(layer: &mut [usize], neighbours: &[Vec<usize>], position: &[usize]) {
    let at = |item: usize| position.get(item).copied().unwrap_or(0);
    let wanted = |item: &usize| {
        let mut places: Vec<usize> = neighbours.get(*item)?.iter().map(|n| at(*n)).collect();
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

/// The number of pairs of edges that cross between neighbouring layers, by inversions in a tree of sums.
fn crossings(grid: &Grid, position: &[usize]) -> u64 {
    let at = |item: usize| position.get(item).copied().unwrap_or(0);
    let mut all = 0u64;
    for (layer, below) in grid.layers.iter().zip(grid.layers.iter().skip(1)) {
        let mut sums = vec![0u64; below.len() + 1];
        let mut before = 0u64;
        for item in layer {
            let ends = grid.below.get(*item).into_iter().flatten();
            let mut ends: Vec<usize> = ends.map(|end| at(*end)).collect();
            ends.sort_unstable();
            for end in &ends {
                // Ends of earlier items that are not to the left of this one, or at the same item.
                let mut index = end + 1;
                let mut left = 0;
                while index > 0 {
                    left += sums.get(index).copied().unwrap_or(0);
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
