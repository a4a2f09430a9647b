// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-checks`: lowers run-time checks to early returns of the entry.
//!
//! Each `skript.check` becomes a branch. If the condition is false, the entry stores the values in the context, its last
//! argument, and returns the number of the check; −number if another thread stopped the call. The early return does not free
//! memory, because the caller owns all memory.
//! `skript-number-checks`, which runs before, numbers the checks for the artifact.
//!
//! Requires: an entry without structured control flow.

use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names::{CHECKS, CONTEXT, POLLS};
use crate::ir::builder::arith::Integers;
use crate::ir::ops;
use crate::ir::skript;
use crate::ir::{Builder, attributes, context, mutation, typed, types};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Block, BlockRef, RegionLike, Type, Value};
use skript_dialect::{Dialect, Pass, PassError};
use skript_intrinsics::compiled::{STOP, VALUES};
use skript_runtime::artifact::Check;

/// `AtomicOrdering::monotonic` of the LLVM dialect.
const MONOTONIC: i64 = 2;

/// The pass `skript-number-checks`.
pub(crate) const NUMBER: Pass = Pass {
    flag: "skript-number-checks",
    summary: "number run-time checks, and list them in an attribute of the module",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| Ok(number_checks(root)?),
    ..Pass::NONE
};

/// Numbers all checks of the module, and lists them in this order. Equal checks have the same number.
fn number_checks(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut table: Vec<Check> = Vec::new();
    for op in checks(module) {
        let check =
            Check { code: op.code(), message: op.message(), trace: ir::location::trace(op.op().location()) };
        let known = table.iter().position(|c| *c == check);
        let position = known.unwrap_or_else(|| {
            table.push(check);
            table.len() - 1
        });
        let status = i32::try_from(position + 1)
            .map_err(|_| CodegenError::Module("too many run-time checks".to_owned()))?;
        op.set_status(status);
    }
    if !table.is_empty() {
        let rows: Vec<Attribute> = table.iter().map(|check| row(context, check)).collect();
        mutation::set(module, CHECKS, ArrayAttribute::new(context, &rows).into());
    }
    Ok(())
}

fn row<'c>(context: &'c Context, check: &Check) -> Attribute<'c> {
    let trace: Vec<&str> = check.trace.iter().map(String::as_str).collect();
    let entries = [
        ("code", attributes::string(context, &check.code)),
        ("message", attributes::string(context, &check.message)),
        ("trace", attributes::strings(context, &trace)),
    ];
    attributes::dictionary(context, &entries)
}

/// The checks that `skript-number-checks` numbered: status n is check n − 1.
///
/// # Errors
/// [`CodegenError::Module`] if the list is malformed.
pub(crate) fn table(module: OperationRef) -> Result<Vec<Check>, CodegenError> {
    let check = |row| {
        let text = |name| attributes::entry(row, name).and_then(attributes::text);
        let calls = attributes::items(attributes::entry(row, "trace")?).into_iter();
        let trace = calls.map(attributes::text).collect::<Option<_>>()?;
        Some(Check { code: text("code")?, message: text("message")?, trace })
    };
    let checks = typed::array(module, CHECKS).into_iter().map(check);
    let malformed = || CodegenError::Module(format!("the attribute `{CHECKS}` is malformed"));
    checks.collect::<Option<_>>().ok_or_else(malformed)
}

/// The pass `skript-lower-checks`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-checks",
    summary: "lower run-time checks to early returns of the entry",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::ControlFlow, Dialect::Llvm, Dialect::MemRef],
    run: |root, _, rewriter| {
        let checks = checks(root);
        if checks.is_empty() {
            return Ok(());
        }
        let context = rewriter.context();
        let entry = ir::entry(root)?;
        for check in &checks {
            if check.op().parent_operation() != Some(entry) {
                return Err(PassError::at(
                    check.op(),
                    "a check is outside of the entry, or inside of structured control flow",
                ));
            }
        }
        let status: Type = IntegerType::new(context, 32).into();
        let (_, results) = ir::signature(entry)?;
        if !results.is_empty() {
            return Err(PassError::at(entry, "has results beside the status of its checks"));
        }
        let values = context_argument(entry)?;
        for block in ir::blocks(entry) {
            let end = ir::operations(block).last().copied();
            if let Some(end) = end.filter(|op| ir::name(*op) == ops::func::RETURN) {
                let at = Builder::before(context, end)?;
                let success = number(0, status, &at)?;
                ir::set_operands(end, &[success]);
            }
        }
        for check in checks {
            lower(check, values, status, &Builder::before(context, check.op())?)?;
        }
        ir::retype(entry, &[status])?;
        Ok(())
    },
    ..Pass::NONE
};

