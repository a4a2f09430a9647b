// SPDX-License-Identifier: Apache-2.0
//! The differences between boxes and variables that correspond to each other.

use super::graph::{self, Attributes, Graph, Level, Operand};
use super::matching::Pairs;
use super::{Change, Detail, Difference, short};
use crate::picture::{Kind, Picture};
use std::collections::{BTreeMap, BTreeSet};

/// The differences between two graphs.
pub(super) fn graph(a: &Graph, b: &Graph, pairs: &Pairs) -> Vec<Difference> {
    let mut differences = Vec::new();
    // A tensor from outside of a block is reported at the operations that read it.
    let is_reported =
        |graph: &Graph, n: usize| graph.level != Level::Block || graph.node(n).kind != Kind::Input;
    for (n, other) in pairs.second.iter().enumerate() {
        match other {
            None if is_reported(a, n) => differences.push(alone(a, n, Change::Removed)),
            None => {}
            Some(other) => differences.extend(changed(a, b, pairs, n, *other)),
        }
    }
    for (n, other) in pairs.first.iter().enumerate() {
        if other.is_none() && is_reported(b, n) {
            differences.push(alone(b, n, Change::Added));
        }
    }
    differences
}

fn item(graph: &Graph, number: usize) -> &'static str {
    match graph.node(number).kind {
        Kind::Input => "input",
        Kind::Output if graph.level == Level::Block => "result",
        Kind::Output => "output",
        Kind::Operator | Kind::Control => "operation",
    }
}

pub(super) fn alone(graph: &Graph, number: usize, change: Change) -> Difference {
    let location = Some(graph.node(number).location.clone());
    let locations = if change == Change::Removed { [location, None] } else { [None, location] };
    Difference {
        change,
        item: item(graph, number),
        name: graph.described(number),
        locations,
        details: Vec::new(),
    }
}

/// The differences between two boxes, if there are any.
fn changed(a: &Graph, b: &Graph, pairs: &Pairs, one: usize, other: usize) -> Option<Difference> {
    let mut details = Vec::new();
    let mut note = |part: &str, values: [Option<&str>; 2]| {
        if values[0] != values[1] {
            let texts = values.map(|value| value.map(str::to_owned));
            details.push(Detail { part: part.to_owned(), values: texts });
        }
    };
    let (node, other_node) = (a.node(one), b.node(other));
    if a.is_operation(one) {
        note("operator", [Some(a.operator(one)), Some(b.operator(other))]);
    }
    note("label", [a.label(one), b.label(other)]);
    details.extend(attributes([a.attributes(one), b.attributes(other)]));
    let [first, second] = [a.unseen(one), b.unseen(other)];
    details.extend(changed_values(&first, &second, |name| (*name).to_owned(), String::clone));
    details.extend(types(a, b, one, other));
    details.extend(operands(a, b, pairs, one, other));
    (!details.is_empty()).then(|| Difference {
        change: Change::Changed,
        item: item(a, one),
        name: a.described(one),
        locations: [Some(node.location.clone()), Some(other_node.location.clone())],
        details,
    })
}

/// The differences between the attributes of the graphs of two models.
pub(super) fn entry(models: [&Picture; 2]) -> Vec<Difference> {
    let lists = models.map(|model| model.instances.get(model.entry).map_or_else(Vec::new, graph::attributes));
    let details = attributes(lists);
    let name = "of the model".to_owned();
    let difference =
        Difference { change: Change::Changed, item: "graph", name, locations: [None, None], details };
    if difference.details.is_empty() { Vec::new() } else { vec![difference] }
}

/// The keys of both maps in order.
pub(super) fn keys<'m, K: Ord, V>(first: &'m BTreeMap<K, V>, second: &'m BTreeMap<K, V>) -> BTreeSet<&'m K> {
    first.keys().chain(second.keys()).collect()
}

/// The values that differ, by key.
pub(super) fn changed_values<K: Ord, V: PartialEq>(
    first: &BTreeMap<K, V>,
    second: &BTreeMap<K, V>,
    part: impl Fn(&K) -> String,
    text: impl Fn(&V) -> String,
) -> Vec<Detail> {
    let changed = keys(first, second).into_iter().filter(|key| first.get(key) != second.get(key));
    let details = changed.map(|key| {
        let texts = [first, second].map(|list| list.get(key).map(&text));
        Detail { part: part(key), values: distinct(texts) }
    });
    details.collect()
}

