// SPDX-License-Identifier: Apache-2.0
//! The run-time conditions under which parts of expressions are evaluated (2.4, 2.12).

use crate::eval::demand::{Demand, Mark};
use crate::eval::evaluator::Evaluator;
use crate::eval::ranges::collect_facts;
use crate::eval::stop::EvalResult;
use crate::model::Expr;
use crate::model::check::is_shape_scalar;
use skript_semantics::{ScalarKind, ScalarOp};

pub(super) fn mark(evaluator: &Evaluator) -> Mark {
    Mark {
        demands: evaluator.demands.len(),
        positions: evaluator.formula.as_ref().map_or(0, |f| f.positions.len()),
    }
}

pub(super) fn demand(evaluator: &Evaluator, demand: Demand) {
    if is_shape_scalar(&demand.condition) {
        evaluator.demands.push(demand);
    }
}

/// Evaluates an expression that is used only if `condition` has the value `holds`. Where the condition depends only on
/// extents, the expression's own run-time conditions are required only if `condition` has that value. Where it depends
/// on data, they are always required, except for positions in steps of a formula: an unused evaluation selects the
/// nearest item.
pub(super) fn where_holds<'a, T>(
    evaluator: &mut Evaluator<'a>,
    condition: &Expr,
    holds: bool,
    evaluate: impl FnOnce(&mut Evaluator<'a>) -> EvalResult<T>,
) -> EvalResult<T> {
    let mark = mark(evaluator);
    let known = evaluator.formula.as_mut().map(|f| {
        let known = f.facts.len();
        collect_facts(condition, holds, &mut f.facts);
        known
    });
    let result = evaluate(evaluator);
    if let (Some(formula), Some(known)) = (&mut evaluator.formula, known) {
        formula.facts.truncate(known);
    }
    if !is_shape_scalar(condition) {
        some_steps(evaluator, mark);
        return result;
    }
    let otherwise = if holds {
        Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![condition.clone()])
    } else {
        condition.clone()
    };
    for demand in evaluator.demands.since(mark) {
        let demand = demand.unless(std::slice::from_ref(&otherwise));
        evaluator.demands.push(demand);
    }
    if let Some(formula) = &mut evaluator.formula {
        for position in formula.positions.iter_mut().skip(mark.positions) {
            position.unless.push(otherwise.clone());
        }
    }
    result
}

/// Evaluates an expression only for its type: its run-time conditions are not required.
pub(super) fn aside<'a, T>(
    evaluator: &mut Evaluator<'a>,
    evaluate: impl FnOnce(&mut Evaluator<'a>) -> EvalResult<T>,
) -> EvalResult<T> {
    let mark = mark(evaluator);
    let every = |evaluator: &Evaluator<'a>| {
        let every = evaluator.formula.as_ref().and_then(|f| f.every.as_ref());
        every.map_or(0, |every| every.others.len())
    };
    let others = every(evaluator);
    let result = evaluator.guarded(evaluate);
    evaluator.demands.since(mark);
    some_steps(evaluator, mark);
    if let Some(every) = evaluator.formula.as_mut().and_then(|f| f.every.as_mut()) {
        every.others.truncate(others);
    }
    result.map(|(value, _)| value)
}

/// Drops the positions recorded since a mark: their expressions are not evaluated in all steps of a formula.
pub(super) fn some_steps(evaluator: &mut Evaluator, mark: Mark) {
    if let Some(formula) = &mut evaluator.formula {
        formula.positions.truncate(mark.positions);
    }
}
