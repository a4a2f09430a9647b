// SPDX-License-Identifier: Apache-2.0
//! The differences between boxes, variables and definitions that correspond to each other.

use super::graph::{Graph, Operand};
use super::matching::{Pairs, edits};
use super::{Change, Detail, Difference, short};
use crate::picture::{Definition, Kind, Picture};
use similar::DiffTag;
use std::collections::{BTreeMap, BTreeSet};

/// The differences between two graphs.
pub(super) fn graph(a: &Graph, b: &Graph, pairs: &Pairs) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (n, other) in pairs.second.iter().enumerate() {
        match other {
            None => differences.push(alone(a, n, Change::Removed)),
            Some(other) => differences.extend(changed(a, b, pairs, n, *other)),
        }
    }
    for (n, other) in pairs.first.iter().enumerate() {
        if other.is_none() {
            differences.push(alone(b, n, Change::Added));
        }
    }
    differences
}

fn item(graph: &Graph, number: usize) -> &'static str {
    match graph.node(number).kind {
        Kind::Input => "input",
        Kind::Output => "output",
        Kind::Operator | Kind::Control => "operation",
    }
}

fn alone(graph: &Graph, number: usize, change: Change) -> Difference {
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
    note("operator", [Some(a.title(one)), Some(b.title(other))]);
    note("label", [a.label(one), b.label(other)]);
    let [first, second] = [a.attributes(one), b.attributes(other)].map(|list| {
        list.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<BTreeMap<_, _>>()
    });
    for name in first.keys().chain(second.keys()).collect::<BTreeSet<_>>() {
        note(&format!("attribute {name}"), [first.get(name).copied(), second.get(name).copied()]);
    }
    let operands = operands(a, b, pairs, one, other);
    let is_type_of = |kind: Kind| node.kind == kind;
    let types = |graph: &Graph, n: usize, reads: bool| -> Vec<String> {
        let node = graph.node(n);
        let tensors = if reads { &node.inputs } else { &node.outputs };
        tensors.iter().map(|tensor| tensor.r#type.clone()).collect()
    };
    // Types that follow from those of operands are not reported.
    let follows = !is_type_of(Kind::Output) && types(a, one, true) != types(b, other, true);
    let is_last = is_type_of(Kind::Output);
    let [before, after] = [types(a, one, is_last), types(b, other, is_last)];
    if !follows {
        note("type", [Some(&before.join(", ")), Some(&after.join(", "))]);
    }
    details.extend(operands);
    (!details.is_empty()).then(|| Difference {
        change: Change::Changed,
        item: item(a, one),
        name: a.described(one),
        locations: [Some(node.location.clone()), Some(other_node.location.clone())],
        details,
    })
}

/// The operands of two boxes that do not correspond to each other.
fn operands(a: &Graph, b: &Graph, pairs: &Pairs, one: usize, other: usize) -> Vec<Detail> {
    let (first, second) = (a.operands(one), b.operands(other));
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
                values: [
                    values.0.map(|operand| a.operand_text(operand)),
                    values.1.map(|operand| b.operand_text(operand)),
                ],
            });
        }
    }
    details
}

/// The variables that only one model has, or whose types differ.
pub(super) fn variables(models: [&Picture; 2]) -> Vec<Difference> {
    let [first, second] = models.map(|model| {
        let named = model.variables.iter().map(|v| (short(model, &v.name), v.r#type.as_str()));
        named.collect::<BTreeMap<_, _>>()
    });
    let mut differences = Vec::new();
    for name in first.keys().chain(second.keys()).collect::<BTreeSet<_>>() {
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

/// The operators that both models invoke and whose definitions differ.
pub(super) fn definitions(models: [&Picture; 2]) -> Vec<Difference> {
    let [first, second] = models.map(|model| {
        let others = model.instances.iter().enumerate().filter(|(n, _)| *n != model.entry);
        let defined = others.filter_map(|(_, instance)| {
            let definition = model.definitions.get(instance.definition?)?;
            Some((short(model, &instance.name), definition))
        });
        defined.collect::<BTreeMap<&str, &Definition>>()
    });
    let mut differences = Vec::new();
    for (name, one) in &first {
        let Some(other) = second.get(name) else { continue };
        let details = lines(&code(&one.text), &code(&other.text));
        if !details.is_empty() {
            differences.push(Difference {
                change: Change::Changed,
                item: "operator",
                name: (*name).to_owned(),
                locations: [one, other].map(|definition| Some(definition.location.clone())),
                details,
            });
        }
    }
    differences
}

/// The lines of a definition without comments and indentation.
fn code(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let code = line.split_once('#').filter(|(code, _)| code.matches(['"', '\'']).count() % 2 == 0);
        let code = code.map_or(line, |(code, _)| code);
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// The lines that differ; none if the texts differ only in their layout.
fn lines(first: &[String], second: &[String]) -> Vec<Detail> {
    let [one, other] = [first, second].map(|lines| lines.concat().replace(' ', ""));
    if one == other {
        return Vec::new();
    }
    let changed = edits(first, second).into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let details = changed.map(|operation| {
        let lines = [first.get(operation.old_range()), second.get(operation.new_range())];
        let values = lines.map(|lines| lines.filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")));
        Detail { part: "formula".to_owned(), values }
    });
    details.collect()
}
