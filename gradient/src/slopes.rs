// SPDX-License-Identifier: Apache-2.0
//! The derivatives of the operations in a formula by their operands, and the local values that they share.

use crate::expr::instance;
use skript_frontend::model::{Expr, Formula, FormulaLocal, Node, ValueId};
use skript_semantics::{ScalarKind, ScalarOp};

/// Expressions of more nodes, other than elements of tensors, become local values instead of being repeated.
const MAX_REPEATED: usize = 6;

/// For each local, whether it depends on an active element.
fn active_locals(locals: &[FormulaLocal], is_active: &dyn Fn(ValueId) -> bool) -> Vec<bool> {
    let mut active = Vec::new();
    for local in locals {
        active.push(depends(&local.value, &active, is_active));
    }
    active
}

fn depends(expr: &Expr, locals: &[bool], is_active: &dyn Fn(ValueId) -> bool) -> bool {
    if expr.kind != ScalarKind::Real {
        return false;
    }
    match &expr.node {
        Node::Access { tensor, .. } => is_active(*tensor),
        Node::Local(at) => locals.get(*at).copied().is_some_and(|active| active),
        _ => expr.children().into_iter().any(|child| depends(child, locals, is_active)),
    }
}

/// Whether the real value of a formula depends on active elements.
pub fn is_dependent(formula: &Formula, value: &Expr, is_active: &dyn Fn(ValueId) -> bool) -> bool {
    depends(value, &active_locals(&formula.locals, is_active), is_active)
}

/// The locals of a formula, with those that its derivatives add.
pub struct Slopes<'a> {
    pub locals: &'a mut Vec<FormulaLocal>,
    /// For each local, whether it depends on an active element.
    active: Vec<bool>,
    is_active: &'a dyn Fn(ValueId) -> bool,
}

impl<'a> Slopes<'a> {
    /// The derivatives by the elements of tensors for which `is_active` holds.
    pub fn new(locals: &'a mut Vec<FormulaLocal>, is_active: &'a dyn Fn(ValueId) -> bool) -> Self {
        let active = active_locals(locals, is_active);
        Slopes { locals, active, is_active }
    }

    /// Whether an expression depends on active elements by real values.
    pub fn depends(&self, expr: &Expr) -> bool {
        depends(expr, &self.active, self.is_active)
    }

    /// The derivatives of an operation by its active operands, with their positions.
    pub fn by_operands(&mut self, kind: ScalarKind, op: ScalarOp, operands: &[Expr]) -> Vec<(usize, Expr)> {
        let is_linear = matches!(op, ScalarOp::Add | ScalarOp::Sub | ScalarOp::Neg | ScalarOp::ToReal);
        let values: Vec<Expr> = match op {
            _ if is_linear => operands.to_vec(),
            _ => operands.iter().map(|operand| self.shared(operand.clone())).collect(),
        };
        let result = Expr::apply(kind, op, values.clone());
        let active = operands.iter().enumerate().filter(|(_, operand)| self.depends(operand));
        let slope = |at| instance(&op.derivative(at)?, &values, &result);
        active.filter_map(|(at, _)| Some((at, slope(at)?))).collect()
    }

    /// The expression, or a local value for it.
    pub fn shared(&mut self, expr: Expr) -> Expr {
        if expr.size() <= MAX_REPEATED || matches!(expr.node, Node::Access { .. }) {
            return expr;
        }
        let kind = expr.kind;
        let known = self.locals.iter().position(|local| local.value == expr);
        match known {
            Some(at) => Expr { kind, node: Node::Local(at) },
            None => self.named(expr),
        }
    }

    /// A new local value for an expression.
    pub fn named(&mut self, expr: Expr) -> Expr {
        let (kind, at) = (expr.kind, self.locals.len());
        self.active.push(self.depends(&expr));
        self.locals.push(FormulaLocal { name: format!("v{at}"), value: expr });
        Expr { kind, node: Node::Local(at) }
    }
}
