// SPDX-License-Identifier: Apache-2.0
//! The differences between two models, by their pictures.
//!
//! Operations are matched by structure: first those that compute the same from the same, then by labels, names of nodes and variables,
//! then by the operations around them, and at last by their order. Names of tensors and the order of independent operations are no
//! differences. A difference is reported where it begins: the types of tensors that follow from a change are not reported.

mod blocks;
mod definitions;
mod dimensions;
mod graph;
mod interface;
mod matching;
mod names;
mod report;

use crate::picture::Picture;
use dimensions::Dimensions;
use graph::{Graph, Level, NameMap};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
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
    let mut comparison = Comparison {
        models,
        found: interface::modules(models),
        repeated: HashSet::new(),
        compared: BTreeSet::new(),
        explained: BTreeSet::new(),
        within: None,
        has_other_bounds: false,
    };
    if let [Some(a), Some(b)] = scopes {
        comparison.scopes([a, b], Level::Entry, Default::default(), NameMap::new());
    }
    let mut all = comparison.found;
    all.extend(report::variables(models));
    all.extend(definitions::changed(models, &comparison.explained));
    all
}

/// The comparison of the graphs of two models.
struct Comparison<'p> {
    models: [&'p Picture; 2],
    found: Vec<Difference>,
    /// Those inside operators, which instances share.
    repeated: HashSet<Difference>,
    /// The instances of composite operators that were compared.
    compared: BTreeSet<[usize; 2]>,
    /// The composite operators whose graphs differ.
    explained: BTreeSet<&'p str>,
    /// The composite operator whose graph is compared.
    within: Option<&'p str>,
    /// Whether an upper bound of a dimension differs.
    has_other_bounds: bool,
}

impl<'p> Comparison<'p> {
    /// Adds the differences between two graphs, those between the blocks of branches and loops that both have, and those inside of
    /// composite operators. `tensors` and `names` have the tensors and the dimensions of the graph around a block.
    fn scopes(&mut self, scopes: [usize; 2], level: Level, tensors: [Rc<NameMap>; 2], mut names: NameMap) {
        let ([first, second], [one, other], [left, right]) = (self.models, scopes, tensors);
        let (Some(mut a), Some(mut b)) = (Graph::new(first, one, level), Graph::new(second, other, level))
        else {
            return;
        };
        (a.tensors, b.tensors) = (left, right);
        let dimensions = Dimensions::new(&a, &b);
        names.extend(dimensions.names());
        b.dimensions = names;
        self.has_other_bounds |= dimensions.has_other_bounds();
        (a.has_other_bounds, b.has_other_bounds) = (self.has_other_bounds, self.has_other_bounds);
        let pairs = matching::pairs(&a, &b);
        let tensors = names::inside(&a, &b, &pairs);
        if level == Level::Entry {
            self.add(dimensions.differences());
            self.add(report::entry(self.models));
            self.add(interface::entry(self.models, &tensors, &b.dimensions));
        }
        self.add(report::graph(&a, &b, &pairs));
        if level == Level::Entry {
            self.add(interface::declarations(self.models, &b.dimensions, &self.found));
        }
        for (one, other) in pairs.matched() {
            self.blocks([&a, &b], [one, other], &tensors);
            self.composite([&a, &b], [one, other]);
        }
    }

    /// Adds differences that no other instance of the same operator has.
    fn add(&mut self, differences: Vec<Difference>) {
        for mut difference in differences {
            if let Some(operator) = self.within {
                difference.name = format!("{} in {operator}", difference.name);
                self.explained.insert(operator);
                if !self.repeated.insert(difference.clone()) {
                    continue;
                }
            }
            self.found.push(difference);
        }
    }

    /// Compares the blocks of two branches or loops.
    fn blocks(&mut self, graphs: [&Graph<'p>; 2], boxes: [usize; 2], tensors: &[Rc<NameMap>; 2]) {
        for (pair, title) in blocks::aligned(graphs, boxes, tensors) {
            let change = match pair {
                [Some(one), Some(other)] => {
                    let (names, known) = (graphs[1].dimensions.clone(), self.found.len());
                    self.scopes([one, other], Level::Block, tensors.clone(), names);
                    let place = format!(" of {title} of {}", graphs[0].described(boxes[0]));
                    let results = self.found.iter_mut().skip(known).filter(|found| found.item == "result");
                    results
                        .filter(|found| !found.name.contains(" of "))
                        .for_each(|found| found.name += &place);
                    continue;
                }
                [Some(_), None] => Change::Removed,
                _ => Change::Added,
            };
            let [a, b] = graphs;
            let (graph, number) = if change == Change::Removed { (a, boxes[0]) } else { (b, boxes[1]) };
            let mut difference = report::alone(graph, number, change);
            difference.item = "block";
            difference.name = format!("{title} of {}", difference.name);
            self.add(vec![difference]);
        }
    }

    /// Compares the graphs of a composite operator that both models invoke with the same attributes and types.
    fn composite(&mut self, [a, b]: [&Graph<'p>; 2], [one, other]: [usize; 2]) {
        let types = |graph: &Graph, n: usize| -> Vec<String> {
            graph.node(n).inputs.iter().map(|tensor| graph.type_of(tensor)).collect()
        };
        let is_same = a.title(one) == b.title(other)
            && a.attributes(one) == b.attributes(other)
            && types(a, one) == types(b, other);
        let (Some(first), Some(second)) = (a.node(one).instance, b.node(other).instance) else { return };
        let scope = |model: &Picture, instance: usize| model.instances.get(instance)?.scope;
        if let (Some(one_scope), Some(other_scope)) = (scope(a.model, first), scope(b.model, second))
            && is_same
            && self.compared.insert([first, second])
        {
            let outside = self.within.replace(a.title(one));
            self.scopes([one_scope, other_scope], Level::Composite, Default::default(), NameMap::new());
            self.within = outside;
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
