// SPDX-License-Identifier: Apache-2.0
//! `&&`, `||`, `=>` (2.4): the left side is evaluated first, and may decide the result.

use super::evaluator::Evaluator;
use super::runtime;
use super::runtime::literal_bool;
use super::spelling::scalar_op;
use super::stop::EvalResult;
use super::value::{Atom, Value};
use crate::ast::{BinaryOp, Expr};
use crate::source::Span;

impl Evaluator<'_> {
    /// `&&`, `||`, `=>`: if the left side decides the result, the right side is not evaluated.
    pub(super) fn logical(&mut self, op: BinaryOp, a: &Value, right: &Expr, span: Span) -> EvalResult<Value> {
        let decisive = match op {
            BinaryOp::Or => (true, true),
            BinaryOp::And => (false, false),
            _ => (false, true),
        };
        if let Value::Atom(Atom::Bool(value)) = a
            && *value == decisive.0
        {
            return self.beside(Value::bool(decisive.1), right, span);
        }
        let (b, guards) = match a {
            Value::Atom(Atom::Run(condition)) => {
                self.where_holds(condition, !decisive.0, |this| this.guarded(|this| this.eval(right)))?
            }
            _ => self.guarded(|this| this.eval(right))?,
        };
        if b.is_null() {
            return Ok(Value::Null);
        }
        if !guards.is_empty() {
            let left = match a {
                Value::Atom(Atom::Run(expr)) => Some((**expr).clone()),
                _ => None,
            };
            for guard in guards {
                // The right side is evaluated only if the left one does not decide the result.
                self.require(match &left {
                    Some(l) if decisive.0 => runtime::select(l.clone(), literal_bool(true), guard),
                    Some(l) => runtime::select(l.clone(), guard, literal_bool(true)),
                    None => guard,
                });
            }
        }
        let scalar = scalar_op(op);
        self.elementwise(a, &b, span, |this, a, b| {
            if let (Atom::Run(x), Some(y)) = (a, b.to_expr())
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
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, with_symbols};
    use crate::diagnostics::codes::ASSERTION_FAILED;

    fn asserted(lines: &str, condition: &str) -> String {
        with_symbols(lines).replace("@lower", &format!("@assert {{ {condition}; }} @lower"))
    }

    /// A single value is repeated for every item, also if it decides the result.
    #[test]
    fn s2_4_decisive_values_go_with_every_item() {
        let lines = "m = [true, false, true]; t = k == 3; all = t || m; none = !t && m; so = !t => m;";
        for condition in [
            "all is [true, true, true]",
            "none is [false, false, false]",
            "so is [true, true, true]",
            "(all && ..) && !(none || ..)",
        ] {
            assert_composes(&asserted(lines, condition));
        }
        assert_fires(&ASSERTION_FAILED, &asserted(lines, "all && none"));
    }

    /// An expression that the left side excludes need not have a value.
    #[test]
    fn s2_4_decisive_values_need_no_right_side() {
        assert_composes(&asserted("z = k - 3;", "z == 0 || 6 / z > 1"));
        assert_composes(&asserted("z = k - 3;", "!(z != 0 && 6 / z > 1)"));
        assert_composes(&asserted("z = k - 3;", "z != 0 => p[6 / z] > 1"));
    }
}
