// SPDX-License-Identifier: Apache-2.0
//! State of the evaluator inside a formula (2.12): the accesses and conditions of its expressions.

use rustc_hash::FxHashMap;

use super::demand::Position;
use super::sum::Sum;
use crate::model;
use crate::source::Span;

/// What a formula collects while its expressions are evaluated.
#[derive(Debug, Default)]
pub(crate) struct FormulaState {
    /// Conditions under which the evaluated expressions are used; one list per open branch.
    pub guards: Vec<Vec<model::Expr>>,
    /// Guards of locals, which apply where the local is used.
    pub(crate) local_guards: FxHashMap<String, Vec<model::Expr>>,
    /// Whether indices that select tensors of a pack stay indices, because formulas for each of their values would
    /// change the order.
    pub in_turns: bool,
    /// The item that a pack of dynamic length denotes where no index is written.
    pub every: Option<Every>,
    /// The indices of the formula.
    pub indices: Vec<model::FormulaIndex>,
    /// Sums that are not negative where the expression is evaluated.
    pub facts: Vec<Sum>,
    /// The elements that are read.
    pub(crate) accessed: Vec<Accessed>,
    /// Positions that must be valid in each step.
    pub positions: Vec<Position>,
    /// Whether an index of a pack was replaced by the nearest valid one.
    pub clamped: bool,
}

/// An element read by the formula, and its location.
#[derive(Debug)]
pub(crate) struct Accessed {
    pub tensor: model::ValueId,
    pub subscripts: Vec<model::Expr>,
    pub span: Span,
}

impl FormulaState {
    /// Whether some index has an empty range.
    pub(crate) fn takes_no_step(&self) -> bool {
        (0..self.indices.len()).any(|index| self.goes_through_nothing(index))
    }

    pub(crate) fn goes_through_nothing(&self, index: usize) -> bool {
        let index = self.indices.get(index);
        index.is_some_and(|index| index.extent == model::Extent::Fixed(0))
    }
}

/// The items that a packed assignment writes in turn: those of a pack of dynamic length, or all positions of a
/// dimension.
#[derive(Debug)]
pub(crate) struct Every {
    /// The index variable of the formula that iterates over them.
    pub index: usize,
    /// The dimension of the tensor that is written.
    pub dimension: usize,
    /// Whether they are positions of a dimension, not the items of a pack.
    pub(crate) is_slice: bool,
    /// The number of items.
    pub length: model::Extent,
    /// Lengths of the packs that are read together, with their spans.
    pub others: Vec<(model::Extent, Span)>,
}