/// The attributes that differ.
fn attributes(lists: [Attributes; 2]) -> Vec<Detail> {
    let [first, second] = lists.map(|list| list.into_iter().collect::<BTreeMap<_, _>>());
    changed_values(&first, &second, |name| format!("attribute {name}"), |(text, _)| (*text).to_owned())
}

/// Texts of different values. Equal texts are truncated at the same elements.
fn distinct(texts: [Option<String>; 2]) -> [Option<String>; 2] {
    match texts {
        [Some(one), Some(other)] if one == other => {
            [Some(one), Some(format!("{other} with other elements after these"))]
        }
        texts => texts,
    }
}

/// The types of two boxes that differ, except those that follow from the types of other tensors.
fn types(a: &Graph, b: &Graph, one: usize, other: usize) -> Option<Detail> {
    let kind = a.node(one).kind;
    let tensors = |graph: &Graph<'_>, n: usize, reads: bool| -> Vec<(String, String)> {
        let node = graph.node(n);
        let tensors = if reads { &node.inputs } else { &node.outputs };
        tensors.iter().map(|tensor| (graph.type_of(tensor), tensor.r#type.clone())).collect()
    };
    let compared =
        |types: &[(String, String)]| types.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let reads = [tensors(a, one, true), tensors(b, other, true)];
    let follows = match kind {
        Kind::Input | Kind::Output => a.level != Level::Entry,
        Kind::Operator | Kind::Control => compared(&reads[0]) != compared(&reads[1]),
    };
    let results =
        if kind == Kind::Output { reads } else { [tensors(a, one, false), tensors(b, other, false)] };
    if follows || compared(&results[0]) == compared(&results[1]) {
        return None;
    }
    let text = |types: Vec<(String, String)>| {
        types.into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join(", ")
    };
    Some(Detail { part: "type".to_owned(), values: results.map(|types| Some(text(types))) })
}

/// The operands of two boxes that do not correspond to each other, without the tensors that only blocks read.
fn operands(a: &Graph, b: &Graph, pairs: &Pairs, one: usize, other: usize) -> Vec<Detail> {
    let read = |graph: &Graph, n: usize| -> Vec<Operand> {
        graph.operands(n).iter().take(graph.node(n).operands).cloned().collect()
    };
    let (first, second) = (read(a, one), read(b, other));
    let mut details = Vec::new();
    for position in 0..first.len().max(second.len()) {
        let values = (first.get(position), second.get(position));
        let is_same = match values {
            (Some(Operand::Result(p, n)), Some(Operand::Result(q, m))) => {
                n == m && pairs.second.get(*p) == Some(&Some(*q))
            }
            (p, q) => p == q,
        };
        if !is_same {
            let name = [(a, one), (b, other)].into_iter().find_map(|(graph, n)| {
                let tensor = graph.node(n).inputs.get(position)?;
                let port = tensor.name.split_once(" = ").map(|(port, _)| port.to_owned());
                port.filter(|port| !port.is_empty())
            });
            details.push(Detail {
                part: name.map_or_else(|| "operand".to_owned(), |name| format!("operand {name}")),
                values: operand_texts([a, b], values),
            });
        }
    }
    details
}

/// The texts of operands that differ.
fn operand_texts([a, b]: [&Graph; 2], operands: (Option<&Operand>, Option<&Operand>)) -> [Option<String>; 2] {
    let [one, other] = [operands.0.map(|own| a.operand_text(own)), operands.1.map(|own| b.operand_text(own))];
    match operands {
        // Different results may have equal texts.
        (Some(Operand::Result(..)), Some(Operand::Result(..))) if one == other => {
            [one, other.map(|text| format!("another {text}"))]
        }
        _ => distinct([one, other]),
    }
}

/// The variables that only one model has, or whose types differ.
pub(super) fn variables(models: [&Picture; 2]) -> Vec<Difference> {
    let [first, second] = models.map(|model| {
        let named = model.variables.iter().map(|v| (short(model, &v.name), v.r#type.as_str()));
        named.collect::<BTreeMap<_, _>>()
    });
    let mut differences = Vec::new();
    for name in keys(&first, &second) {
        let types = [first.get(name), second.get(name)];
        if types[0] == types[1] {
            continue;
        }
        let change = match types {
            [None, _] => Change::Added,
            [_, None] => Change::Removed,
            _ => Change::Changed,
        };
        let detail = Detail { part: "type".to_owned(), values: types.map(|t| t.map(|t| (*t).to_owned())) };
        differences.push(Difference {
            change,
            item: "weight",
            name: (*name).to_owned(),
            locations: [None, None],
            details: vec![detail],
        });
    }
    differences
}
