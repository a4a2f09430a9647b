// SPDX-License-Identifier: Apache-2.0
//! The writer of a kernel's code: its state, constants, loops and branches.

use super::body::Body;
use super::nest::Nest;
use super::plan::Plan;
use super::signature::Signature;
use crate::ir::{self, Builder, vector};
use melior::ir::block::BlockLike;
use melior::ir::{BlockRef, OperationRef, Type, Value};
use std::collections::{BTreeMap, HashMap};

/// The position of the writer in the nest.
#[derive(Clone)]
pub(super) struct State<'c, 'a> {
    /// The current address of each operand.
    pub(super) bases: Vec<Value<'c, 'a>>,
    /// The current indices of the loops.
    pub(super) values: HashMap<usize, Value<'c, 'a>>,
    /// The size of the tile along each unrolled loop, and along the loop of the lanes.
    pub(super) tile: HashMap<usize, Tile>,
    pub(super) predicate: Predicate<'c, 'a>,
    /// The number of elements from the first vector of the tile on, if it is dynamic.
    pub(super) rest: Option<Value<'c, 'a>>,
    /// The current part of a reduction that is divided into parts.
    pub(super) part: Option<Part<'c, 'a>>,
    /// The taps of a window that are computed together.
    pub(super) taps: Option<Taps>,
}

/// A part of a reduction.
#[derive(Clone)]
pub(super) struct Part<'c, 'a> {
    /// The reduction loop.
    pub(super) number: usize,
    pub(super) from: Value<'c, 'a>,
    pub(super) to: Value<'c, 'a>,
    /// Whether the part is the first one.
    pub(super) is_first: Value<'c, 'a>,
    /// Whether the part is the last one.
    pub(super) is_last: Value<'c, 'a>,
}

/// The size of a tile along a loop.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// The number of steps of the unrolled loop, or of vectors along the lanes.
    pub(super) count: i64,
    pub(super) last: LastVector,
}

/// The elements of the last vector of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastVector {
    /// All lanes.
    Full,
    /// Fewer elements than lanes.
    Partial(i64),
    /// A dynamic number of elements: all vectors of the tile together have [`State::rest`] elements.
    Dynamic,
}

impl LastVector {
    /// Returns the last vector of a tile with this number of elements.
    pub(super) fn of_elements(elements: i64, lanes: i64) -> Self {
        match elements % lanes {
            0 => LastVector::Full,
            remainder => LastVector::Partial(remainder),
        }
    }
}

impl Tile {
    /// A tile of full vectors, or of steps.
    pub(super) fn full(count: i64) -> Self {
        Tile { count, last: LastVector::Full }
    }

    /// Whether a vector of the tile may be partial.
    pub(super) fn is_partial(self, vector: i64) -> bool {
        match self.last {
            LastVector::Full => false,
            LastVector::Partial(_) => vector == self.count - 1,
            LastVector::Dynamic => true,
        }
    }
}

/// The known facts about the payload's predicate.
#[derive(Clone, PartialEq)]
pub(super) enum Predicate<'c, 'a> {
    /// The predicate is evaluated at each point.
    Open,
    /// The predicate holds at every point of the tile.
    Holds,
    /// The values of the predicate at each point of the tile are already computed.
    Values(Vec<Value<'c, 'a>>),
}

/// Taps that are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taps {
    /// The loop over the taps.
    pub(super) number: usize,
    /// The number of taps, which equals the stride of the elements of one tap.
    pub(super) count: i64,
}

/// Writes the code of a kernel.
pub(super) struct Writer<'w, 'c, 'a> {
    pub(super) nest: &'w Nest,
    pub(super) plan: Plan,
    pub(super) body: &'w Body<'c>,
    pub(super) signature: &'w Signature<'c>,
    /// The current insertion point.
    pub(super) at: Builder<'c, 'a>,
    pub(super) given: Given<'c, 'a>,
    /// The function's block.
    start: BlockRef<'c, 'a>,
    /// The operation of the block after which constants are inserted.
    first: Option<OperationRef<'c, 'a>>,
    /// The constants by value.
    constants: BTreeMap<i64, OperationRef<'c, 'a>>,
    /// The dynamic strides by operand and loop.
    pub(super) strides: HashMap<(usize, usize), Value<'c, 'a>>,
}

/// Values that a kernel computes before its loops.
#[derive(Clone, Default)]
pub(super) struct Given<'c, 'a> {
    /// The operands as one-dimensional arrays.
    pub(super) views: HashMap<usize, Value<'c, 'a>>,
    pub(super) captures: Vec<Value<'c, 'a>>,
    /// The dynamic extents by loop.
    pub(super) extents: HashMap<usize, Value<'c, 'a>>,
    /// The extents of arrays that are factors of strides.
    pub(super) sizes: Vec<Value<'c, 'a>>,
    /// The half-open range of steps.
    pub(super) steps: Option<[Value<'c, 'a>; 2]>,
    /// The memory in which tiles are transposed.
    pub(super) scratch: Option<Value<'c, 'a>>,
}

