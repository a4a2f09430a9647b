// SPDX-License-Identifier: Apache-2.0
//! Positions of boxes: layers from the top, an order in each layer with few crossings, and coordinates that keep chains
//! straight.
//!
//! An edge over several layers has a point in each of them, so that it is drawn around boxes.

mod coordinates;
mod layers;
mod order;
mod sizes;

use crate::picture::Scope;

/// The horizontal distance of neighbours in a layer, in pixels.
const GAP: f64 = 28.0;

/// The maximum number of points of edges in a graph. Beyond, the longest edges are drawn as one curve.
const MOST_POINTS: usize = 60_000;

/// The boxes and the points of edges, by layer.
pub(crate) struct Grid {
    /// Items of each layer, in order.
    layers: Vec<Vec<usize>>,
    /// Items above and below that are connected to an item.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    widths: Vec<f64>,
    /// Boxes come first; the others are points.
    boxes: usize,
}

/// Sets sizes and positions of all boxes, and the points of the edges.
pub(crate) fn arrange(scope: &mut Scope) {
    sizes::set(scope);
    let (layer, chains) = layers::assign(scope, MOST_POINTS);
    let mut grid = Grid::of(scope, &layer, &chains);
    order::untangle(&mut grid);
    let x = coordinates::assign(&grid);
    let at = |item: usize| x.get(item).copied().unwrap_or(0);
    for (number, node) in scope.nodes.iter_mut().enumerate() {
        node.layer = layer.get(number).copied().unwrap_or(0);
        node.x = at(number);
    }
    for (edge, chain) in scope.edges.iter_mut().zip(&chains) {
        edge.via = chain.iter().map(|point| at(*point)).collect();
    }
}

impl Grid {
    fn of(scope: &Scope, layer: &[usize], chains: &[Vec<usize>]) -> Self {
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
            let start = layer.get(edge.from).copied().unwrap_or(0);
            for (point, at) in chain.iter().zip(start + 1..) {
                if let Some(items) = grid.layers.get_mut(at) {
                    items.push(*point);
                }
            }
            let ends = [edge.from].into_iter().chain(chain.iter().copied());
            let nexts = chain.iter().copied().chain([edge.to]);
            // An edge without its points connects no neighbours.
            let end = layer.get(edge.to).copied().unwrap_or(0);
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
