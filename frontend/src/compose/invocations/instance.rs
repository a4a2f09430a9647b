// SPDX-License-Identifier: Apache-2.0
//! Builds one instance: binding, helper symbols and assertions, declarations, body.

use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::ScalarKind;

use crate::ast::{Assertion, BlockKind, DefinitionKind};
use crate::compose::composer::{CaptureName, Composed, Composer, Definitions, InstanceInfo, Reported};
use crate::compose::formulas::write_counter::write_counter;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::invocation::tensor_text;
use crate::compose::quantization::quantizers::Quantizer;
use crate::compose::shapes::dynamic_extent::shape_expr;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{LIMIT_EXCEEDED, SHARED_VARIABLE, TENSOR_UNKNOWN};
use crate::eval::{Atom, Demands, Evaluator, Scope, TensorRef, TypeName, Value};
use crate::limits::Limits;
use crate::model::{
    self, AttributeValue, Block, Body, ConstantData, Extent, Function, FunctionId, Operation, Quantization,
    ShapeExpr, TensorType, ValueId,
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
    /// See [`InstanceInfo::invocations`].
    pub invocations: usize,
    /// The number of copies of the current body in the enclosing unrolled loops.
    pub unrolled: usize,
    /// The number of named dynamic extents of callees.
    symbols: usize,
    /// Long expressions over dynamic extents, and their names.
    pub(crate) named_extents: FxHashMap<Arc<ShapeExpr>, Arc<ShapeExpr>>,
    /// Run-time conditions of the evaluated expressions, until they become checks.
    pub(crate) demands: Demands,
    /// Inputs that may be the same tensor, by their number in [`ArgumentList::same`].
    pub given: FxHashMap<usize, TensorRef>,
}

