// SPDX-License-Identifier: Apache-2.0
//! Searches the layouts of minimum cost: region by region, then class by class.

use super::LastDimension;
use super::classes::Classes;
use super::cost::Costs;
use super::node::Node;
use crate::ir::generic::Operand;
use crate::structure::Affine;
use std::collections::BTreeSet;

/// Maximum number of passes over all regions. Several are needed because the cost of a region depends on its neighbours.
const ROUNDS: usize = 3;

/// Minimum gain of a change, as a fraction of the cost.
const MIN_GAIN: f64 = 1e-4;

/// The layout of each class.
pub(super) fn best(classes: &Classes, costs: &Costs) -> Vec<LastDimension> {
    let mut layouts = vec![None; classes.members.len()];
    for _ in 0..ROUNDS {
        let before = layouts.clone();
        for region in &classes.regions {
            improve(region, &candidates(classes, costs, region), costs, &mut layouts);
        }
        if layouts == before {
            break;
        }
    }
    // Another layout may be better for a single class at the border of a region.
    for class in 0..layouts.len() {
        if layouts.get(class).copied().flatten().is_some() {
            improve(&[class], &BTreeSet::new(), costs, &mut layouts);
        }
    }
    layouts
}

/// Sets all classes of a region to the layout of minimum cost: their current layouts, row-major, or one of the candidates.
fn improve(region: &[usize], candidates: &BTreeSet<usize>, costs: &Costs, layouts: &mut [LastDimension]) {
    let current = region.iter().map(|class| layouts.get(*class).copied());
    let mut best: Vec<LastDimension> = current.map(Option::unwrap_or_default).collect();
    let mut min_cost = costs.total(region, layouts);
    for candidate in candidates.iter().copied().map(Some).chain([None]) {
        let all = vec![candidate; region.len()];
        set(region, &all, layouts);
        let cost = costs.total(region, layouts);
        if cost < min_cost * (1.0 - MIN_GAIN) {
            (min_cost, best) = (cost, all);
        }
    }
    set(region, &best, layouts);
}

fn set(region: &[usize], new: &[LastDimension], layouts: &mut [LastDimension]) {
    for (class, new) in region.iter().zip(new) {
        if let Some(layout) = layouts.get_mut(*class) {
            *layout = *new;
        }
    }
}

/// Returns the dimensions of a region that may be stored last. Contractions that write the region have vector lanes along such a
/// dimension, if their weights vary along it. Sums of products of bytes run along such a dimension, as groups of bytes must be contiguous.
fn candidates(classes: &Classes, costs: &Costs, region: &[usize]) -> BTreeSet<usize> {
    let mut candidates = BTreeSet::new();
    let nodes: BTreeSet<usize> =
        region.iter().filter_map(|class| classes.touching.get(*class)).flatten().copied().collect();
    let is_in_region = |value| classes.class(value).is_some_and(|c| region.contains(&c));
    for node in nodes.into_iter().filter_map(|n| classes.nodes.get(n)) {
        if costs.sums_groups(node) {
            let operands = node.read_inputs().filter_map(|n| node.nest.operands.get(n));
            let read = operands.filter(|operand| is_in_region(operand.value));
            candidates.extend(read.flat_map(|operand| summed(node, operand)));
        }
        let is_written = node.results().any(is_in_region);
        if !is_written || !node.nest.reduces() {
            continue;
        }
        let is_weights = |n: usize, l| {
            node.constants.get(n) == Some(&true)
                && node.nest.operands.get(n).is_some_and(|operand| operand.varies(l))
        };
        for output in node.nest.outputs() {
            let dimensions = 0..output.shape.len().saturating_sub(1);
            candidates.extend(dimensions.filter(|d| {
                let lanes = node.contiguous(output, Some(*d));
                lanes.is_some_and(|l| node.read_inputs().any(|n| is_weights(n, l)))
            }));
        }
    }
    candidates
}

/// Returns the dimensions of an operand, other than the last one, that a sum runs along.
fn summed<'n>(node: &'n Node, operand: &'n Operand) -> impl Iterator<Item = usize> + 'n {
    let dimensions = 0..operand.shape.len().saturating_sub(1);
    dimensions.filter(|d| {
        let l = operand.forms.get(*d).and_then(Affine::as_index);
        l.is_some_and(|l| node.nest.reductions.get(l) == Some(&true))
    })
}
