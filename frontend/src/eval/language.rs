// SPDX-License-Identifier: Apache-2.0
//! The edition of an operator, and the int divisions whose results depend on it.

use crate::eval::ranges::{Known, Work};
use crate::eval::scalar::apply;
use crate::eval::scope::FormulaState;
use crate::eval::stop::EvalResult;
use crate::eval::value::Atom;
use crate::limits::Limits;
use crate::model::Expr;
use crate::program::Edition;
use crate::source::Span;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::cell::RefCell;

/// The edition of an operator.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) edition: Edition,
    /// Divisions in the order of their evaluation, if they are recorded.
    divisions: Option<RefCell<IndexSet<Division, FxBuildHasher>>>,
}

/// A division of ints whose result differs in the other edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Division {
    pub(crate) op: ScalarOp,
    pub(crate) span: Span,
}

impl Language {
    /// `records`: whether to record divisions of the edition khronos.
    pub(crate) fn new(edition: Edition, records: bool) -> Self {
        let records = records && edition == Edition::Khronos;
        Language { edition, divisions: records.then(RefCell::default) }
    }

    /// Takes the recorded divisions.
    pub(crate) fn take_divisions(&self) -> impl Iterator<Item = Division> {
        self.divisions.iter().flat_map(RefCell::take)
    }

    /// Records a division if the editions compute different results for its operands, or may do so in a run.
    pub(crate) fn note(
        &self,
        op: ScalarOp,
        operands: &[Atom],
        formula: Option<&FormulaState>,
        (limits, span): (&Limits, Span),
    ) -> EvalResult<()> {
        let Some(divisions) = &self.divisions else {
            return Ok(());
        };
        let division = Division { op, span };
        if !matches!(op, ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod)
            || !operands.iter().all(|operand| operand.kind() == Some(ScalarKind::Int))
            || divisions.borrow().contains(&division)
        {
            return Ok(());
        }
        let numbers: Option<Vec<Scalar>> = operands.iter().map(Atom::scalar).collect();
        let depends = match numbers {
            Some(numbers) => {
                apply(op, &numbers, Edition::Draft6).ok() != apply(op, &numbers, Edition::Khronos).ok()
            }
            None => {
                let work = Work::default();
                let is_natural =
                    |operand: &Atom| operand.to_expr().is_some_and(|e| is_natural(&e, formula, &work));
                let depends = !operands.iter().all(is_natural);
                limits.charge(work.total(), span)?;
                depends
            }
        };
        if depends {
            divisions.borrow_mut().insert(division);
        }
        Ok(())
    }
}

/// Whether an int is never negative.
fn is_natural(expr: &Expr, formula: Option<&FormulaState>, work: &Work) -> bool {
    let (indices, facts) = match formula {
        Some(state) => (state.indices.as_slice(), state.facts.as_slice()),
        None => (&[][..], &[][..]),
    };
    Known::new((indices, &[]), facts, work).interval(expr).low >= 0
}
