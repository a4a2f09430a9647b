// SPDX-License-Identifier: Apache-2.0
//! Minimum and maximum of empty packs: null in the draft, an error in the edition khronos (2.4).

use skript_semantics::ScalarOp;

use super::demand::{Demand, Position, Subject};
use super::evaluator::Evaluator;
use super::ranges::decided;
use super::runtime;
use super::stop::{EvalResult, stop_with_help};
use crate::ast::FoldOp;
use crate::diagnostics::codes::EMPTY_FOLD;
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::program::Edition;
use crate::source::Span;

/// The error for a fold of a pack that is known to be empty.
pub(super) fn refused_empty<T>(op: FoldOp, span: Span) -> EvalResult<T> {
    stop_with_help(
        &EMPTY_FOLD,
        span,
        format!("this pack is empty, and an empty pack has no {}", extremum(op)),
        "add an item that is always there, `[x.., 0]`, or test the length of the pack before; in the edition khronos \
         `??` does not help, for the fold is not null",
    )
}

fn extremum(op: FoldOp) -> &'static str {
    match op {
        FoldOp::Min => "minimum",
        _ => "maximum",
    }
}

impl Evaluator<'_> {
    /// Whether the minimum of an empty pack is an error rather than null.
    pub(crate) fn refuses_empty_folds(&self) -> bool {
        self.edition == Edition::Khronos
    }

    /// Requires that a pack of this length has an item, if the edition rejects folds of empty packs.
    ///
    /// # Errors
    /// The pack is known to be empty.
    pub(crate) fn require_items(&mut self, op: FoldOp, length: &Expr, span: Span) -> EvalResult<()> {
        let has_items = runtime::compare(ScalarOp::Gt, length.clone(), Expr::int(0));
        match decided(&has_items) {
            _ if !self.refuses_empty_folds() => return Ok(()),
            Some(true) => return Ok(()),
            Some(false) => return refused_empty(op, span),
            None => {}
        }
        if is_shape_scalar(length) {
            self.demand(Demand {
                condition: has_items,
                message: vec![MessagePart::Text(format!(
                    "this pack is empty, and an empty pack has no {}",
                    extremum(op)
                ))],
                code: &EMPTY_FOLD,
                span,
            });
        } else if let Some(formula) = &mut self.formula {
            formula.positions.push(Position {
                index: runtime::plus(length, -1),
                from_end: false,
                locations: Expr::int(i64::MAX),
                length: length.clone(),
                unless: Vec::new(),
                subject: Subject::FoldedPack,
                span,
            });
        }
        Ok(())
    }
}
