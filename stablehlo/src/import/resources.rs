// SPDX-License-Identifier: Apache-2.0
//! Elements of constants that stand in the file's resources become elements of the constants themselves.

use melior::ir::Module;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::{inlined_elements, op};
use skript_passes::ir::mutation;
use skript_passes::ir::ops;

/// Requires that the module has been verified: all resources are there, and as large as their types say.
pub(super) fn inline(module: &Module) {
    let constants = op::collect(&module.as_operation(), |op| {
        op::is(&op, ops::stablehlo::CONSTANT)
    });
    for constant in constants {
        let Ok(value) = constant.attribute("value") else {
            continue;
        };
        let inlined = inlined_elements(value);
        if inlined != value {
            mutation::set(constant, "value", inlined);
        }
    }
}
