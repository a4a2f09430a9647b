// SPDX-License-Identifier: Apache-2.0
//! Classes of tensors that are stored in the same order, and regions of classes between which it costs to change it.

use super::node::Node;
use super::{Last, order};
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::shape::InsertSlice;
use crate::ir::{self, ValueKey, ops, typed, types};
use crate::prepare::constant_tensors::ConstantTensors;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::op;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The fewest dimensions of a tensor whose layout is changed: products of matrices have layouts that their kernels expect.
const FEWEST_DIMENSIONS: usize = 3;

/// The tensors of a function whose layout may be changed.
#[derive(Default)]
pub(super) struct Classes<'c, 'a> {
    /// In the order of the text.
    pub(super) nodes: Vec<Node<'c, 'a>>,
    /// Insertions and extractions of slices whose source and result are members.
    pub(super) slices: Vec<OperationRef<'c, 'a>>,
    /// Members by class.
    pub(super) members: Vec<Vec<Value<'c, 'a>>>,
    /// Classes by region.
    pub(super) regions: Vec<Vec<usize>>,
    /// By class: nodes that read or write a member.
    pub(super) touching: Vec<Vec<usize>>,
    classes: HashMap<ValueKey, usize>,
    /// The nodes and slices, by [`ir::key`].
    known: HashSet<usize>,
}

impl<'c: 'a, 'a> Classes<'c, 'a> {
    pub(super) fn of(function: OperationRef<'c, 'a>, constants: &ConstantTensors) -> Self {
        let mut found = Classes::default();
        let mut same = Sets::default();
        for op in ir::nested(function) {
            match ir::name(op).as_str() {
                ops::linalg::GENERIC => found.add_generic(op, constants, &mut same),
                ops::tensor::INSERT_SLICE | ops::tensor::EXTRACT_SLICE => {
                    found.add_slice(op, constants, &mut same);
                }
                _ => {}
            }
        }
        found.renumber(&mut same);
        let mut near = Sets::with(found.members.len());
        for node in &found.nodes {
            found.join(node, &mut near);
        }
        found.regions = near.members();
        found.touching = vec![Vec::new(); found.members.len()];
        for (number, node) in found.nodes.iter().enumerate() {
            let classes = found.of_node(node);
            for class in classes.into_iter().flatten().collect::<BTreeSet<_>>() {
                if let Some(touching) = found.touching.get_mut(class) {
                    touching.push(number);
                }
            }
        }
        found
    }

    /// The class of a tensor; `None` if its layout stays.
    pub(super) fn class(&self, value: Value) -> Option<usize> {
        self.classes.get(&ValueKey::of(value)).copied()
    }

    /// The classes of a node's operands, those of its results last.
    pub(super) fn of_node(&self, node: &Node<'c, 'a>) -> Vec<Option<usize>> {
        let inputs = node.operands.iter().take(node.inputs);
        let inputs = inputs.map(|operand| self.class(operand.value));
        let results = node.op.results().map(|result| self.class(result.into()));
        inputs.chain(results).collect()
    }

    fn add_generic(&mut self, op: OperationRef<'c, 'a>, constants: &ConstantTensors, same: &mut Sets) {
        if is_cloned(op) {
            return;
        }
        let Some(node) = Node::of(op, constants) else {
            return;
        };
        let inits = node.outputs().iter().map(|output| output.value);
        for (init, result) in inits.zip(op.results()) {
            self.add(result.into(), init, constants, same);
        }
        self.known.insert(ir::key(op));
        self.nodes.push(node);
    }

    fn add_slice(&mut self, op: OperationRef<'c, 'a>, constants: &ConstantTensors, same: &mut Sets) {
        let (Ok(source), Ok(result)) = (op.operand(0), op.result(0)) else {
            return;
        };
        let result: Value = result.into();
        let rank = |value: Value| types::extents(value.r#type()).map(|extents| extents.len());
        // Only dynamic sizes of the first dimension, which stays the first.
        let sizes = typed::i64s(op, "static_sizes");
        let others = ["static_offsets", "static_strides"].map(|name| typed::i64s(op, name));
        let mut positions = sizes.iter().skip(1).chain(others.iter().flatten());
        if rank(source) != rank(result) || positions.any(|n| *n == types::DYNAMIC) {
            return;
        }
        let is_added = match InsertSlice::cast(op).map(InsertSlice::destination) {
            Some(Ok(destination)) => self.add(result, destination, constants, same),
            Some(Err(_)) => false,
            None => self.class(source).is_some() && self.add(result, source, constants, same),
        };
        if is_added {
            if let (Some(a), Some(b)) = (self.class(source), self.class(result)) {
                same.join(a, b);
            }
            self.known.insert(ir::key(op));
            self.slices.push(op);
        }
    }

    /// Adds a tensor whose destination has the same layout; whether it is a member.
    fn add(
        &mut self,
        value: Value<'c, 'a>,
        destination: Value<'c, 'a>,
        constants: &ConstantTensors,
        same: &mut Sets,
    ) -> bool {
        let own = self.class(destination);
        let is_free = own.is_some() || definition_is_cloned(destination);
        let is_permutable = types::extents(value.r#type()).is_some_and(|extents| {
            let inner = extents.get(1..).unwrap_or_default();
            extents.len() >= FEWEST_DIMENSIONS && !inner.contains(&types::DYNAMIC)
        });
        if !is_free || !is_permutable || constants.contains(value) {
            return false;
        }
        let class = same.add();
        self.classes.insert(ValueKey::of(value), class);
        self.members.push(vec![value]);
        if let Some(own) = own {
            same.join(own, class);
        }
        true
    }

    /// Makes the sets of equal layouts the classes.
    fn renumber(&mut self, same: &mut Sets) {
        let sets = same.members();
        let values = std::mem::take(&mut self.members);
        self.members = sets
            .iter()
            .map(|set| {
                let own = set.iter().filter_map(|n| values.get(*n));
                own.flatten().copied().collect()
            })
            .collect();
        for (class, members) in self.members.iter().enumerate() {
            let keys = members.iter().map(|value| (ValueKey::of(*value), class));
            self.classes.extend(keys);
        }
    }

    /// Joins what an operation writes with what it reads along all of its parallel loops.
    fn join(&self, node: &Node<'c, 'a>, near: &mut Sets) {
        let classes = self.of_node(node);
        let (inputs, results) = classes.split_at(node.inputs);
        for result in results.iter().flatten() {
            for (input, operand) in inputs.iter().zip(&node.operands) {
                let is_one = |l: usize| node.extents.get(l) == Some(&1);
                let is_along = node.parallels().all(|l| is_one(l) || operand.varies(l));
                if let Some(input) = input.filter(|_| is_along)
                    && self.rank(input) == self.rank(*result)
                {
                    near.join(input, *result);
                }
            }
        }
    }

    /// The number of dimensions of a class.
    pub(super) fn rank(&self, class: usize) -> usize {
        let first = self.members.get(class).and_then(|members| members.first());
        let extents = first.and_then(|value| types::extents(value.r#type()));
        extents.map_or(0, |extents| extents.len())
    }

    /// The uses of a member by operations that need it in row-major order.
    pub(super) fn borders(&self, value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
        let mut users = ir::users(value);
        users.retain(|user| !self.known.contains(&ir::key(*user)));
        users
    }
}

/// Whether an operation makes a destination that is made again for each layout: an empty tensor, or one that is filled with one value.
pub(super) fn is_cloned(op: OperationRef) -> bool {
    let yields_one_value = || {
        let body = Generic::cast(op).and_then(Generic::body);
        let last = body.and_then(|body| ir::operations(body).first().copied());
        let value = last.and_then(Yield::cast).and_then(|last| last.value().ok());
        op.operand_count() == 1 && value.is_some_and(|value| ir::argument(value).is_none())
    };
    let is_filled = Fill::cast(op).is_some() || yields_one_value();
    let destination = op.operands().last().and_then(ir::definition);
    let is_empty = |op: OperationRef| op::is(&op, ops::tensor::EMPTY);
    is_empty(op) || is_filled && destination.is_some_and(|(own, _)| is_empty(own))
}

pub(super) fn definition_is_cloned(value: Value) -> bool {
    ir::definition(value).is_some_and(|(op, _)| is_cloned(op))
}

/// The type of a tensor in a layout, from its row-major type.
pub(super) fn stored<'c>(r#type: melior::ir::Type<'c>, last: Last) -> melior::ir::Type<'c> {
    let Some(extents) = types::extents(r#type) else {
        return r#type;
    };
    let permuted = order(extents.len(), last);
    let permuted = permuted.into_iter().filter_map(|d| extents.get(d).copied());
    types::of_extents(r#type, &permuted.collect::<Vec<_>>())
}

