// SPDX-License-Identifier: Apache-2.0
//! Branches (2.10.1): folded at compile time if possible, else operations of the model.

use skript_semantics::ScalarKind;

use crate::ast::{self, ComponentValue};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::control_flow::branch_results::{BranchResults, joined};
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{BRANCH_RESULTS, CONTROL_CONDITION};
use crate::eval::ranges::decided;
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Arm, Block, Operation, TensorType, ValueId};
use crate::source::Span;

/// How a value consists of tensors: one, or a pack with so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Single,
    Pack(usize),
    /// A pack of dynamic length.
    Stack,
}

impl<'p> Composer<'p, '_> {
    pub(crate) fn branching(
        &mut self,
        builder: &mut Builder<'p>,
        branching: &ast::Branching,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        // Branches before the first one whose condition is certainly true; that one replaces `else`.
        let mut dynamic: Vec<(&ComponentValue, &ComponentValue)> = Vec::new();
        let mut last: &ComponentValue = &branching.otherwise;
        for (condition, consequent) in &branching.arms {
            match self.static_condition(builder, condition)? {
                Some(true) => {
                    last = consequent;
                    break;
                }
                Some(false) => {}
                None => dynamic.push((condition, consequent)),
            }
        }
        if dynamic.is_empty() {
            return self.component_value(builder, last, hint, wanted);
        }
        let mut arms = Vec::new();
        let mut all: Vec<BranchResults> = Vec::new();
        let mark = builder.function.updates.len();
        let mut updated = Vec::new();
        for (condition, consequent) in dynamic {
            let condition = self.condition_block(builder, condition)?;
            self.no_updates_inside(builder, mark, "a condition", branching.span)?;
            let (consequent, forms, tensors) = self.inner_block(builder, consequent, hint, wanted)?;
            updated.push(builder.function.updates.split_off(mark));
            arms.push(Arm { condition, consequent });
            all.push((forms, tensors));
        }
        let (mut otherwise, forms, tensors) = self.inner_block(builder, last, hint, wanted)?;
        updated.push(builder.function.updates.split_off(mark));
        all.push((forms, tensors));
        let types = joined(builder, &all, false).or_else(|| self.joined_by_shapes(builder, &all));
        let Some(types) = types else {
            return Err(self.branches_differ(&all, branching.span));
        };
        let outputs: Vec<TensorRef> =
            types.into_iter().map(|tensor| builder.value(None, tensor, branching.span)).collect();
        let mut branches: Vec<_> =
            arms.iter_mut().map(|arm| &mut arm.consequent).chain([&mut otherwise]).zip(updated).collect();
        let captures = self.branch_updates(builder, &mut branches);
        let mut ids: Vec<ValueId> = outputs.iter().map(|t| t.id).collect();
        for capture in captures {
            let tensor = builder.captures.get(capture).map(|c| c.tensor.clone());
            let Some(tensor) = tensor else { continue };
            let new = builder.value(None, tensor, branching.span);
            ids.push(new.id);
            self.record_update(builder, capture, new.id, branching.span)?;
        }
        builder.emit(Operation::If { arms, otherwise, outputs: ids, span: branching.span });
        let forms = all.pop().map(|(forms, _)| forms).unwrap_or_default();
        Ok(formed(&forms, outputs))
    }

    /// Extents that callers fixed ([`ComposeOptions::input_shapes`]) may differ if those that the graph declares may
    /// differ; that is tested after composition.
    ///
    /// [`ComposeOptions::input_shapes`]: crate::compose::ComposeOptions::input_shapes
    fn joined_by_shapes(
        &mut self,
        builder: &mut Builder<'p>,
        branches: &[BranchResults],
    ) -> Option<Vec<TensorType>> {
        if self.input_shapes.is_empty() {
            return None;
        }
        let types = joined(builder, branches, true)?;
        self.shapes_decide = true;
        Some(types)
    }

    fn branches_differ(&mut self, branches: &[BranchResults], span: Span) -> Reported {
        let types = |tensors: &[TensorRef]| {
            let texts: Vec<String> = tensors.iter().map(|t| t.tensor.text()).collect();
            texts.join(", ")
        };
        let mut texts: Vec<String> = Vec::new();
        for (_, tensors) in branches {
            let text = types(tensors);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let message = format!("the branches have different results: {}", texts.join(" and "));
        self.report(
            Diagnostic::error(&BRANCH_RESULTS, span, message).with_help(
                "all branches need results of one type and rank; extents may differ if they are dynamic, as in `x: real[n|8]`",
            ),
        )
    }

    /// `Some` if the condition is known at compile time.
    fn static_condition(
        &mut self,
        builder: &Builder<'p>,
        condition: &ComponentValue,
    ) -> Composed<Option<bool>> {
        let ComponentValue::Expr(expr) = condition else {
            return Ok(None);
        };
        match self.value(builder, expr)? {
            Value::Atom(Atom::Bool(value)) => Ok(Some(value)),
            Value::Atom(Atom::Tensor(_)) => Ok(None),
            // A condition over dynamic extents.
            Value::Atom(Atom::Run(expr)) if expr.kind == ScalarKind::Bool => Ok(decided(&expr)),
            Value::Pack(pack) if pack.items.iter().all(|a| matches!(a, Atom::Bool(_))) => {
                Ok(Some(pack.items.iter().all(|a| *a == Atom::Bool(true))))
            }
            other => Err(self.error(
                &CONTROL_CONDITION,
                expr.span,
                format!("a condition must be a bool, this is {}", other.text()),
            )),
        }
    }

    /// A block that yields one bool of volume 1.
    pub(crate) fn condition_block(
        &mut self,
        builder: &mut Builder<'p>,
        condition: &ComponentValue,
    ) -> Composed<Block> {
        let (block, _, tensors) = self.inner_block(builder, condition, None, 1)?;
        match tensors.as_slice() {
            [single]
                if single.tensor.kind == ScalarKind::Bool
                    && single.tensor.shape.iter().all(|extent| extent.fixed() == Some(1)) =>
            {
                Ok(block)
            }
            _ => {
                let texts: Vec<String> = tensors.iter().map(|t| t.tensor.text()).collect();
                Err(self.error(
                    &CONTROL_CONDITION,
                    span_of(condition),
                    format!("a condition must be one bool with one element, this is {}", texts.join(", ")),
                ))
            }
        }
    }

    /// Composes a new block; its results are all its tensors, in order.
    pub(crate) fn inner_block(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Block, Vec<Form>, Vec<TensorRef>)> {
        let depth = builder.blocks.len();
        builder.blocks.push(Block::default());
        let results = self.flat_results(builder, value, hint, wanted);
        let mut block = builder.blocks.pop().unwrap_or_default();
        builder.blocks.truncate(depth);
        let (forms, tensors) = results?;
        block.results = tensors.iter().map(|t| t.id).collect();
        Ok((block, forms, tensors))
    }

    fn flat_results(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Vec<Form>, Vec<TensorRef>)> {
        let values = self.component_value(builder, value, hint, wanted)?;
        let mut forms = Vec::new();
        let mut tensors = Vec::new();
        for result in &values {
            forms.push(form(result));
            for atom in result.atoms() {
                let kind = atom.kind().unwrap_or(ScalarKind::Real);
                tensors.push(self.tensor_of(builder, atom, kind, span_of(value))?);
            }
        }
        Ok((forms, tensors))
    }
}

