// SPDX-License-Identifier: Apache-2.0
//! A graph with the producers of operands.

use super::short;
use crate::picture::{Kind, Node, Origin, Picture, Scope, Tensor};
use std::collections::BTreeMap;

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Operand {
    /// A result of a box: the box and the number of the result.
    Result(usize, usize),
    Constant(String),
    Variable(String),
}

/// A graph.
pub(super) struct Graph<'p> {
    pub(super) model: &'p Picture,
    scope: &'p Scope,
    operands: Vec<Vec<Operand>>,
    users: Vec<Vec<(usize, usize)>>,
}

impl<'p> Graph<'p> {
    pub(super) fn new(model: &'p Picture, scope: usize) -> Option<Self> {
        let scope = model.scopes.get(scope)?;
        let mut graph =
            Graph { model, scope, operands: Vec::new(), users: vec![Vec::new(); scope.nodes.len()] };
        let mut makers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (number, node) in scope.nodes.iter().enumerate() {
            let operands = node.inputs.iter().map(|tensor| graph.operand(number, tensor, &makers));
            let operands: Vec<Operand> = operands.collect();
            for (position, operand) in operands.iter().enumerate() {
                if let Operand::Result(maker, _) = operand
                    && let Some(users) = graph.users.get_mut(*maker)
                {
                    users.push((number, position));
                }
            }
            graph.operands.push(operands);
            for (result, tensor) in node.outputs.iter().enumerate() {
                makers.insert(local(tensor), (number, result));
            }
        }
        Some(graph)
    }

    fn operand(&self, number: usize, tensor: &Tensor, makers: &BTreeMap<&str, (usize, usize)>) -> Operand {
        let name = local(tensor);
        match &tensor.origin {
            Some(Origin::Constant(text)) => Operand::Constant(text.clone()),
            Some(Origin::Capture(_)) => Operand::Variable(short(self.model, name).to_owned()),
            None => {
                let edge = || {
                    let edges = self.scope.edges.iter().filter(|edge| edge.to == number);
                    edges.filter(|edge| edge.name == name).map(|edge| (edge.from, 0)).next()
                };
                let named = makers.get(name).copied().filter(|_| !name.is_empty());
                let (maker, result) = named.or_else(edge).unwrap_or((number, 0));
                Operand::Result(maker, result)
            }
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

    /// The attributes and types of an invocation.
    pub(super) fn attributes(&self, number: usize) -> &'p [(String, String)] {
        let instance = self.node(number).instance.and_then(|instance| self.model.instances.get(instance));
        instance.map_or(&[], |instance| instance.attributes.as_slice())
    }

    /// The label of an invocation. Without an explicit one, it is the name of the first result, which is not compared.
    pub(super) fn label(&self, number: usize) -> Option<&'p str> {
        let node = self.node(number);
        let result = node.outputs.first().map(local);
        node.label.as_deref().filter(|label| result != Some(*label))
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
            Operand::Constant(text) => text.clone(),
            Operand::Variable(name) => format!("variable {name}"),
            Operand::Result(maker, 0) => self.described(*maker),
            Operand::Result(maker, result) => format!("result {} of {}", result + 1, self.described(*maker)),
        }
    }
}

/// The name of a tensor in its graph.
fn local(tensor: &Tensor) -> &str {
    tensor.name.rsplit_once(" = ").map_or(tensor.name.as_str(), |(_, local)| local)
}
