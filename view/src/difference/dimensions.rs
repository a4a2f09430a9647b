// SPDX-License-Identifier: Apache-2.0
//! The dynamic dimensions of two functions that correspond to each other.

use super::graph::Graph;
use super::{Change, Detail, Difference};
use crate::picture::{Kind, Tensor};
use crate::text::Dimension;
use std::collections::{BTreeMap, BTreeSet};

/// A dimension: its name and its upper bound.
type Dynamic<'p> = (&'p str, u64);

/// The dimensions of the inputs of two functions.
pub(super) struct Dimensions<'p> {
    /// Dimensions at the same positions of inputs that correspond to each other one to one.
    pairs: Vec<[Dynamic<'p>; 2]>,
    /// Other dimensions that have the same name in both.
    others: Vec<[Dynamic<'p>; 2]>,
}

impl<'p> Dimensions<'p> {
    pub(super) fn new(a: &Graph<'p>, b: &Graph<'p>) -> Self {
        let [first, second] = [a, b].map(inputs);
        let mut together: BTreeSet<[Dynamic; 2]> = BTreeSet::new();
        for (name, one) in &first {
            let Some(other) = second.get(name) else { continue };
            if one.structure.extents.len() != other.structure.extents.len() {
                continue;
            }
            let extents = one.structure.extents.iter().zip(&other.structure.extents);
            together.extend(extents.filter_map(|(one, other)| Some([dynamic(one)?, dynamic(other)?])));
        }
        let is_single = |pair: &[Dynamic; 2]| {
            let is_other = |other: &&[Dynamic; 2]| (pair[0].0 == other[0].0) != (pair[1].0 == other[1].0);
            !together.iter().any(|other| is_other(&other))
        };
        let pairs: Vec<[Dynamic; 2]> = together.iter().filter(|pair| is_single(pair)).copied().collect();
        let bounds = [&first, &second].map(|inputs| {
            let extents = inputs.values().flat_map(|tensor| &tensor.structure.extents);
            extents.filter_map(dynamic).collect::<BTreeMap<&str, u64>>()
        });
        let is_paired = |name: &str| pairs.iter().any(|[one, other]| one.0 == name || other.0 == name);
        let same_name = bounds[0].iter().filter(|(name, _)| !is_paired(name));
        let both =
            same_name.filter_map(|(name, bound)| Some([(*name, *bound), (*name, *bounds[1].get(name)?)]));
        let others: Vec<[Dynamic; 2]> = both.collect();
        Dimensions { pairs, others }
    }

    /// The dimensions of the second function with other names, and their names in the first one.
    pub(super) fn names(&self) -> BTreeMap<String, String> {
        let renamed = self.pairs.iter().filter(|[(n, _), (m, _)]| n != m);
        renamed.map(|[(n, _), (m, _)]| ((*m).to_owned(), (*n).to_owned())).collect()
    }

    /// Whether an upper bound differs.
    pub(super) fn has_other_bounds(&self) -> bool {
        self.all().any(|[(_, bound), (_, other)]| bound != other)
    }

    /// The dimensions with other names or other upper bounds.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let changed = self.all().filter(|[first, second]| first != second);
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

    fn all(&self) -> impl Iterator<Item = &[Dynamic<'p>; 2]> {
        self.pairs.iter().chain(&self.others)
    }
}

/// The dimension that an extent is.
fn dynamic(extent: &Dimension) -> Option<Dynamic<'_>> {
    match extent {
        Dimension::Dynamic(Some(name), bound) => Some((name, *bound)),
        _ => None,
    }
}

/// The inputs of a graph by name.
fn inputs<'p>(graph: &Graph<'p>) -> BTreeMap<&'p str, &'p Tensor> {
    let inputs = graph.nodes().iter().filter(|node| node.kind == Kind::Input);
    inputs.filter_map(|node| Some((node.title.as_str(), node.outputs.first()?))).collect()
}
