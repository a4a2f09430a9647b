// SPDX-License-Identifier: Apache-2.0
//! The differences between the properties of two models that their graphs do not have.

use super::graph::NameMap;
use super::{Change, Detail, Difference, report};
use crate::interface::Interface;
use crate::picture::Picture;
use std::collections::BTreeMap;
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

/// The differences between the interfaces of the graphs. `tensors` has corresponding names of tensors, `dimensions` the names of
/// dimensions of the second graph that the first one has by another name.
pub(super) fn entry(
    models: [&Picture; 2],
    tensors: &[Rc<NameMap>; 2],
    dimensions: &NameMap,
) -> Vec<Difference> {
    let [first, second] = models.map(|model| &model.interface);
    let unchanged = NameMap::new();
    let mut differences = Vec::new();
    differences.extend(order("inputs", &first.inputs, &second.inputs));
    differences.extend(order("outputs", &first.outputs, &second.outputs));
    let named = [(first, &unchanged), (second, dimensions)];
    differences.extend(entries("assertion", named.map(|(own, names)| assertions(own, names))));
    let [one, other] = tensors;
    let quantization = [(first, one), (second, other)].map(|(interface, tensors)| {
        let entries = interface.quantization.iter().map(|(tensor, operator)| {
            let tensor = tensors.get(tensor).unwrap_or(tensor).trim_start_matches('+');
            (tensor.to_owned(), Parts::from([("operator".to_owned(), operator.clone())]))
        });
        entries.collect()
    });
    differences.extend(entries("quantization", quantization));
    differences
}

/// The parts of an item by name.
type Parts = BTreeMap<String, String>;

/// The declarations of the graph that differ, and inputs that only one graph declares, without those of items in `explained`.
pub(super) fn declarations(
    models: [&Picture; 2],
    dimensions: &NameMap,
    explained: &[Difference],
) -> Vec<Difference> {
    let [first, second] = models.map(|model| &model.interface.declarations);
    let is_explained =
        |item: &str, name: &str| explained.iter().any(|found| found.item == item && found.name == name);
    let differences = report::keys(first, second).into_iter().filter_map(|key| {
        let one = first.get(key).map(|declaration| declaration.shown(&NameMap::new()));
        let other = second.get(key).map(|declaration| declaration.shown(dimensions));
        let change = match (&one, &other) {
            (Some(one), Some(other)) if one == other => return None,
            (Some(_), Some(_)) => Change::Changed,
            _ if key.0 != "input" => return None,
            (Some(_), None) => Change::Removed,
            (None, _) => Change::Added,
        };
        let (item, name) = key;
        (!is_explained(item, name))
            .then(|| Difference { change, ..difference(item, name, "declaration", [one, other]) })
    });
    differences.collect()
}

/// The assertions by their conditions, with all messages of a condition.
fn assertions(interface: &Interface, names: &NameMap) -> BTreeMap<String, Parts> {
    let mut assertions: BTreeMap<String, Parts> = BTreeMap::new();
    for [condition, message] in &interface.assertions {
        let messages = assertions.entry(condition.shown(names)).or_default();
        let part = if messages.is_empty() {
            "message".to_owned()
        } else {
            format!("message {}", messages.len() + 1)
        };
        // The message labels each value by its expression.
        let relabeled = names.iter().fold(message.shown(names), |text, (name, new)| {
            text.replace(&format!(" {name} = {{"), &format!(" {new} = {{"))
        });
        messages.insert(part, format!("'{relabeled}'"));
    }
    assertions
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

/// The differences between items with parts.
fn entries(item: &'static str, lists: [BTreeMap<String, Parts>; 2]) -> Vec<Difference> {
    let [first, second] = &lists;
    let differences = report::keys(first, second).into_iter().filter_map(|name| {
        let change = match (first.get(name), second.get(name)) {
            (Some(_), Some(_)) => Change::Changed,
            (Some(_), None) => Change::Removed,
            (None, _) => Change::Added,
        };
        let none = Parts::new();
        let [one, other] = [first, second].map(|list| list.get(name).unwrap_or(&none));
        let details = report::changed_values(one, other, |part| part.clone(), |value| value.clone());
        let name = name.clone();
        (!details.is_empty()).then_some(Difference { change, item, name, locations: [None, None], details })
    });
    differences.collect()
}

fn difference(item: &'static str, name: &str, part: &str, values: [Option<String>; 2]) -> Difference {
    let details = vec![Detail { part: part.to_owned(), values }];
    Difference { change: Change::Changed, item, name: name.to_owned(), locations: [None, None], details }
}
