// SPDX-License-Identifier: Apache-2.0
//! Formulas that search for accesses out of bounds. StableHLO programs cannot stop with an error, so they are removed.

use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::attribute_names::SEARCH;
use skript_passes::ir::{erase, nested, users};

/// Erases such formulas below the module, with the checks of their results.
pub(crate) fn drop_searches(module: OperationRef) {
    let mut found = Vec::new();
    for op in nested(module) {
        if op.has_attribute(SEARCH) {
            add(op, &mut found);
        }
    }
    found.into_iter().for_each(erase);
}

/// Adds an operation after its users.
fn add<'c, 'a>(op: OperationRef<'c, 'a>, found: &mut Vec<OperationRef<'c, 'a>>) {
    if found.contains(&op) {
        return;
    }
    for result in op.results() {
        for user in users(result.into()) {
            add(user, found);
        }
    }
    found.push(op);
}
