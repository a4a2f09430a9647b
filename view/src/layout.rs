// SPDX-License-Identifier: Apache-2.0
//! Computes the positions of boxes: layers from the top, an order in each layer with few crossings, and coordinates that
//! keep chains straight.
//!
//! An edge that spans several layers has a point in each layer in between, so that it is drawn around boxes.

mod coordinates;
mod layers;
mod order;
mod sizes;

use crate::picture::Scope;

/// The horizontal distance of neighbours in a layer, in pixels.
const GAP: f64 = 28.0;

/// Maximum number of points of edges in a graph. Above it, the longest edges are drawn as one curve.
const MAX_POINTS: usize = 60_000;

/// The items (boxes and points of edges) by layer.
pub(crate) struct Grid {
    /// The items of each layer, in order.
    layers: Vec<Vec<usize>>,
    /// The connected items in the layer above, for each item.
    above: Vec<Vec<usize>>,
    /// The connected items in the layer below, for each item.
    below: Vec<Vec<usize>>,
    widths: Vec<f64>,
    /// The number of boxes, which are the first items. Points follow.
    boxes: usize,
}

/// Sets sizes and positions of all boxes, and the points of the edges.
pub(crate) fn arrange(scope: &mut Scope) {
    sizes::set(scope);
    let (layer, chains) = layers::assign(scope, MAX_POINTS);
    let mut grid = Grid::new(scope, &layer, &chains);
    order::untangle(&mut grid);
    let x = coordinates::assign(&grid);
    for (number, node) in scope.nodes.iter_mut().enumerate() {
        node.layer = element(&layer, number);
        node.x = element(&x, number);
    }
    for (edge, chain) in scope.edges.iter_mut().zip(&chains) {
        edge.via = chain.iter().map(|point| element(&x, *point)).collect();
    }
}

/// The element for an item in a list with one element per item.
fn element<T: Copy + Default>(list: &[T], item: usize) -> T {
    list.get(item).copied().unwrap_or_default()
}

impl Grid {
    fn new(scope: &Scope, layer: &[usize], chains: &[Vec<usize>]) -> Self {
        let boxes = scope.nodes.len();
        let points: usize = chains.iter().map(Vec::len).sum();
        let count = layer.iter().max().map_or(0, |last| last + 1);
        let mut grid = Grid {
            layers: vec![Vec::new(); count],
            above: vec![Vec::new(); boxes + points],
            below: vec![Vec::new(); boxes + points],
            widths: scope.nodes.iter().map(|node| f64::from(node.width)).collect(),
            boxes,
        };
        grid.widths.resize(boxes + points, 6.0);
        for (number, at) in layer.iter().enumerate() {
            if let Some(items) = grid.layers.get_mut(*at) {
                items.push(number);
            }
        }
        for (edge, chain) in scope.edges.iter().zip(chains) {
            let start = element(layer, edge.from);
            for (point, at) in chain.iter().zip(start + 1..) {
                if let Some(items) = grid.layers.get_mut(at) {
                    items.push(*point);
                }
            }
            let ends = [edge.from].into_iter().chain(chain.iter().copied());
            let nexts = chain.iter().copied().chain([edge.to]);
            // A long edge without points does not connect adjacent layers.
            let end = element(layer, edge.to);
            if end != start + chain.len() + 1 {
                continue;
            }
            for (upper, lower) in ends.zip(nexts) {
                if let Some(list) = grid.below.get_mut(upper) {
                    list.push(lower);
                }
                if let Some(list) = grid.above.get_mut(lower) {
                    list.push(upper);
                }
            }
        }
        grid
    }
}

#[cfg(test)]
mod tests;
