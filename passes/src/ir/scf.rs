// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `scf`.

use super::attribute_names::WORK;
use super::typed::{OperationLike, OperationRef, Value, typed};
use super::{Builder, attributes, ops};
use melior::Error;
use melior::ir::{Region, Type};

typed! {
    /// `scf.if`: one of two branches.
    If = ops::scf::IF { condition = 0 };
}

/// The initial value of a loop-carried value of `scf.for` or `scf.while`, by the number of its result.
pub(crate) fn init<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let before = match super::name(op).as_str() {
        // Bounds and step.
        ops::scf::FOR => 3,
        ops::scf::WHILE => 0,
        _ => return None,
    };
    op.operand(before + number).ok()
}

/// A loop over indices from the first bound up to the second one, in constant steps. `body` adds what one iteration does.
///
/// # Errors
/// The builder's error, or that of `body`.
pub(crate) fn counted<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [from, to]: [Value<'c, 'a>; 2],
    step: i64,
    body: impl FnOnce(&Builder<'c, 'a>, Value<'c, 'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (region, inside, position) = at.region(&[Type::index(at.context)]);
    body(&inside, *position.first().ok_or(Error::OperationBuild)?)?;
    inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    let operands = [from, to, at.index(step)?];
    at.create(ops::scf::FOR, &operands, &[], &[], vec![region])?;
    Ok(())
}

/// A parallel loop over `counts` steps of each dimension. `work` are the operations on scalars of a step, and `body` adds what one step
/// does at a position.
///
/// # Errors
/// The builder's error, or that of `body`.
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

/// The parallel loop with a complete body, which ends with `scf.reduce`.
///
/// # Errors
/// The builder's error.
pub(crate) fn close_parallel<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    counts: &[Value<'c, 'a>],
    work: i64,
    region: Region<'c>,
) -> Result<(), Error> {
    let (zero, one) = (at.index(0)?, at.index(1)?);
    let rank = counts.len();
    let operands = [&vec![zero; rank][..], counts, &vec![one; rank]].concat();
    let number = i32::try_from(rank).unwrap_or(i32::MAX);
    let segments = attributes::i32s(at.context, &[number, number, number, 0]);
    let attributes = [("operandSegmentSizes", segments), (WORK, attributes::i64(at.context, work))];
    at.create(ops::scf::PARALLEL, &operands, &attributes, &[], vec![region])?;
    Ok(())
}