impl<'p> Builder<'p> {
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
    fn capture(
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

impl<'p> Composer<'p, '_> {
    /// A variable that the body or one of its invocations declares: instances share it by name.
    pub(crate) fn capture(
        &mut self,
        builder: &mut Builder<'p>,
        name: CaptureName,
        value_name: Option<String>,
    ) -> Composed<TensorRef> {
        let (path, tensor) = (name.path.clone(), name.tensor.clone());
        let location = name.invocation.unwrap_or(name.span);
        builder.capture(name, value_name).map_err(|known| {
            let message = format!(
                "variable `{path}` is {} here, but another instance has it as {}",
                tensor_text(&tensor),
                tensor_text(&known.tensor)
            );
            self.report(
                Diagnostic::error(&SHARED_VARIABLE, location, message)
                    .with_label_at(
                        known.invocation.unwrap_or(known.span),
                        format!("{} here", tensor_text(&known.tensor)),
                    )
                    .with_help(
                        "one file cannot hold both: write another label for one of the instances, `y = label: op(x)`",
                    ),
            )
        })
    }

    /// Composes an instance of the definition for these arguments.
    pub(crate) fn instantiate(
        &mut self,
        found: Definitions<'p>,
        list: &ArgumentList,
        entry: bool,
    ) -> Composed<FunctionId> {
        let call = (!entry).then_some(list.invocation);
        self.enter(&found, call)?;
        let result = self.instance(found, list, entry);
        self.leave();
        result
    }

    fn instance(&mut self, found: Definitions<'p>, list: &ArgumentList, entry: bool) -> Composed<FunctionId> {
        let definition = found.definition;
        if self.functions.len() >= self.limits.instances {
            return Err(self.error(
                &LIMIT_EXCEEDED,
                list.invocation,
                format!(
                    "the model has more than {} different operator instances (limit `instances`)",
                    self.limits.instances
                ),
            ));
        }
        let mut builder = Builder {
            found,
            edition: self.program.edition(found.module),
            scope: Scope::new(),
            types: IndexMap::new(),
            function: Function {
                name: self.qualified(&found),
                role: Self::role(&found),
                attributes: Vec::new(),
                types: Vec::new(),
                values: Vec::new(),
                inputs: Vec::new(),
                outputs: Vec::new(),
                items_of_none: Vec::new(),
                captures: Vec::new(),
                updates: Vec::new(),
                capture_variables: Vec::new(),
                extents: list.extents.iter().map(|(name, _)| name.clone()).collect(),
                checks: Vec::new(),
                result_checks: Vec::new(),
                constants: Vec::new(),
                body: Body::Intrinsic,
                numbers: self.numbers,
                span: definition.name.span,
            },
            blocks: vec![Block::default()],
            captures: Vec::new(),
            capture_positions: FxHashMap::default(),
            labels: Vec::new(),
            tensors: FxHashSet::default(),
            named_below: FxHashSet::default(),
            entry,
            quantizers: std::mem::take(&mut self.passed_quantizers),
            quantization: Vec::new(),
            capacities: Vec::new(),
            later_assertions: Vec::new(),
            invocations: 0,
            unrolled: 1,
            symbols: 0,
            named_extents: FxHashMap::default(),
            demands: Demands::default(),
            given: FxHashMap::default(),
        };
        let root = if entry { self.qualified(&found) } else { String::new() };
        let made = self.fill(&mut builder, list, &root);
        match (made, &mut self.known) {
            (Err(failure), Some(known)) if entry => {
                known.append(&mut builder.function.values);
                return Err(failure);
            }
            // If its body cannot be composed, its declarations may determine its outputs.
            (Err(_), Some(_)) => self.declare_alone(&mut builder)?,
            (made, _) => made?,
        }
        builder.function.attributes = self.attribute_values(&builder);
        builder.function.types = builder
            .types
            .iter()
            .filter_map(|(name, ty)| match ty {
                TypeName::Scalar(kind) => Some((name.clone(), *kind)),
                TypeName::Str => None,
            })
            .collect();
        let id = FunctionId(u32::try_from(self.functions.len()).map_err(|_| Reported)?);
        let public = definition.public || definition.kind == DefinitionKind::Graph;
        let mut tensors = builder.named_below;
        if public {
            tensors.extend(builder.tensors)
        } else {
            tensors.extend(definition.constants.iter().map(|c| c.name.name.clone()))
        }
        self.infos.push(InstanceInfo {
            captures: builder.captures,
            tensors,
            quantization: builder.quantization,
            invocations: builder.invocations,
            is_composite: definition.has_block(BlockKind::Compose),
        });
        self.functions.push(builder.function);
        Ok(id)
    }

    /// The declared outputs of an operator whose body could not be composed.
    fn declare_alone(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        builder.function.outputs.clear();
        builder.function.updates.clear();
        builder.blocks.clear();
        self.intrinsic(builder)
    }

    /// Binds the arguments of the instance, and composes its body.
    fn fill(&mut self, builder: &mut Builder<'p>, list: &ArgumentList, root: &str) -> Composed<()> {
        let definition = builder.found.definition;
        let reported = self.sink.diagnostics().len();
        if let Err(failure) = self.bind(builder, list) {
            self.say_reasons(builder, reported);
            return Err(failure);
        }
        self.settle(builder)?;
        self.symbols(builder)?;
        self.own_quantizers(builder, root);
        self.local_tensors(builder)?;
        self.settle(builder)?;
        self.later_assertions(builder, false)?;
        if !definition.has_block(BlockKind::Lower) {
            self.simulate_given(builder)?;
        }
        let counter = write_counter(definition).filter(|k| builder.scope.get(k).is_none());
        if definition.has_block(BlockKind::Lower)
            && let Some(counter) = counter
            && definition.updates.is_empty()
        {
            self.counted_writes(builder, list, counter)?;
        } else if definition.has_block(BlockKind::Lower) {
            self.lowered(builder)?;
            self.settle(builder)?;
            if !definition.updates.is_empty() {
                self.formulas_apart(builder, list)?;
                self.composed_updates(builder)?;
            }
        } else if definition.has_block(BlockKind::Compose) || definition.kind == DefinitionKind::Graph {
            self.composed(builder)?;
        } else {
            self.intrinsic(builder)?;
        }
        self.settle(builder)?;
        self.later_assertions(builder, true)?;
        let own = self.quantization(builder, root)?;
        builder.quantization.splice(0..0, own);
        Ok(())
    }

    fn attribute_values(&self, builder: &Builder) -> Vec<(String, AttributeValue)> {
        let run_time = |expr: &model::Expr| {
            Some(AttributeValue::Run { kind: expr.kind, value: Arc::new(shape_expr(expr)?) })
        };
        builder
            .found
            .definition
            .attributes
            .iter()
            .map(|declared| {
                let name = declared.name.name.clone();
                let value =
                    builder.scope.get(&name).map_or(AttributeValue::Null, |v| v.attribute_with(&run_time));
                (name, value)
            })
            .collect()
    }

    /// An operator without a body: its outputs have the declared types.
    fn intrinsic(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        if builder.found.definition.outputs.is_empty() {
            return Err(self.error(
                &TENSOR_UNKNOWN,
                builder.found.definition.name.span,
                format!("`{}` has neither body nor outputs", builder.function.name),
            ));
        }
        self.declare_outputs(builder)?;
        builder.function.body = Body::Intrinsic;
        Ok(())
    }
}
