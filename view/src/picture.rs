// SPDX-License-Identifier: Apache-2.0
//! The content of a page as plain data.

use crate::difference::{Change, Difference};
use crate::histogram::Histogram;
use crate::interface::Interface;
use crate::profile::Profile;
use crate::text::{Digest, Marked, TensorType};
use serde::Serialize;

/// A composed model as boxes and tensors. Items are referred to by their positions in the lists.
#[derive(Clone, Debug, Serialize)]
pub struct Picture {
    /// The qualified name of the graph.
    pub name: String,
    /// The instance of the graph.
    pub entry: usize,
    /// The graphs: bodies of functions, and blocks of branches and loops in them.
    pub scopes: Vec<Scope>,
    /// The distinct instances of graphs and operators.
    pub instances: Vec<Instance>,
    /// The texts of the definitions of instances.
    pub definitions: Vec<Definition>,
    /// The variables of the model.
    pub variables: Vec<Variable>,
    /// Number of floating-point operations of one call, with a prefix such as `at most `.
    pub cost: String,
    /// Measured times.
    pub profile: Option<Profile>,
    /// The differences from another model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The properties of the model that the page does not show.
    #[serde(skip)]
    pub interface: Interface,
}

impl Picture {
    /// Marks the boxes of this model that differ from those of another model, by their locations.
    pub fn mark(&mut self, differences: &[Difference]) {
        for node in self.scopes.iter_mut().flat_map(|scope| &mut scope.nodes) {
            let is_here = |difference: &&Difference| difference.locations[1].as_ref() == Some(&node.location);
            node.change = differences.iter().find(is_here).map(|difference| difference.change);
        }
        self.differences = differences.to_vec();
    }
}

/// One graph of boxes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scope {
    /// The boxes in topological order.
    pub nodes: Vec<Node>,
    /// The tensors between them.
    pub edges: Vec<Edge>,
}

/// The kind of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tensor from outside of the graph.
    Input,
    /// A result of the graph, or a new value of a variable.
    Output,
    /// An invocation of an operator or a graph.
    Operator,
    /// A branch, a loop, or a slice of dynamic size.
    Control,
}

/// The hidden part of a loop that is its maximum number of iterations.
pub(crate) const ITERATIONS: &str = "iterations, at most";

/// A box.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// The kind.
    pub kind: Kind,
    /// The operator, or the name of an input or output.
    pub title: String,
    /// The label of an invocation.
    pub label: Option<String>,
    /// Whether the label is the name of a tensor.
    #[serde(skip)]
    pub is_label_implicit: bool,
    /// How the box differs from that of another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The comment after the call: in imported models, the name of the node.
    pub note: Option<String>,
    /// The instance that is invoked.
    pub instance: Option<usize>,
    /// `path:line:column` of the invocation or declaration.
    pub location: String,
    /// The source text of the invocation.
    pub call: String,
    /// The tensors that the box reads.
    pub inputs: Vec<Tensor>,
    /// The number of these that the operation itself reads; its blocks read the others.
    #[serde(skip)]
    pub operands: usize,
    /// The role of a tensor that a loop defines for its blocks, such as `carried 1`.
    #[serde(skip)]
    pub role: Option<String>,
    /// The tensors that the box computes.
    pub outputs: Vec<Tensor>,
    /// For each capture of the invoked instance, its position in the captures of the enclosing instance; `None` if it is not one of
    /// them.
    pub captures: Vec<Option<usize>>,
    /// The parts that the page does not show, by name: the values of dynamic extents, the limits of a loop.
    #[serde(skip)]
    pub unseen: Vec<(&'static str, Marked)>,
    /// The graphs that are shown if the box is expanded.
    pub inside: Vec<Inside>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The layer, counted from the top.
    pub layer: usize,
    /// The horizontal centre in pixels.
    pub x: i32,
}

/// A graph in an expanded box.
#[derive(Clone, Debug, Serialize)]
pub struct Inside {
    /// The title, such as `then` or `body`; empty if the box has only one graph.
    pub title: String,
    /// The graph.
    pub scope: usize,
}

/// A tensor that a box reads or computes.
#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// The name of the input or output, and the name in the source if it differs.
    pub name: String,
    /// The type, such as `f32[batch,64,≤56]`.
    pub r#type: String,
    /// The origin, if no box computes the tensor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The type as data.
    #[serde(skip)]
    pub structure: TensorType,
    /// For a tensor that a box reads: the box that computes it, and the number of the result.
    #[serde(skip)]
    pub maker: Option<(usize, usize)>,
}

/// The origin of a tensor that no box computes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A capture of the enclosing instance: a variable.
    Capture(usize),
    /// A constant.
    Constant(Constant),
}

/// A constant as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Constant {
    /// The elements, truncated to a readable length.
    pub text: String,
    /// The digest of all elements.
    #[serde(skip)]
    pub digest: Digest,
}

/// A tensor between two boxes.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// The box that computes the tensor.
    pub from: usize,
    /// The box that reads the tensor.
    pub to: usize,
    /// The name of the tensor; may be empty.
    pub name: String,
    /// The type of the tensor.
    pub r#type: String,
    /// The horizontal positions in the layers between the boxes, in pixels; empty if the edge is drawn as one curve.
    pub via: Vec<i32>,
}

/// An instance of a graph or operator.
#[derive(Clone, Debug, Serialize)]
pub struct Instance {
    /// The qualified name.
    pub name: String,
    /// The definition; `None` for functions that the composer adds.
    pub definition: Option<usize>,
    /// Attributes and generic types with their values.
    pub attributes: Vec<(String, String)>,
    /// For each attribute, the digest of its value.
    #[serde(skip)]
    pub digests: Vec<Digest>,
    /// The graph of the body, if it is a composition.
    pub scope: Option<usize>,
    /// Names of the captured variables.
    pub captures: Vec<String>,
    /// Number of floating-point operations of one invocation.
    pub flops: u64,
}

/// The text of a graph or operator.
#[derive(Clone, Debug, Serialize)]
pub struct Definition {
    /// `path:line` of the first line of `text`.
    pub location: String,
    /// The definition with the comment above it.
    pub text: String,
    /// The line in `text` at which the formulas or the composition begin, counted from 0.
    pub body: usize,
}

/// A variable.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    /// The scoped name.
    pub name: String,
    /// The type.
    pub r#type: String,
    /// The values, if they are known.
    pub histogram: Option<Histogram>,
}
