// SPDX-License-Identifier: Apache-2.0
//! Exports arg-reductions as `reduce` of pairs of element and position.
//!
//! The pairs are totally ordered: numbers by value, then NaN; equal elements by position. Therefore the order of the
//! reduction does not affect the result, which is the first best element, or the last best element if equal elements
//! replace each other. Skipped points get the worst pair, without a position. Compared expressions are computed at all
//! points first.
use super::access::{Subscript, read};
use super::constants::{identity, is_zero};
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::formula::Formula;
use super::rule::Applied;
use super::tensors::Tensors;
use super::write::Target;
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::Affine;
use skript_passes::structure::arg_reduction::ArgReduction;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The rule for formulas that compute the position of the best element.
pub(crate) fn rewrite<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let reduction = ArgReduction::new(&formula.reading.nest);
    let results = reduction.map(|reduction| run(&reduction, &mut formula.evaluator()));
    results.transpose()
}

/// Emits the arg-reduction; returns the destinations after the formula.
fn run<'c: 'a, 'a>(
    reduction: &ArgReduction,
    evaluator: &mut Evaluator<'_, 'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let reading = evaluator.reading;
    let missing = || ExportError::new(reading.op, "has no comparison");
    let outs = evaluator.destinations.clone();
    let conjuncts = evaluator.conjuncts()?;
    let (updates, guards): (Vec<_>, Vec<_>) =
        conjuncts.into_iter().partition(|c| reading.find(*c) == Some(reduction.update));
    let update = *updates.first().ok_or_else(missing)?;
    let condition = OperationResult::try_from(update)?.owner();
    let candidate = condition.operand(reduction.candidate)?;
    let held = condition.operand(1 - reduction.candidate)?;
    evaluator.predicate()?;
    if !reduction.are_indices {
        evaluator.body()?;
    }
    let at = evaluator.at;
    let domain = evaluator.domain();
    let mut reduced = reduction.positions.clone();
    reduced.sort_unstable();
    let kept: Vec<usize> =
        (0..domain.len()).filter(|i| reduction.slots.iter().any(|s| s.indices.contains(i))).collect();
    let extent = |i: &usize| domain[*i];
    let mut shape: Vec<i64> = kept.iter().map(extent).collect();
    let count: i64 = reduced.iter().map(extent).product();
    let order: Vec<usize> = kept.iter().chain(&reduced).copied().collect();
    let elements = evaluator.field(candidate)?.over(&order, domain, &at);
    shape.push(count);
    let elements = at.reshape(elements, &shape);
    let conditions = guards.into_iter().map(|g| evaluator.field(g)).collect::<Result<Vec<_>, _>>()?;
    let guard = evaluator.all(&conditions)?;
    let counts = match guard {
        Some(guard) => {
            let guard = guard.over(&order, domain, &at);
            Some(at.reshape(guard, &shape))
        }
        None => None,
    };
    let (best, address) = best(elements, counts, reduction.comparison, &at);

    // No element is better than a NaN at the first position, and an empty range has no comparison.
    shape.pop();
    let begins_first = reduction.are_indices && outs.iter().all(|out| is_zero(*out));
    let first = if begins_first {
        let starts = vec![0; shape.len() + 1];
        let strides = vec![1; shape.len() + 1];
        let ends: Vec<i64> = shape.iter().copied().chain([1]).collect();
        at.reshape(at.slice(elements, &starts, &ends, &strides), &shape)
    } else {
        evaluator.field(held)?.over(&kept, domain, &at)
    };
    let (direction, kind) = comparison(reduction.comparison, &at, elements);
    let mut is_better = at.compare(direction, kind, best, first);
    if counts.is_some() && matches!(reduction.comparison, ScalarOp::Le | ScalarOp::Ge) {
        // With `Le` and `Ge`, the worst value compares as better than itself, although it may have no position.
        let zero = at.splat(Scalar::Int(0), &shape, at.int());
        let stands = at.compare("GE", "SIGNED", address, zero);
        is_better = at.same("and", &[is_better, stands]);
    }
    let is_better = Field { value: is_better, indices: kept.clone() };
    // A position that is initially zero remains zero if no element is better.
    let (address, mask) = if begins_first {
        let zero = at.splat(Scalar::Int(0), &shape, at.int());
        (at.select(is_better.value, address, zero), None)
    } else {
        (address, Some(&is_better))
    };
    let mut results = Vec::new();
    let values = reading.values.iter();
    for ((index, out), value) in reduction.positions.iter().zip(outs).zip(values) {
        // The index along one dimension of the row-major position.
        let after: i64 = reduced.iter().filter(|i| *i > index).map(extent).product();
        let mut digit = address;
        if after > 1 {
            let divisor = at.splat(Scalar::Int(after), &shape, at.int());
            digit = at.same("divide", &[digit, divisor]);
        }
        if reduced.first() != Some(index) {
            let modulus = at.splat(Scalar::Int(extent(index)), &shape, at.int());
            digit = at.same("remainder", &[digit, modulus]);
        }
        let target = Target { kind: Accumulation::Replace, out, domain, at };
        let mut field = Field { value: digit, indices: kept.clone() };
        if !reduction.are_indices {
            let value = evaluator.field(*value)?;
            let addresses: Vec<_> = value
                .indices
                .iter()
                .map(|i| {
                    if i == index {
                        Subscript::data(field.clone())
                    } else {
                        Subscript::index(Affine::index(*i), domain, &at)
                    }
                })
                .collect();
            field = read(value.value, &addresses, domain, &at).field;
        }
        results.push(target.block(&field, mask, &reduction.slots));
    }
    Ok(results)
}

