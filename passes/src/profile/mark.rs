// SPDX-License-Identifier: Apache-2.0
//! `skript-mark-steps`: inserts a call of `skript_profile` before each operation of the entry that reads and writes arrays.
//!
//! The arguments of the call are a number, the number of operations of the step, and its bytes; `skript-number-steps` adds the number
//! and the bytes. At the end of a block, and before control flow around steps, a call with the number 0 ends the previous step.

use super::work::{self, Count};
use super::{OPERATORS, Role, UNCOUNTED, WEIGHT, is_mark, lists};
use crate::ir::{self, Builder, attributes, context, location, ops};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Location, Type, Value};
use skript_dialect::{Dialect, Pass, PassError};
use skript_runtime::profile::SYMBOL;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-mark-steps",
    summary: "insert a call of the profiler before each step of the entry",
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
        let index = Type::index(context::of(root));
        Ok(ir::func::declare(root, SYMBOL, &[index; 3], &[])?)
    },
    ..Pass::NONE
};

/// Marks the steps of a block, and of blocks in control flow.
fn mark_block<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Result<(), PassError> {
    let operations = ir::operations(block);
    let mut open = false;
    for op in &operations {
        match Role::from_op(*op) {
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

/// Inserts a call with this number of operations, and 0 bytes.
fn call<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    flops: Option<&Count<'c, 'a>>,
    number: i64,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let flops = match flops {
        Some(flops) => flops.value(at)?,
        None => at.idx(0),
    };
    call_with(at, [at.idx(number), flops, at.idx(0)])
}

/// Inserts a call with these arguments.
pub(super) fn call_with<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    arguments: [Value<'c, 'a>; 3],
) -> Result<OperationRef<'c, 'a>, PassError> {
    let callee = FlatSymbolRefAttribute::new(at.context, SYMBOL).into();
    let callee = [("callee", callee)];
    Ok(at.create(ops::func::CALL, &arguments, &callee, &[], Vec::new())?)
}

/// The calls of each operator of a step, starting with the operator with the most operations.
pub(super) fn operators(op: OperationRef) -> Vec<Vec<String>> {
    let mut operators: Vec<(Vec<String>, usize)> = Vec::new();
    let mut add =
        |calls: Vec<String>, count: usize| match operators.iter_mut().find(|(known, _)| *known == calls) {
            Some((_, all)) => *all += count,
            None => operators.push((calls, count)),
        };
    for part in location::parts(op.location()) {
        let mut named = calls(part);
        if named.is_empty() {
            // Use the position of the operation in a program. Positions of nested operations may be in the text of a lowering.
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
    operators.retain(is_known);
    // If several operators have the maximum, the operator of the operation comes first.
    let maximum = operators.iter().map(|(_, count)| *count).max().unwrap_or(0);
    if let Some(main) = operators.iter().position(|(_, count)| *count == maximum) {
        let main = operators.remove(main);
        operators.insert(0, main);
    }
    operators.into_iter().map(|(calls, _)| calls).collect()
}

/// The calls of operators that lead to a location, innermost first. Does not include the position of a formula in its operator,
/// so that all formulas of a call belong to the same operator.
fn calls(location: Location) -> Vec<String> {
    let mut trace = location::trace(location);
    if trace.len() > 1 {
        trace.remove(0);
    }
    trace
}
