// SPDX-License-Identifier: Apache-2.0
//! The order of an index that is unrolled but nested in other indices: `y[i,] := xs[j][i,], i < n, j < k` with a pack
//! `xs`.
//!
//! In the language the innermost index varies fastest (2.12), but the unrolled formulas run one after the other. The two
//! orders agree unless a step reads or overwrites an element that another value of the index wrote.

use crate::ast::Lowering;
use crate::compose::formulas::lower_block::Draft;
use crate::diagnostics::codes::FORMULA;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Selected, runtime};
use crate::model::{Accumulation, Expr, Formula, Node, Target, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::Scalar;

/// Converts a formula that writes one tensor of a pack in each step to a formula that writes all tensors: the other
/// tensors keep their values.
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
            let message = "an index that selects tensors of a pack is nested in another index here, and a step reads what earlier ones wrote; write its bound first, or one formula for each tensor";
            return stop(&FORMULA, lowering.span, message);
        }
    }
    Ok(())
}

/// Whether a formula shares with the other formulas only elements that they write in the same iteration.
fn is_independent(formula: &Formula, outer: &[usize], others: &FxHashSet<ValueId>) -> bool {
    let mut reads_shared = false;
    for (tensor, subscripts) in formula.accesses() {
        if others.contains(&tensor) {
            let mut writes = formula.targets.iter().filter(|t| t.output == tensor);
            if !writes.any(|target| target.subscripts == subscripts) {
                return false;
            }
            reads_shared = true;
        }
    }
    let shared = formula.targets.iter().filter(|t| others.contains(&t.output));
    let in_order = reads_shared || formula.kind == Accumulation::Replace;
    shared.into_iter().all(|target| {
        let named = |index: &usize| {
            let mut subscripts = target.subscripts.iter();
            subscripts.any(|s| s.node == Node::Index(*index))
        };
        !in_order || outer.iter().all(named)
    })
}

/// Splits a packed assignment, `y[i,[0, 1]] = …`, into a formula for each element of an output, because lowerings
/// support only formulas that write each output once. A formula that reads its own output, or may write an element
/// twice, is not split.
pub(crate) fn split(formula: Formula) -> Vec<Formula> {
    let mut positions: FxHashMap<ValueId, Vec<&Target>> = FxHashMap::default();
    for target in &formula.targets {
        positions.entry(target.output).or_default().push(target);
    }
    let once = positions.values().all(|targets| targets.len() == 1);
    if once || reads_output(&formula) || !positions.values().all(|targets| have_distinct_subscripts(targets))
    {
        return vec![formula];
    }
    // The n-th formula has the n-th target of each output.
    let mut parts: Vec<Formula> = Vec::new();
    let mut counts: FxHashMap<ValueId, usize> = FxHashMap::default();
    for target in &formula.targets {
        let count = counts.entry(target.output).or_default();
        match parts.get_mut(*count) {
            Some(part) => part.targets.push(target.clone()),
            None => parts.push(Formula { targets: vec![target.clone()], ..formula.clone() }),
        }
        *count += 1;
    }
    parts
}

/// Whether the targets differ in constant subscripts.
fn have_distinct_subscripts(targets: &[&Target]) -> bool {
    let number = |expr: &Expr| match expr.node {
        Node::Literal(Scalar::Int(value)) => Some(value),
        _ => None,
    };
    let rank = targets.first().map_or(0, |t| t.subscripts.len());
    let numbered = |dimension: &usize| {
        let subscripts = targets.iter().map(|t| t.subscripts.get(*dimension));
        subscripts.into_iter().all(|s| s.and_then(number).is_some())
    };
    let dimensions: Vec<usize> = (0..rank).filter(numbered).collect();
    let mut seen = FxHashSet::default();
    targets.iter().all(|target| {
        let position = dimensions.iter().map(|d| target.subscripts.get(*d));
        let position: Option<Vec<i64>> = position.map(|s| s.and_then(number)).collect();
        position.is_some_and(|position| seen.insert(position))
    })
}

fn reads_output(formula: &Formula) -> bool {
    let outputs: FxHashSet<ValueId> = formula.targets.iter().map(|t| t.output).collect();
    formula.accesses().iter().any(|(tensor, _)| outputs.contains(tensor))
}
