// SPDX-License-Identifier: Apache-2.0
//! Finds the boxes of two graphs that correspond to each other.

use super::graph::{Graph, Operand};
use crate::picture::Kind;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The maximum product of the lengths of sequences whose longest common subsequence is computed.
const MOST: usize = 4_000_000;

/// Corresponding boxes.
pub(super) struct Pairs {
    /// For each box of the first graph, that of the second one.
    pub(super) second: Vec<Option<usize>>,
    /// For each box of the second graph, that of the first one.
    pub(super) first: Vec<Option<usize>>,
}

impl Pairs {
    pub(super) fn matched(&self) -> Vec<(usize, usize)> {
        self.second.iter().enumerate().filter_map(|(a, b)| Some((a, (*b)?))).collect()
    }

    fn is_free(&self, a: usize, b: usize) -> bool {
        self.second.get(a) == Some(&None) && self.first.get(b) == Some(&None)
    }

    fn add(&mut self, a: usize, b: usize) {
        if self.is_free(a, b) {
            self.second[a] = Some(b);
            self.first[b] = Some(a);
        }
    }
}

/// The corresponding boxes of two graphs.
pub(super) fn pairs(a: &Graph, b: &Graph) -> Pairs {
    let mut pairs = Pairs { second: vec![None; a.nodes().len()], first: vec![None; b.nodes().len()] };
    equal(a, b, &mut pairs);
    let ports = |graph: &Graph, n: usize| {
        (!graph.is_operation(n)).then(|| (graph.node(n).kind == Kind::Input, graph.title(n).to_owned()))
    };
    unique(a, b, &mut pairs, ports);
    unique(a, b, &mut pairs, |graph, n| graph.node(n).label.clone());
    unique(a, b, &mut pairs, |graph, n| {
        graph.node(n).note.clone().map(|note| (graph.title(n).to_owned(), note))
    });
    unique(a, b, &mut pairs, |graph, n| {
        let variables: Vec<Operand> =
            graph.operands(n).iter().filter(|o| matches!(o, Operand::Variable(_))).cloned().collect();
        (!variables.is_empty()).then(|| (graph.title(n).to_owned(), variables))
    });
    around(a, b, &mut pairs);
    in_order(a, b, &mut pairs);
    around(a, b, &mut pairs);
    pairs
}

