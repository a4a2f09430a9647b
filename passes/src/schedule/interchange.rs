// SPDX-License-Identifier: Apache-2.0
//! `skript-interchange-reductions`: interchanges loops of reductions without a kernel so that the innermost one runs
//! along contiguous elements.
//!
//! In the order of the formula a sum is accumulated in one register. This pass makes a parallel loop that runs along
//! contiguous elements of all operands the innermost one, so LLVM computes one sum per vector lane. Each sum has the same
//! terms in the same order. The writer of C, which has no kernels, also accepts inputs with short strides, as windows have.

use crate::ir::generic::{LoopNest, Operand};
use crate::ir::walk::named;
use crate::ir::{linalg, ops};
use skript_dialect::{Dialect, Pass, PassOption};

/// Minimum length of a row: a shorter row does not fill a vector.
const MIN_LENGTH: i64 = 8;

/// The pass `skript-interchange-reductions`.
pub const PASS: Pass = Pass {
    flag: "skript-interchange-reductions",
    summary: "interchange loops of reductions so that the innermost one runs along contiguous elements",
    dependent_dialects: &[Dialect::Linalg],
    options: &[PassOption {
        name: "longest-stride",
        summary: "the longest stride of inputs along the innermost loop",
        default: "1",
    }],
    run: |root, options, rewriter| {
        let longest = options.get("longest-stride")?;
        for op in named(root, ops::linalg::GENERIC) {
            let Some(nest) = LoopNest::read(op) else { continue };
            if let Some(row) = row(&nest, longest) {
                let others = (0..nest.reductions.len()).filter(|l| *l != row);
                linalg::reorder_loops(op, &others.chain([row]).collect::<Vec<_>>(), rewriter.context());
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Returns the loop to make innermost; `None` if the current innermost loop is kept.
fn row(nest: &LoopNest, longest: i64) -> Option<usize> {
    let output = nest.operands.last()?;
    let row = output.forms.last()?.as_index()?;
    let is_inner_reduced = nest.reductions.last() == Some(&true) && nest.reductions.get(row) == Some(&false);
    let runs_long = output.shape.last().is_some_and(|extent| *extent < 0 || *extent >= MIN_LENGTH);
    let is_short =
        |operand: &Operand, longest: i64| stride(operand, row).is_some_and(|n| (0..=longest).contains(&n));
    let goes_along = nest.operands.iter().all(|operand| is_short(operand, longest)) && is_short(output, 1);
    (nest.is_on_arrays() && is_inner_reduced && runs_long && goes_along).then_some(row)
}

/// The stride of an array along a loop, in elements; `None` for operands that are not arrays, and for strides that are not known.
fn stride(operand: &Operand, l: usize) -> Option<i64> {
    let (strides, _) = operand.array()?.strides_and_offset();
    let mut moved = 0_i64;
    for (form, stride) in operand.forms.iter().zip(strides) {
        for (_, factor) in form.as_linear()?.into_iter().filter(|(term, _)| *term == l) {
            moved = moved.checked_add(factor.checked_mul(stride)?)?;
        }
    }
    Some(moved)
}
