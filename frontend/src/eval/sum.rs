// SPDX-License-Identifier: Apache-2.0
//! Integer expressions of formulas as sums `c₀ + Σ cᵢ·eᵢ`, so that subscripts are recognizably affine.

use crate::model::{Expr, Extent, Node, ShapeExpr};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use skript_symbolic::WrappingForm;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A sum; the terms are not sums, literals or multiples themselves. Arithmetic is modulo 2⁶⁴ like that of run-time
/// integers, so rewriting preserves the value.
pub(crate) type Sum = WrappingForm<Expr>;

/// Converts an int expression in time near-linear in its size.
impl From<&Expr> for Sum {
    fn from(expr: &Expr) -> Self {
        let mut terms = Vec::new();
        let mut constant = 0_i64;
        let mut open = vec![(expr, 1_i64)];
        while let Some((expr, factor)) = open.pop() {
            match &expr.node {
                Node::Literal(Scalar::Int(value)) => {
                    constant = constant.wrapping_add(value.wrapping_mul(factor));
                }
                Node::Apply { op, operands } => match (op, operands.as_slice()) {
                    // The left operand is visited first.
                    (ScalarOp::Add, [a, b]) => open.extend([(b, factor), (a, factor)]),
                    (ScalarOp::Sub, [a, b]) => {
                        open.extend([(b, factor.wrapping_neg()), (a, factor)]);
                    }
                    (ScalarOp::Neg, [a]) => open.push((a, factor.wrapping_neg())),
                    (ScalarOp::Mul, [a, b]) => match (literal(a), literal(b)) {
                        (_, Some(value)) => open.push((a, factor.wrapping_mul(value))),
                        (Some(value), _) => open.push((b, factor.wrapping_mul(value))),
                        _ => terms.push((expr, factor)),
                    },
                    _ => terms.push((expr, factor)),
                },
                _ => terms.push((expr, factor)),
            }
        }
        Sum::sum(constant, terms)
    }
}

/// The canonical expression: `c₁*e₁ + c₂*e₂ - c₃*e₃ + c₀`.
impl From<Sum> for Expr {
    fn from(form: Sum) -> Self {
        let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let constant = form.offset();
        let mut sum: Option<Expr> = None;
        // Starting with a positive term avoids a negation.
        let (positive, negative): (Vec<_>, Vec<_>) = form.into_terms().partition(|(_, c)| *c > 0);
        for (expr, coefficient) in positive.into_iter().chain(negative) {
            let magnitude = coefficient.wrapping_abs();
            let subtract = coefficient < 0 && sum.is_some() && magnitude > 0;
            let factor = if subtract { magnitude } else { coefficient };
            let term = match factor {
                1 => expr,
                -1 => Expr::apply(ScalarKind::Int, ScalarOp::Neg, vec![expr]),
                _ => int(ScalarOp::Mul, Expr::int(factor), expr),
            };
            sum = Some(match sum {
                None => term,
                Some(s) if subtract => int(ScalarOp::Sub, s, term),
                Some(s) => int(ScalarOp::Add, s, term),
            });
        }
        match (sum, constant) {
            (None, constant) => Expr::int(constant),
            (Some(s), 0) => s,
            (Some(s), constant) if constant < 0 && constant != i64::MIN => {
                int(ScalarOp::Sub, s, Expr::int(-constant))
            }
            (Some(s), constant) => int(ScalarOp::Add, s, Expr::int(constant)),
        }
    }
}

/// The sum with the extent `n` in place of extents like `2 * n - 1`; `None` if it has none of these. The new sum has other bounds: no
/// extent is negative, but `2 * n - 1` is -1 where `n` is 0.
pub(crate) fn with_symbols(sum: &Sum) -> Option<Sum> {
    let is_computed = |term: &Expr| affine(term).is_some();
    let (computed, mut rest) = sum.clone().split(is_computed);
    computed.terms().next()?;
    rest = rest.plus(computed.offset());
    for (term, factor) in computed.terms() {
        if let Some((symbol, scale, offset)) = affine(term) {
            let scaled = Sum::sum(offset, [(&symbol, scale)]);
            rest = rest.add_scaled(&scaled, factor);
        }
    }
    Some(rest)
}

/// The extent, the positive factor and the offset of an extent that is computed from one other extent.
fn affine(expr: &Expr) -> Option<(Expr, i64, i64)> {
    let Node::Extent(Extent::Dynamic { expr: computed, bound }) = &expr.node else { return None };
    if !matches!(**computed, ShapeExpr::Apply { .. }) {
        return None;
    }
    let (symbol, scale, offset) = affine_shape(computed, MAX_AFFINE)?;
    if scale <= 0 {
        return None;
    }
    // The bound of the symbol is that from which composition computed this bound.
    let most = i64::try_from(*bound).ok()?.checked_sub(offset)?.checked_div(scale)?;
    let extent = Extent::Dynamic { expr: Arc::new(symbol.clone()), bound: u64::try_from(most).ok()? };
    Some((Expr { kind: ScalarKind::Int, node: Node::Extent(extent) }, scale, offset))
}

/// The maximum depth of an extent that is analysed.
const MAX_AFFINE: usize = 8;

