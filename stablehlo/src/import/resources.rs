// SPDX-License-Identifier: Apache-2.0
//! Moves constant elements from the file's resource section into the constants.

use crate::typed::Constant;
use melior::ir::Module;
use skript_dialect::melior;
use skript_dialect::{inlined_elements, op};
use skript_passes::ir::mutation;

/// Requires that the module is verified: all resources exist and have the size of their types.
pub(super) fn inline(module: &Module) {
    let operations = op::collect(&module.as_operation(), |_| true);
    for constant in operations.into_iter().filter_map(Constant::cast) {
        let Ok(value) = constant.value() else {
            continue;
        };
        let inlined = inlined_elements(value);
        if inlined != value {
            mutation::set(constant.op(), "value", inlined);
        }
    }
}
