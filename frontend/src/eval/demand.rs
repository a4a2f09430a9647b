//! What composition cannot know of positions, because only the run knows how long a pack or a tensor is (2.4, 2.12).

use skript_semantics::{ScalarKind, ScalarOp};

use super::evaluator::Evaluator;
use super::runtime;
use crate::diagnostics::Code;
use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::source::Span;

/// A condition over run-time extents that every run must fulfil.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    pub condition: Expr,
    pub message: Vec<MessagePart>,
    /// What it is where no run can fulfil it.
    pub code: &'static Code,
    pub span: Span,
}

impl Demand {
    /// That `low` and `high` are positions among `length`.
    pub fn within(low: &Expr, high: &Expr, length: &Expr) -> Expr {
        let above = runtime::compare(ScalarOp::Ge, low.clone(), Expr::int(0));
        let below = runtime::compare(ScalarOp::Lt, high.clone(), length.clone());
        runtime::and(above, below)
    }
}

impl Evaluator<'_> {
    /// `position` is one among `places` of a pack of `length` items: where it is not, a run says `what`, and the length.
    pub(super) fn needs_within(
        &mut self,
        what: String,
        position: &Expr,
        places: &Expr,
        length: &Expr,
        span: Span,
    ) {
        if !is_shape_scalar(position) || !is_shape_scalar(places) {
            return;
        }
        let demand = Demand {
            condition: Demand::within(position, position, places),
            message: vec![
                MessagePart::Text(what),
                MessagePart::Value(length.clone()),
                MessagePart::Text(" items".to_string()),
            ],
            code: &INDEX_OUT_OF_RANGE,
            span,
        };
        if !self.demands.contains(&demand) {
            self.demands.push(demand);
        }
    }

    /// What has been demanded since there were `before` demands holds only where `condition` is `holds`; conditions on data
    /// change nothing.
    pub(super) fn demanded_if(&mut self, before: usize, condition: &Expr, holds: bool) {
        if !is_shape_scalar(condition) {
            return;
        }
        for demand in self.demands.iter_mut().skip(before) {
            let otherwise = match holds {
                true => Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![condition.clone()]),
                false => condition.clone(),
            };
            let operands = vec![otherwise, demand.condition.clone()];
            demand.condition = Expr::apply(ScalarKind::Bool, ScalarOp::Or, operands);
        }
    }
}
