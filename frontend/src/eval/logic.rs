// SPDX-License-Identifier: Apache-2.0
//! The operations `&&`, `||` and `=>` (2.4), which evaluate the left side first.

use crate::ast::{BinaryOp, Expr};
use crate::eval::broadcast::beside;
use crate::eval::conditions::where_holds;
use crate::eval::evaluator::Evaluator;
use crate::eval::runtime;
use crate::eval::runtime::literal_bool;
use crate::eval::spelling::scalar_op;
use crate::eval::stop::EvalResult;
use crate::eval::value::{Atom, Value};
use crate::source::Span;

/// `&&`, `||`, `=>`: if the left side decides the result, the right side is not evaluated.
pub(super) fn logical(
    evaluator: &mut Evaluator,
    op: BinaryOp,
    a: &Value,
    right: &Expr,
    span: Span,
) -> EvalResult<Value> {
    let decisive = match op {
        BinaryOp::Or => (true, true),
        BinaryOp::And => (false, false),
        _ => (false, true),
    };
    if let Value::Atom(Atom::Bool(value)) = a
        && *value == decisive.0
    {
        return beside(evaluator, Value::bool(decisive.1), right, span);
    }
    let (b, guards) = match a {
        Value::Atom(Atom::Runtime(condition)) => {
            where_holds(evaluator, condition, !decisive.0, |this| this.guarded(|this| this.eval(right)))?
        }
        _ => evaluator.guarded(|this| this.eval(right))?,
    };
    if b.is_null() {
        return Ok(Value::Null);
    }
    if !guards.is_empty() {
        let left = match a {
            Value::Atom(Atom::Runtime(expr)) => Some((**expr).clone()),
            _ => None,
        };
        for guard in guards {
            // The right side is evaluated only if the left one does not decide the result.
            evaluator.require(match &left {
                Some(l) if decisive.0 => runtime::select(l.clone(), literal_bool(true), guard),
                Some(l) => runtime::select(l.clone(), guard, literal_bool(true)),
                None => guard,
            });
        }
    }
    let scalar = scalar_op(op);
    evaluator.elementwise(a, &b, span, |this, a, b| {
        if let (Atom::Runtime(x), Some(y)) = (a, b.to_expr())
            && runtime::reads(&y)
        {
            let (x, y) = ((**x).clone(), y);
            return Ok(Atom::from_expr(match op {
                BinaryOp::And => runtime::select(x, y, literal_bool(false)),
                BinaryOp::Or => runtime::select(x, literal_bool(true), y),
                _ => runtime::select(x, y, literal_bool(true)),
            }));
        }
        this.operation(scalar, &[a.clone(), b.clone()], span)
    })
}
