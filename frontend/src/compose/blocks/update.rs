// SPDX-License-Identifier: Apache-2.0
//! `@update`: new values of variables of a definition and of its invocations (2.11).
//!
//! A function returns the new values of its captures after its outputs; callers pass them on, up to the entry, where they
//! become the updates of the model. All new values are computed from the old values, so the order of statements does not
//! matter to readers.

use crate::ast::{Declaration, Ident};
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::instances::InstanceInfo;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::synthesized_functions::tensor_of;
use crate::diagnostics::codes::{RESULTS_MISMATCH, UPDATED_TWICE};
use crate::eval::{Atom, Value};
use crate::model::{Block, Body, Extent, FunctionId, Invoke, Operation, Port, ShapeExpr, ValueId};
use crate::source::Span;
use std::sync::Arc;

impl<'p> Composer<'p, '_> {
    /// `@update` of an operator whose formulas are outlined.
    pub(crate) fn composed_updates(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let before = self.context.error_count();
        self.updates(builder);
        if self.context.error_count() > before {
            return Err(Reported);
        }
        builder.function.body = Body::Block(builder.end_block());
        Ok(())
    }

    /// `@update`: new values, all computed from the old values.
    pub(crate) fn updates(&mut self, builder: &mut Builder<'p>) {
        let definition = builder.operator.definition;
        for component in &definition.updates {
            let wanted = component.targets.len();
            let hint = component.names().next().map(|n| n.name.as_str());
            let results = self.statement_value(builder, &component.value, hint, wanted);
            let Ok(results) = results else {
                for name in component.names() {
                    if !is_variable(&definition.variables, name) {
                        builder.scope.set(name.name.clone(), Value::poison());
                    }
                }
                continue;
            };
            // In the scope, variables have their old values; other names are intermediates.
            let old: Vec<(String, Value)> = component
                .names()
                .filter(|n| is_variable(&definition.variables, n))
                .filter_map(|n| Some((n.name.clone(), builder.scope.get(&n.name)?.clone())))
                .collect();
            let assigned = self.assign(builder, component, results);
            for (name, before) in old {
                let new = builder.scope.get(&name).cloned();
                builder.scope.set(name.clone(), before.clone());
                if let (Ok(()), Some(new)) = (&assigned, new) {
                    record_change(&mut self.context, builder, &name, &before, &new, component.span);
                }
            }
        }
    }
}

/// Outlines the formulas of an operator with `@lower` and `@update` to a separate function, which the operator's
/// block invokes: a function has formulas or a block, and updates need a block.
pub(crate) fn formulas_apart(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let id = FunctionId(u32::try_from(context.functions.len()).map_err(|_| Reported)?);
    let tensors = |ports: &[Port]| -> Vec<ValueId> {
        let values = ports.iter().flat_map(|port| port.tensors.values());
        values.copied().collect()
    };
    let outer = &mut builder.function;
    let invoke = Invoke {
        callee: id,
        inputs: tensors(&outer.inputs),
        captures: outer.captures.clone(),
        extents: list
            .extents
            .iter()
            .map(|(name, bound)| Extent::Dynamic {
                expr: Arc::new(ShapeExpr::Symbol(name.clone())),
                bound: *bound,
            })
            .collect(),
        outputs: tensors(&outer.outputs),
        updates: Vec::new(),
        label: None,
        span: outer.span,
    };
    let mut formulas = outer.clone();
    // The invoking function checks them once for both functions.
    formulas.checks.clear();
    outer.result_checks.clear();
    outer.body = Body::Block(Block::default());
    context.functions.push(formulas);
    context.infos.push(InstanceInfo { captures: builder.captures.clone(), ..InstanceInfo::default() });
    builder.emit(Operation::Invoke(invoke));
    Ok(())
}

fn record_change(
    context: &mut Context,
    builder: &mut Builder,
    name: &str,
    before: &Value,
    new: &Value,
    span: Span,
) {
    if before.atoms().len() != new.atoms().len() {
        let message = format!("the new value of variable `{name}` has a different number of tensors");
        context.error(&RESULTS_MISMATCH, span, message);
        return;
    }
    for (item, (old, new)) in before.atoms().zip(new.atoms()).enumerate() {
        let Atom::Tensor(old) = old else { continue };
        let Ok(new) = tensor_of(context, builder, &new, old.tensor.kind, span) else {
            continue;
        };
        if old.tensor != new.tensor {
            let message =
                format!("variable `{name}` is {}, its new value is {}", old.tensor.text(), new.tensor.text());
            context.error(&RESULTS_MISMATCH, span, message);
            continue;
        }
        // By name: the scope may have the quantized value of the variable.
        let path = match before {
            Value::Pack(_) => format!("{name}:{}", item + 1),
            _ => name.to_string(),
        };
        let capture = builder.captures.iter().position(|c| !c.absolute && c.path == path);
        if let Some(capture) = capture {
            // Failures are reported.
            let _ = record_update(context, builder, capture, new.id, span);
        }
    }
}

/// Records that the variable of a capture has `value` after the run.
pub(crate) fn record_update(
    context: &mut Context,
    builder: &mut Builder,
    capture: usize,
    value: ValueId,
    span: Span,
) -> Composed<()> {
    if builder.function.updates.iter().any(|(c, _)| *c == capture) {
        let name = builder.captures.get(capture);
        let name = name.map_or("?", |c| c.path.as_str()).to_string();
        let message = format!("variable `{name}` is updated more than once");
        return Err(context.error(&UPDATED_TWICE, span, message));
    }
    builder.function.updates.push((capture, value));
    Ok(())
}

/// Rejects updates recorded since `mark` where their values cannot leave the block.
pub(crate) fn no_updates_inside(
    context: &mut Context,
    builder: &Builder,
    mark: usize,
    what: &str,
    span: Span,
) -> Composed<()> {
    let Some((capture, _)) = builder.function.updates.get(mark) else {
        return Ok(());
    };
    let name = builder.captures.get(*capture);
    let name = name.map_or("?", |c| c.path.as_str()).to_string();
    let message = format!(
        "variable `{name}` is updated inside {what}; an update happens once per execution of the graph"
    );
    Err(context.error(&UPDATED_TWICE, span, message))
}

/// Makes the updates inside branches results of the `if`: a branch without an update of a variable returns its old
/// value. The branches' blocks get additional results; the captures are returned.
pub(crate) fn branch_updates(
    builder: &Builder,
    branches: &mut [(&mut Block, Vec<(usize, ValueId)>)],
) -> Vec<usize> {
    let mut captures: Vec<usize> = Vec::new();
    for (_, updates) in branches.iter() {
        for (capture, _) in updates {
            if !captures.contains(capture) {
                captures.push(*capture);
            }
        }
    }
    for (block, updates) in branches {
        for capture in &captures {
            let new = updates.iter().find(|(c, _)| c == capture).map(|(_, v)| *v);
            let old = builder.function.captures.get(*capture).copied();
            block.results.extend(new.or(old));
        }
    }
    captures
}

pub(crate) fn is_variable(variables: &[Declaration], name: &Ident) -> bool {
    variables.iter().any(|v| v.name.name == name.name)
}
