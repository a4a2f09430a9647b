// SPDX-License-Identifier: Apache-2.0
//! The differences between two models, by their pictures.
//!
//! Operations are matched by structure: first those that compute the same from the same, then by labels, names of nodes and variables,
//! then by the operations around them, and at last by their order. Names of tensors and the order of independent operations are no
//! differences. A difference is reported where it begins: the types of tensors that follow from a change are not reported.

mod graph;
mod matching;
mod report;

use crate::picture::Picture;
use graph::Graph;
use serde::Serialize;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the second model has the item.
    Added,
    /// Only the first model has the item.
    Removed,
    /// Both models have the item.
    Changed,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The kind.
    pub change: Change,
    /// The kind of the item, such as `operation` or `input`.
    pub item: &'static str,
    /// The item, as the model in which it is describes it.
    pub name: String,
    /// The locations of the item in both models.
    pub locations: [Option<String>; 2],
    /// The parts of a changed item that differ.
    pub details: Vec<Detail>,
}

/// A part of an item that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The part, such as `attribute stride`.
    pub part: String,
    /// Its values in both models; `None` where it does not exist.
    pub values: [Option<String>; 2],
}

/// The differences between the graphs, the interfaces and the formulas of two models, without those of weights.
pub fn differences(first: &Picture, second: &Picture) -> Vec<Difference> {
    let models = [first, second];
    let scopes = models.map(|model| model.instances.get(model.entry).and_then(|entry| entry.scope));
    let mut all = Vec::new();
    if let [Some(a), Some(b)] = scopes {
        compare(models, [a, b], &mut all);
    }
    all.extend(report::variables(models));
    all.extend(report::definitions(models));
    all
}

/// Adds the differences between two graphs, and those between the blocks of branches and loops that both have.
fn compare(models: [&Picture; 2], scopes: [usize; 2], found: &mut Vec<Difference>) {
    let ([first, second], [one, other]) = (models, scopes);
    let (Some(a), Some(b)) = (Graph::new(first, one), Graph::new(second, other)) else { return };
    let pairs = matching::pairs(&a, &b);
    found.extend(report::graph(&a, &b, &pairs));
    for (first, second) in pairs.matched() {
        for (one, other) in a.node(first).inside.iter().zip(&b.node(second).inside) {
            compare(models, [one.scope, other.scope], found);
        }
    }
}

/// The name of a variable or an operator without the name of the main module, which follows from the name of the file.
pub fn short<'n>(model: &Picture, name: &'n str) -> &'n str {
    let module = model.name.rsplit_once('.').map_or("", |(module, _)| module);
    let graph = name.strip_prefix(model.name.as_str()).and_then(|name| name.strip_prefix('.'));
    let item = || name.strip_prefix(module).and_then(|name| name.strip_prefix('.'));
    graph.or_else(item).unwrap_or(name)
}
