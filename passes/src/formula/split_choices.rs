// SPDX-License-Identifier: Apache-2.0
//! `skript-split-choices`: splits reductions whose value is chosen by an index of the output into one formula for each choice.
//!
//! In `z[i, c] += c == 0 ? x[i, k] : y[i, k]`, the value is a different expression for each `c`. Each of the new formulas
//! computes the elements for which all such conditions are constant, and `skript-drop-clamps` removes the conditions. A formula
//! without conditions has a kernel. Maps are not split, because vectors select elements.
//!
//! Requires: static extents. Guarantees: results do not change.

use super::split_guards::cuts;
use super::structured;
use crate::ir::shape::InsertSlice;
use crate::ir::{self, ops};
use crate::structure::{Affine, Nest, Reading, Term};
use skript_dialect::melior::ir::Value;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Pass, PassError, op};
use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};
use std::collections::BTreeSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-choices",
    summary: "split reductions whose value is chosen by an index of the output",
    run: |root, _, rewriter| {
        for formula in structured::formulas(&root) {
            let Some((reading, parts)) = Reading::of_fixed(formula).ok().and_then(|reading| {
                let parts = parts(&reading.nest)?;
                Some((reading, parts))
            }) else {
                continue;
            };
            let mut values: Vec<Value> = reading.outs.clone();
            for (low, extents) in parts {
                values = op::compute_part(&formula, &values, &low, &extents, true)
                    .ok_or_else(|| PassError::at(formula, "has no parts"))?;
                read_start_values(&values, &reading.outs);
            }
            rewriter.replace_op_with_values(formula, &values);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Makes the formula that computes these parts read its start values from `outs`. Other parts are disjoint, so reading them from the
/// result that has these parts would only make the formula wait, and hide that the start values are equal.
fn read_start_values(parts: &[Value], outs: &[Value]) {
    for (part, out) in parts.iter().zip(outs) {
        let insertion = InsertSlice::of(*part);
        let result = insertion.and_then(|insertion| insertion.source().ok());
        let formula = result.and_then(ir::definition).map(|(formula, _)| formula);
        let Some((destination, formula)) = insertion.and_then(|i| i.destination().ok()).zip(formula) else {
            continue;
        };
        let slices = formula.operands().filter_map(ir::definition).map(|(slice, _)| slice);
        for slice in slices.filter(|slice| op::is(slice, ops::tensor::EXTRACT_SLICE)) {
            if slice.operand(0) == Ok(destination) {
                ir::use_instead(slice, 0, *out);
            }
        }
    }
}

/// The maximum number of parts of a formula.
const MAX_PARTS: usize = 8;

/// The parts of the domain, as first indices and extents. `None` if the formula is not split.
fn parts(nest: &Nest) -> Option<Vec<(Vec<i64>, Vec<i64>)>> {
    let extents = nest.static_extents()?;
    let is_cut: Vec<bool> = (0..extents.len()).map(|index| cuts(nest, index)).collect();
    let accumulates = !matches!(nest.kind, Accumulation::Assign | Accumulation::Replace);
    if !is_cut.contains(&false) || !accumulates || nest.reads_destination() || extents.contains(&0) {
        return None;
    }

    let mut parts = vec![(vec![0; extents.len()], extents.clone())];
    for (index, starts) in starts(nest, &extents, &is_cut)?.into_iter().enumerate() {
        let ends = starts.iter().skip(1).copied().chain(extents.get(index).copied());
        let ranges: Vec<(i64, i64)> = starts.iter().copied().zip(ends).collect();
        let split = |(low, extents): &(Vec<i64>, Vec<i64>)| {
            let (low, extents) = (low.clone(), extents.clone());
            ranges.clone().into_iter().map(move |(start, end)| {
                let (mut low, mut extents) = (low.clone(), extents.clone());
                (low[index], extents[index]) = (start, end - start);
                (low, extents)
            })
        };
        parts = parts.iter().flat_map(split).collect();
    }
    (parts.len() > 1).then_some(parts)
}

/// For each loop, 0 and the indices where a condition of the value changes. `None` if there are too many.
fn starts(nest: &Nest, extents: &[i64], is_cut: &[bool]) -> Option<Vec<BTreeSet<i64>>> {
    let mut starts = vec![BTreeSet::from([0]); extents.len()];
    let values: Vec<_> = nest.targets.iter().map(|target| target.value).collect();
    for term in nest.reachable(&values) {
        let Some((difference, holds)) = comparison(nest, term) else {
            continue;
        };
        let terms = difference.as_linear();
        let Some([(index, factor)]) = terms.as_deref() else {
            continue;
        };
        if is_cut[*index] {
            let mut point = vec![0; extents.len()];
            let mut is_true = |i| {
                point[*index] = i;
                difference.evaluate(&point).map(holds)
            };
            // The result changes where the difference is zero, or after it.
            let zero = difference.evaluate(&vec![0; extents.len()])?.checked_neg()?.div_euclid(*factor);
            let near = zero.saturating_sub(1)..=zero.saturating_add(2);
            let last = extents[*index] - 1;
            let changes = near.filter(|i| (1..=last).contains(i) && is_true(*i) != is_true(*i - 1));
            starts[*index].extend(changes);
        }
        if starts.iter().map(BTreeSet::len).product::<usize>() > MAX_PARTS {
            return None;
        }
    }
    Some(starts)
}

/// Whether a comparison holds, from the difference of its operands.
type Holds = fn(i64) -> bool;

/// The difference of the operands of a comparison of integers.
fn comparison(nest: &Nest, term: usize) -> Option<(Affine, Holds)> {
    let Some(Term::Apply { op, kind: ScalarKind::Int, operands }) = nest.terms.get(term) else {
        return None;
    };
    let holds: Holds = match op {
        ScalarOp::Eq => |x| x == 0,
        ScalarOp::Ne => |x| x != 0,
        ScalarOp::Lt => |x| x < 0,
        ScalarOp::Le => |x| x <= 0,
        ScalarOp::Gt => |x| x > 0,
        ScalarOp::Ge => |x| x >= 0,
        _ => return None,
    };
    let [x, y] = operands[..] else {
        return None;
    };
    Some((nest.affine(x)?.sub(&nest.affine(y)?)?, holds))
}
