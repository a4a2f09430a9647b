// SPDX-License-Identifier: Apache-2.0
//! Assigns layers to boxes: below all boxes that the box reads, or directly above its nearest reader if it reads none.

use super::element;
use crate::picture::Scope;

/// Returns the layers of the boxes, and for each edge the numbers of its points, which follow the numbers of the boxes.
///
/// The list has each box after the boxes that it reads, so one pass over the list suffices.
pub(super) fn assign(scope: &Scope, max_points: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    let count = scope.nodes.len();
    let mut layer = vec![0usize; count];
    let mut reads = vec![0usize; count];
    for edge in &scope.edges {
        let above = element(&layer, edge.from);
        if let Some(layer) = layer.get_mut(edge.to) {
            *layer = (*layer).max(above + 1);
        }
        if let Some(number) = reads.get_mut(edge.to) {
            *number += 1;
        }
    }
    let mut nearest = vec![usize::MAX; count];
    for edge in &scope.edges {
        let below = element(&layer, edge.to);
        if let Some(nearest) = nearest.get_mut(edge.from) {
            *nearest = (*nearest).min(below);
        }
    }
    for ((layer, reads), nearest) in layer.iter_mut().zip(&reads).zip(&nearest) {
        if *reads == 0 && *nearest != usize::MAX {
            *layer = nearest.saturating_sub(1);
        }
    }
    let longest = longest_edge(scope, &layer, max_points);
    let mut next = count;
    let chains = scope.edges.iter().map(|edge| {
        let length = length(&layer, edge.from, edge.to);
        let points = if length <= longest { length } else { 0 };
        let chain = (next..next + points).collect();
        next += points;
        chain
    });
    let chains: Vec<Vec<usize>> = chains.collect();
    (layer, chains)
}

/// The number of layers between two boxes.
fn length(layer: &[usize], from: usize, to: usize) -> usize {
    element(layer, to).saturating_sub(element(layer, from) + 1)
}

/// Maximum length of edges that get points, such that the total number of points is at most `max_points`.
fn longest_edge(scope: &Scope, layer: &[usize], max_points: usize) -> usize {
    let lengths = scope.edges.iter().map(|edge| length(layer, edge.from, edge.to));
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let mut sum = 0usize;
    let mut longest = usize::MAX;
    for length in lengths {
        sum = sum.saturating_add(length);
        if sum > max_points {
            longest = longest.min(length.saturating_sub(1));
        }
    }
    longest
}
