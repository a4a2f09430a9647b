// SPDX-License-Identifier: Apache-2.0
//! Integer expressions of formulas as sums `c₀ + Σ cᵢ·eᵢ`, so that subscripts are recognizably affine.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHasher};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use super::evaluator::{EvalResult, Evaluator, stop};
use super::value::Atom;
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::model::{Expr, Node};
use crate::source::Span;

/// A sum; the terms are not sums, not literals and not multiples themselves. Arithmetic is modulo 2⁶⁴ like that of
/// run-time integers, so the rewriting never changes a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    pub constant: i64,
    pub terms: Vec<(Expr, i64)>,
}

impl Affine {
    pub fn constant(value: i64) -> Self {
        Affine {
            constant: value,
            terms: Vec::new(),
        }
    }

    /// Reads an int expression, in time near-linear in its size.
    pub fn of(expr: &Expr) -> Self {
        let mut sum = Sum::default();
        let mut constant = 0_i64;
        let mut open = vec![(expr, 1_i64)];
        while let Some((expr, factor)) = open.pop() {
            match &expr.node {
                Node::Literal(Scalar::Int(value)) => {
                    constant = constant.wrapping_add(value.wrapping_mul(factor));
                }
                Node::Apply { op, operands } => match (op, operands.as_slice()) {
                    // The left one is read first.
                    (ScalarOp::Add, [a, b]) => open.extend([(b, factor), (a, factor)]),
                    (ScalarOp::Sub, [a, b]) => {
                        open.extend([(b, factor.wrapping_neg()), (a, factor)]);
                    }
                    (ScalarOp::Neg, [a]) => open.push((a, factor.wrapping_neg())),
                    (ScalarOp::Mul, [a, b]) => match (literal(a), literal(b)) {
                        (_, Some(own)) => open.push((a, factor.wrapping_mul(own))),
                        (Some(own), _) => open.push((b, factor.wrapping_mul(own))),
                        _ => sum.add(expr, factor),
                    },
                    _ => sum.add(expr, factor),
                },
                _ => sum.add(expr, factor),
            }
        }
        let mut terms = sum.terms;
        terms.retain(|(_, c)| *c != 0);
        Affine { constant, terms }
    }

    pub fn times(mut self, factor: i64) -> Self {
        self.constant = self.constant.wrapping_mul(factor);
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.wrapping_mul(factor);
        }
        self.terms.retain(|(_, c)| *c != 0);
        self
    }

    /// `self + factor·other`.
    pub fn plus(mut self, other: &Affine, factor: i64) -> Self {
        self.constant = self
            .constant
            .wrapping_add(other.constant.wrapping_mul(factor));
        let mut sum = Sum {
            terms: self.terms,
            places: FxHashMap::default(),
        };
        for (expr, coefficient) in &other.terms {
            sum.add(expr, coefficient.wrapping_mul(factor));
        }
        self.terms = sum.terms;
        self.terms.retain(|(_, c)| *c != 0);
        self
    }

    /// The canonical expression: `c₁*e₁ + c₂*e₂ - c₃*e₃ + c₀`.
    pub fn into_expr(self) -> Expr {
        let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let mut sum: Option<Expr> = None;
        // A positive term in front saves a negation.
        let (positive, negative): (Vec<_>, Vec<_>) =
            self.terms.into_iter().partition(|(_, c)| *c > 0);
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
        match (sum, self.constant) {
            (None, constant) => Expr::int(constant),
            (Some(s), 0) => s,
            (Some(s), constant) if constant < 0 && constant != i64::MIN => {
                int(ScalarOp::Sub, s, Expr::int(-constant))
            }
            (Some(s), constant) => int(ScalarOp::Add, s, Expr::int(constant)),
        }
    }
}

impl Evaluator<'_> {
    /// A result, if it is no longer sum than the limit allows.
    pub(super) fn within_terms(&self, expr: Expr, span: Span) -> EvalResult<Atom> {
        let most = self.limits.polynomial_terms;
        if expr.kind == ScalarKind::Int && terms(&expr) > most {
            return stop(
                &LIMIT_EXCEEDED,
                span,
                format!(
                    "this sum of ints has more than {most} terms (limit `polynomial_terms`); compute it by a formula \
                     with `+=`"
                ),
            );
        }
        Ok(Atom::from_expr(expr))
    }
}