/// The direction and the type of a comparison of these elements.
fn comparison<'c: 'a, 'a>(
    op: ScalarOp,
    at: &Tensors<'c, 'a>,
    elements: Value<'c, 'a>,
) -> (&'static str, &'static str) {
    let direction = match op {
        ScalarOp::Lt => "LT",
        ScalarOp::Le => "LE",
        ScalarOp::Gt => "GT",
        ScalarOp::Ge => "GE",
        _ => unreachable!("internal compiler error: not a comparison"),
    };
    let is_real = types::kind_of(at.element(elements)) == Some(ScalarKind::Real);
    (direction, if is_real { "FLOAT" } else { "SIGNED" })
}

/// The best elements along the last dimension among those that the guard admits, and their positions.
fn best<'c: 'a, 'a>(
    elements: Value<'c, 'a>,
    counts: Option<Value<'c, 'a>>,
    op: ScalarOp,
    at: &Tensors<'c, 'a>,
) -> (Value<'c, 'a>, Value<'c, 'a>) {
    let mut extents = at.extents(elements);
    let last = extents.len() as i64 - 1;
    let count = extents[extents.len() - 1];
    let element = at.element(elements);
    let (mut elements, mut addresses) = (elements, at.broadcast(at.iota(count), &[last], &extents));
    let worst = match op {
        ScalarOp::Lt | ScalarOp::Le => Accumulation::Min,
        _ => Accumulation::Max,
    };
    // The position of skipped points is after all positions, so that an equal element takes precedence.
    let (order, nowhere) = match op {
        ScalarOp::Lt | ScalarOp::Gt => ("LT", i64::MAX),
        _ => ("GT", -1),
    };
    if let Some(counts) = counts {
        let none = at.splat(identity(worst, element), &extents, element);
        elements = at.select(counts, elements, none);
        let none = at.splat(Scalar::Int(nowhere), &extents, at.int());
        addresses = at.select(counts, addresses, none);
    }
    extents.pop();
    let init = at.splat(identity(worst, element), &[], element);
    let nowhere = at.integer(nowhere);
    let (scalar, number) = (types::tensor(&[], element), types::tensor(&[], at.int()));
    let (region, body, arguments) = at.at.region(&[scalar, number, scalar, number]);
    let inner = Tensors { at: body };
    let [a, i, b, j] = [0, 1, 2, 3].map(|n| arguments[n]);
    let (direction, kind) = match comparison(op, at, elements) {
        ("LT" | "LE", kind) => ("LT", kind),
        (_, kind) => ("GT", kind),
    };
    let mut wins = inner.compare(direction, kind, a, b);
    let mut ties = inner.compare("EQ", kind, a, b);
    if kind == "FLOAT" {
        let (a_is_nan, b_is_nan) = (inner.compare("NE", kind, a, a), inner.compare("NE", kind, b, b));
        let a_is_number = inner.same("not", &[a_is_nan]);
        let only_b = inner.same("and", &[a_is_number, b_is_nan]);
        let both = inner.same("and", &[a_is_nan, b_is_nan]);
        wins = inner.same("or", &[wins, only_b]);
        ties = inner.same("or", &[ties, both]);
    }
    let earlier = inner.compare(order, "SIGNED", i, j);
    let earlier = inner.same("and", &[ties, earlier]);
    let wins = inner.same("or", &[wins, earlier]);
    let winner = [inner.select(wins, a, b), inner.select(wins, i, j)];
    body.op(ops::stablehlo::RETURN, &winner, &[], &[], Vec::new());
    let op = at.at.op(
        ops::stablehlo::REDUCE,
        &[elements, addresses, init, nowhere],
        &[("dimensions", attributes::i64s(at.at.context, &[last]))],
        &[types::tensor(&extents, element), types::tensor(&extents, at.int())],
        vec![region],
    );
    (at.at.result(op, 0), at.at.result(op, 1))
}