fn affine_shape(expr: &ShapeExpr, depth: usize) -> Option<(&ShapeExpr, i64, i64)> {
    let depth = depth.checked_sub(1)?;
    match expr {
        ShapeExpr::Symbol(_) => Some((expr, 1, 0)),
        ShapeExpr::Apply { op, operands } => match (op, operands.as_slice()) {
            (ScalarOp::Add, [a, ShapeExpr::Constant(b)] | [ShapeExpr::Constant(b), a]) => {
                let (symbol, scale, offset) = affine_shape(a, depth)?;
                Some((symbol, scale, offset.checked_add(*b)?))
            }
            (ScalarOp::Sub, [a, ShapeExpr::Constant(b)]) => {
                let (symbol, scale, offset) = affine_shape(a, depth)?;
                Some((symbol, scale, offset.checked_sub(*b)?))
            }
            (ScalarOp::Mul, [a, ShapeExpr::Constant(b)] | [ShapeExpr::Constant(b), a]) => {
                let (symbol, scale, offset) = affine_shape(a, depth)?;
                Some((symbol, scale.checked_mul(*b)?, offset.checked_mul(*b)?))
            }
            _ => None,
        },
        ShapeExpr::Constant(_) | ShapeExpr::Real(_) => None,
    }
}

/// The number of terms of a canonical sum.
pub(super) fn terms(expr: &Expr) -> usize {
    let mut count = 0;
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.node {
            Node::Apply { op: ScalarOp::Add | ScalarOp::Sub, operands } => open.extend(operands),
            _ => count += 1,
        }
    }
    count
}

/// Number of levels of an expression that are hashed; it bounds the time.
const HASHED_LEVELS: usize = 4;

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_levels(self, HASHED_LEVELS, state);
    }
}

fn hash_levels(expr: &Expr, levels: usize, state: &mut impl Hasher) {
    std::mem::discriminant(&expr.node).hash(state);
    match &expr.node {
        Node::Literal(Scalar::Int(value)) => value.hash(state),
        Node::Index(position) | Node::Local(position) => position.hash(state),
        Node::Access { tensor, .. } => tensor.hash(state),
        Node::Apply { op, .. } => op.hash(state),
        Node::Literal(_) | Node::Extent(_) | Node::Table { .. } | Node::Select { .. } => {}
    }
    if let Some(levels) = levels.checked_sub(1) {
        for child in expr.children() {
            hash_levels(child, levels, state);
        }
    }
}

fn literal(expr: &Expr) -> Option<i64> {
    match expr.node {
        Node::Literal(Scalar::Int(value)) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: ScalarOp, a: Expr, b: Expr) -> Expr {
        Expr::apply(ScalarKind::Int, op, vec![a, b])
    }

    #[test]
    fn terms_are_collected() {
        // (2*i + 3) - (i - j) = i + j + 3
        let (i, j) = (Expr::index(0), Expr::index(1));
        let left = int(ScalarOp::Add, int(ScalarOp::Mul, Expr::int(2), i.clone()), Expr::int(3));
        let right = int(ScalarOp::Sub, i.clone(), j.clone());
        let sum = Sum::from(&int(ScalarOp::Sub, left, right));
        assert_eq!(sum, Sum::sum(3, [(&i, 1), (&j, 1)]));
        let expected = int(ScalarOp::Add, int(ScalarOp::Add, i, j), Expr::int(3));
        assert_eq!(Expr::from(sum), expected);
    }

    #[test]
    fn many_terms_are_collected_as_few_are() {
        let leaf = |n: usize| Expr::index(n % 100);
        let sum = (1..1000).fold(leaf(0), |sum, n| int(ScalarOp::Add, sum, leaf(n)));
        let sum = Sum::from(&sum);
        assert_eq!(sum.offset(), 0);
        let expected = (0..100).map(|n| (leaf(n), 10));
        assert!(sum.clone().into_terms().eq(expected));
        assert_eq!(terms(&sum.into()), 100);
    }

    #[test]
    fn computed_extents_are_sums_of_the_extents_that_they_are_computed_from() {
        let symbol = || ShapeExpr::Symbol("n".into());
        let apply = |op, a, b| ShapeExpr::Apply { op, operands: vec![a, ShapeExpr::Constant(b)] };
        let extent = |expr, bound| Expr {
            kind: ScalarKind::Int,
            node: Node::Extent(Extent::Dynamic { expr: Arc::new(expr), bound }),
        };
        let (n, i) = (extent(symbol(), 5), Expr::index(0));
        // 2 * n - 1, at most 9
        let computed = apply(ScalarOp::Sub, apply(ScalarOp::Mul, symbol(), 2), 1);
        let sum = Sum::sum(3, [(&extent(computed, 9), -2), (&i, 1)]);
        assert_eq!(with_symbols(&sum), Some(Sum::sum(5, [(&i, 1), (&n, -4)])));
        // Near misses: only symbols, a negative factor, a quotient.
        assert_eq!(with_symbols(&Sum::sum(3, [(&n, 1)])), None);
        let negative = extent(apply(ScalarOp::Mul, symbol(), -1), 0);
        assert_eq!(with_symbols(&Sum::sum(0, [(&negative, 1)])), None);
        let quotient = extent(apply(ScalarOp::Div, symbol(), 2), 2);
        assert_eq!(with_symbols(&Sum::sum(0, [(&quotient, 1)])), None);
    }

    #[test]
    fn what_cancels_disappears() {
        let i = Expr::index(0);
        let zero = Sum::from(&int(ScalarOp::Sub, i.clone(), i));
        assert_eq!(Expr::from(zero), Expr::int(0));
    }
}
