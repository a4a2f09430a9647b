// SPDX-License-Identifier: Apache-2.0
//! Lowers operations on the rows of a block to loops of its threads.

use super::launch;
use crate::ir::builder::arith::Integers;
use crate::ir::copy::{Copier, arguments};
use crate::ir::linalg::{Generic, index_of};
use crate::ir::{self, Builder};
use crate::schedule::works::{Combination, Work};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_symbolic::Affine;

/// The threads of a block.
pub(super) struct Threads<'t, 'c, 'a> {
    pub(super) thread: Value<'c, 'a>,
    /// The number of threads, as an index value.
    pub(super) width: Value<'c, 'a>,
    /// The number of threads.
    pub(super) count: i64,
    /// The number of threads of a warp.
    pub(super) warp: i64,
    /// For each element type, a shared array with an element for each thread.
    pub(super) partial: &'t [(Type<'c>, Value<'c, 'a>)],
}

/// Minimum number of threads that compute a result of a reduction together.
const MIN_THREADS: i64 = 8;

/// A division of the threads of a block into groups of equal size.
struct Group<'c, 'a> {
    /// The number of groups, a power of two.
    count: i64,
    /// The number of the thread's group.
    number: Value<'c, 'a>,
    /// The number of the thread in its group.
    thread: Value<'c, 'a>,
    /// The number of threads of a group.
    width: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Threads<'_, 'c, 'a> {
    /// Splits the block into at most `results` groups of at least `min_threads` threads.
    fn groups(&self, results: i64, min_threads: i64, at: &Builder<'c, 'a>) -> Group<'c, 'a> {
        let mut count = 1;
        while count < results && count * 2 * min_threads <= self.count {
            count *= 2;
        }
        if count == 1 {
            return Group { count, number: at.idx(0), thread: self.thread, width: self.width };
        }
        let width = at.idx(self.count / count);
        Group { count, number: at.divui(self.thread, width), thread: at.remui(self.thread, width), width }
    }
}

/// The index of each loop at a point, if it is known.
type Positions<'c, 'a> = Vec<Option<Value<'c, 'a>>>;

/// Loops, with their extents.
type Loops<'c, 'a> = Vec<(usize, Value<'c, 'a>)>;

