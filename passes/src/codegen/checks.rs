// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-checks`: lowers run-time checks to early returns of the entry.
//!
//! Each `skript.check` becomes a branch. If the condition is false, the values are stored in the context,
//! the last argument of the entry, and the entry returns the number of the check. Nothing needs to be undone, as all
//! memory is the caller's. Checks are numbered for the artifact before.
//!
//! Requires: an entry without structured control flow.

use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names::{CHECKS, CONTEXT};
use crate::ir::ops;
use crate::ir::skript;
use crate::ir::{Builder, attributes, context, mutation, types};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Block, BlockRef, Identifier, RegionLike, Type, Value};
use skript_dialect::{Dialect, Pass, PassError};
use skript_intrinsics::compiled::VALUES;
use skript_runtime::artifact::Check;

/// The pass `skript-number-checks`.
pub(crate) const NUMBER: Pass = Pass {
    flag: "skript-number-checks",
    summary: "number run-time checks, and list them in an attribute of the module",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| Ok(number_checks(root)?),
    ..Pass::NONE
};

/// Numbers all checks below the module; the table is in that order. Equal checks have one number.
fn number_checks(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut table: Vec<Check> = Vec::new();
    for found in checks(module) {
        let check = Check {
            code: found.code(),
            message: found.message(),
            trace: ir::location::trace(found.op().location()),
        };
        let known = table.iter().position(|c| *c == check);
        let position = known.unwrap_or_else(|| {
            table.push(check);
            table.len() - 1
        });
        let status = i32::try_from(position + 1)
            .map_err(|_| CodegenError::Module("too many run-time checks".to_owned()))?;
        found.set_status(status);
    }
    if !table.is_empty() {
        let rows: Vec<Attribute> = table.iter().map(|check| row(context, check)).collect();
        mutation::set(module, CHECKS, ArrayAttribute::new(context, &rows).into());
    }
    Ok(())
}

fn row<'c>(context: &'c Context, check: &Check) -> Attribute<'c> {
    let string = |text: &String| attributes::string(context, text);
    let trace: Vec<Attribute> = check.trace.iter().map(string).collect();
    let entry = |name: &str, value| (Identifier::new(context, name), value);
    let entries = [
        entry("code", string(&check.code)),
        entry("message", string(&check.message)),
        entry("trace", ArrayAttribute::new(context, &trace).into()),
    ];
    DictionaryAttribute::new(context, &entries).into()
}

/// The checks that `skript-number-checks` numbered: status n is check n − 1.
pub(crate) fn table(module: OperationRef) -> Vec<Check> {
    let array = |attribute| -> Vec<Attribute> {
        let array = ArrayAttribute::try_from(attribute).ok();
        let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
        items.into_iter().flatten().collect()
    };
    let string = |attribute| {
        let text = StringAttribute::try_from(attribute).ok();
        text.map(|text| text.value().to_owned())
    };
    let rows = module.attribute(CHECKS).map(array).unwrap_or_default();
    let check = |row| {
        let text = |name| attributes::entry(row, name).and_then(string);
        let trace = attributes::entry(row, "trace").map(array);
        Check {
            code: text("code").unwrap_or_default(),
            message: text("message").unwrap_or_default(),
            trace: trace.into_iter().flatten().filter_map(string).collect(),
        }
    };
    rows.into_iter().map(check).collect()
}

/// The pass `skript-lower-checks`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-checks",
    summary: "run-time checks become early returns",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::ControlFlow, Dialect::MemRef],
    run: |root, _, rewriter| {
        let found = checks(root);
        if found.is_empty() {
            return Ok(());
        }
        let context = rewriter.context();
        let entry = ir::entry(root)?;
        for check in &found {
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
        for check in found {
            lower(check, values, status, &Builder::before(context, check.op())?)?;
        }
        ir::retype(entry, &[status])?;
        Ok(())
    },
    ..Pass::NONE
};

/// The entry's argument for the context; appended where there is none yet.
///
/// # Errors
/// [`CodegenError::Module`] if the entry has no body.
pub(crate) fn context_argument<'c, 'a>(entry: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, CodegenError> {
    let mut dictionaries = ir::argument_attributes(entry).into_iter();
    let marked = dictionaries.position(|own| attributes::entry(own, CONTEXT).is_some());
    let block = ir::blocks(entry).first().copied();
    if let (Some(position), Some(block)) = (marked, block) {
        let argument = block.argument(position);
        return Ok(argument.map_err(|e| CodegenError::Module(e.to_string()))?.into());
    }
    let context = ir::context::of(entry);
    let word = types::word(context);
    ir::append_argument(entry, types::memref(&[VALUES as i64], word), &format!("{{{CONTEXT}}}"))
}

/// The checks below an operation, in order.
fn checks<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<skript::Check<'c, 'a>> {
    let found = ir::nested(root).into_iter();
    found.filter_map(skript::Check::cast).collect()
}

/// Splits the block after a check.
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
    let behind = ir::operations(block);
    let behind = behind.into_iter().skip_while(|other| *other != op).skip(1);
    for moved in behind {
        ir::uses::move_to_end(moved, rest);
    }
    let inside = Builder::at_end(at.context, fail, op.location());
    for (position, value) in (0i64..).zip(check.values()) {
        let place = inside.index(position)?;
        inside.create(ops::memref::STORE, &[value, values, place], &[], &[], Vec::new())?;
    }
    let failed = check.status();
    let failed = failed.ok_or_else(|| PassError::at(op, "has no number"))?;
    let result = number(failed, status, &inside)?;
    inside.create(ops::func::RETURN, &[result], &[], &[], Vec::new())?;
    let branch = OperationBuilder::new(ops::cf::COND_BR, op.location())
        .add_operands(&[check.condition()?])
        .add_attributes(&[(
            Identifier::new(at.context, "operandSegmentSizes"),
            attributes::i32s(at.context, &[1, 0, 0]),
        )])
        .add_successors(&[&rest, &fail])
        .build()?;
    at.insert(branch);
    ir::erase(op);
    Ok(())
}

fn number<'c: 'a, 'a>(
    value: i64,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let value: Attribute = IntegerAttribute::new(r#type, value).into();
    Ok(at.value(ops::arith::CONSTANT, &[], &[("value", value)], r#type)?)
}
