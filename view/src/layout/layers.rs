// SPDX-License-Identifier: Apache-2.0
//! The layer of each box: below all that it reads, and directly above a reader where it reads nothing itself.

use crate::picture::Scope;

/// The layers of the boxes, and for each edge the numbers of its points, which follow those of the boxes.
///
/// Boxes come after those that they read, so one pass over the list is enough.
pub(super) fn assign(scope: &Scope, most_points: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    let count = scope.nodes.len();
    let mut layer = vec![0usize; count];
    let mut reads = vec![0usize; count];
    for edge in &scope.edges {
        let above = layer.get(edge.from).copied().unwrap_or(0);
        if let Some(own) = layer.get_mut(edge.to) {
            *own = (*own).max(above + 1);
        }
        if let Some(number) = reads.get_mut(edge.to) {
            *number += 1;
        }
    }
    let mut nearest = vec![usize::MAX; count];
    for edge in &scope.edges {
        let below = layer.get(edge.to).copied().unwrap_or(0);
        if let Some(own) = nearest.get_mut(edge.from) {
            *own = (*own).min(below);
        }
    }
    for ((own, reads), nearest) in layer.iter_mut().zip(&reads).zip(&nearest) {
        if *reads == 0 && *nearest != usize::MAX {
            *own = nearest.saturating_sub(1);
        }
    }
    let longest = longest_edge(scope, &layer, most_points);
    let mut next = count;
    let chains = scope.edges.iter().map(|edge| {
        let length = length(&layer, edge.from, edge.to);
        let points = if length <= longest { length } else { 0 };
        let chain = (next..next + points).collect();
        next += points;
        chain
    });
    let chains = chains.collect();
    (layer, chains)
}

/// The number of layers between two boxes.
fn length(layer: &[usize], from: usize, to: usize) -> usize {
    let at = |number: usize| layer.get(number).copied().unwrap_or(0);
    at(to).saturating_sub(at(from) + 1)
}

/// The length of the longest edges that have points, so that all points together are at most `most`.
fn longest_edge(scope: &Scope, layer: &[usize], most: usize) -> usize {
    let lengths = scope.edges.iter().map(|edge| length(layer, edge.from, edge.to));
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let mut sum = 0usize;
    let mut longest = usize::MAX;
    for length in lengths {
        sum = sum.saturating_add(length);
        if sum > most {
            longest = longest.min(length.saturating_sub(1));
        }
    }
    longest
}
