// SPDX-License-Identifier: Apache-2.0
//! `skript-hoist-projections`: hoists products that do not depend on loop-carried values out of a loop.
//!
//! A step of a recurrent network, or of a loop over packs, multiplies its slice of the input by weights. The products of all
//! steps become one product with a dimension for the steps, which reads the weights once; the loop reads a slice of the result.
//! Elementwise operations on such products, and operations that compute their operands, also move. Products of operands that are
//! the same in each step are computed once.
//!
//! Requires: a loop whose number of steps is known before the loop. Each element of a result is the sum of the same products,
//! and in the same order without fast math. No operation that may fail is executed for a step that is not reached: operations in
//! branches, and operations that may fail after a test of the loop, do not move. The results of all steps take at most 16 times the
//! memory of the operands of the products. A product does not move if a step uses its weights for 32 points or more.

use super::classes::{Class, Classes};
use super::counted::Counted;
use super::profit::{follows, is_projection};
use super::widen::Widening;
use crate::ir::linalg::Generic;
use crate::ir::walk::nested;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-hoist-projections",
    summary: "hoist products that do not depend on loop-carried values out of a loop",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        // Inner loops first, because an operation that leaves them may also leave outer loops.
        let mut loops = nested(root);
        loops.retain(|op| [ops::scf::FOR, ops::scf::WHILE].contains(&ir::name(*op).as_str()));
        for op in loops.into_iter().rev() {
            if let Some(counted) = Counted::new(op) {
                hoist(&counted, &Builder::before(rewriter.context(), op)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

fn hoist<'c: 'a, 'a>(counted: &Counted<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), PassError> {
    if counted.static_steps().is_some_and(|steps| steps < 2) {
        return Ok(());
    }
    let classes = Classes::new(counted);
    let selected = selected(counted, &classes);
    if selected.is_empty() {
        return Ok(());
    }
    Widening::new(counted, &classes, selected, at).apply()
}

/// The operations for which moving out of the loop is profitable.
fn selected<'c: 'a, 'a>(counted: &Counted<'c, 'a>, classes: &Classes<'c, 'a>) -> HashSet<ValueKey> {
    let mut selected = HashSet::new();
    for op in &classes.body {
        let (Some(generic), Some(result)) = (Generic::cast(*op), ir::result_at(*op, 0)) else {
            continue;
        };
        let is_selected = match classes.class(result) {
            Some(Class::Invariant) => generic.reduces(),
            Some(Class::Stepwise) => {
                let mut operands = op.operands().map(ValueKey::of);
                is_projection(*op, classes, counted.static_steps())
                    || operands.any(|operand| selected.contains(&operand)) && follows(*op, classes)
            }
            Some(Class::Index { .. }) | None => false,
        };
        if is_selected {
            selected.insert(ValueKey::of(result));
        }
    }
    selected
}
