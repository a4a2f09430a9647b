// SPDX-License-Identifier: Apache-2.0
//! A graph with the producers of operands.

use super::short;
use crate::picture::{Constant, ITERATIONS, Instance, Kind, Node, Origin, Picture, Scope, Tensor};
use crate::text::{Digest, Dimension, TensorType};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Operand {
    /// A result of a box: the box and the number of the result.
    Result(usize, usize),
    Constant(Constant),
    Variable(String),
}

/// Names of tensors or dimensions, with those in the comparison: those of the first model.
pub(super) type NameMap = BTreeMap<String, String>;

/// The role of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The graph of the model.
    Entry,
    /// The body of a composite operator.
    Composite,
    /// A block of a branch or a loop.
    Block,
}

/// A graph.
pub(super) struct Graph<'p> {
    pub(super) model: &'p Picture,
    pub(super) level: Level,
    /// The dynamic dimensions of the function, with the names that they have in the other graph, where these differ.
    pub(super) dimensions: NameMap,
    /// Whether an upper bound of a dimension differs from that in the other graph.
    pub(super) has_other_bounds: bool,
    /// The tensors of the blocks around a block.
    pub(super) tensors: Rc<NameMap>,
    scope: &'p Scope,
    operands: Vec<Vec<Operand>>,
    users: Vec<Vec<(usize, usize)>>,
}

impl<'p> Graph<'p> {
    pub(super) fn new(model: &'p Picture, scope: usize, level: Level) -> Option<Self> {
        let scope = model.scopes.get(scope)?;
        let users = vec![Vec::new(); scope.nodes.len()];
        let (dimensions, tensors) = (NameMap::new(), Rc::default());
        let operands = Vec::new();
        let mut graph =
            Graph { model, level, dimensions, has_other_bounds: false, tensors, scope, operands, users };
        for (number, node) in scope.nodes.iter().enumerate() {
            let operands: Vec<Operand> = node.inputs.iter().map(|tensor| graph.operand(tensor)).collect();
            for (position, operand) in operands.iter().enumerate() {
                if let Operand::Result(maker, _) = operand
                    && let Some(users) = graph.users.get_mut(*maker)
                {
                    users.push((number, position));
                }
            }
            graph.operands.push(operands);
        }
        Some(graph)
    }

    fn operand(&self, tensor: &Tensor) -> Operand {
        match (&tensor.origin, tensor.maker) {
            (Some(Origin::Constant(constant)), _) => Operand::Constant(constant.clone()),
            (Some(Origin::Capture(_)), _) => Operand::Variable(short(self.model, local(tensor)).to_owned()),
            (None, Some((maker, result))) => Operand::Result(maker, result),
            (None, None) => unreachable!("internal compiler error: no box computes `{}`", tensor.name),
        }
    }

