// SPDX-License-Identifier: Apache-2.0
//! Exports formulas that read their own output as loops over the sequential indices.
//!
//! An index is parallel if, for every output, it is the only index of the same dimension in all writes and reads.
//! Parallel indices become dimensions of tensors in the loop.
use super::access::Subscript;
use super::captures::Outside;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::formula::Formula;
use super::rule::Applied;
use super::tensors::{Tensors, shape};
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir::ops;
use skript_passes::structure::{Extent, Nest, StaticReading, TermId};
use std::collections::HashMap;

/// The rule for formulas with steps that may write an element of a destination twice.
pub(crate) fn repeated<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let is_repeated = !formula.reading.has_distinct_destinations();
    is_repeated.then(|| steps(formula)).transpose()
}

/// The rule for formulas that read their output, or assign a scalar output repeatedly.
pub(crate) fn ordered<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let nest = &formula.reading.nest;
    let only_element = nest.targets.iter().any(|t| t.extents.is_empty());
    let is_ordered = nest.reads_destination() || nest.kind == Accumulation::Replace && only_element;
    is_ordered.then(|| steps(formula)).transpose()
}

fn steps<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let Formula { reading, outs, .. } = formula;
    run(reading, formula.outside, outs, formula.at)
}

/// Emits the loop; returns the destinations after it.
fn run<'c: 'a, 'a>(
    reading: &StaticReading<'c, 'a>,
    outside: Outside<'_, 'c, 'a>,
    outs: &[Value<'c, 'a>],
    at: Tensors<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    if reading.nest.targets.iter().any(|t| t.extents.contains(&Extent::Static(0))) {
        return Ok(outs.to_vec());
    }
    let nest = &reading.nest;
    // A step that writes several elements of a tensor may write elements of other steps.
    let parallel = if reading.has_distinct_destinations() { parallel(nest) } else { Vec::new() };
    let counted: Vec<usize> = (0..nest.extents.len())
        .filter(|i| reading.domain.get(*i) != Some(&1) && !parallel.contains(i))
        .collect();
    let extents = shape(&counted, &reading.domain);
    let total = extents
        .iter()
        .try_fold(1i64, |n, e| n.checked_mul(*e))
        .ok_or_else(|| ExportError::new(reading.op, "has more than 2^63 steps"))?;

    let mut state = vec![at.integer(0)];
    state.extend(outs);
    let state_types: Vec<_> = state.iter().map(|v| v.r#type()).collect();
    let (test_region, test, arguments) = at.at.region(&state_types);
    let inner = Tensors { at: test };
    let missing = || ExportError::new(reading.op, "has no state");
    let counter = *arguments.first().ok_or_else(missing)?;
    let goes_on = inner.compare("LT", "SIGNED", counter, inner.integer(total));
    test.op(ops::stablehlo::RETURN, &[goes_on], &[], &[], Vec::new());

    let (body_region, body, arguments) = at.at.region(&state_types);
    let inner = Tensors { at: body };
    let (counter, present) = arguments.split_first().ok_or_else(missing)?;
    let mut evaluator = Evaluator::new(inner, reading, outside, present.to_vec());
    evaluator.sequential = digits(*counter, &counted, &extents, &inner)?;
    let mask = evaluator.predicate()?;
    evaluator.body()?;
    let mut next = vec![inner.same("add", &[*counter, inner.integer(1)])];
    let mut held = present.to_vec();
    for (position, tensor) in reading.same.iter().enumerate() {
        let out = held.get_mut(*tensor).ok_or_else(missing)?;
        *out = step(&evaluator, *out, mask.as_ref(), position, &parallel)?;
    }
    for tensor in &reading.same {
        next.push(held.get(*tensor).copied().ok_or_else(missing)?);
    }
    body.op(ops::stablehlo::RETURN, &next, &[], &[], Vec::new());
    let op = at.at.op(ops::stablehlo::WHILE, &state, &[], &state_types, vec![test_region, body_region]);
    Ok(op.results().skip(1).map(Into::into).collect())
}

