// SPDX-License-Identifier: Apache-2.0
//! The names of tensors that blocks read from outside: corresponding tensors have the same name in a comparison.

use super::graph::{Graph, Level, NameMap, local};
use super::matching::Pairs;
use std::rc::Rc;

/// The names of the tensors of two graphs and of the blocks around them.
pub(super) fn inside(a: &Graph, b: &Graph, pairs: &Pairs) -> [Rc<NameMap>; 2] {
    let has_blocks = |graph: &Graph| graph.nodes().iter().any(|node| !node.inside.is_empty());
    if !has_blocks(a) && !has_blocks(b) && a.level != Level::Entry {
        return Default::default();
    }
    let [mut first, mut second] = [a, b].map(|graph| NameMap::clone(&graph.tensors));
    for name in a.nodes().iter().flat_map(|node| &node.outputs).map(local) {
        first.entry(name.to_owned()).or_insert_with(|| name.to_owned());
    }
    for (node, partner) in b.nodes().iter().zip(&pairs.first) {
        let partner = partner.map(|partner| &a.node(partner).outputs);
        for (position, name) in node.outputs.iter().map(local).enumerate() {
            let other = partner.and_then(|outputs| outputs.get(position)).map(local);
            let name_in_first = other.filter(|other| !other.is_empty()).and_then(|other| first.get(other));
            // No name of the first model begins with this sign.
            let new = name_in_first.map_or_else(|| format!("+{name}"), Clone::clone);
            second.entry(name.to_owned()).or_insert(new);
        }
    }
    [first, second].map(|mut names| {
        names.remove("");
        Rc::new(names)
    })
}
