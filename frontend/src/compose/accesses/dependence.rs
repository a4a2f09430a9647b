// SPDX-License-Identifier: Apache-2.0
//! Whether an expression of a formula depends on data, or on indices and extents alone.

use std::collections::BTreeSet;

use crate::eval::runtime;
use crate::model::{Expr, Formula, Node};

/// What the value of an expression depends on.
#[derive(Clone, Default)]
pub(super) struct Dependence {
    pub data: bool,
    pub indices: BTreeSet<usize>,
}

/// A local value.
pub(super) struct Local {
    rests: Dependence,
    /// The value with all locals substituted, if it reads no tensor.
    value: Option<Expr>,
}

/// The maximum size of a local value after substitution.
const MOST_NODES: usize = 1 << 14;

/// The locals of a formula; `None` if they are too large after substitution.
pub(super) fn locals(formula: &Formula) -> Option<Vec<Local>> {
    let mut found: Vec<Local> = Vec::with_capacity(formula.locals.len());
    for local in &formula.locals {
        let rests = rests(&local.value, &found);
        let value = if rests.data {
            None
        } else {
            let value = inlined(&local.value, &found);
            Some(value).filter(|v| v.size() <= MOST_NODES)
        };
        if value.is_none() && !rests.data {
            return None;
        }
        found.push(Local { rests, value });
    }
    Some(found)
}

pub(super) fn rests(expr: &Expr, locals: &[Local]) -> Dependence {
    fn add(expr: &Expr, locals: &[Local], found: &mut Dependence) {
        match &expr.node {
            Node::Access { .. } => found.data = true,
            Node::Index(index) => {
                found.indices.insert(*index);
            }
            Node::Local(position) => {
                if let Some(local) = locals.get(*position) {
                    found.data |= local.rests.data;
                    found.indices.extend(&local.rests.indices);
                }
            }
            _ => {}
        }
        for child in expr.children() {
            add(child, locals, found);
        }
    }
    let mut found = Dependence::default();
    add(expr, locals, &mut found);
    found
}

/// The expression with the values of locals substituted.
pub(super) fn inlined(expr: &Expr, locals: &[Local]) -> Expr {
    let all = |exprs: &[Expr]| exprs.iter().map(|e| inlined(e, locals)).collect();
    let boxed = |expr: &Expr| Box::new(inlined(expr, locals));
    let node = match &expr.node {
        Node::Local(position) => {
            let value = locals.get(*position).and_then(|l| l.value.clone());
            return value.unwrap_or_else(|| expr.clone());
        }
        Node::Literal(_) | Node::Index(_) | Node::Extent(_) => return expr.clone(),
        Node::Access { tensor, subscripts } => Node::Access { tensor: *tensor, subscripts: all(subscripts) },
        Node::Table { items, index } => Node::Table { items: items.clone(), index: boxed(index) },
        Node::Apply { op, operands } => {
            let operands: Vec<Expr> = all(operands);
            return runtime::simplified(*op, expr.kind, operands);
        }
        Node::Select { condition, then, otherwise } => {
            Node::Select { condition: boxed(condition), then: boxed(then), otherwise: boxed(otherwise) }
        }
    };
    Expr { kind: expr.kind, node }
}
