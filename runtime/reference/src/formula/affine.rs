// SPDX-License-Identifier: Apache-2.0
//! Integer expressions as sums of multiples of the formula's indices.

use skript_frontend::model::{Expr, Node};
use skript_semantics::{Scalar, ScalarOp};
use skript_symbolic::{Form, Interval};

/// A sum of multiples of indices, by their positions.
pub(super) type Affine = Form<usize>;

/// The form of an expression over `depth` indices, from the forms of the locals; `None` if it is not affine or a
/// coefficient exceeds i64.
pub(super) fn affine(expr: &Expr, locals: &[Option<Affine>], depth: usize) -> Option<Affine> {
    match &expr.node {
        Node::Literal(Scalar::Int(value)) => Some(Form::constant(*value)),
        Node::Index(position) => (*position < depth).then(|| Form::term(*position)),
        Node::Local(position) => locals.get(*position)?.clone(),
        Node::Apply { op, operands } => {
            let operands: Vec<Affine> =
                operands.iter().map(|o| affine(o, locals, depth)).collect::<Option<_>>()?;
            match (op, operands.as_slice()) {
                (ScalarOp::Add, [a, b]) => a.add(b),
                (ScalarOp::Sub, [a, b]) => a.sub(b),
                (ScalarOp::Neg, [a]) => a.scale(-1),
                (ScalarOp::Mul, [a, b]) => a.linear_product(b),
                (ScalarOp::ToInt, [a]) => Some(a.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The values over a non-empty domain; `None` if one exceeds i64.
pub(super) fn range(form: &Affine, extents: &[i64]) -> Option<Interval> {
    form.interval(|position| {
        extents.get(*position).map(|extent| Interval { low: 0, high: extent.max(&1) - 1 })
    })
}
