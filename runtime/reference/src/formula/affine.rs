//! Integer expressions of the form `c0 + Σ c·index`.

use skript_frontend::model::{Expr, Node};
use skript_semantics::{Scalar, ScalarOp};

/// One coefficient per index of the formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Affine {
    pub constant: i64,
    pub factors: Vec<i64>,
}

impl Affine {
    pub fn constant(value: i64, depth: usize) -> Affine {
        Affine {
            constant: value,
            factors: vec![0; depth],
        }
    }

    /// The form of an expression, given those of the locals; `None` if it has none or a coefficient overflows.
    pub fn of(expr: &Expr, locals: &[Option<Affine>], depth: usize) -> Option<Affine> {
        match &expr.node {
            Node::Literal(Scalar::Int(value)) => Some(Affine::constant(*value, depth)),
            Node::Index(position) => {
                let mut form = Affine::constant(0, depth);
                *form.factors.get_mut(*position)? = 1;
                Some(form)
            }
            Node::Local(position) => locals.get(*position)?.clone(),
            Node::Apply { op, operands } => {
                let forms: Vec<Affine> = operands
                    .iter()
                    .map(|o| Affine::of(o, locals, depth))
                    .collect::<Option<_>>()?;
                match (op, forms.as_slice()) {
                    (ScalarOp::Add, [a, b]) => a.plus(b, 1),
                    (ScalarOp::Sub, [a, b]) => a.plus(b, -1),
                    (ScalarOp::Neg, [a]) => a.times(-1),
                    (ScalarOp::Mul, [a, b]) => match (a.value(), b.value()) {
                        (Some(factor), _) => b.times(factor),
                        (_, Some(factor)) => a.times(factor),
                        _ => None,
                    },
                    (ScalarOp::ToInt, [a]) => Some(a.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value, if no index matters.
    pub fn value(&self) -> Option<i64> {
        self.factors
            .iter()
            .all(|&f| f == 0)
            .then_some(self.constant)
    }

    /// `self + factor * other`
    pub fn plus(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let scaled = other.times(factor)?;
        let factors = self.factors.iter().zip(&scaled.factors);
        Some(Affine {
            constant: self.constant.checked_add(scaled.constant)?,
            factors: factors
                .map(|(a, b)| a.checked_add(*b))
                .collect::<Option<_>>()?,
        })
    }

    pub fn times(&self, factor: i64) -> Option<Affine> {
        let factors = self.factors.iter();
        Some(Affine {
            constant: self.constant.checked_mul(factor)?,
            factors: factors
                .map(|f| f.checked_mul(factor))
                .collect::<Option<_>>()?,
        })
    }

    /// Smallest and largest value over a non-empty domain.
    pub fn range(&self, extents: &[i64]) -> (i128, i128) {
        let start = i128::from(self.constant);
        self.factors
            .iter()
            .zip(extents)
            .fold((start, start), |(low, high), (&factor, &extent)| {
                let far = i128::from(factor) * i128::from(extent.max(1) - 1);
                (low + far.min(0), high + far.max(0))
            })
    }
}
