// SPDX-License-Identifier: Apache-2.0
//! Turns sums into computed positions into sums over the steps that reach a position.
//!
//! The adjoint of a window, `dx[2 * i + j] += …, i < m, j < n`, becomes `dx[p] += …, p < e, j < n | (p - j) % 2 == 0 && …` with
//! `(p - j) / 2` in place of `i`: an index that only one subscript uses is solved for. Such a sum has the structure of a transposed window.

use crate::domain::{Affine, affine, signed};
use crate::expr::{all, apply, substituted};
use crate::extents::size;
use skript_frontend::model::{Expr, Extent, Formula, FormulaIndex, Node};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::HashSet;

/// Solves for an index in each subscript of the only target that is not an index itself.
pub fn gathered(mut formula: Formula, shape: &[Extent]) -> Formula {
    for (dimension, extent) in shape.iter().enumerate() {
        if let Some(solved) = solved(&formula, dimension, extent) {
            formula = solved;
        }
    }
    formula
}

fn solved(formula: &Formula, dimension: usize, extent: &Extent) -> Option<Formula> {
    let [target] = formula.targets.as_slice() else { return None };
    let subscript = target.subscripts.get(dimension)?;
    if matches!(subscript.node, Node::Index(_) | Node::Literal(_)) {
        return None;
    }
    let form = affine(subscript, formula.indices.len())?;
    let is_elsewhere = |at: usize| {
        let others = target.subscripts.iter().enumerate().filter(|(other, _)| *other != dimension);
        others.into_iter().any(|(_, other)| uses(other, at, formula))
    };
    let candidates = form.terms.iter().filter(|(at, factor)| *factor != 0 && !is_elsewhere(*at));
    // The longest index: the fewest steps remain.
    let (at, factor) =
        candidates.max_by_key(|(at, _)| formula.indices.get(*at).map(|index| index.extent.bound()))?;
    let solution = Solution::new(formula, &form, (*at, *factor), extent)?;
    let position = Expr::index(*at);
    let change = |expr: &Expr| {
        substituted(expr, &|part| match &part.node {
            _ if part == subscript => Some(position.clone()),
            Node::Index(index) if index == at => Some(solution.value.clone()),
            _ => None,
        })
    };
    let mut result = formula.clone();
    *result.indices.get_mut(*at)? = FormulaIndex { name: format!("p{dimension}"), extent: extent.clone() };
    result.locals.iter_mut().for_each(|local| local.value = change(&local.value));
    for target in &mut result.targets {
        target.value = change(&target.value);
        target.subscripts.iter_mut().for_each(|subscript| *subscript = change(subscript));
    }
    let mut conditions = solution.conditions.clone();
    if let Some(predicate) = &formula.predicate {
        conditions.extend(conjuncts(&change(predicate)));
    }
    let indices = result.indices.clone();
    result.predicate = all(conditions.into_iter().filter(|condition| !is_certain(condition, &indices)));
    Some(result)
}

/// Whether an expression depends on an index, also by locals.
fn uses(expr: &Expr, at: usize, formula: &Formula) -> bool {
    let (mut open, mut seen) = (vec![expr], HashSet::new());
    while let Some(expr) = open.pop() {
        match expr.node {
            Node::Index(index) if index == at => return true,
            Node::Local(local) if seen.insert(local) => {
                open.extend(formula.locals.get(local).map(|local| &local.value));
            }
            _ => open.extend(expr.children()),
        }
    }
    false
}

/// The value of an index for a position, and the conditions under which it is one.
struct Solution {
    value: Expr,
    conditions: Vec<Expr>,
}

