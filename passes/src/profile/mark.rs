// SPDX-License-Identifier: Apache-2.0
//! `skript-mark-steps`: puts a call of `skript_profile` before each operation of the entry that reads and writes arrays.
//!
//! The call has a number, that of no step yet, the operations of the step, and its bytes, which
//! `skript-number-steps` fills in. At the end of a block, and before control flow around steps, a call with the number 0
//! ends the step before.

use super::work::{self, Count};
use super::{OPERATORS, Role, UNCOUNTED, WEIGHT, is_mark, lists};
use crate::ir::{self, Builder, attributes, context, location, ops};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Location, Value};
use skript_dialect::{Dialect, Pass, PassError};
use skript_runtime::profile::SYMBOL;

/// The pass `skript-mark-steps`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-mark-steps",
    summary: "put a call of the profiler before each step of the entry",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, _| {
        if ir::nested(root).into_iter().any(is_mark) {
            return Ok(());
        }
        let entry = ir::entry(root)?;
        for block in ir::blocks(entry) {
            mark_block(block)?;
        }
        let declaration = format!("func.func private @{SYMBOL}(index, index, index)");
        Ok(ir::append_functions(root, &declaration)?)
    },
    ..Pass::NONE
};

/// Marks the steps of a block, and of blocks inside of control flow.
fn mark_block<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Result<(), PassError> {
    let operations = ir::operations(block);
    let mut open = false;
    for op in &operations {
        match Role::of(*op) {
            Role::None => {}
            Role::Step => {
                mark_step(*op)?;
                open = true;
            }
            Role::Around => {
                call(&Builder::before(context::of(*op), *op)?, None, 0)?;
                for block in ir::blocks(*op) {
                    mark_block(block)?;
                }
                open = false;
            }
        }
    }
    match operations.last() {
        Some(last) if open => {
            call(&Builder::before(context::of(*last), *last)?, None, 0)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn mark_step<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let context = context::of(op);
    let at = Builder::before(context, op)?;
    let flops = work::flops(op);
    let mark = call(&at, flops.as_ref(), 0)?;
    let operators = lists(context, &operators(op));
    ir::set_attribute(mark, OPERATORS, operators);
    let weight = flops.as_ref().map_or(0, Count::weight);
    ir::set_attribute(mark, WEIGHT, attributes::i64(context, weight));
    if flops.is_none() {
        ir::set_attribute(mark, UNCOUNTED, attributes::unit(context));
    }
    Ok(())
}

/// A call with this number of operations, and no bytes yet.
fn call<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    flops: Option<&Count<'c, 'a>>,
    number: i64,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let flops = match flops {
        Some(flops) => flops.value(at)?,
        None => at.index(0)?,
    };
    call_with(at, [at.index(number)?, flops, at.index(0)?])
}

/// A call with these arguments.
pub(super) fn call_with<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    arguments: [Value<'c, 'a>; 3],
) -> Result<OperationRef<'c, 'a>, PassError> {
    let callee = FlatSymbolRefAttribute::new(at.context, SYMBOL).into();
    let callee = [("callee", callee)];
    Ok(at.create(ops::func::CALL, &arguments, &callee, &[], Vec::new())?)
}

/// The calls of each operator of a step, the one with the most operations first.
pub(super) fn operators(op: OperationRef) -> Vec<Vec<String>> {
    let mut found: Vec<(Vec<String>, usize)> = Vec::new();
    let mut add = |calls: Vec<String>, count: usize| match found.iter_mut().find(|(known, _)| *known == calls)
    {
        Some((_, all)) => *all += count,
        None => found.push((calls, count)),
    };
    for part in location::parts(op.location()) {
        let mut named = calls(part);
        if named.is_empty() {
            // The position says where a program has the operation. Those inside come from texts of lowerings.
            named.extend(location::position(part));
        }
        add(named, 0);
    }
    for inner in ir::nested(op) {
        if work::is_counted(inner) {
            for part in location::parts(inner.location()) {
                add(calls(part), 1);
            }
        }
    }
    let is_known = |(calls, _): &(Vec<String>, usize)| !calls.is_empty();
    found.retain(is_known);
    // Stable: of equals, the operation's own operator comes first.
    let most = found.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if let Some(main) = found.iter().position(|(_, count)| *count == most) {
        let main = found.remove(main);
        found.insert(0, main);
    }
    found.into_iter().map(|(calls, _)| calls).collect()
}

/// The calls of operators that lead to a location, innermost first. The position of a formula in its operator is left
/// out: all formulas of a call are one operator.
fn calls(location: Location) -> Vec<String> {
    let mut trace = location::trace(location);
    if trace.len() > 1 {
        trace.remove(0);
    }
    trace
}