pub(crate) fn form(value: &Value) -> Form {
    match value {
        Value::Pack(pack) => Form::Pack(pack.len()),
        Value::Atom(Atom::Stack(_)) => Form::Stack,
        _ => Form::Single,
    }
}

/// Rebuilds a value from tensors.
pub(crate) fn formed(forms: &[Form], tensors: Vec<TensorRef>) -> Vec<Value> {
    let mut tensors = tensors.into_iter();
    forms
        .iter()
        .map(|form| match form {
            Form::Single => tensors.next().map_or(Value::Null, |t| Value::Atom(Atom::Tensor(t))),
            Form::Stack => tensors.next().map_or(Value::Null, |t| Value::Atom(Atom::Stack(t))),
            Form::Pack(length) => {
                let items = tensors.by_ref().take(*length);
                Value::pack(items.map(Atom::Tensor).collect())
            }
        })
        .collect()
}

/// The span of a right-hand side.
pub(crate) fn span_of(value: &ComponentValue) -> Span {
    match value {
        ComponentValue::Invocation(invocation) => invocation.span,
        ComponentValue::Expr(expr) => expr.span,
        ComponentValue::Block(block) => block.span,
        ComponentValue::If(branching) => branching.span,
        ComponentValue::Loop(looping) => looping.span,
        ComponentValue::Error(span) => *span,
    }
}
