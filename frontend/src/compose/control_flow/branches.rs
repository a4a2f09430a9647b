// SPDX-License-Identifier: Apache-2.0
//! Branches (2.10.1): folded at compile time if possible, else operations of the model.

use crate::ast::{self, ComponentValue};
use crate::compose::blocks::update::{branch_updates, no_updates_inside, record_update};
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::invocations::builder::{Builder, Form, formed};
use crate::compose::synthesized_functions::tensor_of;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{BRANCH_RESULTS, CONTROL_CONDITION};
use crate::eval::ranges::decided;
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Arm, Block, Extent, Operation, ShapeExpr, TensorType, ValueId};
use crate::source::Span;
use skript_semantics::ScalarKind;
use std::sync::Arc;

impl<'p> Composer<'p, '_> {
    pub(crate) fn branching(
        &mut self,
        builder: &mut Builder<'p>,
        branching: &ast::Branching,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        // The branches before the first one whose condition is known to be true; that one replaces `else`.
        let mut dynamic: Vec<(&ComponentValue, &ComponentValue)> = Vec::new();
        let mut last: &ComponentValue = &branching.otherwise;
        for (condition, consequent) in &branching.arms {
            match static_condition(&mut self.context, builder, condition)? {
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
            no_updates_inside(&mut self.context, builder, mark, "a condition", branching.span)?;
            let (consequent, forms, tensors) = self.inner_block(builder, consequent, hint, wanted)?;
            updated.push(builder.function.updates.split_off(mark));
            arms.push(Arm { condition, consequent });
            all.push((forms, tensors));
        }
        let (mut otherwise, forms, tensors) = self.inner_block(builder, last, hint, wanted)?;
        updated.push(builder.function.updates.split_off(mark));
        all.push((forms.clone(), tensors));
        let types = joined(builder, &all, false).or_else(|| self.joined_by_shapes(builder, &all));
        let Some(types) = types else {
            return Err(branches_differ(&mut self.context, &all, branching.span));
        };
        let outputs: Vec<TensorRef> =
            types.into_iter().map(|tensor| builder.value(None, tensor, branching.span)).collect();
        let mut branches: Vec<_> =
            arms.iter_mut().map(|arm| &mut arm.consequent).chain([&mut otherwise]).zip(updated).collect();
        let captures = branch_updates(builder, &mut branches);
        let mut ids: Vec<ValueId> = outputs.iter().map(|t| t.id).collect();
        for capture in captures {
            let tensor = builder.captures.get(capture).map(|c| c.tensor.clone());
            let Some(tensor) = tensor else { continue };
            let new = builder.value(None, tensor, branching.span);
            ids.push(new.id);
            record_update(&mut self.context, builder, capture, new.id, branching.span)?;
        }
        builder.emit(Operation::If { arms, otherwise, outputs: ids, span: branching.span });
        Ok(formed(&forms, outputs))
    }

    /// Like [`joined`], but extents that callers fixed ([`ComposeOptions::input_shapes`]) may differ if the declared
    /// extents may differ, which is tested after composition.
    ///
    /// [`ComposeOptions::input_shapes`]: crate::compose::ComposeOptions::input_shapes
    fn joined_by_shapes(
        &mut self,
        builder: &mut Builder<'p>,
        branches: &[BranchResults],
    ) -> Option<Vec<TensorType>> {
        if self.context.options.input_shapes.is_empty() {
            return None;
        }
        let types = joined(builder, branches, true)?;
        self.shapes_decide = true;
        Some(types)
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
                let message =
                    format!("a condition must be one bool with one element, this is {}", texts.join(", "));
                Err(self.context.error(&CONTROL_CONDITION, condition.span(), message))
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
        let mut block = builder.end_block();
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
            forms.push(Form::new(result));
            for atom in result.atoms() {
                let kind = atom.kind().unwrap_or(ScalarKind::Real);
                tensors.push(tensor_of(&mut self.context, builder, &atom, kind, value.span())?);
            }
        }
        Ok((forms, tensors))
    }
}

