// SPDX-License-Identifier: Apache-2.0
//! Which stepwise operations are faster for all steps at once.

use super::classes::{Class, Classes};
use crate::ir::linalg::Generic;
use crate::ir::{maps, types};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// A product whose weights are used for as many points in each step gains nothing: it is bound by arithmetic already.
const MOST_REUSE: u64 = 32;

/// The results of all steps take at most as many times the memory of what the products read.
const MOST_GROWTH: u64 = 16;

/// Whether to compute the products of all steps before the loop: they read invariant tensors, which one product reads once.
/// Without a static number of steps, the memory of one step is compared.
pub(super) fn is_projection<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    classes: &Classes<'c, 'a>,
    steps: Option<i64>,
) -> bool {
    let Some(generic) = Generic::cast(op).filter(|generic| generic.reductions().contains(&true)) else {
        return false;
    };
    let of_class = |wanted: Class| {
        let inputs = op.operands().take(op.operand_count() - op.result_count());
        inputs.filter(move |input| classes.class(*input) == Some(wanted))
    };
    let weights: u64 = of_class(Class::Invariant).map(elements).sum();
    let read: u64 = of_class(Class::Stepwise).map(elements).sum();
    let is_read_anew = weights > 1 && read > 0;
    let is_bound_by_memory = points(generic) / weights.max(1) < MOST_REUSE;
    is_read_anew && is_bound_by_memory && is_bounded(op, read, weights, steps)
}

/// Whether an operation computes each element from those of stepwise tensors of at least as many elements.
pub(super) fn follows<'c: 'a, 'a>(op: OperationRef<'c, 'a>, classes: &Classes<'c, 'a>) -> bool {
    let is_stepwise = |value: &Value<'c, 'a>| classes.class(*value) == Some(Class::Stepwise);
    let read = op.operands().filter(is_stepwise).map(elements).sum();
    let results: u64 = op.results().map(|result| elements(result.into())).sum();
    let generic = Generic::cast(op);
    generic.is_some_and(|generic| !generic.reductions().contains(&true)) && results <= read
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
    written <= read.saturating_mul(MOST_GROWTH)
}

/// The number of points of a payload.
fn points(generic: Generic) -> u64 {
    let op = generic.op();
    let mut extents = vec![1; generic.reductions().len()];
    for (operand, map) in op.operands().zip(generic.indexing_maps()) {
        let forms = maps::forms(map).unwrap_or_default();
        let sizes = types::extents(operand.r#type()).unwrap_or_default();
        for (form, size) in forms.iter().zip(sizes) {
            let of_loop = form.as_index().and_then(|l| extents.get_mut(l));
            if let (Some(extent), Ok(size)) = (of_loop, u64::try_from(size)) {
                *extent = size;
            }
        }
    }
    extents.into_iter().fold(1, u64::saturating_mul)
}

/// The number of elements; a dynamic extent counts as one.
fn elements(value: Value) -> u64 {
    let extents = types::extents(value.r#type()).unwrap_or_default();
    extents.into_iter().map(|extent| u64::try_from(extent).unwrap_or(1)).fold(1, u64::saturating_mul)
}
