// SPDX-License-Identifier: Apache-2.0
//! Expressions of a planned formula, one type for each kind, and their evaluation at a point.

use super::output::Elements;
use skript_frontend::model::ValueId;
use skript_semantics::{Numbers, Scalar};
use std::borrow::Cow;
use std::cell::Cell;

/// The state at a point of the domain.
pub(super) struct Point<'a> {
    /// The values of the affine forms.
    pub(crate) registers: Vec<i64>,
    pub sources: &'a [Source<'a>],
    pub written: &'a mut [(ValueId, Vec<u64>, Elements)],
    /// The values of locals, with the step at which they were computed.
    pub(crate) locals: Vec<Cell<(u64, Scalar)>>,
    pub definitions: &'a [Value],
    /// The number of the current step of all loops.
    pub step: u64,
    pub(crate) fault: Cell<Option<Fault>>,
    pub numbers: Numbers,
}

/// Elements that are only read, in compute types.
pub(super) enum Source<'a> {
    Real(Cow<'a, [f32]>),
    Double(&'a [f64]),
    Int(Cow<'a, [i64]>),
    Bool(&'a [u8]),
    /// An output that an earlier formula completed.
    Finished(&'a Elements),
}

/// An access out of bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub tensor: ValueId,
    pub value: i64,
    pub extent: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Storage {
    Source(usize),
    Written(usize),
}

/// The address of an element.
pub(super) struct Address {
    pub tensor: ValueId,
    /// The register with the affine part of the row-major position.
    pub(crate) base: usize,
    /// Affine subscripts that may be out of bounds: register, extent.
    pub(crate) checks: Vec<(usize, i64)>,
    /// Other subscripts: value, stride, extent.
    pub dynamic: Vec<(Int, i64, i64)>,
}

pub(super) enum Int {
    Constant(i64),
    Register(usize),
    Load(Storage, Box<Address>),
    Unary(fn(i64) -> i64, Box<Int>),
    Binary(fn(i64, i64) -> i64, Box<(Int, Int)>),
    Table(Vec<i64>, Box<Int>),
    Select(Box<(Bool, Int, Int)>),
    OfReal(Box<Real>),
    OfBool(Box<Bool>),
    Local(usize),
}

pub(super) enum Real {
    Constant(f64),
    Load(Storage, Box<Address>),
    Add(Box<(Real, Real)>),
    Sub(Box<(Real, Real)>),
    Mul(Box<(Real, Real)>),
    /// The function computes in f64; its result is rounded.
    Unary(fn(f64) -> f64, Box<Real>),
    /// The function rounds by itself.
    Binary(fn(f64, f64) -> f64, Box<(Real, Real)>),
    Table(Vec<f64>, Box<Int>),
    Select(Box<(Bool, Real, Real)>),
    OfInt(Box<Int>),
    OfBool(Box<Bool>),
    Local(usize),
}

#[derive(Clone, Copy)]
pub(super) enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Relation {
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Relation::Lt => a < b,
            Relation::Le => a <= b,
            Relation::Gt => a > b,
            Relation::Ge => a >= b,
            Relation::Eq => a == b,
            Relation::Ne => a != b,
        }
    }
}

pub(super) enum Bool {
    Constant(bool),
    Load(Storage, Box<Address>),
    Ints(Relation, Box<(Int, Int)>),
    Reals(Relation, Box<(Real, Real)>),
    Bools(Relation, Box<(Bool, Bool)>),
    And(Box<(Bool, Bool)>),
    Or(Box<(Bool, Bool)>),
    Implies(Box<(Bool, Bool)>),
    Not(Box<Bool>),
    Table(Vec<bool>, Box<Int>),
    Select(Box<(Bool, Bool, Bool)>),
    OfInt(Box<Int>),
    OfReal(Box<Real>),
    Local(usize),
}

pub(super) enum Value {
    Int(Int),
    Real(Real),
    Bool(Bool),
}

impl Value {
    pub(super) fn eval(&self, point: &Point<'_>) -> Scalar {
        match self {
            Value::Int(e) => Scalar::Int(e.eval(point)),
            Value::Real(e) => Scalar::Real(e.eval(point)),
            Value::Bool(e) => Scalar::Bool(e.eval(point)),
        }
    }
}

impl Point<'_> {
    fn register(&self, position: usize) -> i64 {
        let Some(value) = self.registers.get(position) else {
            unreachable!("each affine form has a register")
        };
        *value
    }

    fn local(&self, position: usize) -> Scalar {
        let Some(memo) = self.locals.get(position) else {
            return Scalar::Bool(false);
        };
        let (step, value) = memo.get();
        if step == self.step {
            return value;
        }
        let value = match self.definitions.get(position) {
            Some(definition) => definition.eval(self),
            None => Scalar::Bool(false),
        };
        memo.set((self.step, value));
        value
    }

    fn fail(&self, fault: Fault) {
        if self.fault.get().is_none() {
            self.fault.set(Some(fault));
        }
    }
}

impl Address {
    /// The row-major position; `None`, with a recorded fault, if a subscript is out of bounds.
    pub(super) fn position(&self, point: &Point<'_>) -> Option<usize> {
        let mut position = point.register(self.base);
        for &(register, extent) in &self.checks {
            let value = point.register(register);
            if value < 0 || value >= extent {
                self.fail(point, value, extent);
                return None;
            }
        }
        for (subscript, stride, extent) in &self.dynamic {
            let value = subscript.eval(point);
            if value < 0 || value >= *extent {
                self.fail(point, value, *extent);
                return None;
            }
            position += value * stride;
        }
        usize::try_from(position).ok()
    }

    fn fail(&self, point: &Point<'_>, value: i64, extent: i64) {
        point.fail(Fault { tensor: self.tensor, value, extent });
    }
}

fn load<'a>(point: &'a Point<'_>, storage: Storage) -> Option<&'a Source<'a>> {
    match storage {
        Storage::Source(n) => point.sources.get(n),
        Storage::Written(_) => None,
    }
}

