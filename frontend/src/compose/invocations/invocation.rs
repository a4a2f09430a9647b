// SPDX-License-Identifier: Apache-2.0
//! Invocations of operators inside a composition (2.10).

use crate::ast;
use crate::compose::blocks::update::record_update;
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::declarations::captures::capture;
use crate::compose::declarations::types::named_type;
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::operators::OperatorRef;
use crate::compose::quantization::quantizer::Quantizer;
use crate::compose::quantization::quantizers::quantizers_below;
use crate::compose::shapes::block_checks::settle_here;
use crate::compose::shapes::dynamic_extent::Canonical;
use crate::compose::shapes::named_extents::result_type;
use crate::compose::synthesized_functions::{given_tensors, tensor_of, tensors};
use crate::diagnostics::codes::{ARGUMENT_KIND, LIMIT_EXCEEDED};
use crate::eval::Value;
use crate::model::{Extent, FunctionId, FunctionRole, Invoke, Operation, ShapeExpr, TensorType, ValueId};
use crate::source::Span;
use rustc_hash::FxHashMap;
use skript_semantics::ScalarKind;

/// The argument values and the dynamic extents that an invocation passes.
struct PassedInputs<'a> {
    values: &'a [Value],
    extents: Vec<Extent>,
}

impl<'p> Composer<'p, '_> {
    /// Invokes an operator; one value per output.
    pub(crate) fn invocation(
        &mut self,
        builder: &mut Builder<'p>,
        invocation: &ast::Invocation,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        let Some(operator) = self.context.operators.lookup(builder.operator.module, &invocation.operator)
        else {
            return Err(self.context.unchecked(invocation.operator.span));
        };
        let mut list = ArgumentList { invocation: invocation.span, ..ArgumentList::default() };
        explicit_types(&mut self.context, builder, invocation, &operator, &mut list)?;
        for assignment in &invocation.attributes {
            let name = &assignment.name.name;
            let known = operator.definition.attributes.iter().any(|a| a.name.name == *name);
            if !known {
                return Err(self.context.unchecked(assignment.name.span));
            }
            let value = self.context.value(builder, &assignment.value)?;
            if value.has_tensor() {
                return Err(self.context.unchecked(assignment.value.span));
            }
            list.attributes.insert(name.clone(), (value, assignment.value.span));
        }
        let mut arguments = Vec::with_capacity(invocation.arguments.len());
        for argument in &invocation.arguments {
            arguments.push(match argument {
                ast::Argument::Expr(expr) => (tensors(&mut self.context, builder, expr)?, expr.span),
                ast::Argument::Omitted(span) => (Value::Null, *span),
            });
        }
        self.invoke(builder, operator, list, arguments, invocation, hint)
    }

    /// Invokes an operator on values; label and span are those of `invocation`.
    pub(crate) fn invoke(
        &mut self,
        builder: &mut Builder<'p>,
        operator: OperatorRef<'p>,
        mut list: ArgumentList,
        arguments: Vec<(Value, Span)>,
        invocation: &ast::Invocation,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        settle_here(&mut self.context, builder)?;
        let mut canonical = Canonical::default();
        let mut values = Vec::with_capacity(arguments.len());
        let mut inputs = operator.definition.inputs.iter();
        for (value, span) in arguments {
            let mut value = value;
            if let Some(input) = inputs.next() {
                canonical.enter(input.name.name.clone());
                if input.type_spec.pack.is_some() {
                    let real = input.type_spec.base.name == ScalarKind::Real.name();
                    let kind = real.then_some(ScalarKind::Real);
                    value = given_tensors(&mut self.context, builder, value, kind, span)?;
                }
            }
            let Some(described) = Argument::new(&value, &mut canonical) else {
                let message = format!("{} cannot be passed to an operator", value.text());
                return Err(self.context.error(&ARGUMENT_KIND, span, message));
            };
            list.arguments.push(described);
            list.spans.push(span);
            values.push(value);
        }
        canonical.end_of_tensors();
        for argument in &mut list.arguments {
            argument.name_extents(&mut canonical);
        }
        list.same = self.context.identity_tests.same_tensors(&self.context.operators, operator, &values);
        for (value, _) in list.attributes.values_mut() {
            *value = canonical.attribute(value);
        }
        let (names, extents): (Vec<String>, Vec<Extent>) = canonical.parameters().into_iter().unzip();
        let bounds = extents.iter().map(Extent::bound);
        list.extents = names.into_iter().zip(bounds).collect();
        self.context.invocations += 1;
        let count = self.context.invocations;
        check_invocations(&mut self.context, count, list.invocation)?;
        let below = below(builder, invocation, hint);
        let mut key = list.instance_key(&operator);
        for quantizer in &below {
            quantizer.describe_into(&mut key);
        }
        let callee = match self.context.instances.get(&key) {
            Some(id) => *id,
            None => {
                self.passed_quantizers = below;
                let id = self.instantiate(operator, &list, false)?;
                self.context.instances.insert(key, id);
                id
            }
        };
        // An instance is composed once, and is inlined as often as it is reached.
        let inside = self.context.infos.get(callee.0 as usize);
        let inside = inside.map_or(0, |info| info.invocations).saturating_add(1);
        builder.invocations = builder.invocations.saturating_add(inside);
        check_invocations(&mut self.context, builder.invocations, invocation.span)?;
        let mut meanings = canonical.meanings();
        let passed = PassedInputs { values: &values, extents };
        call(&mut self.context, builder, callee, passed, invocation, hint, &mut meanings)
    }
}

