//! Conditions over run-time extents (2.6, 2.8), tested in the order of the model.

use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use skript_frontend::model::{Check, Expr, Node};
use skript_semantics::Scalar;

/// Tests all; the first that does not hold fails with its message, at the condition's place.
pub(crate) fn run(frame: &Frame<'_>, checks: &[Check]) -> Result<(), EvalError> {
    let name = &frame.function.name;
    for check in checks {
        match scalar(frame, &check.condition) {
            Some(Scalar::Bool(true)) => {}
            Some(Scalar::Bool(false)) => {
                let failure = Failure::Check {
                    kind: check.kind,
                    message: check.text(&mut |expr| scalar(frame, expr)),
                };
                return Err(EvalError::new(failure).within(name, check.span));
            }
            _ => {
                let error = internal("a check rests on an extent that is not known");
                return Err(error.within(name, check.span));
            }
        }
    }
    Ok(())
}

/// A scalar over run-time extents, computed in i64 and f64 (errata 19).
fn scalar(frame: &Frame<'_>, expr: &Expr) -> Option<Scalar> {
    match &expr.node {
        Node::Literal(value) => Some(*value),
        Node::Extent(extent) => frame.known_extent(extent).map(Scalar::Int),
        Node::Apply { op, operands } => {
            let operands: Vec<Scalar> = operands
                .iter()
                .map(|operand| scalar(frame, operand))
                .collect::<Option<_>>()?;
            Some(op.eval(&operands))
        }
        Node::Select {
            condition,
            then,
            otherwise,
        } => match scalar(frame, condition)? {
            Scalar::Bool(true) => scalar(frame, then),
            Scalar::Bool(false) => scalar(frame, otherwise),
            _ => None,
        },
        Node::Table { items, index } => match scalar(frame, index)? {
            Scalar::Int(position) => items.get(usize::try_from(position).ok()?).copied(),
            _ => None,
        },
        Node::Index(_) | Node::Local(_) | Node::Access { .. } => None,
    }
}
