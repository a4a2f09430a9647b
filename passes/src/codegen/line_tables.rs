// SPDX-License-Identifier: Apache-2.0
//! `skript-resolve-locations`: gives each operation a location with a line, from which LLVM writes line tables.
//!
//! A line table states, for each instruction, the line of the model that it comes from, and the lines of the invocations around it.
//! The upstream pass `ensure-debug-info-scope-on-llvm-func` describes functions for LLVM, which then converts the locations of their
//! operations. It crashes on an unknown location inside of an invocation, which constants have that upstream folds create, and on
//! globals that have the location of an invocation. LLVM writes line 0 for operations that were merged from several lines. This pass
//! runs before it:
//!
//! - a part of a location without a line is removed;
//! - of a fused location, the first part with a line remains;
//! - an operation without a line has the location of the operation around it;
//! - outside of functions, the invocations around a location are removed.
//!
//! Guarantees: in a function with a line, each operation has one.

use crate::ir::location::resolved;
use crate::ir::step::Step;
use crate::ir::{self, mutation, ops};
use melior::ir::Location;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::{Pass, op};

/// The pass `skript-resolve-locations`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-resolve-locations",
    summary: "give each operation a location with a line, for line tables",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| {
        resolve(root, None, false);
        Ok(())
    },
    ..Pass::NONE
};

/// Resolves the location of an operation and of those inside of it.
fn resolve<'c: 'a, 'a>(op: OperationRef<'c, 'a>, around: Option<Location<'c>>, is_in_function: bool) {
    let is_in_function = is_in_function || op::is(&op, ops::llvm::FUNC);
    let mut location = resolved(op.location()).or(around);
    while let Some(inlined) = location.filter(|location| !is_in_function && location.is_call_site()) {
        location = Some(inlined.call_site_callee());
    }
    if let Some(location) = location {
        mutation::set_location(op, location);
    }
    for inner in ir::children(op) {
        resolve(inner, location, is_in_function);
    }
}

/// The form of line tables.
#[derive(Clone, Copy)]
pub(crate) enum LineTables {
    /// DWARF with functions and inlined invocations, for debuggers and profilers.
    Dwarf,
    /// Directives in the text alone, from which NVIDIA's driver derives tables.
    Directives,
}

impl LineTables {
    /// The passes that add line tables to the functions of a module in the dialect `llvm`. The functions are in the module itself, because
    /// upstream replaces modules inside of it while it visits them.
    pub(crate) fn steps(self) -> [Step; 2] {
        let kind = match self {
            LineTables::Dwarf => "LineTablesOnly",
            LineTables::Directives => "DebugDirectivesOnly",
        };
        let described = Step::upstream("ensure-debug-info-scope-on-llvm-func").with("emission-kind", kind);
        [Step::from(&PASS), described]
    }
}
