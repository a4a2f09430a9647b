// SPDX-License-Identifier: Apache-2.0
//! The derivatives of the value of a formula by the elements that it reads: reverse accumulation over its expression.

use crate::expr::{add, all, mul, number, real, select};
use crate::slopes::Slopes;
use skript_frontend::model::{Expr, FormulaLocal, Node, ValueId};
use skript_semantics::{ScalarKind, ScalarOp};

/// An element that a formula reads, with the product of the seed and the derivative by it.
#[derive(Clone, Debug)]
pub struct Partial {
    /// The tensor that is read.
    pub tensor: ValueId,
    /// The position of the element.
    pub subscripts: Vec<Expr>,
    /// The contribution to the adjoint of the element.
    pub value: Expr,
    /// The element is read only where this holds.
    pub guard: Option<Expr>,
}

/// The derivatives of `value` by all elements of tensors for which `is_active` holds. Extends `locals`, the locals of the formula.
pub fn partials(
    value: &Expr,
    seed: Expr,
    locals: &mut Vec<FormulaLocal>,
    is_active: &dyn Fn(ValueId) -> bool,
) -> Vec<Partial> {
    let count = locals.len();
    let slopes = Slopes::new(locals, is_active);
    let mut walk = Walk { slopes, adjoints: vec![Vec::new(); count], partials: Vec::new() };
    walk.visit(value, seed, None);
    for at in (0..count).rev() {
        let uses = walk.adjoints.get_mut(at).map(std::mem::take);
        let uses = uses.filter(|uses| !uses.is_empty());
        let value = walk.slopes.locals.get(at).map(|local| local.value.clone());
        if let (Some(uses), Some(value)) = (uses, value) {
            let (adjoint, guard) = united(uses);
            let adjoint = walk.slopes.shared(adjoint);
            walk.visit(&value, adjoint, guard);
        }
    }
    merged(walk.partials)
}

/// Adds the contributions to one element at the same position.
fn merged(partials: Vec<Partial>) -> Vec<Partial> {
    let mut result: Vec<Partial> = Vec::new();
    for partial in partials {
        let same = |other: &&mut Partial| {
            other.tensor == partial.tensor
                && other.subscripts == partial.subscripts
                && other.guard == partial.guard
        };
        match result.iter_mut().find(same) {
            Some(other) => other.value = add(other.value.clone(), partial.value),
            None => result.push(partial),
        }
    }
    result
}

/// The sum of adjoints, each where its guard holds, and the condition under which any of them exists.
fn united(uses: Vec<(Expr, Option<Expr>)>) -> (Expr, Option<Expr>) {
    if let [(adjoint, guard)] = uses.as_slice() {
        return (adjoint.clone(), guard.clone());
    }
    let same = uses.first().map(|(_, guard)| guard.clone());
    if let Some(guard) = same.filter(|guard| uses.iter().all(|(_, other)| other == guard)) {
        return (uses.into_iter().fold(real(0.0), |sum, (adjoint, _)| add(sum, adjoint)), guard);
    }
    let guards: Option<Vec<Expr>> = uses.iter().map(|(_, guard)| guard.clone()).collect();
    let or = |a, b| Expr::apply(ScalarKind::Bool, ScalarOp::Or, vec![a, b]);
    let any = guards.and_then(|guards| guards.into_iter().reduce(or));
    let term = |(adjoint, guard): (Expr, Option<Expr>)| match guard {
        Some(guard) => select(guard, adjoint, real(0.0)),
        None => adjoint,
    };
    (uses.into_iter().map(term).fold(real(0.0), add), any)
}

struct Walk<'a> {
    slopes: Slopes<'a>,
    /// The adjoints of the original locals, with guards.
    adjoints: Vec<Vec<(Expr, Option<Expr>)>>,
    partials: Vec<Partial>,
}

impl Walk<'_> {
    fn visit(&mut self, expr: &Expr, adjoint: Expr, guard: Option<Expr>) {
        if number(&adjoint) == Some(0.0) || !self.slopes.depends(expr) {
            return;
        }
        match &expr.node {
            Node::Access { tensor, subscripts } => self.partials.push(Partial {
                tensor: *tensor,
                subscripts: subscripts.clone(),
                value: adjoint,
                guard,
            }),
            Node::Local(at) => {
                if let Some(uses) = self.adjoints.get_mut(*at) {
                    uses.push((adjoint, guard));
                }
            }
            Node::Select { condition, then, otherwise } => {
                let adjoint = self.slopes.shared(adjoint);
                let inverse = Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![(**condition).clone()]);
                let within = |condition: Expr| all(guard.clone().into_iter().chain([condition]));
                self.visit(then, adjoint.clone(), within((**condition).clone()));
                self.visit(otherwise, adjoint, within(inverse));
            }
            Node::Apply { op, operands } => self.operation(*op, operands, expr, adjoint, guard),
            Node::Literal(_) | Node::Index(_) | Node::Extent(_) | Node::Table { .. } => {}
        }
    }

    fn operation(
        &mut self,
        op: ScalarOp,
        operands: &[Expr],
        expr: &Expr,
        adjoint: Expr,
        guard: Option<Expr>,
    ) {
        let is_used = |operand: &&Expr| self.slopes.depends(operand);
        let is_shared = operands.iter().filter(is_used).count() > 1;
        let adjoint = if is_shared { self.slopes.shared(adjoint) } else { adjoint };
        for (at, slope) in self.slopes.by_operands(expr.kind, op, operands) {
            if let Some(operand) = operands.get(at) {
                self.visit(operand, mul(adjoint.clone(), slope), guard.clone());
            }
        }
    }
}
