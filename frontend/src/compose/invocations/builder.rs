// SPDX-License-Identifier: Apache-2.0
//! The state of a function under construction.

use crate::ast::{Assertion, Ident};
use crate::compose::instances::CaptureName;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::operators::OperatorRef;
use crate::compose::quantization::quantizer::Quantizer;
use crate::eval::{Atom, Demands, Evaluator, Language, Scope, TensorRef, TypeName, Value};
use crate::limits::Limits;
use crate::model::{
    self, Block, ConstantData, Extent, Function, FunctionId, Invoke, Operation, Port, PortTensors,
    Quantization, ShapeExpr, TensorType, ValueId,
};
use crate::source::Span;
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::ScalarKind;
use std::rc::Rc;
use std::sync::Arc;

/// A function under construction.
pub(crate) struct Builder<'p> {
    pub operator: OperatorRef<'p>,
    pub(crate) language: Language,
    pub scope: Scope,
    pub types: IndexMap<String, TypeName>,
    pub function: Function,
    pub blocks: Vec<Block>,
    pub captures: Vec<CaptureName>,
    /// The index of a capture, by its path and whether the path is absolute.
    capture_positions: FxHashMap<(bool, String), usize>,
    /// The labels of the open blocks.
    pub labels: Vec<String>,
    /// Tensor names for quantization.
    pub tensors: FxHashSet<String>,
    /// The names in `tensors` that belong to invocations.
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
    /// The number of transitive invocations, as in the instance.
    pub invocations: usize,
    /// The number of copies of the current body in the enclosing unrolled loops.
    pub unrolled: usize,
    /// The number of named dynamic extents of callees.
    symbols: usize,
    /// Long expressions over dynamic extents, and their names.
    pub(crate) named_extents: FxHashMap<Arc<ShapeExpr>, Arc<ShapeExpr>>,
    /// Run-time conditions of the evaluated expressions, until they become checks.
    pub(crate) demands: Demands,
    /// The local tensors of `@lower`.
    pub(crate) local_tensors: FxHashSet<ValueId>,
    /// Inputs that may be the same tensor, by their number in the list of arguments.
    pub given: FxHashMap<usize, TensorRef>,
}

/// The structure of a value: one tensor, or a pack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// One tensor.
    Single,
    /// A pack of this length.
    Pack(usize),
    /// A pack of dynamic length.
    Stack,
}

impl Form {
    pub(crate) fn new(value: &Value) -> Self {
        match value {
            Value::Pack(pack) => Form::Pack(pack.len()),
            Value::Atom(Atom::Stack(_)) => Form::Stack,
            _ => Form::Single,
        }
    }

    pub(crate) fn of_port(tensors: &PortTensors) -> Self {
        match tensors {
            PortTensors::Pack(ids) => Form::Pack(ids.len()),
            PortTensors::Stack(_) => Form::Stack,
            PortTensors::Single(_) | PortTensors::Null => Form::Single,
        }
    }

    /// The form of a declared tensor; with a length, a pack.
    pub(crate) fn declared(length: Option<usize>) -> Self {
        length.map_or(Form::Single, Form::Pack)
    }

    /// The number of tensors.
    pub(crate) fn count(self) -> usize {
        match self {
            Form::Pack(length) => length,
            Form::Single | Form::Stack => 1,
        }
    }

    pub(crate) fn port(self, ids: Vec<ValueId>) -> PortTensors {
        match (self, ids.first()) {
            (Form::Single, Some(id)) => PortTensors::Single(*id),
            (Form::Stack, Some(id)) => PortTensors::Stack(*id),
            _ => PortTensors::Pack(ids),
        }
    }

    /// The value of the next tensors.
    pub(crate) fn value(self, tensors: &mut impl Iterator<Item = TensorRef>) -> Value {
        let single = match self {
            Form::Pack(length) => return Value::pack(tensors.take(length).map(Atom::Tensor)),
            Form::Single => tensors.next().map(Atom::Tensor),
            Form::Stack => tensors.next().map(Atom::Stack),
        };
        single.map_or(Value::Null, Value::Atom)
    }
}

/// Rebuilds values from tensors.
pub(crate) fn formed(forms: &[Form], tensors: Vec<TensorRef>) -> Vec<Value> {
    let mut tensors = tensors.into_iter();
    forms.iter().map(|form| form.value(&mut tensors)).collect()
}

impl<'p> Builder<'p> {
    /// A function without values; `entry`: whether it is the main graph.
    pub(crate) fn new(
        operator: OperatorRef<'p>,
        language: Language,
        function: Function,
        entry: bool,
        quantizers: Vec<Quantizer<'p>>,
    ) -> Self {
        Builder {
            operator,
            language,
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
            local_tensors: FxHashSet::default(),
            given: FxHashMap::default(),
        }
    }

    pub(crate) fn evaluator<'b>(&'b self, limits: &'b Limits) -> Evaluator<'b> {
        Evaluator::new(&self.scope, &self.types, &self.language, limits, &self.demands)
    }

    /// The tensor that an input's name denotes: if several inputs get the same tensor, the tensor of the first input.
    pub(crate) fn one_of(&mut self, list: &ArgumentList, location: usize, tensor: TensorRef) -> TensorRef {
        match list.same.get(location) {
            Some(first) => self.given.entry(*first).or_insert(tensor).clone(),
            None => tensor,
        }
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

    /// Declares the tensors of a name, and binds the name to them.
    pub(crate) fn declare(&mut self, name: &Ident, form: Form, types: Vec<TensorType>) -> Port {
        let tensors = types.into_iter().enumerate().map(|(item, tensor)| {
            let item_name = match form {
                Form::Pack(_) => format!("{}:{}", name.name, item + 1),
                _ => name.name.clone(),
            };
            self.value(Some(item_name), tensor, name.span)
        });
        let tensors: Vec<TensorRef> = tensors.collect();
        let ids = tensors.iter().map(|tensor| tensor.id).collect();
        self.tensors.insert(name.name.clone());
        self.scope.set(name.name.clone(), form.value(&mut tensors.into_iter()));
        Port { name: name.name.clone(), tensors: form.port(ids), span: name.span }
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

    /// Ends the innermost open block.
    pub(crate) fn end_block(&mut self) -> Block {
        let block = self.blocks.pop();
        block.unwrap_or_else(|| unreachable!("internal compiler error: no block is open"))
    }

    pub(crate) fn emit(&mut self, operation: Operation) {
        if let Some(block) = self.blocks.last_mut() {
            block.operations.push(operation);
        }
    }

    /// Invokes a function without captures.
    pub(crate) fn invoke(
        &mut self,
        callee: FunctionId,
        (inputs, extents): (Vec<ValueId>, Vec<Extent>),
        outputs: Vec<ValueId>,
        span: Span,
    ) {
        let (captures, updates) = (Vec::new(), Vec::new());
        let invoke = Invoke { callee, inputs, captures, extents, outputs, updates, label: None, span };
        self.emit(Operation::Invoke(invoke));
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

    /// The capture of that name, created on first use; `Err` is an existing capture with a different type.
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
