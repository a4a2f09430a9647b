// SPDX-License-Identifier: Apache-2.0
//! Conditions on positions that are checked at run time, because the length of a pack or a tensor is dynamic (2.4, 2.12).

use crate::diagnostics::Code;
use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;
use crate::eval::runtime;
use crate::model::{Expr, MessagePart};
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};
use std::cell::RefCell;

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

/// The use of an index of a pack.
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
    pub(super) demands: usize,
    pub(super) positions: usize,
}

impl Demand {
    /// Whether `low` is not negative and `high` is below `length`.
    pub(crate) fn within(low: &Expr, high: &Expr, length: &Expr) -> Expr {
        let above = runtime::compare(ScalarOp::Ge, low.clone(), Expr::int(0));
        let below = runtime::compare(ScalarOp::Lt, high.clone(), length.clone());
        runtime::and(above, below)
    }

    /// Requires that `location` is one of the `locations` valid positions in a pack of `length` items. The message
    /// starts with `what`.
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

    /// Requires that `index`, as written, selects an item.
    pub(crate) fn index(index: &Expr, location: &Expr, length: &Expr, span: Span) -> Self {
        let what = vec![
            MessagePart::Text("index ".to_string()),
            MessagePart::Value(index.clone()),
            MessagePart::Text(" is out of range".to_string()),
        ];
        Demand::location(what, location, length, length, span)
    }

    /// Requires the condition only if none of the given conditions holds.
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

    pub(super) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Takes all recorded conditions.
    pub(crate) fn take(&self) -> Vec<Demand> {
        self.0.take()
    }

    /// Takes those recorded since a mark.
    pub(super) fn since(&self, mark: Mark) -> Vec<Demand> {
        let mut demands = self.0.borrow_mut();
        let start = mark.demands.min(demands.len());
        demands.split_off(start)
    }
}