/// How many terms a canonical sum has.
fn terms(expr: &Expr) -> usize {
    let mut count = 0;
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.node {
            Node::Apply {
                op: ScalarOp::Add | ScalarOp::Sub,
                operands,
            } => open.extend(operands),
            _ => count += 1,
        }
    }
    count
}

/// Terms up to which equal ones are looked for one by one.
const FEW: usize = 16;
/// Levels of an expression that tell it from others.
const TELLING: usize = 4;

/// Terms with their coefficients, each once.
#[derive(Default)]
struct Sum {
    terms: Vec<(Expr, i64)>,
    /// Where terms of one fingerprint stand, if there are many terms.
    places: FxHashMap<u64, Vec<usize>>,
}

impl Sum {
    fn add(&mut self, expr: &Expr, factor: i64) {
        let place = if self.terms.len() < FEW {
            self.terms.iter().position(|(e, _)| e == expr)
        } else {
            if self.places.is_empty() {
                for (place, (known, _)) in self.terms.iter().enumerate() {
                    self.places
                        .entry(fingerprint(known))
                        .or_default()
                        .push(place);
                }
            }
            let alike = self.places.entry(fingerprint(expr)).or_default();
            let mut found = alike.iter().copied();
            let found = found.find(|p| self.terms.get(*p).is_some_and(|(e, _)| e == expr));
            if found.is_none() {
                alike.push(self.terms.len());
            }
            found
        };
        match place.and_then(|place| self.terms.get_mut(place)) {
            Some((_, coefficient)) => *coefficient = coefficient.wrapping_add(factor),
            None => self.terms.push((expr.clone(), factor)),
        }
    }
}

/// A number that equal expressions share and most others do not.
fn fingerprint(expr: &Expr) -> u64 {
    fn write(expr: &Expr, levels: usize, hasher: &mut FxHasher) {
        std::mem::discriminant(&expr.node).hash(hasher);
        match &expr.node {
            Node::Literal(Scalar::Int(value)) => value.hash(hasher),
            Node::Index(position) | Node::Local(position) => position.hash(hasher),
            Node::Access { tensor, .. } => tensor.hash(hasher),
            Node::Apply { op, .. } => op.hash(hasher),
            Node::Literal(_) | Node::Extent(_) | Node::Table { .. } | Node::Select { .. } => {}
        }
        if let Some(levels) = levels.checked_sub(1) {
            for child in expr.children() {
                write(child, levels, hasher);
            }
        }
    }
    let mut hasher = FxHasher::default();
    write(expr, TELLING, &mut hasher);
    hasher.finish()
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
        let left = int(
            ScalarOp::Add,
            int(ScalarOp::Mul, Expr::int(2), i.clone()),
            Expr::int(3),
        );
        let right = int(ScalarOp::Sub, i.clone(), j.clone());
        let sum = Affine::of(&int(ScalarOp::Sub, left, right));
        assert_eq!(sum.constant, 3);
        assert_eq!(sum.terms, vec![(i.clone(), 1), (j.clone(), 1)]);
        let expected = int(ScalarOp::Add, int(ScalarOp::Add, i, j), Expr::int(3));
        assert_eq!(sum.into_expr(), expected);
    }

    #[test]
    fn many_terms_are_collected_as_few_are() {
        let leaf = |n: usize| Expr::index(n % 100);
        let sum = (1..1000).fold(leaf(0), |sum, n| int(ScalarOp::Add, sum, leaf(n)));
        let sum = Affine::of(&sum);
        let wanted: Vec<(Expr, i64)> = (0..100).map(|n| (leaf(n), 10)).collect();
        assert_eq!((sum.constant, &sum.terms), (0, &wanted));
        assert_eq!(terms(&sum.into_expr()), 100);
    }

    #[test]
    fn what_cancels_disappears() {
        let i = Expr::index(0);
        let zero = Affine::of(&int(ScalarOp::Sub, i.clone(), i));
        assert_eq!(zero.into_expr(), Expr::int(0));
    }
}
