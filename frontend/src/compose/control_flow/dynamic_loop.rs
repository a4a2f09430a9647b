// SPDX-License-Identifier: Apache-2.0
//! Loops that are not unrolled: with conditions, dynamic counts, or many iterations (2.10.1).

use crate::ast::{self, ComponentValue};
use crate::compose::blocks::update::no_updates_inside;
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::control_flow::loops::{Parts, Scanned, next_carried};
use crate::compose::invocations::builder::{Builder, Form, formed};
use crate::compose::synthesized_functions::tensor_of;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{BRANCH_RESULTS, LOOP_WITHOUT_END, SCAN_TYPES};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Block, Carried, ConstantData, Extent, Loop, Operation, ShapeExpr, TensorType, ValueId};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind};
use std::sync::Arc;

impl<'p> Composer<'p, '_> {
    /// A loop that is not unrolled.
    pub(crate) fn dynamic_loop(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let (operation, results) = self.built_loop(builder, parts, hint, wanted)?;
        builder.emit(Operation::Loop(Box::new(operation)));
        Ok(results)
    }

    /// A loop over empty packs: its body only determines the types of the collected results, which are empty too.
    pub(crate) fn loop_of_none(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let (_, typed) = self.built_loop(builder, parts, hint, wanted)?;
        let carried = parts.carried.len();
        let mut results = parts.carried.clone();
        for value in typed.into_iter().skip(carried) {
            let Value::Atom(Atom::Stack(stack)) = value else {
                return Err(Reported);
            };
            results.push(builder.stack_of_none(stack.tensor.item(), parts.syntax.span));
        }
        Ok(results)
    }

    /// A loop in a new scope, and its results; not added to the operations yet.
    fn built_loop(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Loop, Vec<Value>)> {
        let span = parts.syntax.span;
        let depth = builder.scope.depth();
        builder.scope.push();
        let mark = builder.function.updates.len();
        let built = self.loop_operation(builder, parts, hint, wanted);
        builder.scope.truncate(depth);
        let built = built?;
        no_updates_inside(&mut self.context, builder, mark, "a loop", span)?;
        Ok(built)
    }

    fn loop_operation(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Loop, Vec<Value>)> {
        let looping = parts.syntax;
        let (carried, mut results) = carried(builder, parts)?;
        let mut scans = Vec::new();
        let mut stack_scans = Vec::new();
        for (scan, scanned) in looping.scans.iter().zip(&parts.scans) {
            let (tensor, items) = scanned_item(&mut self.context, builder, scan, scanned)?;
            let item = in_scope(builder, &scan.item, tensor, scan.span);
            match scanned {
                Scanned::Pack(_) => scans.push((item, items)),
                Scanned::Stack(stack) => stack_scans.push((item, stack.id)),
            }
        }
        let index_name = looping.count.as_ref().and_then(|c| c.index.as_ref());
        let index = index_name.map(|name| in_scope(builder, name, scalar(ScalarKind::Int), name.span));
        let before = self.loop_condition(builder, looping.before.as_ref())?;
        let (body, forms, tensors) = self.inner_block(builder, &looping.body, hint, wanted)?;
        let collected = forms.get(parts.carried.len()..);
        if collected.is_none_or(|forms| forms.iter().any(|form| *form != Form::Single)) {
            let message = format!(
                "the body must return {} loop-carried values, and single tensors to be collected",
                parts.carried.len()
            );
            return Err(self.context.error(&BRANCH_RESULTS, looping.span, message));
        }
        let new = formed(&forms, tensors.clone());
        for ((item, init), new) in looping.carried.iter().zip(&parts.carried).zip(&new) {
            next_carried(&mut self.context, builder, item, init, new, false)?;
        }
        let after = self.loop_condition(builder, looping.after.as_ref())?;
        let (_, collected) = tensors.split_at(carried.len());
        let (scan_outputs, packs) = collect_results(&mut self.context, builder, parts, collected)?;
        results.extend(packs);
        let capacity = parts.capacity.filter(|_| !scan_outputs.is_empty());
        let bounded = parts.count.is_some() || parts.dynamic.is_some() || capacity.is_some();
        let operation = Loop {
            carried,
            scans,
            index,
            static_count: parts.count,
            capacity,
            max_steps: (!bounded && stack_scans.is_empty()).then_some(self.context.limits.loop_steps),
            stack_scans,
            dynamic_count: parts.dynamic.as_ref().map(|t| t.id),
            before,
            body,
            after,
            scan_outputs,
            span: looping.span,
        };
        Ok((operation, results))
    }

    /// The condition of a loop, if it has one; a compile-time condition becomes a constant.
    fn loop_condition(
        &mut self,
        builder: &mut Builder<'p>,
        condition: Option<&ComponentValue>,
    ) -> Composed<Option<Block>> {
        let Some(condition) = condition else {
            return Ok(None);
        };
        if let ComponentValue::Expr(expr) = condition
            && let Value::Atom(Atom::Bool(value)) = self.context.value(builder, expr)?
        {
            builder.blocks.push(Block::default());
            let data = ConstantData::Splat(Scalar::Bool(value));
            let value = builder.constant(scalar(ScalarKind::Bool), data, expr.span);
            let mut block = builder.end_block();
            block.results = vec![value.id];
            return Ok(Some(block));
        }
        self.condition_block(builder, condition).map(Some)
    }
}