fn elements<'a>(point: &'a Point<'_>, storage: Storage) -> Option<&'a Elements> {
    match storage {
        Storage::Written(n) => point.written.get(n).map(|w| &w.2),
        Storage::Source(n) => match point.sources.get(n) {
            Some(Source::Finished(elements)) => Some(elements),
            _ => None,
        },
    }
}

impl Int {
    pub(super) fn eval(&self, point: &Point<'_>) -> i64 {
        match self {
            Int::Constant(value) => *value,
            Int::Register(position) => point.register(*position),
            Int::Load(storage, address) => {
                let Some(position) = address.position(point) else {
                    return 0;
                };
                let value = match load(point, *storage) {
                    Some(Source::Int(v)) => v.get(position).copied(),
                    _ => match elements(point, *storage) {
                        Some(Elements::Int(v)) => v.get(position).copied(),
                        _ => None,
                    },
                };
                value.unwrap_or(0)
            }
            Int::Unary(f, a) => f(a.eval(point)),
            Int::Binary(f, ab) => f(ab.0.eval(point), ab.1.eval(point)),
            Int::Table(items, index) => item(items, index, point).unwrap_or(0),
            Int::Select(s) if s.0.eval(point) => s.1.eval(point),
            Int::Select(s) => s.2.eval(point),
            Int::OfReal(a) => Scalar::Real(a.eval(point)).to_int(),
            Int::OfBool(a) => i64::from(a.eval(point)),
            Int::Local(position) => point.local(*position).to_int(),
        }
    }
}

impl Real {
    pub(super) fn eval(&self, point: &Point<'_>) -> f64 {
        match self {
            Real::Constant(value) => *value,
            Real::Load(storage, address) => {
                let Some(position) = address.position(point) else {
                    return 0.0;
                };
                let value = match load(point, *storage) {
                    Some(Source::Real(v)) => v.get(position).map(|&x| f64::from(x)),
                    Some(Source::Double(v)) => v.get(position).copied(),
                    _ => match elements(point, *storage) {
                        // A partial sum is read as it would be stored.
                        Some(Elements::Real(v)) => v.get(position).map(|&x| point.numbers.narrow(x)),
                        _ => None,
                    },
                };
                value.unwrap_or(0.0)
            }
            Real::Add(ab) => point.numbers.narrow(ab.0.eval(point) + ab.1.eval(point)),
            Real::Sub(ab) => point.numbers.narrow(ab.0.eval(point) - ab.1.eval(point)),
            Real::Mul(ab) => point.numbers.narrow(ab.0.eval(point) * ab.1.eval(point)),
            Real::Unary(f, a) => point.numbers.narrow(f(a.eval(point))),
            Real::Binary(f, ab) => f(ab.0.eval(point), ab.1.eval(point)),
            Real::Table(items, index) => item(items, index, point).unwrap_or(0.0),
            Real::Select(s) if s.0.eval(point) => s.1.eval(point),
            Real::Select(s) => s.2.eval(point),
            Real::OfInt(a) => point.numbers.narrow(Scalar::Int(a.eval(point)).to_real()),
            Real::OfBool(a) => Scalar::Bool(a.eval(point)).to_real(),
            Real::Local(position) => point.local(*position).to_real(),
        }
    }
}

impl Bool {
    pub(super) fn eval(&self, point: &Point<'_>) -> bool {
        match self {
            Bool::Constant(value) => *value,
            Bool::Load(storage, address) => {
                let Some(position) = address.position(point) else {
                    return false;
                };
                let value = match load(point, *storage) {
                    Some(Source::Bool(v)) => v.get(position).map(|&b| b != 0),
                    _ => match elements(point, *storage) {
                        Some(Elements::Bool(v)) => v.get(position).copied(),
                        _ => None,
                    },
                };
                value.unwrap_or(false)
            }
            Bool::Ints(relation, ab) => relation.holds(ab.0.eval(point), ab.1.eval(point)),
            Bool::Reals(relation, ab) => relation.holds(ab.0.eval(point), ab.1.eval(point)),
            Bool::Bools(relation, ab) => relation.holds(ab.0.eval(point), ab.1.eval(point)),
            // Both operands are total and without side effects, so evaluating the second lazily is equivalent.
            Bool::And(ab) => ab.0.eval(point) && ab.1.eval(point),
            Bool::Or(ab) => ab.0.eval(point) || ab.1.eval(point),
            Bool::Implies(ab) => !ab.0.eval(point) || ab.1.eval(point),
            Bool::Not(a) => !a.eval(point),
            Bool::Table(items, index) => item(items, index, point).unwrap_or(false),
            Bool::Select(s) if s.0.eval(point) => s.1.eval(point),
            Bool::Select(s) => s.2.eval(point),
            Bool::OfInt(a) => a.eval(point) != 0,
            Bool::OfReal(a) => a.eval(point) != 0.0,
            Bool::Local(position) => point.local(*position).to_bool(),
        }
    }
}

fn item<T: Copy>(items: &[T], index: &Int, point: &Point<'_>) -> Option<T> {
    items.get(usize::try_from(index.eval(point)).ok()?).copied()
}