/// Returns the entry's argument for the context; appends it if the entry has none.
///
/// # Errors
/// [`CodegenError::Module`] if the entry has no body.
pub(crate) fn context_argument<'c, 'a>(entry: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, CodegenError> {
    let mut dictionaries = ir::argument_attributes(entry).into_iter();
    let marked = dictionaries.position(|dictionary| attributes::entry(dictionary, CONTEXT).is_some());
    if let (Some(position), Some(block)) = (marked, ir::first_block(entry)) {
        return Ok(block.argument(position)?.into());
    }
    let context = ir::context::of(entry);
    let word = types::word(context);
    ir::append_argument(entry, types::memref(&[VALUES as i64], word), attributes::units(context, &[CONTEXT]))
}

/// Returns the checks nested in an operation, in order.
fn checks<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<skript::Check<'c, 'a>> {
    ir::nested(root).into_iter().filter_map(skript::Check::cast).collect()
}

/// Splits the block after a check, and replaces the check by a branch.
fn lower<'c: 'a, 'a>(
    check: skript::Check<'c, 'a>,
    values: Value<'c, 'a>,
    status: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let op = check.op();
    let malformed = || PassError::at(op, "is malformed");
    let block = op.block().ok_or_else(malformed)?;
    let region = block.parent_region().ok_or_else(malformed)?;
    let rest: BlockRef<'c, 'a> = region.insert_block_after(block, Block::new(&[]));
    let fail: BlockRef<'c, 'a> = region.insert_block_after(rest, Block::new(&[]));
    for moved in ir::operations(block).into_iter().skip_while(|other| *other != op).skip(1) {
        ir::uses::move_to_end(moved, rest);
    }
    let inside = Builder::at_end(at.context, fail, op.location());
    for (position, value) in (0i64..).zip(check.values()) {
        inside.store(value, values, &[inside.idx(position)]);
    }
    let mut condition = check.condition()?;
    let failed = check.status().ok_or_else(|| PassError::at(op, "has no number"))?;
    let mut result = number(failed, status, &inside)?;
    if op.has_attribute(POLLS) {
        let proceeds = proceeds(values, at);
        condition = at.andi(condition, proceeds);
        result = inside.select(proceeds, result, number(-failed, status, &inside)?);
    }
    inside.create(ops::func::RETURN, &[result], &[], &[], Vec::new())?;
    let branch = OperationBuilder::new(ops::cf::COND_BR, op.location())
        .add_operands(&[condition])
        .add_attributes(&attributes::named(at.context, &[at.segments(&[1, 0, 0])]))
        .add_successors(&[&rest, &fail])
        .build()?;
    at.insert(branch);
    ir::erase(op);
    Ok(())
}

/// Whether no other thread has stopped the call. The load is volatile, because each iteration executes it, and atomic, because the
/// other thread stores at any time.
fn proceeds<'c: 'a, 'a>(values: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let offset = at.idx((STOP * size_of::<i64>()) as i64);
    let pointer = at.pointer(at.aligned_pointer(values), offset, 0);
    let word = types::word(at.context);
    let attributes = [
        ("volatile_", attributes::unit(at.context)),
        ("ordering", attributes::i64(at.context, MONOTONIC)),
        ("alignment", attributes::i64(at.context, size_of::<i64>() as i64)),
    ];
    let stop = at.make(ops::llvm::LOAD, &[pointer], &attributes, word);
    at.cmpi(Integers::Equal, stop, at.int(0, word))
}

fn number<'c: 'a, 'a>(
    value: i64,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let value: Attribute = IntegerAttribute::new(r#type, value).into();
    Ok(at.value(ops::arith::CONSTANT, &[], &[("value", value)], r#type)?)
}
