// SPDX-License-Identifier: Apache-2.0
//! The order of an index that is unrolled but nested in other indices: `y[i,] := xs[j][i,], i < n, j < k` with a pack
//! `xs`.
//!
//! In the language the innermost index varies fastest (2.12), but the unrolled formulas run one after the other. The two
//! orders agree unless a step reads or overwrites an element that another value of the index wrote.

use rustc_hash::FxHashSet;

use crate::ast::Lowering;
use crate::compose::formulas::lower_block::Draft;
use crate::compose::formulas::write_partition::accesses;
use crate::diagnostics::codes::FORMULA;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Selected, runtime};
use crate::model::{Accumulation, Expr, Formula, Node, ValueId};

/// Converts a formula that writes one tensor of a pack in each step to one that writes all of them: the others keep
/// their values.
pub(crate) fn write_selected(formula: &mut Formula, selected: &Selected) {
    let kind = std::mem::replace(&mut formula.kind, Accumulation::Replace);
    for (position, target) in formula.targets.iter_mut().enumerate() {
        let present = Expr {
            kind: target.value.kind,
            node: Node::Access { tensor: target.output, subscripts: target.subscripts.clone() },
        };
        let value = std::mem::replace(&mut target.value, Expr::int(0));
        let value = match kind.op() {
            Some(op) => Expr::apply(value.kind, op, vec![present.clone(), value]),
            None => value,
        };
        target.value = runtime::select(selected.is_at(position), value, present);
    }
}

/// # Errors
/// Formulas of one statement whose order matters.
pub(crate) fn check_index_order(drafts: &[Draft], lowering: &Lowering) -> EvalResult<()> {
    if drafts.iter().all(|draft| draft.outer.is_empty()) {
        return Ok(());
    }
    for (position, draft) in drafts.iter().enumerate() {
        let others: FxHashSet<ValueId> = drafts
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != position)
            .flat_map(|(_, other)| &other.formula.targets)
            .map(|target| target.output)
            .collect();
        if !draft.outer.is_empty() && !is_independent(&draft.formula, &draft.outer, &others) {
            return stop(
                &FORMULA,
                lowering.span,
                "an index that selects tensors of a pack is nested in another index here, and a step reads what earlier ones wrote; write its bound first, or one formula for each tensor",
            );
        }
    }
    Ok(())
}

/// Whether a formula shares with others only the element that the same iteration of theirs writes.
fn is_independent(formula: &Formula, outer: &[usize], others: &FxHashSet<ValueId>) -> bool {
    let mut looks = false;
    for (tensor, subscripts) in accesses(formula) {
        if others.contains(&tensor) {
            let mut own = formula.targets.iter().filter(|t| t.output == tensor);
            if !own.any(|target| target.subscripts == subscripts) {
                return false;
            }
            looks = true;
        }
    }
    let shared = formula.targets.iter().filter(|t| others.contains(&t.output));
    let in_order = looks || formula.kind == Accumulation::Replace;
    shared.into_iter().all(|target| {
        let named = |index: &usize| {
            let mut subscripts = target.subscripts.iter();
            subscripts.any(|s| s.node == Node::Index(*index))
        };
        !in_order || outer.iter().all(named)
    })
}