impl<'c: 'a, 'a> Work<'c, 'a> {
    /// Replaces the operation by loops that each thread executes, and a barrier.
    pub(super) fn lower(&self, threads: &Threads<'_, 'c, 'a>) -> Result<(), melior::Error> {
        let at = Builder::before(ir::context::of(self.op), self.op)?;
        let places = (0..self.reductions.len()).filter_map(|l| self.place(l));
        let extents = places.map(|(array, dimension)| extent(array, dimension, &at));
        let extents: Vec<Value> = extents.collect();
        let shares = self.results().is_none_or(|results| results * 2 <= threads.count);
        match self.combination.as_ref().filter(|_| shares) {
            None => self.each(&extents, threads, &at),
            Some(combination) => self.together(combination, &extents, threads, &at),
        }
        at.barrier();
        ir::erase(self.op);
        Ok(())
    }

    /// Returns the reduction loops, or the parallel loops.
    fn loops(&self, reduces: bool, extents: &[Value<'c, 'a>]) -> Loops<'c, 'a> {
        let loops = self.reductions.iter().enumerate().zip(extents);
        loops
            .filter(|((_, reduction), _)| **reduction == reduces)
            .map(|((l, _), extent)| (l, *extent))
            .collect()
    }

    /// Emits loops in which thread t of T computes results t, t + T, …
    fn each(&self, extents: &[Value<'c, 'a>], threads: &Threads<'_, 'c, 'a>, at: &Builder<'c, 'a>) {
        let (outer, inner) = (self.loops(false, extents), self.loops(true, extents));
        if inner.is_empty()
            && let Some(((last, extent), rows)) = outer.split_last()
            && let Some(max_rows) = self.max_iterations(rows.iter().map(|(l, _)| *l))
            && max_rows > 1
            && self.max_iterations(std::iter::once(*last)).is_none_or(|n| n >= threads.warp)
        {
            return self.each_of_rows((*last, *extent), (rows, max_rows), threads, at);
        }
        let count = volume(&outer, at);
        at.each([threads.thread, count, threads.width], |at, number| {
            let mut point = vec![None; extents.len()];
            split(number, &outer, &mut point, &at);
            let values = if inner.is_empty() {
                self.payload(&point, None, &at)
            } else {
                let first = self.load(self.inputs, &point, &at);
                vec![self.reduce(first, [at.idx(0), at.idx(1)], &inner, &point, &at)]
            };
            self.store(&point, &values, &at);
        });
    }

    /// Emits loops in which each group of threads computes a row at a time: thread t of T in the group computes elements t, t + T, …
    fn each_of_rows(
        &self,
        (last, extent): (usize, Value<'c, 'a>),
        (rows, max_rows): (&[(usize, Value<'c, 'a>)], i64),
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) {
        let group = threads.groups(max_rows, threads.warp, at);
        at.each([group.number, volume(rows, at), at.idx(group.count)], |at, number| {
            let mut point = vec![None; self.reductions.len()];
            split(number, rows, &mut point, &at);
            at.each([group.thread, extent, group.width], |at, position| {
                point[last] = Some(position);
                let values = self.payload(&point, None, &at);
                self.store(&point, &values, &at);
            });
        });
    }

    /// Emits a loop in which each group of threads computes a result at a time.
    fn together(
        &self,
        combination: &Combination<'c>,
        extents: &[Value<'c, 'a>],
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) {
        let (outer, inner) = (self.loops(false, extents), self.loops(true, extents));
        let count = volume(&outer, at);
        let element = self.element();
        let partial = threads.partial.iter().find(|(r#type, _)| *r#type == element);
        let partial = partial.unwrap_or_else(|| unreachable!("internal compiler error: no shared array")).1;
        let group = threads.groups(self.results().unwrap_or(1), MIN_THREADS, at);
        at.each([at.idx(0), count, at.idx(group.count)], |at, first| {
            let (mut number, mut is_one) = (first, None);
            if group.count > 1 {
                let result = at.addi(first, group.number);
                is_one = Some(at.cmpi(Integers::Less, result, count));
                number = at.minui(result, at.subi(count, at.idx(1)));
            }
            let mut point = vec![None; extents.len()];
            split(number, &outer, &mut point, &at);
            let identity = at.literal(combination.identity);
            let total = self.reduce(identity, [group.thread, group.width], &inner, &point, &at);
            at.store(total, partial, &[threads.thread]);
            let shared = launch::Group {
                number: group.thread,
                thread: threads.thread,
                place: threads.thread,
                stride: 1,
                count: threads.count / group.count,
                arrays: &[partial],
            };
            shared.combine(&at, |at, one, other| vec![combination.combine(one[0], other[0], at)]);
            let mut is_first = at.cmpi(Integers::Less, group.thread, at.idx(1));
            if let Some(is_one) = is_one {
                is_first = at.andi(is_first, is_one);
            }
            at.when(is_first, |at| {
                let first = self.load(self.inputs, &point, &at);
                let sum = combination.combine(first, at.load(partial, &[threads.thread]), &at);
                self.store(&point, &[sum], &at);
            });
            at.barrier();
        });
    }

    /// Combines the values of a thread with `first`: the values at points `from`, `from + step`, … of the reduction.
    fn reduce(
        &self,
        first: Value<'c, 'a>,
        [from, step]: [Value<'c, 'a>; 2],
        inner: &[(usize, Value<'c, 'a>)],
        point: &[Option<Value<'c, 'a>>],
        at: &Builder<'c, 'a>,
    ) -> Value<'c, 'a> {
        let count = volume(inner, at);
        let total = at.for_([from, count, step], &[first], |at, number, sum| {
            let mut point = point.to_vec();
            split(number, inner, &mut point, &at);
            self.payload(&point, Some(sum[0]), &at)
        });
        at.result(total, 0)
    }

    /// Computes the results of the payload at a point; `sum` replaces the element of the output.
    fn payload(
        &self,
        point: &[Option<Value<'c, 'a>>],
        sum: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Vec<Value<'c, 'a>> {
        let Some(body) = Generic::cast(self.op).and_then(Generic::body) else {
            // The operation is a fill of a scalar, or a copy of an element.
            return vec![self.load(0, point, at)];
        };
        let mut copier = Copier::new();
        for (n, argument) in arguments(body).into_iter().enumerate() {
            if !ir::users(argument).is_empty() {
                let replacement = sum.filter(|_| n == self.inputs);
                copier.set(argument, replacement.unwrap_or_else(|| self.load(n, point, at)));
            }
        }
        let mut payload = ir::operations(body);
        let end = payload.pop();
        for op in payload {
            match index_of(op).and_then(|l| point[l]) {
                Some(position) => copier.set(at.result(op, 0), position),
                None => {
                    let copied = copier.copy(op, at, &mut |_, _, _| Ok(false));
                    copied.unwrap_or_else(|error| unreachable!("internal compiler error: {error}"));
                }
            }
        }
        let values = end.into_iter().flat_map(|end| end.operands().collect::<Vec<_>>());
        values.map(|value| copier.get(value)).collect()
    }

    /// Computes the subscripts of an operand at a point.
    fn subscripts(
        &self,
        forms: &[Affine],
        point: &[Option<Value<'c, 'a>>],
        at: &Builder<'c, 'a>,
    ) -> Vec<Value<'c, 'a>> {
        let subscript = |form: &Affine| match form.as_index() {
            Some(l) => point[l],
            None => form.as_constant().map(|constant| at.idx(constant)),
        };
        let missing = || unreachable!("internal compiler error: a subscript without a value");
        forms.iter().map(|form| subscript(form).unwrap_or_else(missing)).collect()
    }

    /// Loads an element of an operand; returns a scalar operand unchanged.
    fn load(&self, operand: usize, point: &[Option<Value<'c, 'a>>], at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        match &self.operands[operand] {
            Some((array, forms)) => at.load(*array, &self.subscripts(forms, point, at)),
            None => {
                self.op.operands().nth(operand).unwrap_or_else(|| {
                    unreachable!("internal compiler error: an operation without its operand")
                })
            }
        }
    }

    /// Stores the results.
    fn store(&self, point: &[Option<Value<'c, 'a>>], values: &[Value<'c, 'a>], at: &Builder<'c, 'a>) {
        let targets = self.operands.iter().skip(self.inputs).flatten();
        for ((array, forms), value) in targets.zip(values) {
            at.store(*value, *array, &self.subscripts(forms, point, at));
        }
    }
}

fn extent<'c: 'a, 'a>(array: Value<'c, 'a>, dimension: usize, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let known = ir::memref::extents(array.r#type()).get(dimension).copied();
    match known.filter(|known| *known >= 0) {
        Some(known) => at.idx(known),
        None => at.dim(array, dimension),
    }
}

/// Computes the number of points of loops.
fn volume<'c: 'a, 'a>(loops: &[(usize, Value<'c, 'a>)], at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let extents = loops.iter().map(|(_, extent)| *extent);
    extents.reduce(|all, extent| at.muli(all, extent)).unwrap_or_else(|| at.idx(1))
}

/// Computes the indices of loops at a point from its number, in row-major order.
fn split<'c: 'a, 'a>(
    number: Value<'c, 'a>,
    loops: &[(usize, Value<'c, 'a>)],
    point: &mut Positions<'c, 'a>,
    at: &Builder<'c, 'a>,
) {
    let is_one = |extent: Value| ir::integer(extent) == Some(1);
    let first = loops.iter().position(|(_, extent)| !is_one(*extent));
    let mut quotient = number;
    for (n, (l, extent)) in loops.iter().enumerate().rev() {
        point[*l] = Some(match n {
            _ if is_one(*extent) => at.idx(0),
            n if Some(n) == first => quotient,
            _ => {
                let position = at.remui(quotient, *extent);
                quotient = at.divui(quotient, *extent);
                position
            }
        });
    }
}
