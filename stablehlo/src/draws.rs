//! Functions that draw random numbers. They have the number of earlier draws as an argument, and return the number
//! after them.

use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op::{collect, is};
use skript_passes::ir::builder::operations;
use skript_passes::ir::ops;
use std::collections::HashSet;

/// Symbols of the functions that draw.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    functions: HashSet<String>,
}

impl Drawing {
    pub fn of(module: &Module<'_>) -> Self {
        let mut drawing = Drawing::default();
        // Callees may follow their callers: repeat until nothing changes.
        loop {
            let known = drawing.functions.len();
            for function in operations(module.body()) {
                let name = function.attribute("sym_name").ok();
                let name = name.and_then(|a| StringAttribute::try_from(a).ok());
                if let Some(name) = name
                    && drawing.draws(function)
                {
                    drawing.functions.insert(name.value().to_owned());
                }
            }
            if drawing.functions.len() == known {
                return drawing;
            }
        }
    }

    /// Whether a function of this name draws.
    pub fn holds(&self, function: &str) -> bool {
        self.functions.contains(function)
    }

    /// Whether an operation, its regions, or a function that it calls draws.
    pub fn draws(&self, op: OperationRef<'_, '_>) -> bool {
        let found = collect(&op, |op| {
            self.calls(op) || is(&op, ops::skript::INTRINSIC) && op.has_attribute("random")
        });
        !found.is_empty()
    }

    /// Whether an operation invokes a function that draws.
    pub fn calls(&self, op: OperationRef<'_, '_>) -> bool {
        let callee = op.attribute("callee").ok();
        let callee = callee.and_then(|a| FlatSymbolRefAttribute::try_from(a).ok());
        callee.is_some_and(|callee| self.holds(callee.value()))
    }
}
