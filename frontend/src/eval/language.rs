// SPDX-License-Identifier: Apache-2.0
//! The edition of an operator, and the int divisions whose results depend on it.

use crate::eval::ranges::{Known, Work};
use crate::eval::scalar::apply;
use crate::eval::scope::FormulaState;
use crate::eval::value::Atom;
use crate::model::Expr;
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::cell::RefCell;

/// The edition of an operator.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) edition: Edition,
    divisions: RefCell<Vec<Division>>,
}

/// A division of ints whose result differs in the other edition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Division {
    pub(crate) op: ScalarOp,
    pub(crate) span: Span,
}

impl Language {
    pub(crate) fn new(edition: Edition) -> Self {
        Language { edition, divisions: RefCell::default() }
    }

    /// Takes the recorded divisions.
    pub(crate) fn take_divisions(&self) -> Vec<Division> {
        self.divisions.take()
    }

    /// Records a division if the editions compute different results for its operands, or may do so in a run.
    pub(crate) fn note(&self, op: ScalarOp, operands: &[Atom], formula: Option<&FormulaState>, span: Span) {
        if self.edition == Edition::Draft6
            || !matches!(op, ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod)
            || !operands.iter().all(|operand| operand.kind() == Some(ScalarKind::Int))
        {
            return;
        }
        let numbers: Option<Vec<Scalar>> = operands.iter().map(Atom::scalar).collect();
        let depends = match numbers {
            Some(numbers) => {
                apply(op, &numbers, Edition::Draft6).ok() != apply(op, &numbers, Edition::Khronos).ok()
            }
            None => {
                !operands.iter().all(|operand| operand.to_expr().is_some_and(|e| is_natural(&e, formula)))
            }
        };
        let division = Division { op, span };
        let mut divisions = self.divisions.borrow_mut();
        if depends && !divisions.contains(&division) {
            divisions.push(division);
        }
    }
}

/// Whether an int is never negative.
fn is_natural(expr: &Expr, formula: Option<&FormulaState>) -> bool {
    let (indices, facts) = match formula {
        Some(state) => (state.indices.as_slice(), state.facts.as_slice()),
        None => (&[][..], &[][..]),
    };
    let work = Work::default();
    Known::new((indices, &[]), facts, &work).interval(expr).low >= 0
}
