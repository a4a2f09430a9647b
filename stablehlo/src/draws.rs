// SPDX-License-Identifier: Apache-2.0
//! Functions that draw random numbers. They receive the number of earlier draws as an argument and return the updated
//! number.

use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op::collect;
use skript_passes::ir::builder::operations;
use skript_passes::ir::func::{callee, symbol};
use skript_passes::ir::skript::Intrinsic;

use std::collections::HashSet;

/// Symbols of the functions that draw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawing {
    functions: HashSet<String>,
}

impl Drawing {
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let mut drawing = Drawing::default();
        // Callees may follow their callers: repeat until nothing changes.
        loop {
            let known = drawing.functions.len();
            for function in operations(module.body()) {
                if let Some(name) = symbol(function)
                    && drawing.draws(function)
                {
                    drawing.functions.insert(name);
                }
            }
            if drawing.functions.len() == known {
                return drawing;
            }
        }
    }

    /// Whether the function of this name draws.
    pub(crate) fn holds(&self, function: &str) -> bool {
        self.functions.contains(function)
    }

    /// Whether an operation, an operation in its regions, or a called function draws.
    pub(crate) fn draws(&self, op: OperationRef<'_, '_>) -> bool {
        let is_random = |op| self.calls(op) || Intrinsic::cast(op).is_some_and(Intrinsic::is_random);
        !collect(&op, is_random).is_empty()
    }

    /// Whether an operation invokes a function that draws.
    pub(crate) fn calls(&self, op: OperationRef<'_, '_>) -> bool {
        callee(op).is_some_and(|callee| self.holds(&callee))
    }
}
