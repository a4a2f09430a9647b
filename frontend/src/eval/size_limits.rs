// SPDX-License-Identifier: Apache-2.0
//! Limits on the sizes of expressions.

use skript_semantics::ScalarKind;

use super::evaluator::Evaluator;
use super::stop::{EvalResult, stop};
use super::sum::terms;
use super::value::Atom;
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::model::Expr;
use crate::model::check::extent_operations;
use crate::source::Span;

impl Evaluator<'_> {
    /// An expression over dynamic extents, unless nested helpers have made it too large.
    pub(crate) fn of_bounded_size(&self, expr: Expr, span: Span) -> EvalResult<Atom> {
        let operations = extent_operations(&expr);
        if operations > self.limits.extent_operations {
            return stop(
                &LIMIT_EXCEEDED,
                span,
                format!(
                    "this expression over dynamic extents has {operations} operations; the limit `extent_operations` is {}",
                    self.limits.extent_operations
                ),
            );
        }
        self.within_terms(expr, span)
    }

    /// A result, if the number of its terms is within the limit.
    fn within_terms(&self, expr: Expr, span: Span) -> EvalResult<Atom> {
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
