// SPDX-License-Identifier: Apache-2.0
//! Removes formulas that search for out-of-bounds accesses: StableHLO programs cannot report errors.

use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::attribute_names::SEARCH;
use skript_passes::ir::{erase, nested, users};

/// Erases the formulas that search for out-of-bounds accesses, and the checks of their results.
pub(crate) fn drop_searches(module: OperationRef) {
    let mut dead = Vec::new();
    for op in nested(module) {
        if op.has_attribute(SEARCH) {
            add(op, &mut dead);
        }
    }
    dead.into_iter().for_each(erase);
}

/// Appends the transitive users of an operation, then the operation.
fn add<'c, 'a>(op: OperationRef<'c, 'a>, dead: &mut Vec<OperationRef<'c, 'a>>) {
    if dead.contains(&op) {
        return;
    }
    for result in op.results() {
        for user in users(result.into()) {
            add(user, dead);
        }
    }
    dead.push(op);
}
