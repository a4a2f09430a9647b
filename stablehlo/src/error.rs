// SPDX-License-Identifier: Apache-2.0
//! Errors of the export to StableHLO.

use melior::ir::OperationRef;

use skript_dialect::op::{collect, is, parent};
use skript_dialect::pipeline::Message;
use skript_dialect::{Frame, melior};
use skript_passes::emit::EmitError;
use skript_passes::ir::func::{callee, symbol};
use skript_passes::ir::ops;
use skript_passes::structure::ReadError;

/// An error of the export.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum ExportError {
    #[error("{}: {}", .0.location, .0.text)]
    Refused(Message),
    #[error("the module has no entry: no function has the attribute 'skript.entry'")]
    NoEntry,
    #[error(transparent)]
    Emit(#[from] EmitError),
    #[error(transparent)]
    Placement(#[from] super::PlacementError),
    #[error("the weights of an argument are {given}, its type is {wanted}")]
    Weights { given: String, wanted: String },
    #[error("the exported module does not verify")]
    Invalid,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Build(#[from] melior::Error),
}

impl ExportError {
    /// The error of an operation without a StableHLO form.
    pub fn new(op: OperationRef<'_, '_>, what: &str) -> Self {
        let name = skript_passes::ir::copy::operation_name(op);
        let mut message = Message::error(op, format!("'{name}' {what}"));
        message.frames.extend(calls(op));
        ExportError::Refused(message)
    }
}

/// A chain of invocations that leads to an operation, innermost first. Where a function is invoked several times, the
/// chain contains its first invocation in the module.
fn calls(op: OperationRef<'_, '_>) -> Vec<Frame> {
    let Some((mut function, module)) = holders(op) else {
        return Vec::new();
    };
    let mut frames = Vec::new();
    let invocations = collect(&module, |op| is(&op, ops::skript::INVOKE));
    // Functions are not recursive, so a chain longer than the number of invocations is a cycle, in IR from elsewhere.
    for _ in 0..invocations.len() {
        let name = symbol(function);
        let Some(call) = invocations.iter().find(|op| callee(**op) == name) else {
            break;
        };
        frames.extend(Message::error(*call, String::new()).frames);
        let Some((outer, _)) = holders(*call) else {
            break;
        };
        function = outer;
    }
    frames
}

/// The function of an operation, and its module.
fn holders<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<(OperationRef<'c, 'a>, OperationRef<'c, 'a>)> {
    let mut inner = op;
    while let Some(outer) = parent(inner) {
        if is(&outer, ops::builtin::MODULE) {
            return Some((inner, outer));
        }
        inner = outer;
    }
    None
}
