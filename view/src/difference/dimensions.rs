// SPDX-License-Identifier: Apache-2.0
//! The dynamic dimensions of two functions that correspond to each other.

use super::graph::Graph;
use super::{Change, Detail, Difference};
use crate::picture::{Kind, Tensor};
use crate::text::Dimension;
use std::collections::{BTreeMap, BTreeSet};

/// Names of dimensions of both functions at the same positions of their inputs, with upper bounds.
pub(super) struct Dimensions<'p>(Vec<[(&'p str, u64); 2]>);

impl<'p> Dimensions<'p> {
    /// The dimensions that correspond to each other one to one.
    pub(super) fn new(a: &Graph<'p>, b: &Graph<'p>) -> Self {
        let [first, second] = [a, b].map(inputs);
        let mut pairs: BTreeSet<[(&str, u64); 2]> = BTreeSet::new();
        for (name, one) in &first {
            let Some(other) = second.get(name) else { continue };
            if one.structure.extents.len() != other.structure.extents.len() {
                continue;
            }
            for extents in one.structure.extents.iter().zip(&other.structure.extents) {
                if let (Dimension::Dynamic(Some(n), bound), Dimension::Dynamic(Some(m), other)) = extents {
                    pairs.insert([(n, *bound), (m, *other)]);
                }
            }
        }
        let is_single = |pair: &[(&str, u64); 2]| {
            let is_other = |other: &&[(&str, u64); 2]| (pair[0].0 == other[0].0) != (pair[1].0 == other[1].0);
            !pairs.iter().any(|other| is_other(&other))
        };
        Dimensions(pairs.iter().filter(|pair| is_single(pair)).copied().collect())
    }

    /// The dimensions of the second function with other names, and their names in the first one.
    pub(super) fn renamed(&self) -> BTreeMap<String, String> {
        let renamed = self.0.iter().filter(|[(n, _), (m, _)]| n != m);
        renamed.map(|[(n, _), (m, _)]| ((*m).to_owned(), (*n).to_owned())).collect()
    }

    /// The dimensions with other names or other upper bounds.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let changed = self.0.iter().filter(|[first, second]| first != second);
        let differences = changed.map(|[(n, bound), (m, other)]| {
            let values = [bound, other].map(|bound| Some(bound.to_string()));
            let bounds = (bound != other).then(|| Detail { part: "upper bound".to_owned(), values });
            Difference {
                change: Change::Changed,
                item: "dimension",
                name: if n == m { format!("`{n}`") } else { format!("`{n}` renamed to `{m}`") },
                locations: [None, None],
                details: bounds.into_iter().collect(),
            }
        });
        differences.collect()
    }
}

/// The inputs of a graph by name.
fn inputs<'p>(graph: &Graph<'p>) -> BTreeMap<&'p str, &'p Tensor> {
    let inputs = graph.nodes().iter().filter(|node| node.kind == Kind::Input);
    inputs.filter_map(|node| Some((node.title.as_str(), node.outputs.first()?))).collect()
}
