// SPDX-License-Identifier: Apache-2.0
//! Finds the boxes of two graphs that correspond to each other.

use super::graph::{Attributes, Graph, Operand};
use crate::picture::Kind;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// The maximum product of the lengths of sequences that are compared item by item.
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
        if self.is_free(a, b)
            && let (Some(second), Some(first)) = (self.second.get_mut(a), self.first.get_mut(b))
        {
            *second = Some(b);
            *first = Some(a);
        }
    }
}

/// The corresponding boxes of two graphs.
pub(super) fn pairs(a: &Graph, b: &Graph) -> Pairs {
    let mut pairs = Pairs { second: vec![None; a.nodes().len()], first: vec![None; b.nodes().len()] };
    equal(a, b, &mut pairs);
    let ports = |graph: &Graph, n: usize| {
        (!graph.is_operation(n)).then(|| (graph.node(n).kind == Kind::Input, graph.port(n)))
    };
    unique(a, b, &mut pairs, ports);
    unique(a, b, &mut pairs, |graph, n| graph.node(n).label.clone());
    unique(a, b, &mut pairs, |graph, n| {
        graph.node(n).note.clone().map(|note| (graph.operator(n).to_owned(), note))
    });
    unique(a, b, &mut pairs, |graph, n| {
        let variables: Vec<Operand> =
            graph.operands(n).iter().filter(|o| matches!(o, Operand::Variable(_))).cloned().collect();
        (!variables.is_empty()).then(|| (graph.operator(n).to_owned(), variables))
    });
    around(a, b, &mut pairs);
    in_order(a, b, &mut pairs);
    around(a, b, &mut pairs);
    pairs
}

/// Matches boxes that compute the same from the same inputs, constants and variables. Of several such boxes, those correspond whose
/// results corresponding boxes read.
fn equal(a: &Graph, b: &Graph, pairs: &mut Pairs) {
    let mut numbers = Numbers::default();
    let (first, second) = (numbers.number(a), numbers.number(b));
    let mut classes: BTreeMap<usize, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (n, key) in first.iter().enumerate() {
        classes.entry(*key).or_default().0.push(n);
    }
    for (n, key) in second.iter().enumerate() {
        classes.entry(*key).or_default().1.push(n);
    }
    let classes = classes.into_values();
    let (single, several): (Vec<_>, Vec<_>) = classes.partition(|(p, q)| p.len() == 1 && q.len() == 1);
    // Users have larger numbers than the boxes that they read.
    for (mut p, mut q) in single.into_iter().chain(several.into_iter().rev()) {
        p.retain(|n| pairs.second.get(*n) == Some(&None));
        q.retain(|n| pairs.first.get(*n) == Some(&None));
        let mut pending: Vec<(usize, usize)> = p.into_iter().zip(q).collect();
        while let Some((p, q)) = pending.pop() {
            pairs.add(p, q);
            for (p, q) in results(a, b, (p, q)) {
                if first.get(p) == second.get(q) && pairs.is_free(p, q) {
                    pending.push((p, q));
                }
            }
        }
    }
}

/// The boxes whose results two boxes read at the same position.
fn results(a: &Graph, b: &Graph, (p, q): (usize, usize)) -> Vec<(usize, usize)> {
    let operands = a.operands(p).iter().zip(b.operands(q));
    let results = operands.filter_map(|operands| match operands {
        (Operand::Result(p, _), Operand::Result(q, _)) => Some((*p, *q)),
        _ => None,
    });
    results.collect()
}

/// The numbers of structures: equal structures have equal numbers in all graphs.
#[derive(Default)]
pub(super) struct Numbers<'p>(HashMap<Structure<'p>, usize>);

impl<'p> Numbers<'p> {
    /// The number of each box of a graph.
    pub(super) fn number(&mut self, graph: &Graph<'p>) -> Vec<usize> {
        let mut keys: Vec<usize> = Vec::new();
        for n in 0..graph.nodes().len() {
            let operands = graph.operands(n).iter().map(|operand| match operand {
                Operand::Result(maker, result) => {
                    Operand::Result(keys.get(*maker).copied().unwrap_or(*maker), *result)
                }
                other => other.clone(),
            });
            let kind = graph.node(n).kind;
            let structure = Structure {
                kind,
                title: if graph.is_operation(n) { graph.operator(n).to_owned() } else { graph.port(n) },
                attributes: graph.attributes(n),
                unseen: graph.unseen(n),
                types: graph.node(n).outputs.iter().map(|tensor| graph.type_of(tensor)).collect(),
                operands: operands.collect(),
            };
            let next = self.0.len();
            keys.push(*self.0.entry(structure).or_insert(next));
        }
        keys
    }
}

/// A box with the structure that computes its operands, by number.
#[derive(PartialEq, Eq, Hash)]
struct Structure<'p> {
    kind: Kind,
    title: String,
    attributes: Attributes<'p>,
    unseen: BTreeMap<&'static str, String>,
    types: Vec<String>,
    operands: Vec<Operand>,
}

/// Matches boxes with a key that no other unmatched box of either graph has.
fn unique<K: Ord>(a: &Graph, b: &Graph, pairs: &mut Pairs, key: impl Fn(&Graph, usize) -> Option<K>) {
    let [first, second] = [(a, &pairs.second), (b, &pairs.first)].map(|(graph, taken)| {
        let mut keys: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        for n in free(taken) {
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
        let mut near = results(a, b, (one, other));
        for (user, position) in a.users(one) {
            let is_free = |(n, p): &&(usize, usize)| {
                p == position && pairs.first.get(*n) == Some(&None) && b.operator(*n) == a.operator(*user)
            };
            if let Some((found, _)) = b.users(other).iter().find(is_free) {
                near.push((*user, *found));
            }
        }
        for (p, q) in near {
            let is_same = a.is_operation(p) && b.is_operation(q) && a.operator(p) == b.operator(q);
            if is_same && pairs.is_free(p, q) {
                pairs.add(p, q);
                pending.push((p, q));
            }
        }
    }
}

/// The boxes without a corresponding one.
fn free(taken: &[Option<usize>]) -> impl Iterator<Item = usize> {
    taken.iter().enumerate().filter(|(_, other)| other.is_none()).map(|(n, _)| n)
}

/// Matches the remaining operations by a common sequence of operators.
fn in_order(a: &Graph, b: &Graph, pairs: &mut Pairs) {
    let remaining = |graph: &Graph, taken: &[Option<usize>]| -> Vec<usize> {
        free(taken).filter(|n| graph.is_operation(*n)).collect()
    };
    let (first, second) = (remaining(a, &pairs.second), remaining(b, &pairs.first));
    let operators =
        |graph: &Graph, boxes: &[usize]| boxes.iter().map(|n| graph.operator(*n).to_owned()).collect();
    let (one, other): (Vec<String>, Vec<String>) = (operators(a, &first), operators(b, &second));
    for operation in edits(&one, &other).iter().filter(|operation| operation.tag() == DiffTag::Equal) {
        for (p, q) in operation.old_range().zip(operation.new_range()) {
            if let (Some(p), Some(q)) = (first.get(p), second.get(q)) {
                pairs.add(*p, *q);
            }
        }
    }
}

/// The edits that change one sequence to another. Long sequences are compared as a whole.
pub(super) fn edits<T: Hash + Ord>(first: &[T], second: &[T]) -> Vec<DiffOp> {
    let (old_len, new_len) = (first.len(), second.len());
    if old_len.saturating_mul(new_len) > MOST && first != second {
        return vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }];
    }
    capture_diff_slices(Algorithm::Myers, first, second)
}
