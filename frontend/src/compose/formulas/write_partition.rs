// SPDX-License-Identifier: Apache-2.0
//! Packed assignments that write several elements of one output: split where the order of the writes does not matter.

use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::Scalar;

use crate::model::{Expr, Formula, Node, Target, ValueId};

/// One formula for each element of an output that a packed assignment writes, `y[i,[0, 1]] = …`: lowerings support
/// formulas that write each output once. A formula that reads its own output, or may write an element twice, is not
/// split.
pub(crate) fn split(formula: Formula) -> Vec<Formula> {
    let mut positions: FxHashMap<ValueId, Vec<&Target>> = FxHashMap::default();
    for target in &formula.targets {
        positions.entry(target.output).or_default().push(target);
    }
    let once = positions.values().all(|targets| targets.len() == 1);
    if once || reads_output(&formula) || !positions.values().all(|targets| are_apart(targets)) {
        return vec![formula];
    }
    // The n-th formula has the n-th target of each output.
    let mut found: Vec<Formula> = Vec::new();
    let mut counts: FxHashMap<ValueId, usize> = FxHashMap::default();
    for target in &formula.targets {
        let count = counts.entry(target.output).or_default();
        match found.get_mut(*count) {
            Some(part) => part.targets.push(target.clone()),
            None => found.push(Formula { targets: vec![target.clone()], ..formula.clone() }),
        }
        *count += 1;
    }
    found
}

/// Whether the targets differ in constant subscripts.
fn are_apart(targets: &[&Target]) -> bool {
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
    accesses(formula).iter().any(|(tensor, _)| outputs.contains(tensor))
}

/// All elements that a formula reads.
pub(crate) fn accesses(formula: &Formula) -> Vec<(ValueId, &[Expr])> {
    let mut open: Vec<&Expr> = formula.locals.iter().map(|local| &local.value).collect();
    open.extend(&formula.predicate);
    for target in &formula.targets {
        open.extend(target.subscripts.iter().chain([&target.value]));
    }
    let mut found = Vec::new();
    while let Some(expr) = open.pop() {
        if let Node::Access { tensor, subscripts } = &expr.node {
            found.push((*tensor, subscripts.as_slice()));
        }
        open.extend(expr.children());
    }
    found
}
