// SPDX-License-Identifier: Apache-2.0
//! The run-time conditions under which parts of expressions are evaluated (2.4, 2.12).

use skript_semantics::{ScalarKind, ScalarOp};

use super::demand::{Demand, Mark};
use super::evaluator::Evaluator;
use super::ranges::collect_facts;
use super::stop::EvalResult;
use crate::model::Expr;
use crate::model::check::is_shape_scalar;

impl Evaluator<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            demands: self.demands.len(),
            positions: self.formula.as_ref().map_or(0, |f| f.positions.len()),
        }
    }

    pub(super) fn demand(&self, demand: Demand) {
        if is_shape_scalar(&demand.condition) {
            self.demands.push(demand);
        }
    }

    /// Evaluates an expression that is used only if `condition` is `holds`. Its conditions over extents are required
    /// only if a condition on extents has that value; conditions on data do not affect them. Positions in steps of a
    /// formula are then not required: an unused evaluation selects the nearest item.
    pub(super) fn where_holds<T>(
        &mut self,
        condition: &Expr,
        holds: bool,
        evaluate: impl FnOnce(&mut Self) -> EvalResult<T>,
    ) -> EvalResult<T> {
        let mark = self.mark();
        let known = self.formula.as_mut().map(|f| {
            let known = f.facts.len();
            collect_facts(condition, holds, &mut f.facts);
            known
        });
        let result = evaluate(self);
        if let (Some(formula), Some(known)) = (&mut self.formula, known) {
            formula.facts.truncate(known);
        }
        if !is_shape_scalar(condition) {
            self.some_steps(mark);
            return result;
        }
        let otherwise = if holds {
            Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![condition.clone()])
        } else {
            condition.clone()
        };
        for demand in self.demands.since(mark) {
            let demand = demand.unless(std::slice::from_ref(&otherwise));
            self.demands.push(demand);
        }
        if let Some(formula) = &mut self.formula {
            for position in formula.positions.iter_mut().skip(mark.positions) {
                position.unless.push(otherwise.clone());
            }
        }
        result
    }

    /// Evaluates an expression for its type only: none of its conditions is required.
    pub(super) fn aside<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> EvalResult<T>) -> EvalResult<T> {
        let mark = self.mark();
        let every = |this: &Self| {
            let every = this.formula.as_ref().and_then(|f| f.every.as_ref());
            every.map_or(0, |every| every.others.len())
        };
        let others = every(self);
        let result = self.guarded(evaluate);
        self.demands.since(mark);
        self.some_steps(mark);
        if let Some(every) = self.formula.as_mut().and_then(|f| f.every.as_mut()) {
            every.others.truncate(others);
        }
        result.map(|(value, _)| value)
    }

    /// Marks what has been evaluated since a count as not evaluated in all steps of a formula.
    pub(super) fn some_steps(&mut self, mark: Mark) {
        if let Some(formula) = &mut self.formula {
            formula.positions.truncate(mark.positions);
        }
    }
}
