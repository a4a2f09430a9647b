// SPDX-License-Identifier: Apache-2.0
//! Builds and reads formulas.

use crate::expr::substituted;
use skript_frontend::model::{Accumulation, Expr, Extent, Formula, FormulaIndex, Node, Target, ValueId};
use skript_frontend::source::Span;
use skript_semantics::ScalarKind;
use std::collections::HashMap;

/// An element of a tensor.
pub fn access(tensor: ValueId, kind: ScalarKind, subscripts: Vec<Expr>) -> Expr {
    Expr { kind, node: Node::Access { tensor, subscripts } }
}

/// The values of all indices, in order.
pub fn all_indices(indices: &[FormulaIndex]) -> Vec<Expr> {
    (0..indices.len()).map(Expr::index).collect()
}

/// An assignment without condition.
pub fn assignment(indices: Vec<FormulaIndex>, target: Target, span: Span) -> Formula {
    Formula {
        indices,
        locals: Vec::new(),
        predicate: None,
        kind: Accumulation::Assign,
        targets: vec![target],
        findings: Vec::new(),
        span,
    }
}

/// The expressions outside of locals.
fn roots(formula: &Formula) -> impl Iterator<Item = &Expr> {
    let targets = formula.targets.iter().flat_map(|target| target.subscripts.iter().chain([&target.value]));
    formula.predicate.iter().chain(targets)
}

/// All tensors that a formula reads.
pub fn reads(formula: &Formula) -> Vec<ValueId> {
    found(formula, &|node| match node {
        Node::Access { tensor, .. } => Some(*tensor),
        _ => None,
    })
}

/// The extents that are parts of a formula's expressions.
pub fn extents(formula: &Formula) -> Vec<Extent> {
    found(formula, &|node| match node {
        Node::Extent(extent) => Some(extent.clone()),
        _ => None,
    })
}

/// All values that `part` returns for the nodes of the expressions.
fn found<T>(formula: &Formula, part: &dyn Fn(&Node) -> Option<T>) -> Vec<T> {
    let mut open: Vec<&Expr> =
        formula.locals.iter().map(|local| &local.value).chain(roots(formula)).collect();
    let mut parts = Vec::new();
    while let Some(expr) = open.pop() {
        parts.extend(part(&expr.node));
        open.extend(expr.children());
    }
    parts
}

/// Whether a formula reads elements of its targets.
pub fn is_advancing(formula: &Formula) -> bool {
    let read = reads(formula);
    formula.targets.iter().any(|target| read.contains(&target.output))
}

/// Removes the locals that nothing reads.
pub fn prune(formula: &mut Formula) {
    let mut used = vec![false; formula.locals.len()];
    let mut open: Vec<&Expr> = roots(formula).collect();
    while let Some(expr) = open.pop() {
        if let Node::Local(at) = expr.node
            && let Some(used) = used.get_mut(at)
            && !*used
        {
            *used = true;
            open.extend(formula.locals.get(at).map(|local| &local.value));
        }
        open.extend(expr.children());
    }
    let kept = used.iter().enumerate().filter(|(_, used)| **used).map(|(at, _)| at);
    let positions: HashMap<usize, usize> = kept.enumerate().map(|(new, old)| (old, new)).collect();
    let mut old = 0..;
    formula.locals.retain(|_| old.next().is_some_and(|old| positions.contains_key(&old)));
    let change = |expr: &Expr| {
        substituted(expr, &|part| match part.node {
            Node::Local(at) => {
                positions.get(&at).map(|new| Expr { kind: part.kind, node: Node::Local(*new) })
            }
            _ => None,
        })
    };
    formula.locals.iter_mut().for_each(|local| local.value = change(&local.value));
    formula.predicate = formula.predicate.as_ref().map(change);
    for target in &mut formula.targets {
        target.value = change(&target.value);
        target.subscripts.iter_mut().for_each(|subscript| *subscript = change(subscript));
    }
}

/// Makes a formula read other tensors.
pub fn rename(formula: &mut Formula, names: &HashMap<ValueId, ValueId>) {
    let locals = formula.locals.iter_mut().map(|local| &mut local.value);
    let targets =
        formula.targets.iter_mut().flat_map(|target| target.subscripts.iter_mut().chain([&mut target.value]));
    locals.chain(&mut formula.predicate).chain(targets).for_each(|expr| *expr = renamed(expr, names));
}

/// An expression that reads other tensors.
fn renamed(expr: &Expr, names: &HashMap<ValueId, ValueId>) -> Expr {
    substituted(expr, &|part| match &part.node {
        Node::Access { tensor, subscripts } => {
            let positions = subscripts.iter().map(|subscript| renamed(subscript, names)).collect();
            Some(access(*names.get(tensor)?, part.kind, positions))
        }
        _ => None,
    })
}
