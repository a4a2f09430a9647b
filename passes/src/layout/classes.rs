// SPDX-License-Identifier: Apache-2.0
//! Classes of tensors with the same layout, and regions of classes: a change of the layout within a region costs time.

use super::node::Node;
use super::{LastDimension, order};
use crate::ir::generic::LoopNest;
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::shape::InsertSlice;
use crate::ir::{self, ValueKey, ops, typed, types};
use crate::prepare::constant_tensors::ConstantTensors;
use crate::sets::Sets;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::op;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Minimum number of dimensions of a tensor whose layout is changed: the kernels for matrix products require the original layouts.
const MIN_DIMENSIONS: usize = 3;

/// The tensors of a function whose layout may be changed.
#[derive(Default)]
pub(super) struct Classes<'c, 'a> {
    /// The `linalg.generic` operations, in textual order.
    pub(super) nodes: Vec<Node<'c, 'a>>,
    /// Insertions and extractions of slices whose source and result are members.
    pub(super) slices: Vec<OperationRef<'c, 'a>>,
    /// The tensors of each class.
    pub(super) members: Vec<Vec<Value<'c, 'a>>>,
    /// The classes of each region.
    pub(super) regions: Vec<Vec<usize>>,
    /// For each class, the nodes that read or write a member.
    pub(super) touching: Vec<Vec<usize>>,
    /// The class of each member.
    classes: HashMap<ValueKey, usize>,
    /// The nodes and slices, by [`ir::key`].
    known: HashSet<usize>,
}

impl<'c: 'a, 'a> Classes<'c, 'a> {
    pub(super) fn new(function: OperationRef<'c, 'a>, constants: &ConstantTensors) -> Self {
        let mut classes = Classes::default();
        let mut same = Sets::default();
        for op in ir::nested(function) {
            match ir::name(op).as_str() {
                ops::linalg::GENERIC => classes.add_generic(op, constants, &mut same),
                ops::tensor::INSERT_SLICE | ops::tensor::EXTRACT_SLICE => {
                    classes.add_slice(op, constants, &mut same);
                }
                _ => {}
            }
        }
        classes.renumber(&mut same);
        let mut near = Sets::with(classes.members.len());
        for node in &classes.nodes {
            classes.join(node, &mut near);
        }
        classes.regions = near.members();
        classes.touching = vec![Vec::new(); classes.members.len()];
        for (number, node) in classes.nodes.iter().enumerate() {
            let touched: BTreeSet<_> = classes.of_node(node).into_iter().flatten().collect();
            for class in touched {
                if let Some(touching) = classes.touching.get_mut(class) {
                    touching.push(number);
                }
            }
        }
        classes
    }

    /// Returns the class of a tensor; `None` if its layout is not changed.
    pub(super) fn class(&self, value: Value) -> Option<usize> {
        self.classes.get(&ValueKey::of(value)).copied()
    }

    /// Returns the classes of a node's inputs, then of its results.
    pub(super) fn of_node(&self, node: &Node<'c, 'a>) -> Vec<Option<usize>> {
        let inputs = node.nest.inputs().iter().map(|operand| self.class(operand.value));
        let results = node.results().map(|result| self.class(result));
        inputs.chain(results).collect()
    }

    fn add_generic(&mut self, op: OperationRef<'c, 'a>, constants: &ConstantTensors, same: &mut Sets) {
        if is_cloned(op) {
            return;
        }
        let Some(node) = Node::new(op, constants) else {
            return;
        };
        let inits = node.nest.outputs().iter().map(|output| output.value);
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
        // Only the size of the first dimension may be dynamic: it remains the first dimension.
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

    /// Adds a tensor whose destination has the same layout. Returns whether the tensor became a member.
    fn add(
        &mut self,
        value: Value<'c, 'a>,
        destination: Value<'c, 'a>,
        constants: &ConstantTensors,
        same: &mut Sets,
    ) -> bool {
        let written = self.class(destination);
        let is_free = written.is_some() || definition_is_cloned(destination);
        let is_permutable = types::extents(value.r#type()).is_some_and(|extents| {
            let inner = extents.get(1..).unwrap_or_default();
            extents.len() >= MIN_DIMENSIONS && !inner.contains(&types::DYNAMIC)
        });
        let is_prepared = constants.contains(value) && !is_start(value, constants);
        if !is_free || !is_permutable || is_prepared {
            return false;
        }
        let class = same.add();
        self.classes.insert(ValueKey::of(value), class);
        self.members.push(vec![value]);
        if let Some(written) = written {
            same.join(written, class);
        }
        true
    }

    /// Replaces the classes by the sets of tensors with equal layouts.
    fn renumber(&mut self, same: &mut Sets) {
        let sets = same.members();
        let values = std::mem::take(&mut self.members);
        self.members = sets
            .iter()
            .map(|set| set.iter().filter_map(|n| values.get(*n)).flatten().copied().collect())
            .collect();
        for (class, members) in self.members.iter().enumerate() {
            let keys = members.iter().map(|value| (ValueKey::of(*value), class));
            self.classes.extend(keys);
        }
    }

    /// Joins the results of an operation with the operands that vary along all of its parallel loops.
    fn join(&self, node: &Node<'c, 'a>, near: &mut Sets) {
        let classes = self.of_node(node);
        let (inputs, results) = classes.split_at(node.nest.inputs);
        for result in results.iter().flatten() {
            for (input, operand) in inputs.iter().zip(&node.nest.operands) {
                let is_one = |l: usize| node.nest.extents.get(l) == Some(&1);
                let is_along = node.nest.loops(false).all(|l| is_one(l) || operand.varies(l));
                if let Some(input) = input.filter(|_| is_along)
                    && self.rank(input) == self.rank(*result)
                {
                    near.join(input, *result);
                }
            }
        }
    }

    /// The rank of the tensors of a class.
    pub(super) fn rank(&self, class: usize) -> usize {
        let first = self.members.get(class).and_then(|members| members.first());
        let extents = first.and_then(|value| types::extents(value.r#type()));
        extents.map_or(0, |extents| extents.len())
    }

    /// Returns the users of a member that require it in row-major order.
    pub(super) fn borders(&self, value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
        let mut users = ir::users(value);
        users.retain(|user| !self.known.contains(&ir::key(*user)));
        users
    }
}

/// Whether another computation accumulates onto a tensor that is computed from variables alone, such as the bias of a window. The
/// tensor then has the layout of the result.
fn is_start(value: Value, constants: &ConstantTensors) -> bool {
    let accumulates = |user: &OperationRef| {
        let outputs = LoopNest::read(*user).map(|nest| nest.outputs().iter().any(|o| o.value == value));
        outputs == Some(true) && ir::result_at(*user, 0).is_some_and(|result| !constants.contains(result))
    };
    ir::users(value).iter().any(accumulates)
}

/// Whether an operation creates a destination that is cloned for each layout: an empty tensor, or a tensor that is filled with one value.
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
    is_empty(op) || is_filled && destination.is_some_and(|(op, _)| is_empty(op))
}

pub(super) fn definition_is_cloned(value: Value) -> bool {
    ir::definition(value).is_some_and(|(op, _)| is_cloned(op))
}

/// Returns the type of a tensor in a layout, given its row-major type.
pub(super) fn stored<'c>(r#type: melior::ir::Type<'c>, last: LastDimension) -> melior::ir::Type<'c> {
    let Some(extents) = types::extents(r#type) else {
        return r#type;
    };
    let permuted = order(extents.len(), last).into_iter().filter_map(|d| extents.get(d).copied());
    types::of_extents(r#type, &permuted.collect::<Vec<_>>())
}