/// The loop-carried values: their names in the body, and their final values.
fn carried(builder: &mut Builder, parts: &Parts) -> Composed<(Vec<Carried>, Vec<Value>)> {
    let mut carried = Vec::new();
    let mut results = Vec::new();
    for (item, init) in parts.syntax.carried.iter().zip(&parts.carried) {
        let form = Form::new(init);
        let mut inside = Vec::new();
        let mut after = Vec::new();
        for (position, atom) in init.atoms().enumerate() {
            let (Atom::Tensor(init) | Atom::Stack(init)) = atom else {
                return Err(Reported);
            };
            let name = match form {
                Form::Single | Form::Stack => item.name.name.clone(),
                Form::Pack(_) => format!("{}:{}", item.name.name, position + 1),
            };
            let tensor = (*init.tensor).clone();
            let inner = builder.value(Some(name), tensor.clone(), item.span);
            let result = builder.value(None, tensor, item.span);
            carried.push(Carried { inner: inner.id, init: init.id, result: result.id });
            inside.push(inner);
            after.push(result);
        }
        let inside = formed(&[form], inside).into_iter().next();
        let inside = inside.unwrap_or(Value::Null);
        builder.scope.set(item.name.name.clone(), inside);
        results.extend(formed(&[form], after));
    }
    Ok((carried, results))
}

/// The packs of collected results, and their tensors: one tensor for each item if the number of items is static.
fn collect_results(
    context: &mut Context,
    builder: &mut Builder,
    parts: &Parts,
    tensors: &[TensorRef],
) -> Composed<(Vec<Vec<ValueId>>, Vec<Value>)> {
    let looping = parts.syntax;
    if tensors.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let Some(iterations) = parts.count.or(parts.capacity) else {
        let message = "results can only be collected if the number of iterations has a static upper bound; add a count, \
             a `for` clause, or the length of their pack: `ys..(n) = …`";
        return Err(context.error(&LOOP_WITHOUT_END, looping.span, message));
    };
    let unconditional = looping.before.is_none() && looping.after.is_none();
    let counted = unconditional && parts.dynamic.is_none();
    let mut stacks = parts.scans.iter().filter_map(|scanned| match scanned {
        Scanned::Stack(stack) => Some(stack),
        Scanned::Pack(_) => None,
    });
    let stack = stacks.next();
    let is_fixed = counted && stack.is_none();
    let scanned = stack.filter(|_| counted);
    let scanned = scanned.and_then(|stack| stack.tensor.shape.first().cloned());
    // Without conditions, the number of iterations is the extent `parts.length`, so packs have that length.
    let length = parts.length.clone().filter(|_| unconditional);
    let length = scanned.or(length).unwrap_or_else(|| Extent::Dynamic {
        expr: Arc::new(ShapeExpr::Symbol(builder.fresh_extent())),
        bound: iterations,
    });
    let mut outputs = Vec::new();
    let mut packs = Vec::new();
    for tensor in tensors {
        let item = (*tensor.tensor).clone();
        if is_fixed {
            let items: Vec<TensorRef> =
                (0..iterations).map(|_| builder.value(None, item.clone(), looping.span)).collect();
            outputs.push(items.iter().map(|t| t.id).collect());
            packs.push(Value::pack(items.into_iter().map(Atom::Tensor)));
        } else {
            let mut whole = item;
            whole.shape.insert(0, length.clone());
            let stack = builder.value(None, whole, looping.span);
            outputs.push(vec![stack.id]);
            packs.push(Value::Atom(Atom::Stack(stack)));
        }
    }
    Ok((outputs, packs))
}

/// The type of a scan's item, and the tensors of a pack.
fn scanned_item(
    context: &mut Context,
    builder: &mut Builder,
    scan: &ast::Scan,
    scanned: &Scanned,
) -> Composed<(TensorType, Vec<ValueId>)> {
    let pack = match scanned {
        Scanned::Pack(pack) => pack,
        Scanned::Stack(stack) => {
            return Ok((stack.tensor.item(), Vec::new()));
        }
    };
    let mut first: Option<TensorRef> = None;
    let mut ids = Vec::with_capacity(pack.len());
    for atom in pack.iter() {
        let kind = atom.kind().unwrap_or(ScalarKind::Real);
        let tensor = tensor_of(context, builder, &atom, kind, scan.span)?;
        ids.push(tensor.id);
        match &first {
            Some(first) if first.tensor != tensor.tensor => {
                let message = format!(
                    "a loop with a dynamic count or a condition scans tensors of one type, but these are {} and {}",
                    first.tensor.text(),
                    tensor.tensor.text()
                );
                return Err(context.report(Diagnostic::error(&SCAN_TYPES, scan.span, message).with_help(
                    "a loop with a compile-time count and no condition may scan tensors of several shapes",
                )));
            }
            Some(_) => {}
            None => first = Some(tensor),
        }
    }
    match first {
        Some(first) => Ok(((*first.tensor).clone(), ids)),
        None => Err(context.error(
            &SCAN_TYPES,
            scan.span,
            "an empty pack does not determine the type of its items, and the count is known at run time only",
        )),
    }
}

/// Binds a name in the body of a loop to a value.
fn in_scope(builder: &mut Builder, name: &ast::Ident, tensor: TensorType, span: Span) -> ValueId {
    let value = builder.value(Some(name.name.clone()), tensor, span);
    let id = value.id;
    builder.scope.set(name.name.clone(), Value::Atom(Atom::Tensor(value)));
    id
}

fn scalar(kind: ScalarKind) -> TensorType {
    TensorType { kind, shape: Vec::new() }
}
