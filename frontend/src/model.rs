// SPDX-License-Identifier: Apache-2.0
//! The composed model (chapter 3): functions specialized to their attribute values, types and shapes.
//!
//! A [`Function`] is one distinct instance of a graph or operator; invocations with equal operator, attribute values,
//! types and argument shapes share it. Its tensors are numbered locally. Formulas are in normal form ([`formula`]).
//! The evaluator and the emitter read only this representation.

mod attribute_text;
pub mod check;
pub mod compute_types;
pub(crate) mod constant;
pub(crate) mod cost;
mod domain_size;
mod dynamic_shapes;
pub(crate) mod extent;
pub(crate) mod formula;
pub(crate) mod function;
pub(crate) mod intermediates;
pub(crate) mod print;
pub(crate) mod storage_range;
pub mod storage_types;

pub use attribute_text::attribute_value;
pub use check::{Check, CheckKind, MessagePart};
pub use constant::ConstantData;
pub use cost::{Cost, OperatorCost, Precision};
pub use extent::{Extent, ShapeExpr, shape_text};
pub use formula::{Accumulation, Expr, Finding, Formula, FormulaIndex, FormulaLocal, Init, Node, Target};
pub use function::{
    Arm, Block, Body, Carried, Function, FunctionRole, Invoke, Loop, Operation, Port, PortTensors, Value,
};

use crate::source::Span;
use skript_semantics::{Numbers, Scalar, ScalarKind};
use std::sync::Arc;

/// Index into [`Model::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Index into [`Function::values`] of the current function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index into [`Model::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// A composed graph with everything that it invokes.
#[derive(Clone, Debug)]
pub struct Model {
    /// The selected graph; its inputs and outputs are the model's.
    pub entry: FunctionId,
    /// The distinct instances; a [`FunctionId`] is an index here.
    pub functions: Vec<Function>,
    /// All variables below the entry; the entry's captures list them in this order.
    pub variables: Vec<Variable>,
    /// New values of variables, committed after the outputs are computed (2.11). Values of the entry function.
    pub updates: Vec<(VariableId, ValueId)>,
    /// `@quantize` entries of the entry graph, by tensor name: operator and attributes (2.14).
    pub quantization: Vec<Quantization>,
    /// Inputs of the entry that get values instead of their defaults (2.6), and these defaults: one number, or one number
    /// for each tensor of a pack.
    pub defaults: Vec<(String, Vec<Scalar>)>,
    /// The storage types of reals and ints, for tensors without separate storage types.
    pub numbers: Numbers,
}

/// A variable tensor (2.7), stored in `<name>.dat`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Scoped name, `main.G.label.w`; packs `main.G.vs:1` (1-based).
    pub name: String,
    /// Aliases accepted when loading.
    pub aliases: Vec<String>,
    /// Kind and extents.
    pub tensor: TensorType,
    /// The storage types of its reals and ints.
    pub numbers: Numbers,
    /// The declaration in the source text.
    pub span: Span,
}

/// Element kind and extents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The kind of the elements.
    pub kind: ScalarKind,
    /// The extents, outermost first; empty for a scalar.
    pub shape: Vec<Extent>,
}

impl TensorType {
    /// All extents, if all are static.
    pub fn fixed_shape(&self) -> Option<Vec<u64>> {
        self.shape.iter().map(Extent::fixed).collect()
    }

    /// The type of the items of a pack that is stored in a tensor of this type.
    pub(crate) fn item(&self) -> Self {
        TensorType { kind: self.kind, shape: self.shape.iter().skip(1).cloned().collect() }
    }

    /// `real[2,3]`.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.kind.name(), shape_text(&self.shape))
    }
}

/// The value of an attribute, as stored in instances.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// An optional attribute without a value.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `real`.
    Real(f64),
    /// A `str`.
    Str(String),
    /// A pack; packs of packs nest.
    List(Vec<AttributeValue>),
    /// A value that is known only at run time, and is not an expression over dynamic extents.
    Unknown,
    /// A value that depends on dynamic extents of the function; a bool is 0 or 1.
    Run {
        /// The kind of the value.
        kind: ScalarKind,
        /// The value over the dynamic extents.
        value: Arc<ShapeExpr>,
    },
}

impl AttributeValue {
    /// Whether it, or an item of it, depends on dynamic extents, and no item is unknown.
    pub fn is_dynamic(&self) -> bool {
        match self {
            AttributeValue::Run { .. } => true,
            AttributeValue::List(items) => {
                items.iter().any(AttributeValue::is_dynamic) && !items.contains(&AttributeValue::Unknown)
            }
            _ => false,
        }
    }
}

/// An entry of `@quantize` (2.14).
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization {
    /// The scoped name of the tensor.
    pub tensor: String,
    /// The quantization operator, with its module.
    pub operator: String,
    /// The operator's attributes by name.
    pub attributes: Vec<(String, AttributeValue)>,
    /// The entry in the source text.
    pub span: Span,
}

impl Model {
    /// The function with an id; `None` for an id of another model.
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }

    /// The variable with an id; `None` for an id of another model.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.0 as usize)
    }
}
