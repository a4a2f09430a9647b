//! Operator instances and their invocations, before they are inlined and where they are not.

pub mod keep_operators;
pub mod lower_invocations;

use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::op;
use std::collections::HashSet;

/// The function that an invocation calls.
fn callee(invocation: OperationRef) -> Option<String> {
    let symbol = FlatSymbolRefAttribute::try_from(invocation.attribute("callee").ok()?).ok()?;
    Some(symbol.value().to_owned())
}

/// The names of all `func.func` below an operation.
fn functions(root: OperationRef) -> HashSet<String> {
    op::collect(&root, |op| op::is(&op, "func.func"))
        .into_iter()
        .filter_map(|function| {
            let name = StringAttribute::try_from(function.attribute("sym_name").ok()?).ok()?;
            Some(name.value().to_owned())
        })
        .collect()
}