/// Computes the values of the indices from the number of a step; the last index varies fastest.
fn digits<'c: 'a, 'a>(
    counter: Value<'c, 'a>,
    counted: &[usize],
    extents: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<HashMap<usize, Value<'c, 'a>>, ExportError> {
    let mut values = HashMap::new();
    let mut quotient = counter;
    for (number, (index, extent)) in counted.iter().zip(extents).enumerate().rev() {
        if number == 0 {
            values.insert(*index, quotient);
            break;
        }
        let extent = at.integer(*extent);
        values.insert(*index, at.same("remainder", &[quotient, extent]));
        quotient = at.same("divide", &[quotient, extent]);
    }
    Ok(values)
}

/// The parallel indices, whose order does not affect the result.
fn parallel(nest: &Nest) -> Vec<usize> {
    let plain = |term: &TermId| nest.affine(*term).and_then(|f| f.as_index());
    let accesses = nest.accesses(&nest.roots());
    (0..nest.extents.len())
        .filter(|index| {
            let extent = nest.extents.get(*index);
            nest.targets.iter().enumerate().all(|(number, target)| {
                // The dimension with the index as its subscript; the index must not occur in other subscripts.
                let alone = target.subscripts.iter().position(|s| plain(s) == Some(*index));
                let Some(dimension) = alone else {
                    return false;
                };
                let elsewhere = target
                    .subscripts
                    .iter()
                    .enumerate()
                    .any(|(d, s)| d != dimension && depends(nest, *s, *index));
                let reads_alike = accesses.iter().all(|(_, tensor, subscripts)| {
                    let is_target = nest.tensors.get(*tensor).is_some_and(|t| t.destination == Some(number));
                    !is_target || subscripts.get(dimension).and_then(plain) == Some(*index)
                });
                !elsewhere && reads_alike && target.extents.get(dimension) == extent
            })
        })
        .filter(|index| nest.extents.get(*index) != Some(&Extent::ONE))
        .collect()
}

/// Whether a term depends on an index, directly or through a read.
fn depends(nest: &Nest, term: TermId, index: usize) -> bool {
    nest.reachable(&[term])
        .into_iter()
        .any(|t| matches!(nest.terms.get(t), Some(skript_passes::structure::Term::Index(i)) if *i == index))
}

/// Emits one step for one destination, whose value before the step is `out`; returns the value after the step.
fn step<'c: 'a, 'a>(
    evaluator: &Evaluator<'_, 'c, 'a>,
    out: Value<'c, 'a>,
    mask: Option<&Field<'c, 'a>>,
    position: usize,
    parallel: &[usize],
) -> Result<Value<'c, 'a>, ExportError> {
    let reading = evaluator.reading;
    let at = &evaluator.at;
    let missing = || ExportError::new(reading.op, "has too few values");
    let value = *reading.values.get(position).ok_or_else(missing)?;
    let value = evaluator.field(value)?;
    let mut starts = Vec::new();
    let mut sizes = Vec::new();
    let mut labels = Vec::new();
    for subscript in reading.subscripts.get(position).ok_or_else(missing)? {
        let subscript = Subscript {
            form: reading.find(*subscript).and_then(|t| reading.nest.affine(t)),
            ..Subscript::data(evaluator.field(*subscript)?)
        };
        let index = subscript.form.and_then(|f| f.as_index());
        match index.filter(|i| parallel.contains(i)) {
            Some(index) => {
                starts.push(at.integer(0));
                sizes.push(evaluator.domain()[index]);
                labels.push(index);
            }
            None if subscript.field.indices.is_empty() => {
                starts.push(subscript.field.value);
                sizes.push(1);
            }
            None => return Err(missing()),
        }
    }
    let shape = shape(&labels, evaluator.domain());
    let present = if sizes.is_empty() { out } else { at.dynamic_slice(out, &starts, &sizes) };
    let present = at.reshape(present, &shape);
    let value = value.over(&labels, evaluator.domain(), at);
    let combined = match Tensors::combiner(reading.nest.kind) {
        Some(combiner) => at.same(combiner, &[present, value]),
        None => value,
    };
    let kept = match mask {
        Some(mask) => {
            let mask = mask.over(&labels, evaluator.domain(), at);
            at.select(mask, combined, present)
        }
        None => combined,
    };
    if sizes.is_empty() {
        return Ok(kept);
    }
    let update = at.reshape(kept, &sizes);
    Ok(at.dynamic_update_slice(out, update, &starts))
}
