// SPDX-License-Identifier: Apache-2.0
//! Names and their values, innermost frame last.

use crate::eval::demand::Position;
use crate::eval::sum::Sum;
use crate::eval::value::Value;
use crate::model;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Shared by clones until one of them binds a name, because each formula starts with the names of its operator.
    frames: Vec<Rc<FxHashMap<String, Value>>>,
    /// The lengths that null packs would have.
    null_lengths: FxHashMap<String, Value>,
}

impl Scope {
    pub(crate) fn new() -> Self {
        Scope { frames: vec![Rc::default()], null_lengths: FxHashMap::default() }
    }

    /// Sets the declared length of a pack that is null.
    pub(crate) fn set_null_length(&mut self, name: impl Into<String>, length: Value) {
        self.null_lengths.insert(name.into(), length);
    }

    pub(crate) fn null_length(&self, name: &str) -> Option<&Value> {
        self.null_lengths.get(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.frames.iter().rev().find_map(|f| f.get(name))
    }

    /// Binds a name in the innermost frame.
    pub(crate) fn set(&mut self, name: impl Into<String>, value: Value) {
        if self.frames.is_empty() {
            self.frames.push(Rc::default());
        }
        if let Some(frame) = self.frames.last_mut() {
            Rc::make_mut(frame).insert(name.into(), value);
        }
    }

    pub(crate) fn push(&mut self) {
        self.frames.push(Rc::default());
    }

    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }
}

/// The state of a formula while its expressions are evaluated.
#[derive(Debug, Default)]
pub(crate) struct FormulaState {
    /// Conditions under which the evaluated expressions are used; one list per open branch.
    pub guards: Vec<Vec<model::Expr>>,
    /// Guards of locals, which apply where the local is used.
    pub(crate) local_guards: FxHashMap<String, Vec<model::Expr>>,
    /// Whether indices that select tensors of a pack are not unrolled, because separate formulas for their values would
    /// change the order of the steps.
    pub keeps_order: bool,
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
    pub(crate) fn has_no_steps(&self) -> bool {
        (0..self.indices.len()).any(|index| self.has_empty_range(index))
    }

    pub(crate) fn has_empty_range(&self, index: usize) -> bool {
        let index = self.indices.get(index);
        index.is_some_and(|index| index.extent == model::Extent::Fixed(0))
    }
}

/// The iteration of a packed assignment: over the items of a pack of dynamic length, or over all positions of a
/// dimension.
#[derive(Debug)]
pub(crate) struct Every {
    /// The index variable of the formula that iterates over the items.
    pub index: usize,
    /// The dimension of the tensor that is written.
    pub dimension: usize,
    /// Whether it iterates over the positions of a dimension, not over the items of a pack.
    pub(crate) is_slice: bool,
    /// The number of items.
    pub length: model::Extent,
    /// Lengths of the packs that are read together, with their spans.
    pub others: Vec<(model::Extent, Span)>,
}