    pub(super) fn nodes(&self) -> &'p [Node] {
        &self.scope.nodes
    }

    pub(super) fn node(&self, number: usize) -> &'p Node {
        let node = self.scope.nodes.get(number);
        node.unwrap_or_else(|| unreachable!("internal compiler error: a graph has no box {number}"))
    }

    /// The boxes that read results of a box, with the position of the operand.
    pub(super) fn users(&self, number: usize) -> &[(usize, usize)] {
        self.users.get(number).map_or(&[], Vec::as_slice)
    }

    pub(super) fn operands(&self, number: usize) -> &[Operand] {
        self.operands.get(number).map_or(&[], Vec::as_slice)
    }

    /// The name of the operator, or of an input or output.
    pub(super) fn title(&self, number: usize) -> &'p str {
        short(self.model, &self.node(number).title)
    }

    /// The operator: the title without the number of iterations of a loop.
    pub(super) fn operator(&self, number: usize) -> &'p str {
        let title = self.title(number);
        match self.node(number).kind {
            Kind::Control => title.split_once(',').map_or(title, |(operator, _)| operator),
            _ => title,
        }
    }

    /// The name of an input or output that the corresponding one of the other graph has too. Results of blocks correspond by position,
    /// and tensors that a loop defines by their roles.
    pub(super) fn port(&self, number: usize) -> String {
        let title = self.title(number);
        match (self.level, self.node(number).kind) {
            (Level::Block, Kind::Output) => {
                let before = self.scope.nodes.iter().take(number);
                before.filter(|node| node.kind == Kind::Output).count().to_string()
            }
            (Level::Block, Kind::Input) => match &self.node(number).role {
                // No name has this sign.
                Some(role) => format!("+{role}"),
                None => self.tensors.get(title).map_or(title, String::as_str).to_owned(),
            },
            _ => title.to_owned(),
        }
    }

    /// The type of a tensor, with the names that dimensions have in the other graph, and without the bounds of unnamed ones that may
    /// follow from other bounds.
    pub(super) fn type_of(&self, tensor: &Tensor) -> String {
        if self.dimensions.is_empty() && !self.has_other_bounds {
            return tensor.r#type.clone();
        }
        let extents = tensor.structure.extents.iter().map(|extent| match extent {
            Dimension::Dynamic(Some(name), bound) => {
                let name = self.dimensions.get(name).unwrap_or(name);
                Dimension::Dynamic(Some(name.clone()), *bound)
            }
            Dimension::Dynamic(None, _) if self.has_other_bounds => Dimension::Dynamic(None, 0),
            other => other.clone(),
        });
        TensorType { element: tensor.structure.element.clone(), extents: extents.collect() }.to_string()
    }

    /// The attributes and types of an invocation, each with the digest of its value.
    pub(super) fn attributes(&self, number: usize) -> Attributes<'p> {
        let instance = self.node(number).instance.and_then(|instance| self.model.instances.get(instance));
        instance.map_or_else(Vec::new, attributes)
    }

    /// The parts of a box that pages do not show, with the names that dimensions have in the other graph. Upper bounds that differ
    /// result in other limits of iterations.
    pub(super) fn unseen(&self, number: usize) -> BTreeMap<&'static str, String> {
        let unseen = self.node(number).unseen.iter();
        let compared = unseen.filter(|(name, _)| *name != ITERATIONS || !self.has_other_bounds);
        compared.map(|(name, text)| (*name, text.shown(&self.dimensions))).collect()
    }

    /// The label of an invocation. Without an explicit one, it is the name of a tensor, which is not compared.
    pub(super) fn label(&self, number: usize) -> Option<&'p str> {
        let node = self.node(number);
        node.label.as_deref().filter(|_| !node.is_label_implicit)
    }

    /// Whether a box is an operation, not an input or an output.
    pub(super) fn is_operation(&self, number: usize) -> bool {
        matches!(self.node(number).kind, Kind::Operator | Kind::Control)
    }

    /// A box in a message: an operation with the name of its label, its node or its result.
    pub(super) fn described(&self, number: usize) -> String {
        let node = self.node(number);
        if !self.is_operation(number) {
            return self.title(number).to_owned();
        }
        let result = node.outputs.first().map(local).filter(|name| !name.is_empty());
        let name = node.label.as_deref().or(node.note.as_deref()).or(result);
        match name {
            Some(name) => format!("{} `{}`", self.title(number), name.trim()),
            None => self.title(number).to_owned(),
        }
    }

    /// An operand in a message.
    pub(super) fn operand_text(&self, operand: &Operand) -> String {
        match operand {
            Operand::Constant(constant) => constant.text.clone(),
            Operand::Variable(name) => format!("variable {name}"),
            Operand::Result(maker, 0) => self.described(*maker),
            Operand::Result(maker, result) => format!("result {} of {}", result + 1, self.described(*maker)),
        }
    }
}

/// Attributes and types by name, each with the digest of its value.
pub(super) type Attributes<'p> = Vec<(&'p str, (&'p str, Digest))>;

/// The attributes and types of an instance.
pub(super) fn attributes(instance: &Instance) -> Attributes<'_> {
    let attributes = instance.attributes.iter().zip(&instance.digests);
    attributes.map(|((name, value), digest)| (name.as_str(), (value.as_str(), *digest))).collect()
}

/// The name of a tensor in its graph.
pub(super) fn local(tensor: &Tensor) -> &str {
    tensor.name.rsplit_once(" = ").map_or(tensor.name.as_str(), |(_, local)| local)
}
