// SPDX-License-Identifier: Apache-2.0
//! The edition of an operator, and the int divisions whose results depend on it.

use crate::ast;
use crate::eval::evaluator::TypeName;
use crate::eval::ranges::{Known, Work};
use crate::eval::scalar::apply;
use crate::eval::scope::FormulaState;
use crate::eval::stop::EvalResult;
use crate::eval::value::Atom;
use crate::limits::Limits;
use crate::model::Expr;
use crate::program::Edition;
use crate::source::Span;
use crate::value_types::ValueTypes;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::cell::RefCell;
use std::sync::Arc;

/// The edition of an operator.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) edition: Edition,
    /// The types that the check deduced.
    types: Arc<ValueTypes>,
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
    pub(crate) fn new(edition: Edition, types: Arc<ValueTypes>, records: bool) -> Self {
        let records = records && edition == Edition::Khronos;
        Language { edition, types, divisions: records.then(RefCell::default) }
    }

    /// The deduced type of an expression, if it was recorded.
    pub(crate) fn type_of(
        &self,
        expr: &ast::Expr,
        generics: &IndexMap<String, TypeName>,
    ) -> Option<TypeName> {
        let name = self.types.name(expr.span)?;
        TypeName::concrete(name).or_else(|| generics.get(name).copied())
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
