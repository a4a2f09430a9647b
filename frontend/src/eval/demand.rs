// SPDX-License-Identifier: Apache-2.0
//! Conditions on positions that are checked at run time, because the length of a pack or a tensor is dynamic (2.4, 2.12).

use std::cell::RefCell;

use skript_semantics::{ScalarKind, ScalarOp};

use super::evaluator::{EvalResult, Evaluator};
use super::ranges::collect_facts;
use super::runtime;
use crate::diagnostics::Code;
use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::source::Span;

/// A condition over dynamic extents that must hold at run time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Demand {
    pub condition: Expr,
    pub message: Vec<MessagePart>,
    /// The error if the condition is always false.
    pub code: &'static Code,
    pub span: Span,
}

/// The conditions of the evaluated expressions.
#[derive(Debug, Default)]
pub(crate) struct Demands(RefCell<Vec<Demand>>);

/// An index of a pack that depends on the indices of a formula: it must be in range in each step.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub index: Expr,
    /// Whether negative values count from the end.
    pub(crate) from_end: bool,
    /// The number of valid positions: the length of the pack, or one more for ends of ranges.
    pub locations: Expr,
    pub length: Expr,
    /// Conditions on extents under which the index is not evaluated.
    pub unless: Vec<Expr>,
    pub subject: Subject,
    pub span: Span,
}

/// What an index of a pack is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// It selects an item.
    Item,
    /// It is the last item of a folded pack, which must exist.
    FoldedPack,
}

/// The number of conditions and positions recorded so far.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    demands: usize,
    positions: usize,
}

impl Demand {
    /// Requires that `low` and `high` are valid positions for `length`.
    pub(crate) fn within(low: &Expr, high: &Expr, length: &Expr) -> Expr {
        let above = runtime::compare(ScalarOp::Ge, low.clone(), Expr::int(0));
        let below = runtime::compare(ScalarOp::Lt, high.clone(), length.clone());
        runtime::and(above, below)
    }

    /// That `location` is one of `locations` in a pack of `length` items; `what` names what is outside.
    pub(crate) fn location(
        what: Vec<MessagePart>,
        location: &Expr,
        locations: &Expr,
        length: &Expr,
        span: Span,
    ) -> Self {
        let mut message = what;
        message.push(MessagePart::Text(": the pack has ".to_string()));
        message.push(MessagePart::Value(length.clone()));
        message.push(MessagePart::Text(" items".to_string()));
        Demand {
            condition: Demand::within(location, location, locations),
            message,
            code: &INDEX_OUT_OF_RANGE,
            span,
        }
    }

    /// Requires that `index`, as written, is that of an item.
    pub(crate) fn index(index: &Expr, location: &Expr, length: &Expr, span: Span) -> Self {
        let what = vec![
            MessagePart::Text("index ".to_string()),
            MessagePart::Value(index.clone()),
            MessagePart::Text(" is out of range".to_string()),
        ];
        Demand::location(what, location, length, length, span)
    }

    /// As above, if one of the conditions does not hold.
    pub(crate) fn unless(mut self, conditions: &[Expr]) -> Self {
        for condition in conditions {
            let operands = vec![condition.clone(), self.condition];
            self.condition = Expr::apply(ScalarKind::Bool, ScalarOp::Or, operands);
        }
        self
    }
}

impl Demands {
    pub(crate) fn push(&self, demand: Demand) {
        let mut demands = self.0.borrow_mut();
        if !demands.contains(&demand) {
            demands.push(demand);
        }
    }

    /// Takes all recorded conditions.
    pub(crate) fn take(&self) -> Vec<Demand> {
        self.0.take()
    }

    /// Takes those recorded since a count.
    pub(super) fn since(&self, mark: Mark) -> Vec<Demand> {
        let mut demands = self.0.borrow_mut();
        let start = mark.demands.min(demands.len());
        demands.split_off(start)
    }
}

impl Evaluator<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            demands: self.demands.0.borrow().len(),
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
