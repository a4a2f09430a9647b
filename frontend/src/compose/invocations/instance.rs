// SPDX-License-Identifier: Apache-2.0
//! Builds one instance: binding, helper symbols and assertions, declarations, body.

use crate::ast::{BlockKind, DefinitionKind};
use crate::check::value_types;
use crate::compose::blocks::update::formulas_apart;
use crate::compose::calls::Composed;
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::declarations::helper_symbols::{later_assertions, report_violations, symbols};
use crate::compose::declarations::tensors::{declare_outputs, local_tensors};
use crate::compose::formulas::lower_block::lowered;
use crate::compose::formulas::write_counter::{counted_writes, write_counter};
use crate::compose::instances::InstanceInfo;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::binding::bind;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::edition_warning::warn_of_divisions;
use crate::compose::operators::OperatorRef;
use crate::compose::quantization::quantizers::{own_quantizers, quantization, simulate_given};
use crate::compose::shapes::checks::settle;
use crate::compose::shapes::dynamic_extent::shape_expr;
use crate::compose::synthesized_functions::empty_function;
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::eval::{Language, TypeName};
use crate::model::{self, AttributeValue, Body, Function, FunctionId};
use std::sync::Arc;

impl<'p> Composer<'p, '_> {
    /// Composes an instance of the definition for these arguments.
    pub(crate) fn instantiate(
        &mut self,
        operator: OperatorRef<'p>,
        list: &ArgumentList,
        entry: bool,
    ) -> Composed<FunctionId> {
        let call = (!entry).then_some(list.invocation);
        self.context.enter(&operator, call)?;
        let result = self.instance(operator, list, entry);
        self.context.leave();
        result
    }

    fn instance(
        &mut self,
        operator: OperatorRef<'p>,
        list: &ArgumentList,
        entry: bool,
    ) -> Composed<FunctionId> {
        let definition = operator.definition;
        if self.context.functions.len() >= self.context.limits.instances {
            let message = format!(
                "the model has more than {} different operator instances (limit `instances`)",
                self.context.limits.instances
            );
            return Err(self.context.error(&LIMIT_EXCEEDED, list.invocation, message));
        }
        let function = Function {
            role: operator.role(),
            extents: list.extents.iter().map(|(name, _)| name.clone()).collect(),
            numbers: self.context.options.numbers,
            ..empty_function(&self.context.operators.qualified(&operator), definition.name.span)
        };
        let edition = self.context.program.edition(operator.module);
        let quantizers = std::mem::take(&mut self.passed_quantizers);
        let program = self.context.program;
        let records = program.khronos_syntax(operator.module).is_some();
        let language = Language::new(edition, value_types(program), records);
        let mut builder = Builder::new(operator, language, function, entry, quantizers);
        let root = if entry { self.context.operators.qualified(&operator) } else { String::new() };
        let filled = self.fill(&mut builder, list, &root);
        match (filled, &mut self.known) {
            (Err(failure), Some(known)) if entry => {
                known.append(&mut builder.function.values);
                return Err(failure);
            }
            // If the body cannot be composed, the declarations may determine the outputs.
            (Err(_), Some(_)) => declare_alone(&mut self.context, &mut builder)?,
            (filled, _) => filled?,
        }
        warn_of_divisions(&mut self.context, &builder);
        builder.function.attributes = attribute_values(&builder);
        builder.function.types = builder
            .types
            .iter()
            .filter_map(|(name, ty)| match ty {
                TypeName::Scalar(kind) => Some((name.clone(), *kind)),
                TypeName::Str => None,
            })
            .collect();
        let public = definition.public || definition.kind == DefinitionKind::Graph;
        let mut tensors = builder.named_below;
        if public {
            tensors.extend(builder.tensors)
        } else {
            tensors.extend(definition.constants.iter().map(|c| c.name.name.clone()))
        }
        let info = InstanceInfo {
            captures: builder.captures,
            tensors,
            quantization: builder.quantization,
            invocations: builder.invocations,
            is_composite: definition.has_block(BlockKind::Compose),
        };
        self.context.add(builder.function, info)
    }

    /// Binds the arguments of the instance, and composes its body.
    fn fill(&mut self, builder: &mut Builder<'p>, list: &ArgumentList, root: &str) -> Composed<()> {
        let definition = builder.operator.definition;
        let reported = self.context.calls.sink.diagnostics().len();
        if let Err(failure) = bind(&mut self.context, builder, list) {
            report_violations(&mut self.context, builder, reported);
            return Err(failure);
        }
        settle(&mut self.context, builder)?;
        symbols(&mut self.context, builder)?;
        own_quantizers(&mut self.context, builder, root);
        local_tensors(&mut self.context, builder)?;
        settle(&mut self.context, builder)?;
        later_assertions(&mut self.context, builder, false)?;
        if !definition.has_block(BlockKind::Lower) {
            simulate_given(self, builder)?;
        }
        let counter = write_counter(definition).filter(|k| builder.scope.get(k).is_none());
        if definition.has_block(BlockKind::Lower)
            && let Some(counter) = counter
            && definition.updates.is_empty()
        {
            counted_writes(&mut self.context, builder, list, counter)?;
        } else if definition.has_block(BlockKind::Lower) {
            lowered(&mut self.context, builder)?;
            settle(&mut self.context, builder)?;
            if !definition.updates.is_empty() {
                formulas_apart(&mut self.context, builder, list)?;
                self.composed_updates(builder)?;
            }
        } else if definition.has_block(BlockKind::Compose) || definition.kind == DefinitionKind::Graph {
            self.composed(builder)?;
        } else {
            intrinsic(&mut self.context, builder)?;
        }
        settle(&mut self.context, builder)?;
        later_assertions(&mut self.context, builder, true)?;
        let entries = quantization(&mut self.context, builder, root)?;
        builder.quantization.splice(0..0, entries);
        Ok(())
    }
}

/// The declared outputs of an operator whose body could not be composed.
fn declare_alone(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    builder.function.outputs.clear();
    builder.function.updates.clear();
    builder.blocks.clear();
    intrinsic(context, builder)
}

fn attribute_values(builder: &Builder) -> Vec<(String, AttributeValue)> {
    let run_time = |expr: &model::Expr| {
        Some(AttributeValue::Run { kind: expr.kind, value: Arc::new(shape_expr(expr)?) })
    };
    builder
        .operator
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
fn intrinsic(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    if builder.operator.definition.outputs.is_empty() {
        return Err(context.unchecked(builder.operator.definition.name.span));
    }
    declare_outputs(context, builder)?;
    builder.function.body = Body::Intrinsic;
    Ok(())
}
