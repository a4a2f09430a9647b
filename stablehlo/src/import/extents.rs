// SPDX-License-Identifier: Apache-2.0
//! Checks that all extents are static, and that the number of elements of each tensor fits 64 bits.

use super::refusal::{Refusal, refusal_at};
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::ir::types;

/// Refuses every operation with a result of dynamic or too large shape.
pub(crate) fn unusable(module: &Module) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for operation in op::collect(&module.as_operation(), |_| true) {
        for (n, result) in operation.results().enumerate() {
            let r#type = melior::ir::ValueLike::r#type(&result);
            let Some(extents) = types::extents(r#type) else {
                continue;
            };
            let volume = extents.iter().try_fold(16_i64, |v, e| v.checked_mul(*e));
            let message = match volume {
                _ if extents.contains(&types::DYNAMIC) => {
                    "extents must be known; export the program for fixed shapes"
                }
                None => "64 bits do not count its bytes",
                Some(_) => continue,
            };
            let message = format!("gives {type}, result {n}: {message}");
            refusals.push(refusal_at(operation, &message));
        }
    }
    refusals
}
