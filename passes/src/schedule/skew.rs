// SPDX-License-Identifier: Apache-2.0
//! `skript-skew-loops`: computes several rows of a recurrence at once, each one element behind the row before it.
//!
//! In `d[i + 1, j + 1] := f(d[i, j], d[i, j + 1], d[i + 1, j])`, each element needs the one before it in its row, so a row is one chain of
//! operations, and the processor waits for each of them. Elements of an anti-diagonal are independent. A step of the new loop computes one
//! element in each of four rows: element t of the first row, element t - 1 of the second one, and so on. The elements of the
//! last two steps are loop-carried values, so most of them are not loaded.
//!
//! Requires: a nest of two `scf.for` with constant bounds on buffers. Guarantees: each element is computed from the same elements.

use super::buffer_uses::has_own_buffer;
use super::counts::as_i64;
use crate::ir::memref::root_of;
use crate::ir::scf::{Bounds, fold_all};
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ValueKey, ops};
use melior::Error;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};
use std::collections::{HashMap, HashSet};

/// The pass `skript-skew-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-skew-loops",
    summary: "compute several rows of a recurrence at once, each one element behind the row before it",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        // The loops inside a nest are erased with it.
        let nests: Vec<_> =
            named(root, ops::scf::FOR).into_iter().filter_map(|op| Some((op, Nest::new(op)?))).collect();
        for (op, nest) in nests {
            nest.emit(&Builder::before(rewriter.context(), op)?)?;
            ir::erase(op);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The number of rows that are computed at once.
const ROWS: usize = 4;

/// The number of earlier steps whose elements are loop-carried.
const STEPS: i64 = 2;

/// Minimum number of elements of a row: the first and last three steps compute fewer rows.
const MIN_EXTENT: i64 = 16;

/// Maximum number of operations of an iteration, of which a step has four copies.
const MAX_SIZE: usize = 48;

/// A subscript of an access.
#[derive(Clone, Copy, PartialEq)]
enum Subscript<'c, 'a> {
    /// The index of the outer or the inner loop plus a constant.
    Row(i64),
    Column(i64),
    /// A value that is defined outside of the nest.
    Fixed(Value<'c, 'a>),
}

/// A load or a store of an array that the nest changes.
struct Access<'c, 'a> {
    op: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    /// The offsets from the indices of the loops.
    row: i64,
    column: i64,
}

/// Where a load finds an element in a step: computed for the row `rows` before, `steps` steps before.
#[derive(Clone, Copy)]
struct Source {
    rows: usize,
    steps: i64,
}

/// Two loops around an iteration that depends on earlier iterations of both.
struct Nest<'c, 'a> {
    rows: (i64, i64),
    columns: (i64, i64),
    row: Value<'c, 'a>,
    column: Value<'c, 'a>,
    body: Vec<OperationRef<'c, 'a>>,
    store: OperationRef<'c, 'a>,
    /// The loads of elements that the nest computes, by their results.
    sources: HashMap<ValueKey, Source>,
}

/// A loop with constant bounds whose step is 1, and without loop-carried values.
struct Plain<'c, 'a> {
    range: (i64, i64),
    index: Value<'c, 'a>,
    body: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Plain<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_plain = op::is(&op, ops::scf::FOR) && op.result_count() == 0;
        let bounds = *Bounds::all(op).first().filter(|_| is_plain)?;
        let [lower, upper, step] = [bounds.lower, bounds.upper, bounds.step].map(ir::integer);
        let block = ir::first_block(op).filter(|_| step == Some(1))?;
        let mut body = ir::operations(block);
        body.pop();
        Some(Plain { range: (lower?, upper?), index: *ir::arguments(block).first()?, body })
    }
}

