// SPDX-License-Identifier: Apache-2.0
//! Functions: specialised graphs and operators, and the operations in their bodies.

use super::{
    AttributeValue, Check, ConstantData, Extent, Formula, FunctionId, TensorType, ValueId, VariableId,
};
use crate::source::Span;
use skript_semantics::{Numbers, ScalarKind};

/// The definition of a function: a graph or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionRole {
    /// A graph.
    Graph,
    /// An operator.
    Operator,
}

/// One distinct instance.
#[derive(Clone, Debug)]
pub struct Function {
    /// Qualified name of the definition: `nn.conv`, `main.AlexNet`.
    pub name: String,
    /// Whether it is a graph or an operator.
    pub role: FunctionRole,
    /// All attributes in declaration order, including defaults, with single values repeated.
    pub attributes: Vec<(String, AttributeValue)>,
    /// Generic types in declaration order.
    pub types: Vec<(String, ScalarKind)>,
    /// All tensors of the function in all blocks, indexed by [`ValueId`].
    pub values: Vec<Value>,
    /// Inputs in the order of the declaration.
    pub inputs: Vec<Port>,
    /// Outputs in the order of the declaration.
    pub outputs: Vec<Port>,
    /// By position among the outputs, the type of the tensors of an output that is an empty pack.
    pub items_of_none: Vec<(usize, TensorType)>,
    /// Variables of this instance or of its invocations, as additional inputs: for the entry, the variables of the model,
    /// in order; for other functions, in the order in which callers pass them ([`Invoke::captures`]).
    pub captures: Vec<ValueId>,
    /// New values of captures (2.11), by position: values of the function's own block. Computed from the old values.
    pub updates: Vec<(usize, ValueId)>,
    /// For the entry only: the variable of each capture.
    pub capture_variables: Vec<VariableId>,
    /// Dynamic extents that no input has, as additional inputs: names used in expressions ([`Invoke::extents`]).
    pub extents: Vec<String>,
    /// Checked in order at the beginning, before constants and body.
    pub checks: Vec<Check>,
    /// Checked after the body: outputs with dynamic extents, against their declarations.
    pub result_checks: Vec<Check>,
    /// Constants, defined before the body runs.
    pub constants: Vec<(ValueId, ConstantData)>,
    /// The body.
    pub body: Body,
    /// The storage types of reals and ints without a separate type; in an instance for mixed types the widest ones,
    /// which determine the compute type.
    pub numbers: Numbers,
    /// The span of the definition's name.
    pub span: Span,
}

/// A tensor of a function; single assignment.
#[derive(Clone, Debug)]
pub struct Value {
    /// As written, if it has a name: `x`, `xs:1`.
    pub name: Option<String>,
    /// Kind and extents.
    pub tensor: TensorType,
    /// Whether the elements have the compute type instead of the storage type: iteration counts and indices that the
    /// compiler adds, and all tensors between inputs and outputs of operators that compute in compute types.
    pub wide: bool,
    /// The storage types of reals and ints if they differ from those of the function
    /// ([`Model::store`](super::Model::store)).
    pub storage: Option<Numbers>,
    /// The span of its declaration or computation.
    pub span: Span,
}

/// A declared input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// The declared name.
    pub name: String,
    /// Its tensors.
    pub tensors: PortTensors,
    /// The declaration in the source text.
    pub span: Span,
}

impl Port {
    /// The names of the tensors: `x`, or `xs_0`, `xs_1` for the items of a pack.
    pub fn tensor_names(&self) -> Vec<String> {
        match &self.tensors {
            PortTensors::Single(_) | PortTensors::Stack(_) => vec![self.name.clone()],
            PortTensors::Pack(items) => (0..items.len()).map(|at| format!("{}_{at}", self.name)).collect(),
            PortTensors::Null => Vec::new(),
        }
    }
}

/// The tensors of an input or output.
#[derive(Clone, Debug)]
pub enum PortTensors {
    /// One tensor.
    Single(ValueId),
    /// A pack, in order; it may be empty.
    Pack(Vec<ValueId>),
    /// A pack of dynamic length: one tensor, its first extent the number of items.
    Stack(ValueId),
    /// An absent optional input.
    Null,
}

impl PortTensors {
    /// The tensors in order.
    pub fn values(&self) -> &[ValueId] {
        match self {
            PortTensors::Single(v) | PortTensors::Stack(v) => std::slice::from_ref(v),
            PortTensors::Pack(vs) => vs,
            PortTensors::Null => &[],
        }
    }
}

/// The body of a function.
#[derive(Clone, Debug)]
pub enum Body {
    /// `@lower`: formulas in order. Only formulas write outputs.
    Formulas(Vec<Formula>),
    /// `@compose`. An output may be an input or a constant.
    Block(Block),
    /// No body: an intrinsic, looked up by the function's name.
    Intrinsic,
}

/// Operations in execution order; inner blocks may use the values of outer blocks.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The operations, each after the operations whose results it reads.
    pub operations: Vec<Operation>,
    /// The results of an inner block; empty for a function's own block, which has outputs.
    pub results: Vec<ValueId>,
}

impl Block {
    /// Visits all operations; the operations of an inner block after the operation that contains the block.
    pub fn visit<'b>(&'b self, callback: &mut dyn FnMut(&'b Operation)) {
        for operation in &self.operations {
            callback(operation);
            for block in operation.blocks() {
                block.visit(callback);
            }
        }
    }

