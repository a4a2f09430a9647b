// SPDX-License-Identifier: Apache-2.0
//! Inputs and outputs of a model.

use skript_runtime::artifact;
use skript_tensor::ElementType;
use std::fmt;

/// The size of one dimension of a tensor, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A static extent.
    Static(u64),
    /// A dynamic extent, known at run time, with this upper bound.
    Dynamic(u64),
}

/// An input, output or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name in the graph. Names of variables are qualified (`main.G.w`); item n of a pack `xs`, from 1, is `xs:n`.
    pub name: String,
    /// Other names: the name in the imported model, or the names of a variable in files of weights.
    pub aliases: Vec<String>,
    /// The type of its elements.
    pub element: ElementType,
    /// The type of its elements in the imported model, if it differs.
    pub imported: Option<ElementType>,
    /// Its dimensions, the outermost first.
    pub shape: Vec<Dimension>,
}

impl Port {
    pub(crate) fn new(port: &artifact::Port) -> Port {
        let dimension = |extent: &artifact::PortExtent| match extent {
            artifact::PortExtent::Fixed(n) => Dimension::Static(*n),
            artifact::PortExtent::Dynamic(bound) => Dimension::Dynamic(*bound),
        };
        Port {
            name: port.name.clone(),
            aliases: port.aliases.clone(),
            element: port.element,
            imported: port.imported,
            shape: port.shape.iter().map(dimension).collect(),
        }
    }
}

/// `x: f32[4,≤8]`.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dimension = |dimension: &Dimension| match dimension {
            Dimension::Static(n) => n.to_string(),
            Dimension::Dynamic(bound) => format!("≤{bound}"),
        };
        let shape: Vec<String> = self.shape.iter().map(dimension).collect();
        write!(f, "{}: {}[{}]", self.name, self.element, shape.join(","))
    }
}