impl Solution {
    /// Solves `factor * i + other terms + constant = p` for i; the index at its position is p.
    fn new(formula: &Formula, form: &Affine, (at, factor): (usize, i64), extent: &Extent) -> Option<Self> {
        let sign = factor.signum();
        let divisor = factor.checked_abs()?;
        // sign * (p - constant - other terms)
        let mut terms = vec![(at, sign, signed(extent.bound()))];
        for (index, factor) in form.terms.iter().filter(|(index, _)| *index != at) {
            let extent = signed(formula.indices.get(*index)?.extent.bound());
            terms.push((*index, factor.checked_mul(sign)?.checked_neg()?, extent));
        }
        let constant = form.constant.checked_mul(sign)?.checked_neg()?;
        let (mut least, mut most) = (constant, constant);
        for (_, factor, extent) in &terms {
            let reach = factor.checked_mul(extent.checked_sub(1)?)?;
            least = least.checked_add(reach.min(0))?;
            most = most.checked_add(reach.max(0))?;
        }
        let numerator = sum(&terms, constant);
        let compared = |op, a: &Expr, bound: Expr| Expr::apply(ScalarKind::Bool, op, vec![a.clone(), bound]);
        let mut conditions = Vec::new();
        let value = if divisor == 1 {
            numerator
        } else {
            let rest = apply(ScalarOp::Mod, vec![numerator.clone(), Expr::int(divisor)]);
            conditions.push(compared(ScalarOp::Eq, &rest, Expr::int(0)));
            apply(ScalarOp::Div, vec![numerator, Expr::int(divisor)])
        };
        let steps = &formula.indices.get(at)?.extent;
        if least < 0 {
            conditions.push(compared(ScalarOp::Ge, &value, Expr::int(0)));
        }
        let is_within = match steps.fixed() {
            Some(steps) => most.div_euclid(divisor) < signed(steps),
            None => false,
        };
        if !is_within {
            conditions.push(compared(ScalarOp::Lt, &value, size(steps)));
        }
        Some(Solution { value, conditions })
    }
}

/// `p + constant - 2 * j`: the first term, the constant, the others.
fn sum(terms: &[(usize, i64, i64)], constant: i64) -> Expr {
    let scaled = |at: usize, factor: i64| match factor {
        1 => Expr::index(at),
        factor => apply(ScalarOp::Mul, vec![Expr::int(factor), Expr::index(at)]),
    };
    let plus = |sum: Option<Expr>, value: i64, positive: Expr| match (sum, value < 0) {
        (None, false) => positive,
        (None, true) => apply(ScalarOp::Neg, vec![positive]),
        (Some(sum), false) => apply(ScalarOp::Add, vec![sum, positive]),
        (Some(sum), true) => apply(ScalarOp::Sub, vec![sum, positive]),
    };
    // A positive term comes first, so that no sum begins with a sign.
    let mut parts: Vec<(i64, Expr)> =
        terms.iter().map(|(at, factor, _)| (*factor, scaled(*at, factor.saturating_abs()))).collect();
    if constant != 0 {
        parts.insert(parts.len().min(1), (constant, Expr::int(constant.saturating_abs())));
    }
    parts.sort_by_key(|(factor, _)| *factor < 0);
    let total = parts.into_iter().fold(None, |sum, (factor, part)| Some(plus(sum, factor, part)));
    total.unwrap_or_else(|| Expr::int(0))
}

/// The operands of a conjunction.
pub fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match &expr.node {
        Node::Apply { op: ScalarOp::And, operands } => operands.iter().flat_map(conjuncts).collect(),
        _ => vec![expr.clone()],
    }
}

/// Whether a comparison of an index with a number holds for all values of the index.
fn is_certain(condition: &Expr, indices: &[FormulaIndex]) -> bool {
    let Node::Apply { op, operands } = &condition.node else { return false };
    let [a, b] = operands.as_slice() else { return false };
    match (&a.node, &b.node) {
        (Node::Index(at), Node::Literal(Scalar::Int(bound))) => match op {
            ScalarOp::Ge => *bound <= 0,
            ScalarOp::Lt => indices.get(*at).is_some_and(|index| signed(index.extent.bound()) <= *bound),
            _ => false,
        },
        _ => false,
    }
}
