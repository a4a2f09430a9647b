// SPDX-License-Identifier: Apache-2.0
//! The arguments and results of functions.

use skript_frontend::model::{Function, Model, ValueId};

/// Returns the inputs with packs flattened, then the captures.
pub(super) fn arguments(function: &Function) -> Vec<ValueId> {
    function.inputs.iter().flat_map(|p| p.tensors.values()).chain(&function.captures).copied().collect()
}

/// Returns the outputs with packs flattened, then the new values of variables. The entry returns the model's updates.
pub(super) fn results(model: &Model, function: &Function, is_entry: bool) -> Vec<ValueId> {
    let mut results: Vec<_> = function.outputs.iter().flat_map(|p| p.tensors.values()).copied().collect();
    if is_entry {
        results.extend(model.updates.iter().map(|(_, value)| *value));
    } else {
        results.extend(function.updates.iter().map(|(_, value)| *value));
    }
    results
}
