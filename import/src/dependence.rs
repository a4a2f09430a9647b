// SPDX-License-Identifier: Apache-2.0
//! Determines which inputs of the model determine a value that must be known at import.

use std::collections::BTreeSet;

use crate::importer::Importer;
use crate::refusal::Reason;
use crate::value::Value;

/// Maximum number of inputs in a message.
const MAX_NAMED: usize = 8;

/// Reports a value that must be known at import, with the inputs that would have to be constants.
pub fn unknown(importer: &Importer, what: &str, value: &Value) -> Reason {
    let inputs = inputs(importer, value);
    let mut deciding = importer.deciding.borrow_mut();
    deciding.extend(inputs.iter().cloned());
    let flags: Vec<String> = inputs.iter().map(|n| format!("--constant {n}=FILE.npy")).collect();
    let flags = flags.join(" ");
    let names: Vec<String> = inputs.iter().map(|n| format!("`{n}`")).collect();
    let names = names.join(", ");
    Reason(match inputs.as_slice() {
        [] => format!(
            "{what} must be known at import, and constant inputs would not decide this: fold the constants of the model, as onnxsim does, or export it with static shapes"
        ),
        [input] if *input == value.onnx => {
            format!("{what} must be known at import; pass `{flags}`")
        }
        _ => format!("{what} must be known at import, but depends on elements of {names}; pass `{flags}`"),
    })
}

/// Records the inputs that a condition depends on, so that calls can specialize the model to their values.
pub fn selects(importer: &mut Importer, condition: &Value) {
    if let Some(inputs) = only_inputs(importer, condition).filter(|inputs| !inputs.is_empty()) {
        importer.selecting.push(inputs);
    }
}

/// The inputs of the model that a value depends on; `None` if the value also depends on the step of a loop.
fn only_inputs(importer: &Importer, value: &Value) -> Option<Vec<String>> {
    let mut wanted = BTreeSet::from([value.id]);
    let mut computed = BTreeSet::new();
    let blocks = importer.enclosing.iter().chain([&importer.statements]);
    for statement in blocks.rev().flat_map(|block| block.iter().rev()) {
        if statement.results.iter().any(|result| wanted.contains(&result.id)) {
            statement.reads(&mut wanted);
            computed.extend(statement.results.iter().map(|result| result.id));
        }
    }
    let sources = wanted.difference(&computed).map(|id| importer.values.get(*id));
    let mut inputs = Vec::new();
    for source in sources {
        let source = source?;
        if importer.inputs.contains(&source.id) {
            inputs.push(source.onnx.clone());
        } else if source.tensor.is_none() && source.known.is_none() {
            return None;
        }
    }
    Some(inputs)
}

/// The inputs of the model that the value depends on, in the order of the model. Only the current block is searched.
fn inputs(importer: &Importer, value: &Value) -> Vec<String> {
    let mut wanted = BTreeSet::from([value.id]);
    for statement in importer.statements.iter().rev() {
        if statement.results.iter().any(|r| wanted.contains(&r.id)) {
            statement.reads(&mut wanted);
        }
    }
    let indices = importer.loops.iter().filter(|(index, _)| wanted.contains(index));
    let deciding: Vec<usize> = indices.flat_map(|(_, ids)| ids.clone()).collect();
    wanted.extend(deciding);
    let inputs = wanted.iter().filter(|id| importer.inputs.contains(id));
    let names = inputs.filter_map(|id| importer.values.get(*id).map(|v| v.onnx.clone()));
    let names: Vec<String> = names.collect();
    if names.len() > MAX_NAMED { Vec::new() } else { names }
}
