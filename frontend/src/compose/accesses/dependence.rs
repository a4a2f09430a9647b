// SPDX-License-Identifier: Apache-2.0
//! Whether an expression of a formula depends on data, or only on indices and extents.

use std::collections::BTreeSet;

use crate::eval::runtime;
use crate::model::{Expr, Formula, Node};

/// The indices and data that the value of an expression depends on.
#[derive(Clone, Default)]
pub(super) struct Dependence {
    pub data: bool,
    pub indices: BTreeSet<usize>,
}

pub(super) struct Local {
    dependence: Dependence,
    /// The value with all locals substituted, if it reads no tensor.
    value: Option<Expr>,
}

/// The maximum size of a local value after substitution.
const MAX_NODES: usize = 1 << 14;

/// The locals of a formula; `None` if they are too large after substitution.
pub(super) fn locals(formula: &Formula) -> Option<Vec<Local>> {
    let mut locals: Vec<Local> = Vec::with_capacity(formula.locals.len());
    for local in &formula.locals {
        let dependence = dependence(&local.value, &locals);
        let value = if dependence.data {
            None
        } else {
            let value = inlined(&local.value, &locals);
            Some(value).filter(|v| v.size() <= MAX_NODES)
        };
        if value.is_none() && !dependence.data {
            return None;
        }
        locals.push(Local { dependence, value });
    }
    Some(locals)
}

pub(super) fn dependence(expr: &Expr, locals: &[Local]) -> Dependence {
    let mut dependence = Dependence::default();
    for expr in expr.nested() {
        match &expr.node {
            Node::Access { .. } => dependence.data = true,
            Node::Index(index) => {
                dependence.indices.insert(*index);
            }
            Node::Local(position) => {
                if let Some(local) = locals.get(*position) {
                    dependence.data |= local.dependence.data;
                    dependence.indices.extend(&local.dependence.indices);
                }
            }
            _ => {}
        }
    }
    dependence
}

/// The expression with the values of locals substituted.
pub(super) fn inlined(expr: &Expr, locals: &[Local]) -> Expr {
    match &expr.node {
        Node::Local(position) => {
            let value = locals.get(*position).and_then(|l| l.value.clone());
            value.unwrap_or_else(|| expr.clone())
        }
        Node::Apply { op, operands } => {
            let inside = operands.iter().map(|e| inlined(e, locals)).collect();
            runtime::simplified(*op, expr.kind, inside)
        }
        _ => expr.with_children(|child| Some(inlined(child, locals))).unwrap_or_else(|| expr.clone()),
    }
}