    /// Like [`visit`](Block::visit), with mutable access.
    pub(crate) fn visit_mut(&mut self, change: &mut dyn FnMut(&mut Operation)) {
        for operation in &mut self.operations {
            change(operation);
            for block in operation.blocks_mut() {
                block.visit_mut(change);
            }
        }
    }
}

/// An operation of a block.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An invocation of another function.
    Invoke(Invoke),
    /// A rank-0 constant argument, or a constant inside a block.
    Constant {
        /// The tensor that is defined.
        value: ValueId,
        /// Its elements.
        data: ConstantData,
    },
    /// Branching on run-time conditions (2.10.1).
    If {
        /// The branches, tested in order.
        arms: Vec<Arm>,
        /// The branch if no condition holds.
        otherwise: Block,
        /// One per result of the branches.
        outputs: Vec<ValueId>,
        /// The branching in the source text.
        span: Span,
    },
    /// A loop at run time.
    Loop(Box<Loop>),
    /// The first elements along a dimension of `whole`. An int tensor of one element contains their number, which is
    /// the dynamic extent of the result and is clamped to the extent of `whole`.
    Cut {
        /// The source tensor.
        whole: ValueId,
        /// The int tensor of one element with the number of elements.
        count: ValueId,
        /// The sliced dimension, from 0.
        dimension: usize,
        /// The result.
        output: ValueId,
        /// The span that requires it.
        span: Span,
    },
}

impl Operation {
    /// The nested blocks in textual order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Operation::Invoke(_) | Operation::Constant { .. } | Operation::Cut { .. } => Vec::new(),
            Operation::If { arms, otherwise, .. } => {
                arms.iter().flat_map(|a| [&a.condition, &a.consequent]).chain([otherwise]).collect()
            }
            Operation::Loop(l) => {
                let parts = [l.before.as_ref(), Some(&l.body), l.after.as_ref()];
                parts.into_iter().flatten().collect()
            }
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Operation::Invoke(_) | Operation::Constant { .. } | Operation::Cut { .. } => Vec::new(),
            Operation::If { arms, otherwise, .. } => arms
                .iter_mut()
                .flat_map(|a| [&mut a.condition, &mut a.consequent])
                .chain([otherwise])
                .collect(),
            Operation::Loop(l) => {
                let parts = [l.before.as_mut(), Some(&mut l.body), l.after.as_mut()];
                parts.into_iter().flatten().collect()
            }
        }
    }
}

/// An invocation of an operator instance.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// The function that is invoked.
    pub callee: FunctionId,
    /// The callee's input tensors in its order; packs are flattened, nulls left out.
    pub inputs: Vec<ValueId>,
    /// The callee's captures.
    pub captures: Vec<ValueId>,
    /// The callee's dynamic extents that no input of the callee has, in this function's terms.
    pub extents: Vec<Extent>,
    /// The callee's output tensors, flattened; each is a new tensor here.
    pub outputs: Vec<ValueId>,
    /// The callee's new values of variables ([`Function::updates`]); each is a new tensor here.
    pub updates: Vec<ValueId>,
    /// Explicit or implicit label (2.10).
    pub label: Option<String>,
    /// The invocation in the source text.
    pub span: Span,
}

/// Condition block (one bool of volume 1) and consequent.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Yields one bool.
    pub condition: Block,
    /// Executed if the condition holds.
    pub consequent: Block,
}

/// A loop that was not unrolled (2.10.1).
#[derive(Clone, Debug)]
pub struct Loop {
    /// Loop-carried tensors.
    pub carried: Vec<Carried>,
    /// An item visible in the body, and the scanned pack.
    pub scans: Vec<(ValueId, Vec<ValueId>)>,
    /// An item visible in the body, and the scanned pack of dynamic length (one tensor, its first extent the number of
    /// items).
    pub stack_scans: Vec<(ValueId, ValueId)>,
    /// A rank-0 int tensor visible in the body: the number of the iteration.
    pub index: Option<ValueId>,
    /// A compile-time upper bound of the iterations, if there is one.
    pub static_count: Option<u64>,
    /// The declared length of the packs of collected results, if nothing else bounds the iterations: exceeding it is an
    /// error at run time.
    pub capacity: Option<u64>,
    /// The maximum number of iterations of a loop that only a condition ends: exceeding it is an error at run time.
    pub max_steps: Option<u64>,
    /// A rank-0 int tensor: the number of iterations.
    pub dynamic_count: Option<ValueId>,
    /// Tested before each iteration; yields one bool.
    pub before: Option<Block>,
    /// Yields new loop-carried values, then scan outputs.
    pub body: Block,
    /// Tested after each iteration; yields one bool, and reads the new loop-carried values.
    pub after: Option<Block>,
    /// For each scan output the pack's tensors, one per iteration. If a condition or a dynamic count ends the loop: one
    /// tensor of all iterations' results, whose first extent is the number of iterations.
    pub scan_outputs: Vec<Vec<ValueId>>,
    /// The loop in the source text.
    pub span: Span,
}

/// A loop-carried tensor.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The block argument of the body.
    pub inner: ValueId,
    /// The value before the first iteration.
    pub init: ValueId,
    /// The final value, visible after the loop.
    pub result: ValueId,
}
