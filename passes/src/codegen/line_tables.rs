// SPDX-License-Identifier: Apache-2.0
//! `skript-add-line-tables`: describes the lines of operations to LLVM, which writes line tables.
//!
//! A line table states, for each instruction, the line of the model that it comes from, and the lines of the invocations around it.
//! LLVM reads them from locations with scopes: a function of the module for the outermost line of a location, and an operator for each
//! line inside of an invocation.
//!
//! - Parts of a location without a line are ignored. Of a fused location, the first part with a line counts: LLVM would write line 0.
//! - An operation without a line has the line of its function, and a function without a line that of its first operation with one,
//!   or else that of the module. In a function without a scope, LLVM would drop the lines of inlined functions.
//! - A call has its outermost line only, because the called function has the others.
//! - Functions that LLVM must inline have no scope, so their instructions have the line of the call. Functions that have a scope
//!   remain as they are.
//!
//! Guarantees: in a function with a scope, each operation has a line.

use crate::ir::debug_info::{Unit, has_scope};
use crate::ir::location::{Line, lines};
use crate::ir::step::Step;
use crate::ir::{self, func, llvm, mutation, ops, typed};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Location};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};
use std::collections::{HashMap, HashSet};

/// The form of line tables.
#[derive(Clone, Copy)]
pub(crate) enum LineTables {
    /// DWARF with functions and inlined invocations, for debuggers and profilers.
    Dwarf,
    /// Directives in the text alone, from which NVIDIA's driver derives tables.
    Directives,
}

impl LineTables {
    const ALL: [LineTables; 2] = [LineTables::Dwarf, LineTables::Directives];

    const OPTION: PassOption =
        PassOption { name: "form", summary: "dwarf, or directives for text alone", default: "dwarf" };

    fn name(self) -> &'static str {
        match self {
            LineTables::Dwarf => "dwarf",
            LineTables::Directives => "directives",
        }
    }

    /// The step of a pipeline that adds line tables to a module in the dialect `llvm`.
    pub(crate) fn step(self) -> Step {
        Step::from(&PASS).with(Self::OPTION.name, self.name())
    }
}

/// The pass `skript-add-line-tables`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-add-line-tables",
    summary: "describe functions and lines to LLVM, for line tables",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    options: &[LineTables::OPTION],
    run: |root, options, rewriter| {
        let name = options.text(LineTables::OPTION.name);
        let form = LineTables::ALL.into_iter().find(|form| form.name() == name);
        let form =
            form.ok_or_else(|| PassError::from(format!("option form: {name} is not dwarf or directives")))?;
        add(root, rewriter.context(), form);
        Ok(())
    },
};

/// Adds scopes to the functions of a module, and to their operations.
fn add<'c>(root: OperationRef<'c, '_>, context: &'c Context, form: LineTables) {
    let all = ir::walk::named(root, ops::llvm::FUNC);
    let defined = all.into_iter().filter(|function| ir::first_block(*function).is_some());
    let (mut described, new): (Vec<_>, Vec<_>) = defined.partition(|function| has_scope(function.location()));
    let outlined =
        new.into_iter().filter(|function| !llvm::has_function_attribute(*function, "alwaysinline"));
    let located: Vec<_> = outlined.map(|function| (function, own_line(function))).collect();
    let first = || located.iter().find_map(|(_, line)| line.clone());
    let Some(whole) = outermost(root.location()).or_else(first) else { return };
    let unit = Unit::new(context, &whole.path, matches!(form, LineTables::Dwarf));
    let outlines = located.into_iter().filter_map(|(function, line)| {
        let line = line.unwrap_or_else(|| whole.clone());
        Some(Outline { function, name: func::symbol(function)?, line })
    });
    let outlines: Vec<Outline> = outlines.collect();
    described.extend(outlines.iter().map(|outline| outline.function));
    let called = described.into_iter().filter_map(func::symbol).collect();
    let mut tables = Tables { unit, called, operators: HashMap::new() };
    for outline in outlines {
        tables.describe(&outline);
    }
}

/// A function that gets a scope.
struct Outline<'c, 'a> {
    function: OperationRef<'c, 'a>,
    name: String,
    line: Line,
}

/// The line of a function, or that of its first operation with one.
fn own_line(function: OperationRef) -> Option<Line> {
    let inside = || ir::nested(function).into_iter().find_map(|op| outermost(op.location()));
    outermost(function.location()).or_else(inside)
}

fn outermost(location: Location) -> Option<Line> {
    lines(location).pop()
}

/// The tables of a module.
struct Tables<'c> {
    unit: Unit<'c>,
    /// The names of the functions with scopes.
    called: HashSet<String>,
    /// Scopes by the names of inlined operators and the paths of their lines.
    operators: HashMap<(String, String), Attribute<'c>>,
}

impl<'c> Tables<'c> {
    /// Adds scopes to a function and its operations.
    fn describe(&mut self, outline: &Outline<'c, '_>) {
        let Outline { function, name, line } = outline;
        let scope = self.unit.function(name, &line.path, line.number);
        let outside = self.unit.place(line, scope);
        // Many operations have one location.
        let mut known = HashMap::new();
        for op in ir::nested(*function) {
            let is_call = self.is_described_call(op);
            let key = (op.location().to_raw().ptr, is_call);
            let location = *known.entry(key).or_insert_with(|| {
                let mut lines = lines(op.location());
                if is_call {
                    lines.drain(..lines.len().saturating_sub(1));
                }
                self.place(lines, outline, scope).unwrap_or(outside)
            });
            mutation::set_location(op, location);
        }
        mutation::set_location(*function, outside);
    }

    /// Whether an operation calls a function with a scope.
    fn is_described_call(&self, op: OperationRef) -> bool {
        op::is(&op, ops::llvm::CALL)
            && typed::symbol(op, "callee").is_some_and(|name| self.called.contains(&name))
    }

    /// The location of lines in a function; `None` without a line.
    fn place(
        &mut self,
        mut lines: Vec<Line>,
        outline: &Outline,
        scope: Attribute<'c>,
    ) -> Option<Location<'c>> {
        let outermost = lines.pop()?;
        let is_in_file = outermost.path == outline.line.path;
        let scope = if is_in_file { scope } else { self.unit.in_file(scope, &outermost.path) };
        let outside = self.unit.place(&outermost, scope);
        Some(lines.into_iter().rev().fold(outside, |caller, line| {
            let operator = self.operator(&line, &outline.name);
            Location::call_site(self.unit.place(&line, operator), caller)
        }))
    }

    /// The scope of a line in an operator that was inlined into a function.
    fn operator(&mut self, line: &Line, function: &str) -> Attribute<'c> {
        let name = line.function.clone().unwrap_or_else(|| function.to_owned());
        let unit = &self.unit;
        // The line of its definition is not known.
        let new = |(name, path): &(String, String)| unit.function(name, path, 0);
        *self.operators.entry((name, line.path.clone())).or_insert_with_key(new)
    }
}
