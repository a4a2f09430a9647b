// SPDX-License-Identifier: Apache-2.0
//! Formulas whose outputs advance together become one formula with several targets.
//!
//! A step computes the formulas in their order: where a formula reads the element that an earlier one writes in the same
//! step, it gets the written value.

use crate::ast::Lowering;
use crate::compose::formulas::index_order::accesses;
use crate::compose::formulas::lower_block::Draft;
use crate::diagnostics::codes::FORMULA;
use crate::eval::runtime;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::sum::Sum;
use crate::model::{Expr, Extent, Formula, FormulaLocal, Node, Target, ValueId};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarOp};
use std::ops::Sub as _;

/// The formula that computes the formulas of a group in each step.
pub(super) fn joined(members: Vec<(Vec<Draft>, &Lowering)>) -> EvalResult<Vec<Draft>> {
    let mut joined: Option<Draft> = None;
    for (mut drafts, lowering) in members {
        let draft = match (drafts.pop(), drafts.pop()) {
            (Some(draft), None) if draft.outer.is_empty() && draft.formula.findings.is_empty() => draft,
            _ => {
                return refused(
                    lowering,
                    "assign single tensors and access them at positions that are in bounds",
                );
            }
        };
        match &mut joined {
            None => joined = Some(draft),
            Some(first) => append(first, draft, lowering)?,
        }
    }
    Ok(joined.into_iter().collect())
}

fn refused<T>(lowering: &Lowering, requirement: &str) -> EvalResult<T> {
    let name = &lowering.target.name.name;
    let message =
        format!("`{name}` and the outputs before it advance together, so their formulas must {requirement}");
    stop(&FORMULA, lowering.span, message)
}

/// Adds a formula to the steps of `first`.
fn append(first: &mut Draft, mut next: Draft, lowering: &Lowering) -> EvalResult<()> {
    let outputs: Vec<ValueId> =
        first.formula.targets.iter().chain(&next.formula.targets).map(|target| target.output).collect();
    let is_written = |(tensor, _): &(ValueId, _)| outputs.contains(tensor);
    if first.searches.iter().chain(&next.searches).any(|search| accesses(search).iter().any(is_written)) {
        return refused(lowering, "read these outputs at positions that are in bounds");
    }
    if !align(&mut first.formula, &mut next.formula) {
        return refused(lowering, "have the same bounds");
    }
    if !have_same_predicate(&first.formula, &next.formula) {
        return refused(lowering, "have the same condition");
    }
    name_values(&mut first.formula);
    let written = &first.formula.targets;
    let predicate = first.formula.predicate.iter().flat_map(Expr::nested);
    if next.formula.targets.iter().any(|next| written.iter().any(|target| target.output == next.output))
        || predicate.into_iter().any(|expr| written.iter().any(|target| may_read(expr, target)))
    {
        return refused(lowering, "assign different outputs, which the condition of the step does not read");
    }
    let shift = first.formula.locals.len();
    next.formula.predicate = None;
    for expr in next.formula.exprs_mut() {
        expr.for_each_mut(&mut |node| {
            if let Node::Local(position) = node {
                *position += shift;
            }
        });
        *expr = with_written(expr, written);
    }
    first.formula.locals.append(&mut next.formula.locals);
    first.formula.targets.append(&mut next.formula.targets);
    let span = first.formula.span;
    first.formula.span = Span::new(span.file, span.start, next.formula.span.end);
    first.beside.append(&mut next.beside);
    first.demands.append(&mut next.demands);
    first.searches.append(&mut next.searches);
    Ok(())
}

/// Gives both formulas the same indices; returns whether they have the same bounds. An unused index with the extent 1 may
/// be missing.
fn align(first: &mut Formula, next: &mut Formula) -> bool {
    let swaps = next.indices.len() > first.indices.len();
    let (longer, shorter) = if swaps { (next, first) } else { (first, next) };
    let mut positions = Vec::with_capacity(shorter.indices.len());
    let mut at = 0;
    for index in &longer.indices {
        match shorter.indices.get(positions.len()) {
            Some(other) if other.name == index.name && other.extent == index.extent => positions.push(at),
            _ if index.extent == Extent::Fixed(1) => {}
            _ => return false,
        }
        at += 1;
    }
    if positions.len() < shorter.indices.len() {
        return false;
    }
    for expr in shorter.exprs_mut() {
        expr.for_each_mut(&mut |node| {
            if let Node::Index(index) = node
                && let Some(position) = positions.get(*index)
            {
                *index = *position;
            }
        });
    }
    shorter.indices.clone_from(&longer.indices);
    true
}

/// Whether the formulas write in the same steps.
fn have_same_predicate(first: &Formula, next: &Formula) -> bool {
    let last = next.predicate.iter().flat_map(Expr::nested).filter_map(|expr| match expr.node {
        Node::Local(position) => Some(position),
        _ => None,
    });
    let last = last.max();
    let values = |formula: &Formula| -> Vec<Expr> {
        let used = formula.locals.iter().enumerate().take_while(|(position, _)| Some(*position) <= last);
        used.map(|(_, local)| local.value.clone()).collect()
    };
    first.predicate == next.predicate && values(first) == values(next)
}

/// Makes each value of the formula a local, which other values can use.
fn name_values(formula: &mut Formula) {
    for target in &mut formula.targets {
        if matches!(target.value.node, Node::Local(_) | Node::Literal(_)) {
            continue;
        }
        let named = Expr { kind: target.value.kind, node: Node::Local(formula.locals.len()) };
        let value = std::mem::replace(&mut target.value, named);
        formula.locals.push(FormulaLocal { name: format!("{}.value", formula.locals.len()), value });
    }
}

/// The expression after the targets were written.
fn with_written(expr: &Expr, targets: &[Target]) -> Expr {
    let changed = expr.with_children(|child| Some(with_written(child, targets)));
    let expr = changed.unwrap_or_else(|| expr.clone());
    let Some(target) = targets.iter().find(|target| may_read(&expr, target)) else {
        return expr;
    };
    let Node::Access { subscripts, .. } = &expr.node else {
        return expr;
    };
    let equal = subscripts
        .iter()
        .zip(&target.subscripts)
        .map(|(a, b)| runtime::compare(ScalarOp::Eq, a.clone(), b.clone()));
    match equal.filter(|equal| runtime::bool_literal(equal) != Some(true)).reduce(runtime::and) {
        None => target.value.clone(),
        Some(is_written) => runtime::select(is_written, target.value.clone(), expr.clone()),
    }
}

/// Whether an expression may be the element that a target writes.
fn may_read(expr: &Expr, target: &Target) -> bool {
    let Node::Access { tensor, subscripts } = &expr.node else {
        return false;
    };
    let differ = |(a, b): (&Expr, &Expr)| {
        let difference: Expr = Sum::from(a).sub(&Sum::from(b)).into();
        matches!(difference.node, Node::Literal(Scalar::Int(difference)) if difference != 0)
    };
    *tensor == target.output && !subscripts.iter().zip(&target.subscripts).any(differ)
}
