// SPDX-License-Identifier: Apache-2.0
//! Enumeration of the steps of a formula whose indices are known at compile time.

use std::cell::Cell;

use skript_semantics::{Scalar, ScalarKind};

use super::walk::Condition;
use crate::model::{Expr, Formula};

/// The maximum number of evaluated expressions for the accesses of one formula.
const MAX_EVALUATIONS: usize = 1 << 22;

/// The remaining evaluations for one formula.
pub(super) struct Points(Cell<usize>);

impl Default for Points {
    fn default() -> Self {
        Points(Cell::new(MAX_EVALUATIONS))
    }
}

/// Whether an access is out of bounds in some step.
pub(super) enum Verdict {
    Inside,
    /// The index in the first such step, and the values of all indices that it depends on.
    Outside(i64, Vec<(usize, i64)>),
}

/// An access, and the conditions under which it is evaluated.
pub(super) struct Question<'a> {
    pub formula: &'a Formula,
    pub subscript: &'a Expr,
    pub size: i64,
    /// The conditions under which the access is evaluated.
    pub path: &'a [Condition<'a>],
    /// The indices that the subscript depends on.
    pub indices: &'a [usize],
    /// The indices that only the conditions depend on.
    pub condition_indices: &'a [usize],
}

impl Points {
    /// Decides by enumeration; `None` if the budget is exhausted or the access depends on values that are known only at
    /// run time.
    pub(super) fn decide(&self, question: &Question) -> Option<Verdict> {
        let Question { formula, indices, .. } = question;
        let size = question.subscript.size();
        let mut at = start(formula, indices)?;
        loop {
            self.spend(size)?;
            let index = formula.value_at(question.subscript, &|p| value(&at, p))?;
            let Scalar::Int(index) = index else {
                return None;
            };
            if (index < 0 || index >= question.size) && self.is_reached(question, &mut at)? {
                return Some(Verdict::Outside(index, at));
            }
            if !next(formula, &mut at, 0)? {
                return Some(Verdict::Inside);
            }
        }
    }

    /// Whether some step with these values of the subscript's indices evaluates the access; its indices are appended.
    fn is_reached(&self, question: &Question, at: &mut Vec<(usize, i64)>) -> Option<bool> {
        let Question { formula, path, .. } = question;
        let length = at.len();
        at.extend(start(formula, question.condition_indices)?);
        loop {
            let mut holds = true;
            for condition in *path {
                self.spend(condition.expr.size())?;
                let value = formula.value_at(condition.expr, &|p| value(at, p))?;
                if value != Scalar::Bool(condition.holds) {
                    holds = false;
                    break;
                }
            }
            if holds {
                return Some(true);
            }
            if !next(formula, at, length)? {
                at.truncate(length);
                return Some(false);
            }
        }
    }

    /// The number of evaluated expressions.
    pub(super) fn spent(&self) -> usize {
        MAX_EVALUATIONS - self.0.get()
    }

    fn spend(&self, evaluations: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(evaluations)?);
        Some(())
    }
}

/// The first step; `None` if there are no steps, or if the number of steps is dynamic.
fn start(formula: &Formula, indices: &[usize]) -> Option<Vec<(usize, i64)>> {
    let first = indices.iter().map(|index| {
        let extent = formula.indices.get(*index)?.extent.fixed()?;
        (extent > 0).then_some((*index, 0))
    });
    first.collect()
}

/// The next step of the loops after the first `outer` ones, if there is one.
fn next(formula: &Formula, at: &mut [(usize, i64)], outer: usize) -> Option<bool> {
    for (index, value) in at.iter_mut().skip(outer).rev() {
        let extent = formula.indices.get(*index)?.extent.fixed()?;
        *value += 1;
        if i64::try_from(extent).is_ok_and(|extent| *value < extent) {
            return Some(true);
        }
        *value = 0;
    }
    Some(false)
}

fn value(at: &[(usize, i64)], index: usize) -> Option<i64> {
    at.iter().find(|(i, _)| *i == index).map(|(_, value)| *value)
}

/// Whether the value depends on reals, which may have fewer digits at run time.
pub(super) fn depends_on_reals(expr: &Expr) -> bool {
    expr.nested().iter().any(|nested| nested.kind == ScalarKind::Real)
}
