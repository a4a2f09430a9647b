// SPDX-License-Identifier: Apache-2.0
//! The operands and results of functions.

use skript_frontend::model::{Function, Model, ValueId};

/// Inputs with packs flattened, then captures.
pub(super) fn arguments(function: &Function) -> Vec<ValueId> {
    let inputs = function.inputs.iter().flat_map(|p| p.tensors.values());
    inputs.chain(&function.captures).copied().collect()
}

/// Outputs with packs flattened; for the entry, then new values of variables.
pub(super) fn results(model: &Model, function: &Function, is_entry: bool) -> Vec<ValueId> {
    let mut results: Vec<_> = function.outputs.iter().flat_map(|p| p.tensors.values()).copied().collect();
    // New values of variables follow; the entry's are the model's.
    if is_entry {
        results.extend(model.updates.iter().map(|(_, value)| *value));
    } else {
        results.extend(function.updates.iter().map(|(_, value)| *value));
    }
    results
}