/// Disjoint sets of numbers.
#[derive(Default)]
struct Sets {
    parents: Vec<usize>,
}

impl Sets {
    fn with(count: usize) -> Self {
        Sets { parents: (0..count).collect() }
    }

    fn add(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn root(&mut self, number: usize) -> usize {
        let mut root = number;
        while let Some(parent) = self.parents.get(root).copied().filter(|p| *p != root) {
            let next = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(own) = self.parents.get_mut(root) {
                *own = next;
            }
            root = parent;
        }
        root
    }

    /// The root of the joined set is the smaller one.
    fn join(&mut self, first: usize, second: usize) {
        let (first, second) = (self.root(first), self.root(second));
        let (root, other) = (first.min(second), first.max(second));
        if let Some(parent) = self.parents.get_mut(other) {
            *parent = root;
        }
    }

    /// The sets, ordered by their smallest numbers.
    fn members(&mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut positions = HashMap::new();
        for number in 0..self.parents.len() {
            let root = self.root(number);
            let position = *positions.entry(root).or_insert_with(|| {
                sets.push(Vec::new());
                sets.len() - 1
            });
            if let Some(set) = sets.get_mut(position) {
                set.push(number);
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    fn joined_numbers_are_in_one_set() {
        let mut sets = Sets::with(5);
        sets.join(3, 1);
        sets.join(4, 3);
        assert_eq!(sets.members(), [vec![0], vec![1, 3, 4], vec![2]]);
    }
}
