// SPDX-License-Identifier: Apache-2.0
//! The state of a function under construction.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::ScalarKind;

use crate::ast::Assertion;
use crate::compose::composer::{CaptureName, Definitions};
use crate::compose::quantization::quantizer::Quantizer;
use crate::eval::{Atom, Demands, Evaluator, Scope, TensorRef, TypeName, Value};
use crate::limits::Limits;
use crate::model::{
    self, Block, ConstantData, Extent, Function, Operation, Quantization, ShapeExpr, TensorType, ValueId,
};
use crate::program::Edition;
use crate::source::Span;

/// A function under construction.
pub(crate) struct Builder<'p> {
    pub found: Definitions<'p>,
    pub edition: Edition,
    pub scope: Scope,
    pub types: IndexMap<String, TypeName>,
    pub function: Function,
    pub blocks: Vec<Block>,
    pub captures: Vec<CaptureName>,
    /// The index of a capture, by its path and whether that is absolute.
    capture_positions: FxHashMap<(bool, String), usize>,
    /// The labels of the open blocks.
    pub labels: Vec<String>,
    /// Tensor names for quantization.
    pub tensors: FxHashSet<String>,
    /// The tensors among them that invocations named.
    pub(crate) named_below: FxHashSet<String>,
    pub entry: bool,
    /// Quantizers to simulate in this function and in its invocations.
    pub(crate) quantizers: Vec<Quantizer<'p>>,
    /// Entries of this function and of its invocations, with names relative to it.
    pub quantization: Vec<Quantization>,
    /// The maximum number of items of each target of the next loop.
    pub(crate) capacities: Vec<Option<u64>>,
    /// Assertions on constants, variables and outputs whose types are not known yet.
    pub(crate) later_assertions: Vec<&'p Assertion>,
    /// The number of invocations below, as in the instance that it becomes.
    pub invocations: usize,
    /// The number of copies of the current body in the enclosing unrolled loops.
    pub unrolled: usize,
    /// The number of named dynamic extents of callees.
    symbols: usize,
    /// Long expressions over dynamic extents, and their names.
    pub(crate) named_extents: FxHashMap<Arc<ShapeExpr>, Arc<ShapeExpr>>,
    /// Run-time conditions of the evaluated expressions, until they become checks.
    pub(crate) demands: Demands,
    /// Inputs that may be the same tensor, by their number in the list of arguments.
    pub given: FxHashMap<usize, TensorRef>,
}

impl<'p> Builder<'p> {
    /// A function without values; `entry` is whether it is the graph.
    pub(crate) fn new(
        found: Definitions<'p>,
        edition: Edition,
        function: Function,
        entry: bool,
        quantizers: Vec<Quantizer<'p>>,
    ) -> Self {
        Builder {
            found,
            edition,
            scope: Scope::new(),
            types: IndexMap::new(),
            function,
            blocks: vec![Block::default()],
            captures: Vec::new(),
            capture_positions: FxHashMap::default(),
            labels: Vec::new(),
            tensors: FxHashSet::default(),
            named_below: FxHashSet::default(),
            entry,
            quantizers,
            quantization: Vec::new(),
            capacities: Vec::new(),
            later_assertions: Vec::new(),
            invocations: 0,
            unrolled: 1,
            symbols: 0,
            named_extents: FxHashMap::default(),
            demands: Demands::default(),
            given: FxHashMap::default(),
        }
    }

    pub(crate) fn evaluator<'b>(&'b self, limits: &'b Limits) -> Evaluator<'b> {
        Evaluator::new(&self.scope, &self.types, self.edition, limits, &self.demands)
    }

    /// The external name of a name in the body: with the labels of the enclosing blocks as prefix.
    pub(crate) fn path_of(&self, name: &str) -> String {
        let labels = self.labels.iter().map(String::as_str);
        labels.chain([name]).collect::<Vec<_>>().join(".")
    }

    /// A new tensor of the function.
    pub(crate) fn value(&mut self, name: Option<String>, tensor: TensorType, span: Span) -> TensorRef {
        self.value_of(name, tensor, false, span)
    }

    /// A new iteration count or index, which always has 64 bits.
    pub(crate) fn wide_int(&mut self, name: Option<String>, span: Span) -> TensorRef {
        let tensor = TensorType { kind: ScalarKind::Int, shape: Vec::new() };
        self.value_of(name, tensor, true, span)
    }

    fn value_of(&mut self, name: Option<String>, tensor: TensorType, wide: bool, span: Span) -> TensorRef {
        let id = ValueId(u32::try_from(self.function.values.len()).unwrap_or(u32::MAX));
        self.function.values.push(model::Value { name, tensor: tensor.clone(), wide, storage: None, span });
        TensorRef { id, tensor: Rc::new(tensor) }
    }

    /// A name for a dynamic extent that a computed tensor determines.
    pub(crate) fn fresh_extent(&mut self) -> String {
        self.symbols += 1;
        format!("data.{}", self.symbols)
    }

    pub(crate) fn emit(&mut self, operation: Operation) {
        if let Some(block) = self.blocks.last_mut() {
            block.operations.push(operation);
        }
    }

    /// A constant at the current position in the block.
    pub(crate) fn constant(&mut self, tensor: TensorType, data: ConstantData, span: Span) -> TensorRef {
        let value = self.value(None, tensor, span);
        self.emit(Operation::Constant { value: value.id, data });
        value
    }

    /// The empty pack of this type, stored as a tensor without elements.
    pub(crate) fn stack_of_none(&mut self, item: TensorType, span: Span) -> Value {
        let mut whole = item;
        whole.shape.insert(0, Extent::Fixed(0));
        let zero = ConstantData::Splat(whole.kind.default_value());
        Value::Atom(Atom::Stack(self.constant(whole, zero, span)))
    }

    /// The capture of that name, created on first use; an existing one if its type differs.
    pub(crate) fn capture(
        &mut self,
        name: CaptureName,
        value_name: Option<String>,
    ) -> Result<TensorRef, Box<CaptureName>> {
        let key = (name.absolute, name.path.clone());
        if let Some(index) = self.capture_positions.get(&key).copied()
            && let Some(known) = self.captures.get(index)
            && let Some(id) = self.function.captures.get(index).copied()
        {
            if known.tensor != name.tensor {
                return Err(Box::new(known.clone()));
            }
            let tensor = Rc::new(name.tensor);
            return Ok(TensorRef { id, tensor });
        }
        self.capture_positions.insert(key, self.captures.len());
        let value = self.value(value_name, name.tensor.clone(), name.span);
        self.function.captures.push(value.id);
        self.captures.push(name);
        Ok(value)
    }
}
