// SPDX-License-Identifier: Apache-2.0
//! `skript-interchange-reductions`: interchanges loops of reductions without a kernel so that the innermost one runs
//! along contiguous elements.
//!
//! In the order of the formula a sum is accumulated in one register. This pass makes a parallel loop that runs along
//! contiguous elements of all operands the innermost one, so LLVM computes one sum per vector lane. Each sum has the same
//! terms in the same order.

use crate::ir::generic::{LoopNest, Operand};
use crate::ir::walk::named;
use crate::ir::{linalg, ops};
use skript_dialect::{Dialect, Pass};

/// Minimum length of a row: a shorter row does not fill a vector.
const MIN_LENGTH: i64 = 8;

/// The pass `skript-interchange-reductions`.
pub const PASS: Pass = Pass {
    flag: "skript-interchange-reductions",
    summary: "interchange loops of reductions so that the innermost one runs along contiguous elements",
    dependent_dialects: &[Dialect::Linalg],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            let Some(nest) = LoopNest::read(op) else { continue };
            if let Some(row) = row(&nest) {
                let others = (0..nest.reductions.len()).filter(|l| *l != row);
                linalg::reorder_loops(op, &others.chain([row]).collect::<Vec<_>>(), rewriter.context());
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Returns the loop to make innermost; `None` if the current innermost loop is kept.
fn row(nest: &LoopNest) -> Option<usize> {
    let output = nest.operands.last()?;
    let row = output.forms.last()?.as_index()?;
    let is_inner_reduced = nest.reductions.last() == Some(&true) && nest.reductions.get(row) == Some(&false);
    let runs_long = output.shape.last().is_some_and(|extent| *extent < 0 || *extent >= MIN_LENGTH);
    let goes_along = nest.operands.iter().all(|operand| is_contiguous(operand, row) == Some(true));
    (nest.is_on_arrays() && is_inner_reduced && runs_long && goes_along).then_some(row)
}

/// Whether the stride of an array along a loop is 0 or 1, in elements; `None` for operands that are not arrays.
fn is_contiguous(operand: &Operand, l: usize) -> Option<bool> {
    let (strides, _) = operand.array()?.strides_and_offset();
    let mut moved = 0;
    for (form, stride) in operand.forms.iter().zip(strides) {
        for (_, factor) in form.as_linear()?.into_iter().filter(|(term, _)| *term == l) {
            moved += if factor == 1 && stride == 1 { 1 } else { 2 };
        }
    }
    Some(moved <= 1)
}