/// A point of a tile: the steps along the unrolled loops, and the number of the vector.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) steps: Vec<(usize, i64)>,
    pub(super) vector: i64,
}

impl<'c, 'a> State<'c, 'a> {
    /// Returns the number of elements of a tile whose last vector is dynamic.
    pub(super) fn rest(&self) -> Value<'c, 'a> {
        self.rest.unwrap_or_else(|| unreachable!("internal compiler error: a tile without a rest"))
    }

    /// Returns this state with the given predicate.
    pub(super) fn with(&self, predicate: Predicate<'c, 'a>) -> Self {
        State { predicate, ..self.clone() }
    }
}

impl<'w, 'c: 'a, 'a> Writer<'w, 'c, 'a> {
    /// Creates a writer at the end of a function whose existing operations define `given`.
    pub(super) fn new(
        nest: &'w Nest,
        plan: Plan,
        body: &'w Body<'c>,
        signature: &'w Signature<'c>,
        at: Builder<'c, 'a>,
        given: Given<'c, 'a>,
    ) -> Self {
        Writer {
            nest,
            plan,
            body,
            signature,
            at,
            given,
            start: at.block,
            first: ir::operations(at.block).last().copied(),
            constants: BTreeMap::new(),
            strides: HashMap::new(),
        }
    }

    /// Returns the state before all loops.
    pub(super) fn start(&mut self) -> State<'c, 'a> {
        self.compute_strides();
        let operands = self.nest.operands.iter();
        State {
            bases: operands.map(|operand| self.constant(operand.offset)).collect(),
            values: HashMap::new(),
            tile: HashMap::new(),
            predicate: Predicate::Open,
            rest: None,
            part: None,
            taps: None,
        }
    }

    /// Returns a constant index. All constants are at the start of the function, in increasing order.
    pub(super) fn constant(&mut self, value: i64) -> Value<'c, 'a> {
        let known = self.constants.get(&value).copied();
        let op = known.unwrap_or_else(|| {
            let less = self.constants.range(..value).next_back().map(|(_, op)| *op);
            let constant = self.at.detached_index(value);
            let op = match less.or(self.first) {
                Some(before) => self.start.insert_operation_after(before, constant),
                None => self.start.insert_operation(0, constant),
            };
            self.constants.insert(value, op);
            op
        });
        self.at.result(op, 0)
    }

    /// Whether a value is the constant 0.
    pub(super) fn is_zero(&self, value: Value<'c, 'a>) -> bool {
        self.constants.get(&0).is_some_and(|zero| self.at.result(*zero, 0) == value)
    }

    pub(super) fn vector_type(&self, element: Type<'c>) -> Type<'c> {
        vector::of(&[self.plan.lanes], element)
    }

    /// The type of a vector of accumulators.
    pub(super) fn sums(&self) -> Type<'c> {
        self.vector_type(self.body.accumulator)
    }

    /// The one-dimensional array of an operand.
    pub(super) fn view(&self, operand: usize) -> Value<'c, 'a> {
        self.given.views[&operand]
    }

    /// Emits `base + amount`, in elements.
    pub(super) fn offset(&mut self, base: Value<'c, 'a>, amount: i64) -> Value<'c, 'a> {
        if amount == 0 {
            return base;
        }
        let amount = self.constant(amount);
        self.at.addi(base, amount)
    }

    /// Emits `value * factor`.
    pub(super) fn times(&mut self, value: Value<'c, 'a>, factor: i64) -> Value<'c, 'a> {
        let factor = self.constant(factor);
        self.at.muli(value, factor)
    }

    /// Runs `write` with another plan.
    pub(super) fn with_plan(&mut self, plan: Plan, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.plan, plan);
        write(self);
        self.plan = outer;
    }

    /// Emits a loop with a constant step.
    pub(super) fn loop_in(
        &mut self,
        [from, to]: [Value<'c, 'a>; 2],
        step: i64,
        body: impl FnOnce(&mut Self, Value<'c, 'a>),
    ) {
        let (step, at) = (self.constant(step), self.at);
        at.each([from, to, step], |inside, iteration| {
            self.at = inside;
            body(self, iteration);
        });
        self.at = at;
    }

    /// Emits a branch without results; `then` writes its body, for a condition that holds.
    pub(super) fn when(&mut self, condition: Value<'c, 'a>, then: impl FnOnce(&mut Self)) {
        let at = self.at;
        at.when(condition, |inside| {
            self.at = inside;
            then(self);
        });
        self.at = at;
    }

    /// Emits a branch with results of these types: `branch` first writes the case where the condition holds, then the other case.
    pub(super) fn branch(
        &mut self,
        condition: Value<'c, 'a>,
        types: &[Type<'c>],
        mut branch: impl FnMut(&mut Self, bool) -> Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let at = self.at;
        let values = at.if_else(condition, types, |inside, holds| {
            self.at = inside;
            branch(self, holds)
        });
        self.at = at;
        values
    }
}
