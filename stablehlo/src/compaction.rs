// SPDX-License-Identifier: Apache-2.0
//! Stream compactions as a prefix sum and a `scatter`.
//!
//! The position of a step is the number of earlier steps that satisfy the guard.

use super::constants::is_zero;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::formula::Formula;
use super::rule::Applied;
use super::tensors::Tensors;
use super::write::{Target, changing};
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_passes::structure::{Compaction, TermId};
use skript_semantics::Scalar;

/// The rule for writes at a counter's positions, if the counter begins at zero.
pub(crate) fn rewrite<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let begins = |target: usize| formula.outs.get(target).is_some_and(|out| is_zero(*out));
    let compaction = Compaction::of(&formula.reading.nest);
    let results =
        compaction.filter(|found| begins(found.counter)).map(|found| run(&found, &mut formula.evaluator()));
    results.transpose()
}

/// The destinations after the formula.
fn run<'c: 'a, 'a>(
    compaction: &Compaction,
    evaluator: &mut Evaluator<'_, 'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let (reading, at) = (evaluator.reading, evaluator.at);
    evaluator.predicate()?;
    let mut marks = Vec::new();
    for condition in evaluator.conjuncts()? {
        let among = |list: &[TermId]| {
            let term = reading.find(condition);
            term.is_some_and(|term| list.contains(&term))
        };
        match (among(&compaction.guards), among(&compaction.limits)) {
            (true, _) => marks.push(evaluator.field(condition)?),
            (false, true) => {}
            (false, false) => return Err(ExportError::at(reading.op, "has another condition")),
        }
    }
    let marks = match evaluator.all(&marks)? {
        Some(marks) => marks,
        None => Field::scalar(at.splat(Scalar::Bool(true), &[], at.bool())?),
    };
    let domain = evaluator.domain();
    evaluator.counted = Some((compaction.counter, numbers(&marks, domain, &at)?));
    // Evaluated again with the positions: limits of the count, subscripts and elements.
    let mask = evaluator.predicate()?.unwrap_or(marks);
    evaluator.body()?;
    let mut held = evaluator.destinations.clone();
    for position in 0..held.len() {
        let missing = || ExportError::at(reading.op, "has too few values");
        // A step that writes several elements of a tensor is several scatters.
        let tensor = *reading.same.get(position).ok_or_else(missing)?;
        let out = held.get_mut(tensor).ok_or_else(missing)?;
        if position == compaction.counter {
            *out = total(&mask, domain, &at)?;
            continue;
        }
        let value = *reading.values.get(position).ok_or_else(missing)?;
        let addresses = reading.subscripts.get(position).ok_or_else(missing)?;
        let addresses = addresses.iter().map(|address| evaluator.field(*address));
        let target = Target { kind: reading.nest.kind, out: *out, domain, at };
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        *out = target.scatter(&evaluator.field(value)?, Some(&mask), &addresses)?;
    }
    let results = reading.same.iter().map(|tensor| held.get(*tensor).copied());
    let none = || ExportError::at(reading.op, "has too few destinations");
    results.collect::<Option<_>>().ok_or_else(none)
}

/// 1 for each mark, at all points in their order.
fn ones<'c: 'a, 'a>(
    marks: &Field<'c, 'a>,
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<(Value<'c, 'a>, i64), Error> {
    let marks = marks.over(&changing(domain), domain, at)?;
    let count: i64 = at.extents(marks)?.iter().product();
    let marks = at.reshape(marks, &[count])?;
    let ones = at.op("convert", &[marks], &[], types::tensor(&[count], at.int()))?;
    Ok((ones, count))
}

/// The number of marks.
fn total<'c: 'a, 'a>(
    marks: &Field<'c, 'a>,
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let (ones, _) = ones(marks, domain, at)?;
    at.reduce(ones, "add", Scalar::Int(0), &[0])
}

/// The number of marks before each point, by a scan that doubles its distance at each step.
fn numbers<'c: 'a, 'a>(
    marks: &Field<'c, 'a>,
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let (mut sums, count) = ones(marks, domain, at)?;
    let zero = Scalar::Int(0);
    let after = |value, by: i64| at.pad(value, zero, &[by], &[-by], &[0]);
    sums = after(sums, 1)?;
    let mut reach = 1;
    while reach < count {
        sums = at.same("add", &[sums, after(sums, reach)?])?;
        reach *= 2;
    }
    let indices = changing(domain);
    let shape: Vec<i64> = indices.iter().filter_map(|i| domain.get(*i).copied()).collect();
    Ok(Field { value: at.reshape(sums, &shape)?, indices })
}