fn check_invocations(context: &mut Context, count: usize, span: Span) -> Composed<()> {
    let max_invocations = context.limits.invocations;
    if count <= max_invocations {
        return Ok(());
    }
    let message = format!(
        "the model has more than {max_invocations} invocations, each counted as often as it is reached (limit `invocations`)"
    );
    Err(context.error(&LIMIT_EXCEEDED, span, message))
}

/// Quantizers for tensors inside of an invocation.
fn below<'p>(builder: &Builder<'p>, invocation: &ast::Invocation, hint: Option<&str>) -> Vec<Quantizer<'p>> {
    if builder.quantizers.is_empty() {
        return Vec::new();
    }
    let label = invocation.label.as_ref().map(|l| l.name.as_str()).or(hint);
    let mut scope = builder.labels.clone();
    scope.extend(label.map(str::to_string));
    quantizers_below(builder, &scope)
}

fn explicit_types<'p>(
    context: &mut Context<'p, '_>,
    builder: &Builder<'p>,
    invocation: &ast::Invocation,
    operator: &OperatorRef<'p>,
    list: &mut ArgumentList,
) -> Composed<()> {
    let parameters = &operator.definition.dtypes;
    if let Some(extra) = invocation.types.get(parameters.len()) {
        return Err(context.unchecked(extra.span));
    }
    for (parameter, name) in parameters.iter().zip(&invocation.types) {
        let ty = named_type(context, builder, name)?;
        list.types.insert(parameter.name.name.clone(), ty);
    }
    Ok(())
}

