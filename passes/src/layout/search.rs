// SPDX-License-Identifier: Apache-2.0
//! Searches the layouts of least cost: region by region, then class by class.

use super::Last;
use super::classes::Classes;
use super::cost::Costs;
use super::node::{Node, Operand};
use crate::structure::Affine;
use std::collections::BTreeSet;

/// How many times all regions are looked at: the cost of one depends on its neighbours.
const ROUNDS: usize = 3;

/// The share of the cost that a change gains at least.
const GAIN: f64 = 1e-4;

/// The layout of each class.
pub(super) fn best(classes: &Classes, costs: &Costs) -> Vec<Last> {
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
    // Classes at a border may do better on their own.
    for class in 0..layouts.len() {
        if layouts.get(class).copied().flatten().is_some() {
            improve(&[class], &BTreeSet::new(), costs, &mut layouts);
        }
    }
    layouts
}

/// Gives all classes the layout that costs least: the one they have, row-major, or one of the candidates.
fn improve(region: &[usize], candidates: &BTreeSet<usize>, costs: &Costs, layouts: &mut [Last]) {
    let own = region.iter().map(|class| layouts.get(*class).copied());
    let mut best: Vec<Last> = own.map(Option::unwrap_or_default).collect();
    let mut least = costs.of(region, layouts);
    for candidate in candidates.iter().copied().map(Some).chain([None]) {
        let all = vec![candidate; region.len()];
        set(region, &all, layouts);
        let cost = costs.of(region, layouts);
        if cost < least * (1.0 - GAIN) {
            (least, best) = (cost, all);
        }
    }
    set(region, &best, layouts);
}

fn set(region: &[usize], own: &[Last], layouts: &mut [Last]) {
    for (class, own) in region.iter().zip(own) {
        if let Some(layout) = layouts.get_mut(*class) {
            *layout = *own;
        }
    }
}

/// The dimensions that contractions write a region along with weights that vary along them, and those that sums of products of bytes
/// run along: groups of bytes must be contiguous.
fn candidates(classes: &Classes, costs: &Costs, region: &[usize]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let nodes: BTreeSet<usize> =
        region.iter().filter_map(|class| classes.touching.get(*class)).flatten().copied().collect();
    let is_own = |value| classes.class(value).is_some_and(|c| region.contains(&c));
    for node in nodes.into_iter().filter_map(|n| classes.nodes.get(n)) {
        if costs.sums_groups(node) {
            let read = node.read().filter(|own| is_own(own.value));
            found.extend(read.flat_map(|own| summed(node, own)));
        }
        let is_written = node.results().any(is_own);
        if !is_written || !node.reductions.contains(&true) {
            continue;
        }
        for output in node.outputs() {
            let dimensions = 0..output.extents.len().saturating_sub(1);
            found.extend(dimensions.filter(|d| {
                let lanes = output.contiguous(Some(*d), node.parallels());
                let is_of_weights = |l| node.read().any(|o| o.is_constant && o.varies(l));
                lanes.is_some_and(is_of_weights)
            }));
        }
    }
    found
}

/// The dimensions of an operand that a sum runs along, other than the last one.
fn summed<'n>(node: &'n Node, operand: &'n Operand) -> impl Iterator<Item = usize> + 'n {
    let dimensions = 0..operand.extents.len().saturating_sub(1);
    dimensions.filter(|d| {
        let l = operand.subscripts.get(*d).and_then(Affine::as_index);
        l.is_some_and(|l| node.reductions.get(l) == Some(&true))
    })
}
