// SPDX-License-Identifier: Apache-2.0
//! The differential of the value of a formula: forward accumulation over its expression.

use crate::expr::{add, mul, real, select};
use crate::formula::access;
use crate::slopes::Slopes;
use skript_frontend::model::{Expr, FormulaLocal, Node, ValueId};
use skript_semantics::{ScalarKind, ScalarOp};
use std::collections::HashMap;

/// The differentials of expressions of a formula. Extends the locals of the formula.
pub struct Differential<'a> {
    slopes: Slopes<'a>,
    /// The tangents of tensors.
    tangents: &'a HashMap<ValueId, ValueId>,
    /// The differentials of locals.
    locals: HashMap<usize, Expr>,
}

impl<'a> Differential<'a> {
    /// The differentials in which the elements of `tangents` are those of the tensors that the formula reads; `is_active` is whether a
    /// tensor has one.
    pub fn new(
        locals: &'a mut Vec<FormulaLocal>,
        tangents: &'a HashMap<ValueId, ValueId>,
        is_active: &'a dyn Fn(ValueId) -> bool,
    ) -> Self {
        Differential { slopes: Slopes::new(locals, is_active), tangents, locals: HashMap::new() }
    }

    /// The differential of an expression; a literal zero if it does not depend on active elements.
    pub fn differentiate(&mut self, expr: &Expr) -> Expr {
        if !self.slopes.depends(expr) {
            return real(0.0);
        }
        match &expr.node {
            Node::Access { tensor, subscripts } => match self.tangents.get(tensor) {
                Some(tangent) => access(*tangent, ScalarKind::Real, subscripts.clone()),
                None => real(0.0),
            },
            Node::Local(at) => self.local(*at),
            Node::Select { condition, then, otherwise } => self.selection(condition, then, otherwise),
            Node::Apply { op, operands } => match (op, operands.as_slice()) {
                (ScalarOp::Select, [condition, then, otherwise]) => {
                    self.selection(condition, then, otherwise)
                }
                _ => self.operation(expr.kind, *op, operands),
            },
            Node::Literal(_) | Node::Index(_) | Node::Extent(_) | Node::Table { .. } => real(0.0),
        }
    }

    /// The differential as a local, which is also that of the local that `expr` is.
    pub fn named(&mut self, expr: &Expr) -> Expr {
        let differential = self.differentiate(expr);
        if matches!(differential.node, Node::Literal(_)) {
            return differential;
        }
        let named = self.slopes.named(differential);
        if let Node::Local(at) = expr.node {
            self.locals.insert(at, named.clone());
        }
        named
    }

    fn local(&mut self, at: usize) -> Expr {
        if let Some(known) = self.locals.get(&at) {
            return known.clone();
        }
        let Some(value) = self.slopes.locals.get(at).map(|local| local.value.clone()) else {
            return real(0.0);
        };
        let differential = self.differentiate(&value);
        let differential = self.slopes.shared(differential);
        self.locals.insert(at, differential.clone());
        differential
    }

    fn selection(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
        let (then, otherwise) = (self.differentiate(then), self.differentiate(otherwise));
        select(condition.clone(), then, otherwise)
    }

    fn operation(&mut self, kind: ScalarKind, op: ScalarOp, operands: &[Expr]) -> Expr {
        let mut sum = real(0.0);
        for (at, slope) in self.slopes.by_operands(kind, op, operands) {
            if let Some(operand) = operands.get(at) {
                sum = add(sum, mul(self.differentiate(operand), slope));
            }
        }
        sum
    }
}
