// SPDX-License-Identifier: Apache-2.0
//! Decides which stepwise operations are faster if they are computed for all steps at once.

use super::classes::{Class, Classes};
use crate::ir::generic::LoopNest;
use crate::ir::linalg::Generic;
use crate::ir::types;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// The maximum number of points in a step that use a weight. With more points, a product is limited by arithmetic, and would not become
/// faster.
const MAX_REUSE: u64 = 32;

/// The maximum size of the results of all steps, as a multiple of the size of the inputs.
const MAX_GROWTH: u64 = 16;

/// Whether to compute the products of all steps before the loop, so that invariant tensors are only read once.
/// If the number of steps is not static, the memory of one step is compared.
pub(super) fn is_projection<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    classes: &Classes<'c, 'a>,
    steps: Option<i64>,
) -> bool {
    let Some(nest) = LoopNest::read(op).filter(LoopNest::reduces) else {
        return false;
    };
    let of_class = |wanted: Class| {
        nest.inputs()
            .iter()
            .map(|input| input.value)
            .filter(move |input| classes.class(*input) == Some(wanted))
    };
    let weights: u64 = of_class(Class::Invariant).map(elements).sum();
    let read: u64 = of_class(Class::Stepwise).map(elements).sum();
    let is_read_anew = weights > 1 && read > 0;
    let points = u64::try_from(nest.points(1)).unwrap_or(u64::MAX);
    let is_bound_by_memory = points / weights.max(1) < MAX_REUSE;
    is_read_anew && is_bound_by_memory && is_bounded(op, read, weights, steps)
}

/// Whether an elementwise operation reads stepwise tensors with at least as many elements as its results.
pub(super) fn follows<'c: 'a, 'a>(op: OperationRef<'c, 'a>, classes: &Classes<'c, 'a>) -> bool {
    let is_stepwise = |value: &Value<'c, 'a>| classes.class(*value) == Some(Class::Stepwise);
    let read = op.operands().filter(is_stepwise).map(elements).sum();
    let results: u64 = op.results().map(|result| elements(result.into())).sum();
    Generic::cast(op).is_some_and(|generic| !generic.reduces()) && results <= read
}

fn is_bounded(op: OperationRef, read: u64, weights: u64, steps: Option<i64>) -> bool {
    let written: u64 = op.results().map(|result| elements(result.into())).sum();
    let steps = steps.map(|steps| u64::try_from(steps).unwrap_or(0));
    let (written, read) = match steps {
        Some(steps) => {
            let read = read.saturating_mul(steps).saturating_add(weights);
            (written.saturating_mul(steps), read)
        }
        None => (written, read),
    };
    written <= read.saturating_mul(MAX_GROWTH)
}

/// The number of elements; a dynamic extent counts as one.
fn elements(value: Value) -> u64 {
    let extents = types::shape(value.r#type());
    extents.into_iter().map(|extent| u64::try_from(extent).unwrap_or(1)).fold(1, u64::saturating_mul)
}
