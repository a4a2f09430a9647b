// SPDX-License-Identifier: Apache-2.0
//! The differences between the properties of two models that their graphs do not have.

use super::graph::NameMap;
use super::{Change, Detail, Difference};
use crate::picture::Picture;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The modules of both models with different editions.
pub(super) fn modules(models: [&Picture; 2]) -> Vec<Difference> {
    let [first, second] = models.map(|model| &model.interface.editions);
    let both = first.iter().filter_map(|(name, edition)| Some((name, edition, second.get(name)?)));
    let changed = both.filter(|(_, edition, other)| edition != other);
    let differences = changed.map(|(name, edition, other)| {
        let values = [edition, other].map(|edition| Some((*edition).to_owned()));
        let name = if name.is_empty() { "main" } else { name };
        difference("module", name, "edition", values)
    });
    differences.collect()
}

/// The differences between the interfaces of the graphs. `tensors` has corresponding names of tensors.
pub(super) fn entry(models: [&Picture; 2], tensors: &[Rc<NameMap>; 2]) -> Vec<Difference> {
    let [first, second] = models.map(|model| &model.interface);
    let mut differences = Vec::new();
    differences.extend(order("inputs", &first.inputs, &second.inputs));
    differences.extend(order("outputs", &first.outputs, &second.outputs));
    differences.extend(entries("input", "default", [first.defaults.clone(), second.defaults.clone()]));
    let [one, other] = tensors;
    let quantization = [(first, one), (second, other)].map(|(interface, tensors)| {
        let entries = interface.quantization.iter().map(|(tensor, operator)| {
            let tensor = tensors.get(tensor).unwrap_or(tensor).trim_start_matches('+');
            (tensor.to_owned(), operator.clone())
        });
        entries.collect()
    });
    differences.extend(entries("quantization", "operator", quantization));
    differences
}

/// The order of the names that both lists have, if it differs.
fn order(item: &'static str, first: &[String], second: &[String]) -> Option<Difference> {
    let common = |list: &[String], other: &[String]| -> Vec<String> {
        list.iter().filter(|name| other.contains(name)).cloned().collect()
    };
    let (one, other) = (common(first, second), common(second, first));
    (one != other)
        .then(|| difference(item, "of the graph", "order", [one, other].map(|list| Some(list.join(", ")))))
}

/// The differences between values by name.
fn entries(item: &'static str, part: &str, lists: [BTreeMap<String, String>; 2]) -> Vec<Difference> {
    let names: BTreeSet<&String> = lists.iter().flat_map(BTreeMap::keys).collect();
    let values = names.into_iter().map(|name| (name, lists.each_ref().map(|list| list.get(name).cloned())));
    let changed = values.filter(|(_, values)| values[0] != values[1]);
    changed.map(|(name, values)| difference(item, name, part, values)).collect()
}

fn difference(item: &'static str, name: &str, part: &str, values: [Option<String>; 2]) -> Difference {
    let change = match values {
        [None, _] if item == "quantization" => Change::Added,
        [_, None] if item == "quantization" => Change::Removed,
        _ => Change::Changed,
    };
    let details = vec![Detail { part: part.to_owned(), values }];
    Difference { change, item, name: name.to_owned(), locations: [None, None], details }
}
