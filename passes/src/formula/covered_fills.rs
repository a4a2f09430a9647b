// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-covered-fills`: removes fills of tensors that formulas overwrite completely.
//!
//! If a splat is the destination of a chain of formulas that write disjoint blocks and together cover the tensor, and the
//! tensor has no other readers in between, the pass replaces the splat by an empty tensor. So a concatenation writes each
//! element once. For dynamic extents, the pass only recognizes a single formula that runs over all elements.

use super::structured;
use crate::ir;
use crate::ir::ops;
use crate::ir::users;
use crate::ir::{Builder, mutation, splat, types};
use crate::structure::{Affine, Extent, Nest, Placement, Reading, Slot};
use skript_dialect::melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use skript_frontend::model::Accumulation;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-drop-covered-fills",
    summary: "remove fills of tensors that formulas overwrite completely",
    dependent_dialects: &[Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        for formula in structured::formulas(&root) {
            let Some((out, position)) = destination(formula) else {
                continue;
            };
            if !splat::is_one(out) {
                continue;
            }
            let sizes = sizes(out);
            if is_covered(formula) || runs_over(formula, &sizes) {
                let at = Builder::before(context, formula)?;
                let empty = at.value(ops::tensor::EMPTY, &sizes, &[], out.r#type())?;
                mutation::set_operand(formula, position, empty);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Returns the only destination of a formula, and the number of the operand.
fn destination<'c: 'a, 'a>(formula: OperationRef<'c, 'a>) -> Option<(Value<'c, 'a>, usize)> {
    let position = formula.operand_count().checked_sub(1)?;
    (formula.result_count() == 1).then_some((ir::operand_at(formula, position)?, position))
}

/// Returns the dynamic extents of a splat.
fn sizes<'c: 'a, 'a>(splat: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let op = OperationResult::try_from(splat).map(|result| result.owner());
    op.map_or_else(|_| Vec::new(), |op| op.operands().skip(1).collect())
}

/// Whether each step of a formula writes a different element, at its indices, and the loops run over the tensor's
/// extents. The bound of a loop over a dynamic extent must be the value that the tensor was created with.
fn runs_over<'c: 'a, 'a>(formula: OperationRef<'c, 'a>, sizes: &[Value<'c, 'a>]) -> bool {
    let Ok(reading) = Reading::new(formula) else {
        return false;
    };
    let nest = &reading.nest;
    let ([target], [out]) = (nest.targets.as_slice(), reading.outs.as_slice()) else {
        return false;
    };
    let Some(extents) = types::extents(out.r#type()) else {
        return false;
    };
    if nest.kind != Accumulation::Assign || nest.predicate.is_some() || nest.reads_destination() {
        return false;
    }
    let mut sizes = sizes.iter().copied();
    let mut written = Vec::new();
    for (subscript, extent) in target.subscripts.iter().zip(extents) {
        let size = (extent == types::DYNAMIC).then(|| sizes.next()).flatten();
        let form = nest.affine(*subscript);
        // The index of a dimension of extent 1 is the constant 0.
        if extent == 1 && form.as_ref().and_then(Affine::as_constant) == Some(0) {
            continue;
        }
        let index = form.and_then(|form| form.as_index());
        let Some(index) = index.filter(|index| !written.contains(index)) else {
            return false;
        };
        let bound = reading.bounds.get(index).copied().flatten();
        let same = match size {
            Some(size) => bound == Some(size),
            None => bound.is_none() && nest.extents.get(index) == Some(&Extent::Static(extent)),
        };
        if !same {
            return false;
        }
        written.push(index);
    }
    let steps = nest.extents.iter().filter(|extent| **extent != 1);
    written.len() == steps.count()
}

/// Whether the formula and its successors overwrite all elements of the tensor before any operation reads it.
fn is_covered(first: OperationRef) -> bool {
    let mut written: Vec<Vec<Slot>> = Vec::new();
    let (mut next, mut left) = (Some(first), None);
    while let Some(formula) = next {
        let Some((block, total)) = block(formula) else {
            return false;
        };
        if !written.iter().all(|other| are_disjoint(other, &block)) {
            return false;
        }
        let volume = |slots: &[Slot]| slots.iter().try_fold(1i64, |v, s| v.checked_mul(s.count));
        let Some(rest) = volume(&block).map(|v| left.unwrap_or(total) - v) else {
            return false;
        };
        if rest == 0 {
            return true;
        }
        left = Some(rest);
        written.push(block);
        next = successor(formula);
    }
    false
}

/// Returns the formula that is the only user of this formula's result, and uses it as its destination.
fn successor<'c: 'a, 'a>(formula: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let result = ir::result(formula).ok()?;
    let [user] = users(result)[..] else {
        return None;
    };
    let (out, _) = op::is(&user, ops::skript::FORMULA).then(|| destination(user))??;
    (out == result).then_some(user)
}

/// Returns the block that a formula writes, and the number of elements of the tensor. `None` unless the formula writes each element of
/// the block once and does not read its destination.
fn block(formula: OperationRef) -> Option<(Vec<Slot>, i64)> {
    let reading = Reading::of_fixed(formula).ok()?;
    let nest: &Nest = &reading.nest;
    let [target] = nest.targets.as_slice() else {
        return None;
    };
    if nest.kind != Accumulation::Assign || nest.predicate.is_some() || nest.reads_destination() {
        return None;
    }
    let forms: Vec<_> = target.subscripts.iter().map(|s| nest.affine(*s)).collect();
    let total = target.extents.iter().try_fold(1i64, |v, e| v.checked_mul(e.as_static()?));
    match Placement::new(&forms, &nest.extents) {
        Placement::Block(slots) => Some((slots, total?)),
        Placement::Overlapping | Placement::Indirect => None,
    }
}

/// Whether two blocks are disjoint: along some dimension they do not overlap, or they are interleaved.
fn are_disjoint(one: &[Slot], other: &[Slot]) -> bool {
    one.iter().zip(other).any(|(x, y)| {
        let last = |slot: &Slot| slot.offset.saturating_add(slot.step.saturating_mul(slot.count - 1));
        let interleaved = x.step == y.step && (x.offset - y.offset).rem_euclid(x.step) != 0;
        last(x) < y.offset || last(y) < x.offset || interleaved
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(offset: i64, step: i64, count: i64) -> Slot {
        Slot { indices: vec![0], offset, step, count, is_dynamic: false }
    }

    #[test]
    fn blocks_are_disjoint_along_one_dimension() {
        assert!(are_disjoint(&[slot(0, 1, 4), slot(0, 1, 3)], &[slot(0, 1, 4), slot(3, 1, 2)]));
        assert!(!are_disjoint(&[slot(0, 1, 4), slot(0, 1, 4)], &[slot(3, 1, 1), slot(3, 1, 2)]));
    }

    #[test]
    fn interleaved_blocks_are_disjoint() {
        assert!(are_disjoint(&[slot(0, 2, 4)], &[slot(1, 2, 4)]));
        assert!(!are_disjoint(&[slot(0, 2, 4)], &[slot(2, 2, 4)]));
        assert!(!are_disjoint(&[slot(0, 2, 4)], &[slot(1, 3, 4)]));
    }
}
