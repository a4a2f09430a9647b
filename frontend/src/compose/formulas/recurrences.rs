// SPDX-License-Identifier: Apache-2.0
//! Formulas whose outputs advance together become one formula with several targets.
//!
//! A step computes the formulas in their order: where a formula reads the element that an earlier one writes in the same
//! step, it gets the written value.

use crate::ast::Lowering;
use crate::diagnostics::codes::FORMULA;
use crate::eval::runtime;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::sum::Sum;
use crate::model::{Expr, Extent, Formula, FormulaLocal, Node, Target, ValueId};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarOp};
use std::ops::Sub as _;

pub(super) fn refused<T>(lowering: &Lowering, requirement: &str) -> EvalResult<T> {
    let name = &lowering.target.name.name;
    let message =
        format!("`{name}` and the outputs before it advance together, so their formulas must {requirement}");
    stop(&FORMULA, lowering.span, message)
}

/// Adds a formula to the steps of `first`. `searches` are executed before these steps.
pub(super) fn append(
    first: &mut Formula,
    mut next: Formula,
    searches: &[Formula],
    lowering: &Lowering,
) -> EvalResult<()> {
    let outputs: Vec<ValueId> =
        first.targets.iter().chain(&next.targets).map(|target| target.output).collect();
    let mut read = searches.iter().flat_map(Formula::accesses);
    if !first.findings.is_empty()
        || !next.findings.is_empty()
        || read.any(|(tensor, _)| outputs.contains(&tensor))
    {
        return refused(lowering, "access these outputs at positions that are in bounds");
    }
    if !align(first, &mut next) {
        return refused(lowering, "have the same bounds");
    }
    if !have_same_predicate(first, &next) {
        return refused(lowering, "have the same condition");
    }
    name_values(first);
    let written = &first.targets;
    let values = locals_of_predicate(first).iter().map(|local| &local.value);
    let mut condition = first.predicate.iter().chain(values).flat_map(Expr::nested);
    if next.targets.iter().any(|next| written.iter().any(|target| target.output == next.output))
        || condition.any(|expr| written.iter().any(|target| may_read(expr, target)))
    {
        return refused(lowering, "assign different outputs, which the condition of the step does not read");
    }
    let shift = first.locals.len();
    next.predicate = None;
    for expr in next.exprs_mut() {
        expr.for_each_mut(&mut |node| {
            if let Node::Local(position) = node {
                *position += shift;
            }
        });
        *expr = with_written(expr, written);
    }
    first.locals.append(&mut next.locals);
    first.targets.append(&mut next.targets);
    first.span = Span::new(first.span.file, first.span.start, next.span.end);
    Ok(())
}

/// Gives both formulas the same indices; returns whether they have the same bounds. An unused index with the extent 1 may
/// be missing.
fn align(first: &mut Formula, next: &mut Formula) -> bool {
    let swaps = next.indices.len() > first.indices.len();
    let (longer, shorter) = if swaps { (next, first) } else { (first, next) };
    let mut positions = Vec::with_capacity(shorter.indices.len());
    for (at, index) in longer.indices.iter().enumerate() {
        match shorter.indices.get(positions.len()) {
            Some(other) if other.name == index.name && other.extent == index.extent => positions.push(at),
            _ if index.extent == Extent::Fixed(1) => {}
            _ => return false,
        }
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
    let values = |formula| locals_of_predicate(formula).iter().map(|local| &local.value);
    first.predicate == next.predicate && values(first).eq(values(next))
}

/// The locals up to the last one that the predicate uses.
fn locals_of_predicate(formula: &Formula) -> &[FormulaLocal] {
    let used = formula.predicate.iter().flat_map(Expr::nested).filter_map(|expr| match expr.node {
        Node::Local(position) => Some(position),
        _ => None,
    });
    let count = used.max().map_or(0, |last| last + 1);
    formula.locals.split_at(count).0
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

/// The expression after the targets were written, in their order.
fn with_written(expr: &Expr, targets: &[Target]) -> Expr {
    let changed = expr.with_children(|child| Some(with_written(child, targets)));
    let expr = changed.unwrap_or_else(|| expr.clone());
    let Node::Access { subscripts, .. } = &expr.node else {
        return expr;
    };
    let mut result = expr.clone();
    for target in targets.iter().filter(|target| may_read(&expr, target)) {
        let equal = subscripts
            .iter()
            .zip(&target.subscripts)
            .map(|(a, b)| runtime::compare(ScalarOp::Eq, a.clone(), b.clone()));
        result = match equal.filter(|equal| runtime::bool_literal(equal) != Some(true)).reduce(runtime::and) {
            None => target.value.clone(),
            Some(is_written) => runtime::select(is_written, target.value.clone(), result),
        };
    }
    result
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
