// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `scf`.

use super::arith::integer;
use super::attribute_names::WORK;
use super::counts::segment;
use super::typed::{self, OperationLike, OperationRef, Value, typed};
use super::{Builder, attributes, ops};
use melior::Error;
use melior::ir::{Region, Type};

typed! {
    /// `scf.if`: one of two branches.
    If = ops::scf::IF { condition = 0 };
}

/// The bounds of one dimension of a loop.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'c, 'a> {
    pub(crate) lower: Value<'c, 'a>,
    pub(crate) upper: Value<'c, 'a>,
    pub(crate) step: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Bounds<'c, 'a> {
    /// The dimensions of an `scf.for` or `scf.parallel`, outermost first; empty for other operations.
    pub(crate) fn all(op: OperationRef<'c, 'a>) -> Vec<Self> {
        let rank = match super::name(op).as_str() {
            ops::scf::FOR => 1,
            ops::scf::PARALLEL => typed::segments(op).first().map_or(0, |count| *count),
            _ => 0,
        };
        let operands: Vec<Value> = op.operands().take(3 * rank).collect();
        let bounds = (0..rank).filter_map(|n| match [n, rank + n, 2 * rank + n].map(|n| operands.get(n)) {
            [Some(lower), Some(upper), Some(step)] => {
                Some(Bounds { lower: *lower, upper: *upper, step: *step })
            }
            _ => None,
        });
        bounds.collect()
    }

    /// The number of iterations, if all bounds are constants and the step is positive.
    pub(crate) fn iterations(&self) -> Option<i64> {
        let [lower, upper, step] = [self.lower, self.upper, self.step].map(integer);
        let positive = step.filter(|step| *step > 0)?;
        let extent = upper?.saturating_sub(lower?).max(0);
        Some(extent / positive + i64::from(extent % positive != 0))
    }

    /// Whether the index is the number of the iteration, because the lower bound is 0 and the step is 1.
    pub(crate) fn are_numbers(&self) -> bool {
        integer(self.lower) == Some(0) && integer(self.step) == Some(1)
    }
}

/// The initial value of a loop-carried value of `scf.for` or `scf.while`, by its result number.
pub(crate) fn init<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let before = match super::name(op).as_str() {
        // Bounds and step.
        ops::scf::FOR => 3,
        ops::scf::WHILE => 0,
        _ => return None,
    };
    super::operand_at(op, before + number)
}

/// Emits `scf.for` with one loop-carried value and a fallible body; returns the final value.
pub(crate) fn fold<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    bounds: [Value<'c, 'a>; 3],
    init: Value<'c, 'a>,
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>) -> Result<Value<'c, 'a>, Error>,
) -> Result<Value<'c, 'a>, Error> {
    let results = fold_all::<Error>(at, bounds, &[init], |inside, step, carried| {
        let value = carried.first().ok_or(Error::OperationBuild)?;
        Ok(vec![body(inside, step, *value)?])
    })?;
    results.first().copied().ok_or(Error::OperationBuild)
}

/// Emits `scf.for` with loop-carried values and a fallible body; returns the final values.
///
/// # Errors
/// The body's error.
pub fn fold_all<'c: 'a, 'a, E: From<Error>>(
    at: &Builder<'c, 'a>,
    bounds: [Value<'c, 'a>; 3],
    inits: &[Value<'c, 'a>],
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>, &[Value<'c, 'a>]) -> Result<Vec<Value<'c, 'a>>, E>,
) -> Result<Vec<Value<'c, 'a>>, E> {
    let mut outcome = Ok(());
    let op = at.for_(bounds, inits, |inside, step, carried| {
        body(&inside, step, carried).unwrap_or_else(|e| {
            outcome = Err(e);
            inits.to_vec()
        })
    });
    outcome?;
    Ok(at.results(op))
}

/// Emits `scf.if` with fallible branches; returns its results. `branch` emits the `then` region (`true`), then the `else` region.
///
/// # Errors
/// The error of the last branch that fails.
pub fn choose<'c: 'a, 'a, E>(
    at: &Builder<'c, 'a>,
    condition: Value<'c, 'a>,
    types: &[Type<'c>],
    mut branch: impl FnMut(&Builder<'c, 'a>, bool) -> Result<Vec<Value<'c, 'a>>, E>,
) -> Result<Vec<Value<'c, 'a>>, E> {
    let mut outcome = Ok(());
    let results = at.if_else(condition, types, |inside, holds| {
        branch(&inside, holds).unwrap_or_else(|e| {
            outcome = Err(e);
            Vec::new()
        })
    });
    outcome.map(|()| results)
}

/// Creates an `scf.for` with a constant step; `body` emits an iteration.
pub(crate) fn counted<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [from, to]: [Value<'c, 'a>; 2],
    step: i64,
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (region, inside, position) = at.region(&[Type::index(at.context)]);
    body(&inside, *position.first().ok_or(Error::OperationBuild)?)?;
    inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    let operands = [from, to, at.idx(step)];
    at.create(ops::scf::FOR, &operands, &[], &[], vec![region])?;
    Ok(())
}

/// Creates an `scf.parallel` with `counts` iterations in each dimension. `work` is the number of scalar operations of an
/// iteration, which `body` emits.
pub(crate) fn parallel<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    counts: &[i64],
    work: i64,
    body: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let (region, inside, position) = at.region(&vec![Type::index(at.context); counts.len()]);
    body(&inside, &position)?;
    inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
    let counts: Result<Vec<Value>, Error> = counts.iter().map(|count| at.index(*count)).collect();
    close_parallel(at, &counts?, work, region)
}

/// Creates an `scf.parallel` around a complete body, which ends with `scf.reduce`.
pub(crate) fn close_parallel<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    counts: &[Value<'c, 'a>],
    work: i64,
    region: Region<'c>,
) -> Result<(), Error> {
    let (zero, one) = (at.idx(0), at.idx(1));
    let rank = counts.len();
    let operands = [&vec![zero; rank][..], counts, &vec![one; rank]].concat();
    let number = segment(rank);
    let attributes = [at.segments(&[number, number, number, 0]), (WORK, attributes::i64(at.context, work))];
    at.create(ops::scf::PARALLEL, &operands, &attributes, &[], vec![region])?;
    Ok(())
}
