// SPDX-License-Identifier: Apache-2.0
//! Invocations of operators inside a composition (2.10).

use rustc_hash::FxHashMap;
use skript_semantics::ScalarKind;

use crate::ast::{self, Expr};
use crate::compose::composer::{Composed, Composer, Definitions, Reported, instance_key};
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::coerce_scalar;
use crate::compose::quantization::quantizer::Quantizer;
use crate::compose::shapes::dynamic_extent::Canonical;
use crate::compose::synthesized_functions::as_kind;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    ARGUMENT_KIND, ATTRIBUTE_VALUE, LIMIT_EXCEEDED, TENSOR_UNKNOWN, TYPE_DEDUCTION, UNEXPECTED_VALUE,
};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{
    ConstantData, Extent, FunctionId, FunctionRole, Invoke, Operation, PortTensors, ShapeExpr, TensorType,
    ValueId,
};
use crate::source::Span;

/// The parts of an instance's identity beside its attributes.
struct Passed<'a> {
    values: &'a [Value],
    extents: Vec<Extent>,
}

/// Builds the value of a port from its tensors.
#[derive(Clone, Copy)]
enum PortForm {
    Single,
    Pack,
    Stack,
}

impl<'p> Composer<'p, '_> {
    /// Invokes an operator; one value per output.
    pub(crate) fn invocation(
        &mut self,
        builder: &mut Builder<'p>,
        invocation: &ast::Invocation,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        let Some(found) = self.lookup(builder.found.module, &invocation.operator) else {
            return Err(self.error(
                &TENSOR_UNKNOWN,
                invocation.operator.span,
                format!("there is no operator `{}` here", invocation.operator.text()),
            ));
        };
        let mut list = ArgumentList { invocation: invocation.span, ..ArgumentList::default() };
        self.explicit_types(builder, invocation, &found, &mut list)?;
        for assignment in &invocation.attributes {
            let name = &assignment.name.name;
            let known = found.definition.attributes.iter().any(|a| a.name.name == *name);
            if !known {
                let names: Vec<&str> =
                    found.definition.attributes.iter().map(|a| a.name.name.as_str()).collect();
                return Err(self.report(
                    Diagnostic::error(
                        &ATTRIBUTE_VALUE,
                        assignment.name.span,
                        format!("`{}` has no attribute `{name}`", invocation.operator.text()),
                    )
                    .with_help(format!("its attributes are: {}", names.join(", "))),
                ));
            }
            let value = self.value(builder, &assignment.value)?;
            if value.has_tensor() {
                return Err(self.error(
                    &ATTRIBUTE_VALUE,
                    assignment.value.span,
                    format!("attribute `{name}` must be known at compile time, this is a tensor"),
                ));
            }
            list.attributes.insert(name.clone(), (value, assignment.value.span));
        }
        let mut arguments = Vec::with_capacity(invocation.arguments.len());
        for argument in &invocation.arguments {
            arguments.push(match argument {
                ast::Argument::Expr(expr) => (self.tensors(builder, expr)?, expr.span),
                ast::Argument::Omitted(span) => (Value::Null, *span),
            });
        }
        self.invoke(builder, found, list, arguments, invocation, hint)
    }

    /// Invokes an operator on values; label and span are those of `invocation`.
    pub(crate) fn invoke(
        &mut self,
        builder: &mut Builder<'p>,
        found: Definitions<'p>,
        mut list: ArgumentList,
        arguments: Vec<(Value, Span)>,
        invocation: &ast::Invocation,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        self.settle_here(builder)?;
        let mut canonical = Canonical::default();
        let mut values = Vec::with_capacity(arguments.len());
        let mut inputs = found.definition.inputs.iter();
        for (value, span) in arguments {
            let mut value = value;
            if let Some(input) = inputs.next() {
                canonical.enter(input.name.name.clone());
                if input.type_spec.pack.is_some() {
                    let real = input.type_spec.base.name == ScalarKind::Real.name();
                    let kind = real.then_some(ScalarKind::Real);
                    value = self.given_tensors(builder, value, kind, span)?;
                }
            }
            let Some(described) = Argument::of(&value, &mut canonical) else {
                return Err(self.error(
                    &ARGUMENT_KIND,
                    span,
                    format!("{} cannot be passed to an operator", value.text()),
                ));
            };
            list.arguments.push(described);
            list.spans.push(span);
            values.push(value);
        }
        canonical.end_of_tensors();
        for argument in &mut list.arguments {
            argument.name_extents(&mut canonical);
        }
        list.same = self.same_tensors(&found, &values);
        for (value, _) in list.attributes.values_mut() {
            *value = canonical.attribute(value);
        }
        let (names, extents): (Vec<String>, Vec<Extent>) = canonical.parameters().into_iter().unzip();
        let bounds = extents.iter().map(Extent::bound);
        list.extents = names.into_iter().zip(bounds).collect();
        self.invocations += 1;
        self.check_invocations(self.invocations, list.invocation)?;
        let below = self.below(builder, invocation, hint);
        let mut key = instance_key(&found, &list);
        for quantizer in &below {
            quantizer.describe_into(&mut key);
        }
        let callee = match self.instances.get(&key) {
            Some(id) => *id,
            None => {
                self.passed_quantizers = below;
                let id = self.instantiate(found, &list, false)?;
                self.instances.insert(key, id);
                id
            }
        };
        // An instance is composed once, and is inlined as often as it is reached.
        let inside = self.infos.get(callee.0 as usize);
        let inside = inside.map_or(0, |info| info.invocations).saturating_add(1);
        builder.invocations = builder.invocations.saturating_add(inside);
        self.check_invocations(builder.invocations, invocation.span)?;
        let mut meanings = canonical.meanings();
        let passed = Passed { values: &values, extents };
        self.call(builder, callee, passed, invocation, hint, &mut meanings)
    }

    fn check_invocations(&mut self, count: usize, span: Span) -> Composed<()> {
        let most = self.limits.invocations;
        if count <= most {
            return Ok(());
        }
        let message = format!(
            "the model has more than {most} invocations, each counted as often as it is reached (limit `invocations`)"
        );
        Err(self.error(&LIMIT_EXCEEDED, span, message))
    }

    /// Quantizers for tensors inside of an invocation.
    fn below(
        &self,
        builder: &Builder<'p>,
        invocation: &ast::Invocation,
        hint: Option<&str>,
    ) -> Vec<Quantizer<'p>> {
        if builder.quantizers.is_empty() {
            return Vec::new();
        }
        let label = invocation.label.as_ref().map(|l| l.name.as_str()).or(hint);
        let mut scope = builder.labels.clone();
        scope.extend(label.map(str::to_string));
        self.quantizers_below(builder, &scope)
    }

    /// Evaluates a compile-time expression that may contain tensors.
    pub(crate) fn value(&mut self, builder: &Builder<'p>, expr: &Expr) -> Composed<Value> {
        let result = builder.evaluator(self.limits).eval(expr);
        result.map_err(|s| self.failed(s))
    }

    fn explicit_types(
        &mut self,
        builder: &Builder<'p>,
        invocation: &ast::Invocation,
        found: &crate::compose::composer::Definitions<'p>,
        list: &mut ArgumentList,
    ) -> Composed<()> {
        let parameters = &found.definition.dtypes;
        if let Some(extra) = invocation.types.get(parameters.len()) {
            return Err(self.error(
                &TYPE_DEDUCTION,
                extra.span,
                format!(
                    "`{}` has {} generic types, but the invocation has {}",
                    invocation.operator.text(),
                    parameters.len(),
                    invocation.types.len()
                ),
            ));
        }
        for (parameter, name) in parameters.iter().zip(&invocation.types) {
            let ty = self.named_type(builder, name)?;
            list.types.insert(parameter.name.name.clone(), ty);
        }
        Ok(())
    }

    fn call(
        &mut self,
        builder: &mut Builder<'p>,
        callee: FunctionId,
        passed: Passed,
        invocation: &ast::Invocation,
        hint: Option<&str>,
        meanings: &mut FxHashMap<String, ShapeExpr>,
    ) -> Composed<Vec<Value>> {
        let Some(function) = self.functions.get(callee.0 as usize) else {
            return Err(Reported);
        };
        let span = invocation.span;
        let mut inputs: Vec<ValueId> = Vec::new();
        let parameters: Vec<(Vec<ScalarKind>, Value)> = function
            .inputs
            .iter()
            .zip(passed.values)
            .map(|(port, value)| {
                let kinds = port
                    .tensors
                    .values()
                    .iter()
                    .filter_map(|id| function.values.get(id.0 as usize))
                    .map(|v| v.tensor.kind)
                    .collect();
                (kinds, value.clone())
            })
            .collect();
        let ports: Vec<(PortForm, Vec<TensorType>)> = function
            .outputs
            .iter()
            .map(|port| {
                let types = port
                    .tensors
                    .values()
                    .iter()
                    .filter_map(|id| function.values.get(id.0 as usize))
                    .map(|v| v.tensor.clone())
                    .collect();
                let form = match port.tensors {
                    PortTensors::Pack(_) => PortForm::Pack,
                    PortTensors::Stack(_) => PortForm::Stack,
                    PortTensors::Single(_) | PortTensors::Null => PortForm::Single,
                };
                (form, types)
            })
            .collect();
        let items_of_none = function.items_of_none.clone();
        let updated: Vec<(usize, TensorType)> = function
            .updates
            .iter()
            .filter_map(|(capture, value)| {
                let value = function.values.get(value.0 as usize)?;
                Some((*capture, value.tensor.clone()))
            })
            .collect();
        let (role, callee_name) = (function.role, function.name.clone());
        for (kinds, value) in parameters {
            for (kind, atom) in kinds.into_iter().zip(value.atoms()) {
                inputs.push(self.tensor_of(builder, atom, kind, span)?.id);
            }
        }
        let label = invocation.label.as_ref().map(|l| l.name.clone()).or_else(|| hint.map(str::to_string));
        let captures = self.captures(builder, callee, role, &callee_name, invocation, label.as_deref())?;
        let mut outputs = Vec::new();
        let mut results = Vec::new();
        for (position, (form, types)) in ports.into_iter().enumerate() {
            if let Some((_, item)) = items_of_none.iter().find(|(p, _)| *p == position) {
                let item = self.result_type(builder, item, meanings, span)?;
                results.push(builder.stack_of_none(item, span));
                continue;
            }
            let mut atoms = Vec::new();
            for tensor in types {
                let tensor = self.result_type(builder, &tensor, meanings, span)?;
                let value = builder.value(None, tensor, span);
                outputs.push(value.id);
                atoms.push(match form {
                    PortForm::Stack => Atom::Stack(value),
                    PortForm::Single | PortForm::Pack => Atom::Tensor(value),
                });
            }
            results.push(match (form, atoms.first()) {
                (PortForm::Single | PortForm::Stack, Some(single)) => Value::Atom(single.clone()),
                _ => Value::pack(atoms),
            });
        }
        let mut updates = Vec::with_capacity(updated.len());
        for (capture, tensor) in updated {
            let value = builder.value(None, tensor, span);
            updates.push(value.id);
            let own = captures.get(capture).and_then(|id| {
                let mut all = builder.function.captures.iter();
                all.position(|c| c == id)
            });
            if let Some(own) = own {
                self.record_update(builder, own, value.id, span)?;
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

    /// The caller's tensors for the callee's variables, with labels before their names.
    fn captures(
        &mut self,
        builder: &mut Builder<'p>,
        callee: FunctionId,
        role: FunctionRole,
        callee_name: &str,
        invocation: &ast::Invocation,
        label: Option<&str>,
    ) -> Composed<Vec<ValueId>> {
        let explicit = invocation.label.is_some();
        let Some(info) = self.infos.get(callee.0 as usize) else {
            return Ok(Vec::new());
        };
        let mut scope = builder.labels.clone();
        scope.extend(label.map(str::to_string));
        let single = builder.found.definition.composes.len() == 1;
        let own_root = role == FunctionRole::Graph && !explicit;
        let join = |path: &str, with_scope: bool| {
            if with_scope && !scope.is_empty() {
                format!("{}.{path}", scope.join("."))
            } else {
                path.to_string()
            }
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
            Ok(self.capture(builder, name, Some(value_name))?.id)
        });
        captured.collect()
    }

    /// The tensor of an item; a scalar becomes a rank-0 constant of `kind`.
    pub(crate) fn tensor_of(
        &mut self,
        builder: &mut Builder<'p>,
        atom: &Atom,
        kind: ScalarKind,
        span: Span,
    ) -> Composed<TensorRef> {
        match atom {
            Atom::Tensor(tensor) | Atom::Stack(tensor) => Ok(tensor.clone()),
            Atom::Poison => Err(Reported),
            other => match other.scalar().and_then(|s| coerce_scalar(s, kind)) {
                Some(scalar) => Ok(builder.constant(
                    TensorType { kind, shape: Vec::new() },
                    ConstantData::Splat(scalar),
                    span,
                )),
                None => match other.to_expr().and_then(|expr| as_kind(&expr, kind)) {
                    Some(expr) if is_shape_scalar(&expr) => self.scalar_of(builder, &expr, span),
                    _ => Err(self.error(
                        &UNEXPECTED_VALUE,
                        span,
                        format!("a {} tensor is needed, this is {}", kind.name(), other.text()),
                    )),
                },
            },
        }
    }

    /// All tensors of a value, scalars as constants of `kind`.
    pub(crate) fn materialize(
        &mut self,
        builder: &mut Builder<'p>,
        value: &Value,
        kind: ScalarKind,
        span: Span,
    ) -> Composed<Vec<TensorRef>> {
        let mut tensors = Vec::with_capacity(value.atoms().len());
        for atom in value.atoms() {
            tensors.push(self.tensor_of(builder, atom, kind, span)?);
        }
        Ok(tensors)
    }
}
