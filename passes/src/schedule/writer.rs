// SPDX-License-Identifier: Apache-2.0
//! The writer of a kernel's code: its state, and single lines.

use super::body::Body;
use super::nest::Nest;
use super::plan::Plan;
use super::signature::Signature;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

fn constant_name(value: i64) -> String {
    match value {
        0.. => format!("c{value}"),
        _ => format!("cm{}", value.unsigned_abs()),
    }
}

/// Inherent attributes in brackets, if there are any.
pub(super) fn properties(attributes: &str) -> String {
    match attributes {
        "" => String::new(),
        _ => format!("<{{{attributes}}}>"),
    }
}

/// A scalar or a vector of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) element: String,
    pub(super) vector: bool,
}

/// The position of the writer in the nest.
#[derive(Clone)]
pub(super) struct State {
    /// Current address of each operand.
    pub(super) bases: Vec<String>,
    /// Current values of the loops.
    pub(super) values: HashMap<usize, String>,
    /// How many steps of an unrolled loop (or vectors of the lanes' loop) the tile has, and how many lanes its last
    /// vector has.
    pub(super) tile: HashMap<usize, Tile>,
    pub(super) predicate: Predicate,
    /// The elements from the first vector of the tile on, where their number is dynamic.
    pub(super) rest: String,
    /// The part of a reduction that is computed in parts.
    pub(super) part: Option<Part>,
    /// The taps of a window that are computed together.
    pub(super) taps: Option<Taps>,
}

/// A part of a reduction.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) number: usize,
    pub(super) from: String,
    pub(super) to: String,
    /// Whether it is the first one, and whether it is the last.
    pub(super) is_first: String,
    pub(super) is_last: String,
}

#[derive(Clone, Copy)]
pub(super) struct Tile {
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
    /// A dynamic number: all vectors of the tile together have the elements of [`State::rest`].
    Dynamic,
}

impl LastVector {
    /// The last of the vectors that hold this many elements.
    pub(super) fn of_elements(elements: i64, lanes: i64) -> Self {
        match elements % lanes {
            0 => LastVector::Full,
            rest => LastVector::Partial(rest),
        }
    }
}

impl Tile {
    /// Full vectors, or steps.
    pub(super) fn full(count: i64) -> Self {
        Tile { count, last: LastVector::Full }
    }

    /// Whether a vector of the tile is not full, or not known to be.
    pub(super) fn is_partial(self, vector: i64) -> bool {
        match self.last {
            LastVector::Full => false,
            LastVector::Partial(_) => vector == self.count - 1,
            LastVector::Dynamic => true,
        }
    }
}

/// What is known of the payload's predicate.
#[derive(Clone, PartialEq)]
pub(super) enum Predicate {
    /// Each point evaluates it.
    Open,
    /// It holds at every point of the tile.
    Holds,
    /// Its value at each point of the tile.
    Values(Vec<String>),
}

/// Taps that are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taps {
    /// Their loop.
    pub(super) number: usize,
    /// How many, which is the distance of the elements of one tap.
    pub(super) count: i64,
}

/// Writes the code of a kernel.
pub(super) struct Writer<'a> {
    pub(super) nest: &'a Nest,
    pub(super) plan: &'a Plan,
    pub(super) body: &'a Body,
    pub(super) signature: &'a Signature,
    text: String,
    constants: BTreeSet<i64>,
    counter: usize,
    /// The dynamic strides, by operand and loop.
    pub(super) strides: HashMap<(usize, usize), String>,
    pub(super) depth: usize,
}

/// One point of a tile: steps along the unrolled loops, and the vector's number.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) steps: Vec<(usize, i64)>,
    pub(super) vector: i64,
}

impl State {
    /// The same with what is known of the predicate.
    pub(super) fn with(&self, predicate: Predicate) -> State {
        State { predicate, ..self.clone() }
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(nest: &'a Nest, plan: &'a Plan, body: &'a Body, signature: &'a Signature) -> Self {
        Writer {
            nest,
            plan,
            body,
            signature,
            text: String::new(),
            constants: BTreeSet::new(),
            counter: 0,
            strides: HashMap::new(),
            depth: 1,
        }
    }

    /// The position before all loops.
    pub(super) fn start(&mut self) -> State {
        self.compute_strides();
        let operands = self.nest.operands.iter();
        State {
            bases: operands.map(|o| self.constant(o.offset)).collect(),
            values: HashMap::new(),
            tile: HashMap::new(),
            predicate: Predicate::Open,
            rest: String::new(),
            part: None,
            taps: None,
        }
    }

    /// The constants and the text.
    pub(super) fn finished(&self) -> String {
        self.constants
            .iter()
            .map(|value| format!("  %{} = arith.constant {value} : index\n", constant_name(*value)))
            .chain([self.text.clone()])
            .collect()
    }
}

impl Writer<'_> {
    pub(super) fn constant(&mut self, value: i64) -> String {
        self.constants.insert(value);
        format!("%{}", constant_name(value))
    }

    pub(super) fn fresh(&mut self) -> String {
        self.counter += 1;
        format!("%v{}", self.counter)
    }

    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(self.depth));
    }

    pub(super) fn define(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    pub(super) fn vector_type(&self, element: &str) -> String {
        format!("vector<{}x{element}>", self.plan.lanes)
    }

    /// `base + amount`, in elements.
    pub(super) fn offset(&mut self, base: &str, amount: i64) -> String {
        if amount == 0 {
            return base.to_string();
        }
        let amount = self.constant(amount);
        self.define(&format!("arith.addi {base}, {amount} : index"))
    }

    /// Writes with another plan.
    pub(super) fn with_plan(&mut self, plan: &Plan, write: impl FnOnce(&mut Writer)) {
        let mut writer = Writer {
            nest: self.nest,
            plan,
            body: self.body,
            signature: self.signature,
            text: std::mem::take(&mut self.text),
            constants: std::mem::take(&mut self.constants),
            counter: self.counter,
            strides: self.strides.clone(),
            depth: self.depth,
        };
        write(&mut writer);
        let Writer { text, constants, counter, .. } = writer;
        (self.text, self.constants, self.counter) = (text, constants, counter);
    }
}
