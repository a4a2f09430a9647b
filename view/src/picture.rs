// SPDX-License-Identifier: Apache-2.0
//! What a page shows, as plain data.

use crate::histogram::Histogram;
use crate::profile::Profile;
use serde::Serialize;

/// A composed model as boxes and tensors. Numbers that name things are positions in its lists.
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
    /// The texts of their definitions.
    pub definitions: Vec<Definition>,
    /// The variables of the model.
    pub variables: Vec<Variable>,
    /// Real operations of one call, with `at most ` or the like in front.
    pub cost: String,
    /// Measured times.
    pub profile: Option<Profile>,
}

/// One graph of boxes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Scope {
    /// The boxes, each after those that it reads.
    pub nodes: Vec<Node>,
    /// The tensors between them.
    pub edges: Vec<Edge>,
}

/// The kind of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tensor from outside of the graph.
    Input,
    /// A result of the graph, or a new value of a variable.
    Output,
    /// An invocation of an operator or a graph.
    Operator,
    /// A branching, a loop, or a slice of dynamic size.
    Control,
}

/// A box.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// The kind.
    pub kind: Kind,
    /// The operator, or the name of an input or output.
    pub title: String,
    /// The label of an invocation.
    pub label: Option<String>,
    /// The comment behind the call: in imported models, the name of the node.
    pub note: Option<String>,
    /// The instance that is invoked.
    pub instance: Option<usize>,
    /// `path:line:column` of the invocation or declaration.
    pub location: String,
    /// The text there.
    pub call: String,
    /// What it reads.
    pub inputs: Vec<Tensor>,
    /// What it computes.
    pub outputs: Vec<Tensor>,
    /// The captures of the invoked instance, as positions among those of the enclosing one.
    pub captures: Vec<Option<usize>>,
    /// The graphs that are shown if the box is expanded.
    pub inside: Vec<Inside>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Its layer, from the top.
    pub layer: usize,
    /// The middle in its layer, in pixels.
    pub x: i32,
}

/// A graph in an expanded box.
#[derive(Clone, Debug, Serialize)]
pub struct Inside {
    /// `then`, `body`; empty if it is the only one.
    pub title: String,
    /// The graph.
    pub scope: usize,
}

/// A tensor that a box reads or computes.
#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// The name of the input or output, and the name in the text where that is another one.
    pub name: String,
    /// `f32[batch,64,≤56]`.
    pub r#type: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The origin of a tensor that no box computes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A capture of the enclosing instance: a variable.
    Capture(usize),
    /// A constant, as text.
    Constant(String),
}

/// A tensor between two boxes.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// The box that computes it.
    pub from: usize,
    /// The box that reads it.
    pub to: usize,
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type.
    pub r#type: String,
    /// The positions in the layers between both, in pixels; none if it is drawn as one curve.
    pub via: Vec<i32>,
}

/// An instance of a graph or operator.
#[derive(Clone, Debug, Serialize)]
pub struct Instance {
    /// The qualified name.
    pub name: String,
    /// The definition; a function that the composer adds has none.
    pub definition: Option<usize>,
    /// Attributes and generic types with their values.
    pub attributes: Vec<(String, String)>,
    /// Its body, if that is a composition.
    pub scope: Option<usize>,
    /// Names of the captured variables.
    pub captures: Vec<String>,
    /// Real operations of one invocation.
    pub flops: u64,
}

/// The text of a graph or operator.
#[derive(Clone, Debug, Serialize)]
pub struct Definition {
    /// `path:line` of its first line.
    pub location: String,
    /// The comment above it and the definition.
    pub text: String,
    /// The line in `text` where its formulas or its composition begin, from 0.
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
