// SPDX-License-Identifier: Apache-2.0
//! Run-time checks over dynamic extents (2.6, 2.8), tested in the order of the model.

use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use skript_frontend::model::check::text;
use skript_frontend::model::{Check, CheckKind, Expr, Finding, Formula, Node};
use skript_semantics::Scalar;

/// Tests all checks; the first one that does not hold fails with its message, at the location of its condition.
pub(crate) fn run(frame: &Frame<'_>, checks: &[Check]) -> Result<(), EvalError> {
    let name = &frame.function.name;
    for check in checks {
        match scalar(frame, &check.condition, &[]) {
            Some(Scalar::Bool(true)) => {}
            Some(Scalar::Bool(false)) => {
                let failure = Failure::Check {
                    kind: check.kind,
                    message: text(&check.message, &mut |expr| scalar(frame, expr, &[])),
                };
                return Err(EvalError::new(failure).within(name, check.span));
            }
            _ => {
                let error = internal("a check depends on an unknown extent");
                return Err(error.within(name, check.span));
            }
        }
    }
    Ok(())
}

/// The error of a step in which an access is out of bounds.
pub(crate) fn out_of_bounds(frame: &Frame<'_>, formula: &Formula, finding: &Finding, step: i64) -> EvalError {
    let mut rest = step;
    let mut indices = Vec::with_capacity(formula.indices.len());
    for (position, index) in formula.indices.iter().enumerate().rev() {
        let extent = frame.known_extent(&index.extent).filter(|_| position > 0);
        let (index, outer) = match extent {
            Some(n) if n > 0 => (rest % n, rest / n),
            // There is no step.
            Some(_) => (0, 0),
            None => (rest, 0),
        };
        indices.push(index);
        rest = outer;
    }
    indices.reverse();
    let failure = Failure::Check {
        kind: CheckKind::Access,
        message: text(&finding.message, &mut |expr| scalar(frame, expr, &indices)),
    };
    EvalError::new(failure).within(&frame.function.name, finding.span)
}

/// The value of a scalar over dynamic extents and the indices of a step, computed in i64 and f64 (errata 19).
fn scalar(frame: &Frame<'_>, expr: &Expr, indices: &[i64]) -> Option<Scalar> {
    match &expr.node {
        Node::Literal(value) => Some(*value),
        Node::Extent(extent) => frame.known_extent(extent).map(Scalar::Int),
        Node::Apply { op, operands } => {
            let operands: Vec<Scalar> =
                operands.iter().map(|operand| scalar(frame, operand, indices)).collect::<Option<_>>()?;
            Some(op.eval(&operands))
        }
        Node::Select { condition, then, otherwise } => match scalar(frame, condition, indices)? {
            Scalar::Bool(true) => scalar(frame, then, indices),
            Scalar::Bool(false) => scalar(frame, otherwise, indices),
            _ => None,
        },
        Node::Table { items, index } => match scalar(frame, index, indices)? {
            Scalar::Int(position) => items.get(usize::try_from(position).ok()?).copied(),
            _ => None,
        },
        Node::Index(position) => indices.get(*position).copied().map(Scalar::Int),
        Node::Local(_) | Node::Access { .. } => None,
    }
}