/// Matches boxes that compute the same from the same inputs, constants and variables.
fn equal(a: &Graph, b: &Graph, pairs: &mut Pairs) {
    // Equal structures have equal numbers in both graphs.
    let mut numbers: HashMap<Structure, usize> = HashMap::new();
    let [first, second] = [a, b].map(|graph| {
        let mut keys: Vec<usize> = Vec::new();
        for n in 0..graph.nodes().len() {
            let operands = graph.operands(n).iter().map(|operand| match operand {
                Operand::Result(maker, result) => {
                    Operand::Result(keys.get(*maker).copied().unwrap_or(*maker), *result)
                }
                other => other.clone(),
            });
            let kind = match graph.node(n).kind {
                Kind::Input => 0,
                Kind::Output => 1,
                Kind::Operator | Kind::Control => 2,
            };
            let types = graph.node(n).outputs.iter().map(|tensor| tensor.r#type.clone()).collect();
            let structure = Structure {
                kind,
                title: graph.title(n).to_owned(),
                attributes: graph.attributes(n).to_vec(),
                types,
                operands: operands.collect(),
            };
            let next = numbers.len();
            keys.push(*numbers.entry(structure).or_insert(next));
        }
        keys
    });
    let mut candidates: HashMap<usize, Vec<usize>> = HashMap::new();
    for (n, key) in second.iter().enumerate().rev() {
        candidates.entry(*key).or_default().push(n);
    }
    for (n, key) in first.iter().enumerate() {
        if let Some(other) = candidates.get_mut(key).and_then(Vec::pop) {
            pairs.add(n, other);
        }
    }
}

/// A box with the structure that computes its operands, by number.
#[derive(PartialEq, Eq, Hash)]
struct Structure {
    kind: u8,
    title: String,
    attributes: Vec<(String, String)>,
    types: Vec<String>,
    operands: Vec<Operand>,
}

/// Matches boxes with a key that no other unmatched box of either graph has.
fn unique<K: Ord>(a: &Graph, b: &Graph, pairs: &mut Pairs, key: impl Fn(&Graph, usize) -> Option<K>) {
    let [first, second] = [(a, &pairs.second), (b, &pairs.first)].map(|(graph, taken)| {
        let mut keys: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for n in (0..graph.nodes().len()).filter(|n| taken[*n].is_none()) {
            if let Some(key) = key(graph, n) {
                keys.entry(key).or_default().push(n);
            }
        }
        keys
    });
    for (key, boxes) in first {
        if let ([one], Some([other])) = (boxes.as_slice(), second.get(&key).map(Vec::as_slice))
            && a.is_operation(*one) == b.is_operation(*other)
        {
            pairs.add(*one, *other);
        }
    }
}

/// Matches operations of one operator whose users or operands correspond to each other.
fn around(a: &Graph, b: &Graph, pairs: &mut Pairs) {
    let mut pending = pairs.matched();
    while let Some((one, other)) = pending.pop() {
        let mut near = Vec::new();
        for (p, q) in a.operands(one).iter().zip(b.operands(other)) {
            if let (Operand::Result(p, _), Operand::Result(q, _)) = (p, q) {
                near.push((*p, *q));
            }
        }
        for (user, position) in &a.users[one] {
            let is_free = |(n, p): &&(usize, usize)| {
                p == position && pairs.first[*n].is_none() && b.title(*n) == a.title(*user)
            };
            if let Some((found, _)) = b.users[other].iter().find(is_free) {
                near.push((*user, *found));
            }
        }
        for (p, q) in near {
            let is_same = a.is_operation(p) && b.is_operation(q) && a.title(p) == b.title(q);
            if is_same && pairs.is_free(p, q) {
                pairs.add(p, q);
                pending.push((p, q));
            }
        }
    }
}

/// Matches the remaining operations by the longest common sequence of operators.
fn in_order(a: &Graph, b: &Graph, pairs: &mut Pairs) {
    let free = |graph: &Graph, taken: &[Option<usize>]| -> Vec<usize> {
        (0..graph.nodes().len()).filter(|n| taken[*n].is_none() && graph.is_operation(*n)).collect()
    };
    let (first, second) = (free(a, &pairs.second), free(b, &pairs.first));
    let is_equal = |p: usize, q: usize| a.title(first[p]) == b.title(second[q]);
    for (p, q) in common(first.len(), second.len(), is_equal) {
        pairs.add(first[p], second[q]);
    }
}

/// The positions of a longest common subsequence; of the common beginning if the sequences are very long.
pub(super) fn common(
    rows: usize,
    columns: usize,
    is_equal: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    if rows.saturating_mul(columns) > MOST {
        return (0..rows.min(columns)).take_while(|n| is_equal(*n, *n)).map(|n| (n, n)).collect();
    }
    let mut lengths = vec![vec![0_u32; columns + 1]; rows + 1];
    for p in (0..rows).rev() {
        for q in (0..columns).rev() {
            lengths[p][q] = if is_equal(p, q) {
                lengths[p + 1][q + 1] + 1
            } else {
                lengths[p + 1][q].max(lengths[p][q + 1])
            };
        }
    }
    let (mut p, mut q, mut found) = (0, 0, Vec::new());
    while p < rows && q < columns {
        if is_equal(p, q) {
            found.push((p, q));
            (p, q) = (p + 1, q + 1);
        } else if lengths[p + 1][q] >= lengths[p][q + 1] {
            p += 1;
        } else {
            q += 1;
        }
    }
    found
}
