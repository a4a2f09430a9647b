// SPDX-License-Identifier: Apache-2.0
//! Indices returned by intrinsics that the storage type of ints cannot represent.

use skript_frontend::compose::{constant_result_misfits, too_narrow};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::model::{AttributeValue, Body, Extent, Function, Model, Operation};
use skript_intrinsics::largest_position;

/// Reports invocations of intrinsics that may return such an index, and operators that return their results.
pub fn misfits(model: &Model) -> Vec<Diagnostic> {
    let mut misfits = constant_result_misfits(model, &largest);
    for function in &model.functions {
        let Body::Block(block) = &function.body else {
            continue;
        };
        block.visit(&mut |operation| {
            if let Operation::Invoke(invoke) = operation
                && let Some(callee) = model.function(invoke.callee)
                // Positions within operators are 64-bit ints.
                && !callee.values.iter().any(|v| v.wide)
                && let Some(last) = largest(callee)
            {
                let what = format!("an index that {} returns", callee.name);
                let last = i128::from(last);
                misfits.extend(too_narrow(model.numbers.int, &what, last, invoke.span));
            }
        });
    }
    misfits
}

/// The largest position that a function may return, if it is an intrinsic that returns positions.
fn largest(function: &Function) -> Option<u64> {
    let Body::Intrinsic = function.body else {
        return None;
    };
    let axis = function.attributes.iter().find(|(name, _)| name == "axis");
    let axis = match axis {
        Some((_, AttributeValue::Int(axis))) => Some(*axis),
        _ => None,
    };
    let inputs = function.inputs.iter().flat_map(|p| p.tensors.values());
    let shapes = inputs
        .filter_map(|id| function.values.get(id.0 as usize))
        .map(|v| v.tensor.shape.iter().map(Extent::bound).collect());
    largest_position(&function.name, axis, &shapes.collect::<Vec<_>>())
}