impl<'c: 'a, 'a> Nest<'c, 'a> {
    /// `None` for loops that are kept.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let outer = Plain::new(op)?;
        let [inner] = outer.body.as_slice() else {
            return None;
        };
        let inner = Plain::new(*inner)?;
        let is_large =
            inner.range.1 - inner.range.0 >= MIN_EXTENT && outer.range.1 - outer.range.0 >= as_i64(ROWS);
        if !is_large || inner.body.len() > MAX_SIZE || !inner.body.iter().all(|op| is_step(*op)) {
            return None;
        }
        let mut stores = inner.body.iter().filter(|op| op::is(*op, ops::memref::STORE));
        let store = *stores.next().filter(|_| stores.next().is_none())?;
        let mut nest = Nest {
            rows: outer.range,
            columns: inner.range,
            row: outer.index,
            column: inner.index,
            body: inner.body,
            store,
            sources: HashMap::new(),
        };
        nest.sources = nest.sources()?;
        // Without a chain along the row, the inner loop is computed in vectors.
        let is_chain = nest.sources.values().any(|source| source.rows == 0);
        is_chain.then_some(nest)
    }

    /// The loads of elements that the nest computes. `None` if iterations may not be computed in the new order.
    fn sources(&self) -> Option<HashMap<ValueKey, Source>> {
        let local: HashSet<ValueKey> =
            self.body.iter().flat_map(|op| op.results()).map(ValueKey::of).collect();
        let (array, stored) = self.accessed(self.store, &local)?;
        let written = Access::new(self.store, array, &stored)?;
        if !has_own_buffer(array) {
            return None;
        }
        let mut sources = HashMap::new();
        for op in self.body.iter().filter(|op| op::is(*op, ops::memref::LOAD)) {
            let other = op.operand(0).ok()?;
            if root_of(other) != root_of(array) {
                if !has_own_buffer(other) {
                    return None;
                }
                continue;
            }
            let (array, subscripts) = self.accessed(*op, &local)?;
            let is_same_slice = array == written.array && fixed(&subscripts).eq(fixed(&stored));
            let read = Access::new(*op, array, &subscripts).filter(|_| is_same_slice)?;
            // The iteration that writes the element is this number of rows and columns before the one that reads it.
            let (rows, columns) = (written.row - read.row, written.column - read.column);
            if !is_kept(rows, columns) {
                return None;
            }
            let steps = columns.checked_add(rows)?;
            let rows = usize::try_from(rows).ok().filter(|rows| *rows < ROWS);
            let is_before = (rows == Some(0) && columns > 0) || rows.is_some_and(|rows| rows > 0);
            if let Some(rows) = rows.filter(|_| is_before && (0..=STEPS).contains(&steps)) {
                sources.insert(ValueKey::of(read.op.result(0).ok()?), Source { rows, steps });
            }
        }
        Some(sources)
    }

    /// The array and the subscripts of a load or a store.
    fn accessed(
        &self,
        op: OperationRef<'c, 'a>,
        local: &HashSet<ValueKey>,
    ) -> Option<(Value<'c, 'a>, Vec<Subscript<'c, 'a>>)> {
        let mut operands = op.operands().skip(usize::from(op::is(&op, ops::memref::STORE)));
        let array = operands.next()?;
        let subscripts = operands.map(|value| self.subscript(value, local)).collect::<Option<_>>()?;
        Some((array, subscripts))
    }

    fn subscript(&self, value: Value<'c, 'a>, local: &HashSet<ValueKey>) -> Option<Subscript<'c, 'a>> {
        if value == self.row || value == self.column {
            return Some(if value == self.row { Subscript::Row(0) } else { Subscript::Column(0) });
        }
        if !local.contains(&ValueKey::of(value)) {
            return Some(Subscript::Fixed(value));
        }
        let (op, _) = ir::definition(value)?;
        let sign = match ir::name(op).as_str() {
            ops::arith::ADDI => 1,
            ops::arith::SUBI => -1,
            _ => return None,
        };
        let [index, offset] = ir::both_operands(op).ok()?;
        let offset = sign * ir::integer(offset).filter(|offset| offset.abs() < i64::from(i32::MAX))?;
        match self.subscript(index, local)? {
            Subscript::Row(before) => Some(Subscript::Row(before.checked_add(offset)?)),
            Subscript::Column(before) => Some(Subscript::Column(before.checked_add(offset)?)),
            Subscript::Fixed(_) => None,
        }
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let (first, last) = self.rows;
        let rows = as_i64(ROWS);
        let end = last - (last - first) % rows;
        let bounds = |at: &Builder<'c, 'a>, from, to, step| [from, to, step].map(|value| at.idx(value));
        let (left, right) = self.columns;
        let mut outcome = Ok(());
        at.each(bounds(at, first, end, rows), |at, row| {
            // Step t computes column t - n of row n.
            let mut part = |at: &Builder<'c, 'a>, from, to| {
                at.each(bounds(at, from, to, 1), |at, step| {
                    let lowest = at.maxsi(at.subi(step, at.idx(right - 1)), at.idx(0));
                    let highest = at.minsi(at.addi(at.subi(step, at.idx(left)), at.idx(1)), at.idx(rows));
                    at.each([lowest, highest, at.idx(1)], |at, number| {
                        let mut copier = self.iteration(at.addi(row, number), at.subi(step, number));
                        let copied = copier.copy_all(&self.body, &at);
                        if outcome.is_ok() {
                            outcome = copied;
                        }
                    });
                });
            };
            part(&at, left, left + rows - 1);
            let full = self.full_steps(row, (left + rows - 1, right), &at);
            part(&at, right, right + rows - 1);
            if outcome.is_ok() {
                outcome = full;
            }
        });
        at.each(bounds(at, end, last, 1), |at, row| {
            at.each(bounds(&at, left, right, 1), |at, column| {
                let copied = self.iteration(row, column).copy_all(&self.body, &at);
                if outcome.is_ok() {
                    outcome = copied;
                }
            });
        });
        outcome
    }

    /// A copier for the iteration of a row and a column.
    fn iteration(&self, row: Value<'c, 'a>, column: Value<'c, 'a>) -> Copier<'c, 'a> {
        Copier::from_pairs(&[self.row, self.column], &[row, column])
    }

    /// Emits the steps that compute an element in all rows.
    fn full_steps(&self, row: Value<'c, 'a>, steps: (i64, i64), at: &Builder<'c, 'a>) -> Result<(), Error> {
        let carried = self.carried();
        let inits: Result<Vec<Value>, Error> = carried
            .iter()
            .map(|(number, before)| self.element(row, *number, at.idx(steps.0 - before), at))
            .collect();
        let bounds = [steps.0, steps.1, 1].map(|value| at.idx(value));
        fold_all(at, bounds, &inits?, |at, step, values| {
            let known: HashMap<(usize, i64), Value> =
                carried.iter().copied().zip(values.iter().copied()).collect();
            let mut current = Vec::new();
            for number in 0..ROWS {
                let offset = at.idx(as_i64(number));
                let mut copier = self.iteration(at.addi(row, offset), at.subi(step, offset));
                for op in &self.body {
                    let source = op.results().next().and_then(|r| self.sources.get(&ValueKey::of(r)));
                    let value = source.and_then(|Source { rows, steps }| {
                        let number = number.checked_sub(*rows)?;
                        if *steps == 0 { current.get(number) } else { known.get(&(number, *steps)) }.copied()
                    });
                    match value {
                        Some(value) => copier.set(op.result(0)?, value),
                        None => copier.copy_all(&[*op], at)?,
                    }
                }
                current.push(copier.get(self.store.operand(0)?));
            }
            let next = carried.iter().map(|(number, before)| {
                let value =
                    if *before == 1 { current.get(*number) } else { known.get(&(*number, before - 1)) };
                value.copied().ok_or(Error::OperationBuild)
            });
            next.collect()
        })?;
        Ok(())
    }

    /// The rows and the numbers of steps before of the elements that steps read.
    fn carried(&self) -> Vec<(usize, i64)> {
        let mut carried = Vec::new();
        for number in 0..ROWS {
            let is_read = |Source { rows, .. }: &&Source| number + rows < ROWS;
            let steps = self.sources.values().filter(is_read).map(|source| source.steps).max();
            carried.extend(steps.into_iter().flat_map(|steps| 1..=steps).map(|before| (number, before)));
        }
        carried
    }

    /// Loads the element that a row computes in a step.
    fn element(
        &self,
        row: Value<'c, 'a>,
        number: usize,
        step: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let offset = at.idx(as_i64(number));
        let mut copier = self.iteration(at.addi(row, offset), at.subi(step, offset));
        let subscripts: Vec<Value> = self.store.operands().skip(2).collect();
        copier.copy_all(&crate::ir::generic::needed(&self.body, subscripts.iter().copied(), &[]), at)?;
        let subscripts: Vec<Value> = subscripts.into_iter().map(|value| copier.get(value)).collect();
        Ok(at.load(self.store.operand(1)?, &subscripts))
    }
}