fn branches_differ(context: &mut Context, branches: &[BranchResults], span: Span) -> Reported {
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
    context.report(
        Diagnostic::error(&BRANCH_RESULTS, span, message).with_help(
            "all branches need results of one type and rank; extents may differ if they are dynamic, as in `x: real[n|8]`",
        ),
    )
}

/// `Some` if the condition is known at compile time.
fn static_condition(
    context: &mut Context,
    builder: &Builder,
    condition: &ComponentValue,
) -> Composed<Option<bool>> {
    let ComponentValue::Expr(expr) = condition else {
        return Ok(None);
    };
    match context.value(builder, expr)? {
        Value::Atom(Atom::Bool(value)) => Ok(Some(value)),
        Value::Atom(Atom::Tensor(_)) => Ok(None),
        // A condition over dynamic extents.
        Value::Atom(Atom::Runtime(expr)) if expr.kind == ScalarKind::Bool => Ok(decided(&expr)),
        Value::Pack(pack) if pack.iter().all(|a| matches!(a, Atom::Bool(_))) => {
            Ok(Some(pack.iter().all(|a| a == Atom::Bool(true))))
        }
        other => Err(context.error(
            &CONTROL_CONDITION,
            expr.span,
            format!("a condition must be a bool, this is {}", other.text()),
        )),
    }
}

/// The results of a branch: their structure, and all their tensors in order.
pub(crate) type BranchResults = (Vec<Form>, Vec<TensorRef>);

/// The common types of all branches' results. If extents differ and at least one of them is dynamic, the executed
/// branch decides: the result is a new dynamic extent with the largest of the upper bounds. Extents that differ in the
/// same way, in any results, share one. `None` if the results differ in number, structure, type, rank or static
/// extents. With `allow_static`, static extents may differ too.
pub(crate) fn joined(
    builder: &mut Builder,
    branches: &[BranchResults],
    allow_static: bool,
) -> Option<Vec<TensorType>> {
    let ((forms, first), others) = branches.split_first()?;
    if others.iter().any(|(f, tensors)| f != forms || tensors.len() != first.len()) {
        return None;
    }
    let mut known: Vec<(Vec<Extent>, Extent)> = Vec::new();
    let mut types = Vec::with_capacity(first.len());
    for (position, tensor) in first.iter().enumerate() {
        let tensors: Vec<&TensorType> =
            branches.iter().filter_map(|(_, tensors)| tensors.get(position)).map(|t| &*t.tensor).collect();
        let (kind, rank) = (tensor.tensor.kind, tensor.tensor.shape.len());
        if tensors.iter().any(|t| t.kind != kind || t.shape.len() != rank) {
            return None;
        }
        let mut shape = Vec::with_capacity(rank);
        for dimension in 0..rank {
            let extents: Vec<Extent> =
                tensors.iter().filter_map(|t| t.shape.get(dimension).cloned()).collect();
            shape.push(common(builder, extents, &mut known, allow_static)?);
        }
        types.push(TensorType { kind, shape });
    }
    Some(types)
}

/// The extent of the result: that of all branches, or a new dynamic extent if theirs differ.
fn common(
    builder: &mut Builder,
    extents: Vec<Extent>,
    known: &mut Vec<(Vec<Extent>, Extent)>,
    allow_static: bool,
) -> Option<Extent> {
    let first = extents.first()?;
    if extents.iter().all(|e| e == first) {
        return Some(first.clone());
    }
    if !allow_static && extents.iter().all(|e| e.fixed().is_some()) {
        return None;
    }
    if let Some((_, extent)) = known.iter().find(|(others, _)| *others == extents) {
        return Some(extent.clone());
    }
    let extent = Extent::Dynamic {
        expr: Arc::new(ShapeExpr::Symbol(builder.fresh_extent())),
        bound: extents.iter().map(Extent::bound).max()?,
    };
    known.push((extents, extent.clone()));
    Some(extent)
}