fn call(
    context: &mut Context,
    builder: &mut Builder,
    callee: FunctionId,
    passed: PassedInputs,
    invocation: &ast::Invocation,
    hint: Option<&str>,
    meanings: &mut FxHashMap<String, ShapeExpr>,
) -> Composed<Vec<Value>> {
    let Some(function) = context.functions.get(callee.0 as usize) else {
        return Err(Reported);
    };
    let span = invocation.span;
    let types = |ids: &[ValueId]| -> Vec<TensorType> {
        let values = ids.iter().filter_map(|id| function.values.get(id.0 as usize));
        values.map(|value| value.tensor.clone()).collect()
    };
    let parameters: Vec<_> = function.inputs.iter().map(|port| types(port.tensors.values())).collect();
    let ports = function.outputs.iter().enumerate().map(|(position, port)| {
        let mut none = function.items_of_none.iter();
        let item = none.find(|(of, _)| *of == position).map(|(_, item)| item.clone());
        (Form::of_port(&port.tensors), types(port.tensors.values()), item)
    });
    let ports: Vec<_> = ports.collect();
    let updated: Vec<(usize, TensorType)> = function
        .updates
        .iter()
        .flat_map(|(capture, value)| types(&[*value]).into_iter().map(|tensor| (*capture, tensor)))
        .collect();
    let (role, callee_name) = (function.role, function.name.clone());
    let tensors = passed.values.iter().map(|value| value.atoms().len()).sum::<usize>();
    context.charge(WORK_PER_INPUT * tensors, span)?;
    let mut inputs: Vec<ValueId> = Vec::new();
    for (types, value) in parameters.into_iter().zip(passed.values) {
        for (tensor, atom) in types.into_iter().zip(value.atoms()) {
            inputs.push(tensor_of(context, builder, &atom, tensor.kind, span)?.id);
        }
    }
    let label = invocation.label.as_ref().map(|l| l.name.clone()).or_else(|| hint.map(str::to_string));
    let captures = captures(context, builder, callee, role, &callee_name, invocation, label.as_deref())?;
    let mut outputs = Vec::new();
    let mut results = Vec::new();
    for (form, types, item) in ports {
        if let Some(item) = item {
            let item = result_type(context, builder, &item, meanings, span)?;
            results.push(builder.stack_of_none(item, span));
            continue;
        }
        let mut tensors = Vec::with_capacity(types.len());
        for tensor in types {
            let tensor = result_type(context, builder, &tensor, meanings, span)?;
            tensors.push(builder.value(None, tensor, span));
        }
        outputs.extend(tensors.iter().map(|tensor| tensor.id));
        results.push(form.value(&mut tensors.into_iter()));
    }
    let mut updates = Vec::with_capacity(updated.len());
    for (capture, tensor) in updated {
        let value = builder.value(None, tensor, span);
        updates.push(value.id);
        let position = captures.get(capture).and_then(|id| {
            let mut all = builder.function.captures.iter();
            all.position(|c| c == id)
        });
        if let Some(position) = position {
            record_update(context, builder, position, value.id, span)?;
        }
    }
    builder.emit(Operation::Invoke(Invoke {
        callee,
        inputs,
        captures,
        extents: passed.extents,
        outputs,
        updates,
        label,
        span,
    }));
    Ok(results)
}

/// The work for a tensor that is passed.
const WORK_PER_INPUT: usize = 16;

/// The caller's tensors for the callee's variables, with labels before their names.
fn captures(
    context: &mut Context,
    builder: &mut Builder,
    callee: FunctionId,
    role: FunctionRole,
    callee_name: &str,
    invocation: &ast::Invocation,
    label: Option<&str>,
) -> Composed<Vec<ValueId>> {
    let explicit = invocation.label.is_some();
    let held = builder.quantization.len();
    let work = context.infos.get(callee.0 as usize).map_or(0, |info| info.work_of_invocation(held));
    context.charge(work, invocation.span)?;
    let Some(info) = context.infos.get(callee.0 as usize) else {
        return Ok(Vec::new());
    };
    let mut scope = builder.labels.clone();
    scope.extend(label.map(str::to_string));
    let single = builder.operator.definition.composes.len() == 1;
    let own_root = role == FunctionRole::Graph && !explicit;
    let join = |path: &str, with_scope: bool| {
        if with_scope && !scope.is_empty() { format!("{}.{path}", scope.join(".")) } else { path.to_string() }
    };
    let mut names = Vec::new();
    for capture in &info.captures {
        let mut name = capture.clone();
        name.invocation = Some(invocation.span);
        if !capture.absolute {
            if own_root {
                name.absolute = true;
                name.path = format!("{callee_name}.{}", capture.path);
                for alias in &mut name.aliases {
                    *alias = format!("{callee_name}.{alias}");
                }
            } else {
                name.path = join(&capture.path, true);
                name.aliases = capture.aliases.iter().map(|a| join(a, true)).collect();
                // A single statement may omit its label (edition khronos).
                if single && !explicit && !scope.is_empty() {
                    name.aliases.push(join(&capture.path, false));
                }
            }
        }
        names.push(name);
    }
    for entry in &info.quantization {
        let mut entry = entry.clone();
        entry.tensor = join(&entry.tensor, !own_root);
        if own_root {
            entry.tensor = format!("{callee_name}.{}", entry.tensor);
        }
        if !builder.quantization.contains(&entry) {
            builder.quantization.push(entry);
        }
    }
    if !own_root {
        let tensors: Vec<String> = info.tensors.iter().map(|t| join(t, true)).collect();
        builder.tensors.extend(tensors.iter().cloned());
        builder.named_below.extend(tensors);
    }
    let captured = names.into_iter().map(|name| {
        let value_name = name.path.clone();
        Ok(capture(context, builder, name, Some(value_name))?.id)
    });
    captured.collect()
}
