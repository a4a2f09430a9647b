//! Integer expressions of formulas as sums `c₀ + Σ cᵢ·eᵢ`, so that subscripts are recognizably affine.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use crate::model::{Expr, Node};

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

    /// Reads an int expression.
    pub fn of(expr: &Expr) -> Self {
        match &expr.node {
            Node::Literal(Scalar::Int(value)) => Affine::constant(*value),
            Node::Apply { op, operands } => match (op, operands.as_slice()) {
                (ScalarOp::Add, [a, b]) => Affine::of(a).plus(&Affine::of(b), 1),
                (ScalarOp::Sub, [a, b]) => Affine::of(a).plus(&Affine::of(b), -1),
                (ScalarOp::Neg, [a]) => Affine::of(a).times(-1),
                (ScalarOp::Mul, [a, b]) => match (literal(a), literal(b)) {
                    (_, Some(factor)) => Affine::of(a).times(factor),
                    (Some(factor), _) => Affine::of(b).times(factor),
                    _ => Affine::term(expr),
                },
                _ => Affine::term(expr),
            },
            _ => Affine::term(expr),
        }
    }

    fn term(expr: &Expr) -> Self {
        Affine {
            constant: 0,
            terms: vec![(expr.clone(), 1)],
        }
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
        for (expr, coefficient) in &other.terms {
            let added = coefficient.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(e, _)| e == expr) {
                Some((_, c)) => *c = c.wrapping_add(added),
                None => self.terms.push((expr.clone(), added)),
            }
        }
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
    fn what_cancels_disappears() {
        let i = Expr::index(0);
        let zero = Affine::of(&int(ScalarOp::Sub, i.clone(), i));
        assert_eq!(zero.into_expr(), Expr::int(0));
    }
}
