// SPDX-License-Identifier: Apache-2.0
//! Builds one instance: binding, helper symbols and assertions, declarations, body.

use std::sync::Arc;

use crate::ast::{BlockKind, DefinitionKind};
use crate::compose::composer::{CaptureName, Composed, Composer, Definitions, InstanceInfo, Reported};
use crate::compose::formulas::write_counter::write_counter;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::dynamic_extent::shape_expr;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{LIMIT_EXCEEDED, SHARED_VARIABLE, TENSOR_UNKNOWN};
use crate::eval::{TensorRef, TypeName};
use crate::model::{self, AttributeValue, Body, Function, FunctionId};

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
                tensor.text(),
                known.tensor.text()
            );
            self.report(
                Diagnostic::error(&SHARED_VARIABLE, location, message)
                    .with_label_at(
                        known.invocation.unwrap_or(known.span),
                        format!("{} here", known.tensor.text()),
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
        let function = Function {
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
        };
        let edition = self.program.edition(found.module);
        let quantizers = std::mem::take(&mut self.passed_quantizers);
        let mut builder = Builder::new(found, edition, function, entry, quantizers);
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