impl<'c: 'a, 'a> Access<'c, 'a> {
    /// `None` unless one subscript is along the rows, and one along the columns.
    fn new(op: OperationRef<'c, 'a>, array: Value<'c, 'a>, subscripts: &[Subscript<'c, 'a>]) -> Option<Self> {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for subscript in subscripts {
            match subscript {
                Subscript::Row(offset) => rows.push(*offset),
                Subscript::Column(offset) => columns.push(*offset),
                Subscript::Fixed(_) => {}
            }
        }
        match (rows.as_slice(), columns.as_slice()) {
            ([row], [column]) => Some(Access { op, array, row: *row, column: *column }),
            _ => None,
        }
    }
}

/// The kind of each dimension, and its subscript if it is fixed.
fn fixed<'s, 'c, 'a>(
    subscripts: &'s [Subscript<'c, 'a>],
) -> impl Iterator<Item = (usize, Option<Value<'c, 'a>>)> + 's {
    subscripts.iter().map(|subscript| match subscript {
        Subscript::Row(_) => (0, None),
        Subscript::Column(_) => (1, None),
        Subscript::Fixed(value) => (2, Some(*value)),
    })
}

/// Whether two iterations with a common element remain in their order, where one is this number of rows and columns before the other.
fn is_kept(rows: i64, columns: i64) -> bool {
    let (rows, columns) = if (rows, columns) < (0, 0) { (-rows, -columns) } else { (rows, columns) };
    rows == 0 || rows >= as_i64(ROWS) || columns + rows >= 0
}

/// Whether an operation may be in a skewed loop.
fn is_step(op: OperationRef) -> bool {
    let name = ir::name(op);
    let is_access = [ops::memref::LOAD, ops::memref::STORE].contains(&name.as_str());
    is_access || op.region_count() == 0 && (name.starts_with("arith.") || name.starts_with("math."))
}
