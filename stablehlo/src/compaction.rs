// SPDX-License-Identifier: Apache-2.0
//! Exports stream compactions as a prefix sum and a `scatter`.
//!
//! The position of a step is the number of earlier steps that satisfy the guard.

use super::constants::is_zero;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::formula::Formula;
use super::rule::Applied;
use super::tensors::{Tensors, shape};
use super::write::{Target, changing};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::types;
use skript_passes::structure::{Compaction, TermId};
use skript_semantics::Scalar;

/// The rule for formulas that write at the positions of a counter, if the counter begins at zero.
pub(crate) fn rewrite<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let begins = |target: usize| formula.outs.get(target).is_some_and(|out| is_zero(*out));
    let compaction = Compaction::new(&formula.reading.nest).filter(|compaction| begins(compaction.counter));
    compaction.map(|compaction| run(&compaction, &mut formula.evaluator())).transpose()
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
            (false, false) => return Err(ExportError::new(reading.op, "has another condition")),
        }
    }
    let marks = match evaluator.all(&marks)? {
        Some(marks) => marks,
        None => Field::scalar(at.splat(Scalar::Bool(true), &[], at.bool())),
    };
    let domain = evaluator.domain();
    evaluator.counted = Some((compaction.counter, numbers(&marks, domain, &at)));
    // Evaluates limits of the count, subscripts and elements with the known positions.
    let mask = evaluator.predicate()?.unwrap_or(marks);
    evaluator.body()?;
    let mut held = evaluator.destinations.clone();
    for position in 0..held.len() {
        let missing = || ExportError::new(reading.op, "has too few values");
        // If a step writes several elements of a tensor, each of them becomes a scatter.
        let tensor = *reading.same.get(position).ok_or_else(missing)?;
        let out = held.get_mut(tensor).ok_or_else(missing)?;
        if position == compaction.counter {
            *out = total(&mask, domain, &at);
            continue;
        }
        let value = *reading.values.get(position).ok_or_else(missing)?;
        let addresses = reading.subscripts.get(position).ok_or_else(missing)?;
        let addresses =
            addresses.iter().map(|address| evaluator.field(*address)).collect::<Result<Vec<_>, _>>()?;
        let target = Target { kind: reading.nest.kind, out: *out, domain, at };
        *out = target.scatter(&evaluator.field(value)?, Some(&mask), &addresses);
    }
    let results = reading.same.iter().map(|tensor| held.get(*tensor).copied());
    let none = || ExportError::new(reading.op, "has too few destinations");
    results.collect::<Option<_>>().ok_or_else(none)
}

/// Converts the marks to a vector of zeros and ones, over all points in order; returns its length, too.
fn ones<'c: 'a, 'a>(marks: &Field<'c, 'a>, domain: &[i64], at: &Tensors<'c, 'a>) -> (Value<'c, 'a>, i64) {
    let marks = marks.over(&changing(domain), domain, at);
    let count: i64 = at.extents(marks).iter().product();
    let marks = at.reshape(marks, &[count]);
    let ones = at.op("convert", &[marks], &[], types::tensor(&[count], at.int()));
    (ones, count)
}

/// The number of marks.
fn total<'c: 'a, 'a>(marks: &Field<'c, 'a>, domain: &[i64], at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
    let (ones, _) = ones(marks, domain, at);
    at.reduce(ones, "add", Scalar::Int(0), &[0])
}

/// The number of marks before each point, by a scan that doubles its distance at each step.
fn numbers<'c: 'a, 'a>(marks: &Field<'c, 'a>, domain: &[i64], at: &Tensors<'c, 'a>) -> Field<'c, 'a> {
    let (mut sums, count) = ones(marks, domain, at);
    let zero = Scalar::Int(0);
    let after = |value, by: i64| at.pad(value, zero, &[by], &[-by], &[0]);
    sums = after(sums, 1);
    let mut reach = 1;
    while reach < count {
        sums = at.same("add", &[sums, after(sums, reach)]);
        reach *= 2;
    }
    let indices = changing(domain);
    let shape = shape(&indices, domain);
    Field { value: at.reshape(sums, &shape), indices }
}
