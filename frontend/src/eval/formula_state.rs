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
    /// Conditions under which the expressions evaluated so far may be; one list per open branch.
    pub guards: Vec<Vec<model::Expr>>,
    /// Guards of locals, due where the local is used.
    pub(crate) local_guards: FxHashMap<String, Vec<model::Expr>>,
    /// Indices that choose tensors of a pack stay indices, where formulas for each of their values would mix up the order.
    pub in_turns: bool,
    /// What a pack of dynamic length stands for where its item is not named.
    pub every: Option<Every>,
    /// The indices of the formula.
    pub indices: Vec<model::FormulaIndex>,
    /// Sums that are not negative where the expression is evaluated.
    pub facts: Vec<Sum>,
    /// The elements that are read.
    pub(crate) accessed: Vec<Accessed>,
    /// What each step must find.
    pub positions: Vec<Position>,
    /// Whether an index of a pack was replaced by the nearest one.
    pub clamped: bool,
}

/// Where a formula reads an element.
#[derive(Debug)]
pub(crate) struct Accessed {
    pub tensor: model::ValueId,
    pub subscripts: Vec<model::Expr>,
    pub span: Span,
}

impl FormulaState {
    /// Whether some index goes through nothing.
    pub(crate) fn takes_no_step(&self) -> bool {
        (0..self.indices.len()).any(|index| self.goes_through_nothing(index))
    }

    pub(crate) fn goes_through_nothing(&self, index: usize) -> bool {
        let index = self.indices.get(index);
        index.is_some_and(|index| index.extent == model::Extent::Fixed(0))
    }
}

/// The items that a packed assignment writes, in turn: those of a pack of dynamic length, or all positions of a dimension.
#[derive(Debug)]
pub(crate) struct Every {
    /// The index variable of the formula that goes through them.
    pub index: usize,
    /// The dimension of the tensor that is written.
    pub dimension: usize,
    /// Whether they are positions of a dimension, not the items of a pack.
    pub(crate) is_slice: bool,
    /// How many there are.
    pub length: model::Extent,
    /// Lengths of the packs that are read beside, and where.
    pub others: Vec<(model::Extent, Span)>,
}
