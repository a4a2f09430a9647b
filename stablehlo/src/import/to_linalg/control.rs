// SPDX-License-Identifier: Apache-2.0
//! Converts control flow: moves regions into `scf` operations and replaces their terminators.

use super::operation::SourceOp;
use super::operation::Values;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::ops;
use skript_passes::ir::{copy, regions};

/// The only block of a region.
fn block<'c: 'a, 'a>(region: &Region<'c>) -> Result<BlockRef<'c, 'a>, PassError> {
    regions::first_block(region).ok_or_else(|| "has a region without a block".into())
}

/// Replaces the terminator of a block by `scf.yield`.
fn end_in_yield<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Result<(), PassError> {
    let end = ir::operations(block).last().copied().ok_or("has an empty region")?;
    let operands: Vec<Value> = end.operands().collect();
    let owner = end.context();
    let at = regions::before(end, &owner)?;
    at.create(ops::scf::YIELD, &operands, &[], &[], Vec::new())?;
    ir::erase(end);
    Ok(())
}

pub(super) fn repeat<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (test, body) = (regions::take(source.op, 0)?, regions::take(source.op, 1)?);
    let block_of_test: BlockRef<'c, 'a> = block(&test)?;
    let end = ir::operations(block_of_test).last().copied();
    let end = end.ok_or("has an empty condition")?;
    let owner = end.context();
    let at = regions::before(end, &owner)?;
    let mut operands = vec![at.element(ir::operand(end)?, &[])];
    operands.extend(copy::arguments(block_of_test));
    at.create(ops::scf::CONDITION, &operands, &[], &[], Vec::new())?;
    ir::erase(end);
    end_in_yield(block(&body)?)?;
    let types: Vec<Type> = source.op.results().map(|r| r.r#type()).collect();
    let made = source.at.create(ops::scf::WHILE, &source.values, &[], &types, vec![test, body])?;
    Ok(made.results().map(Value::from).collect())
}

/// `if`: a condition of rank 0 and two regions.
pub(crate) fn choose<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let condition = source.at.element(source.value(0)?, &[]);
    let regions = vec![regions::take(source.op, 0)?, regions::take(source.op, 1)?];
    for region in &regions {
        end_in_yield(block(region)?)?;
    }
    let made = source.at.create(ops::scf::IF, &[condition], &[], &types(source), regions)?;
    Ok(made.results().map(Value::from).collect())
}

/// `case`: nested `scf.if` operations; an index out of range selects the last branch.
pub(crate) fn select_branch<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let mut branches = Vec::new();
    for n in 0..source.op.region_count() {
        let region = regions::take(source.op, n)?;
        end_in_yield(block(&region)?)?;
        branches.push(region);
    }
    let at = &source.at;
    let number = at.element(source.value(0)?, &[]);
    if branches.len() == 1 {
        // Both branches contain the same computation: the second one is never executed.
        let only = branches.pop().ok_or("has no branch")?;
        return regions::inline(source.op, &only).map_err(PassError::from);
    }
    let tests = (0i64..).zip(1..branches.len());
    let tests = tests.map(|(n, _)| at.cmpi(Integers::Equal, number, at.int(n, number.r#type())));
    let mut conditions: Vec<Value> = tests.collect();
    // Builds the operations from the innermost, which selects between the last two branches, outward.
    let types = types(source);
    let mut otherwise = branches.pop().ok_or("has no branch")?;
    while let (Some(branch), Some(condition)) = (branches.pop(), conditions.pop()) {
        if conditions.is_empty() {
            let selection = at.create(ops::scf::IF, &[condition], &[], &types, vec![branch, otherwise])?;
            return Ok(selection.results().map(Value::from).collect());
        }
        let (outer, inner, _) = at.region(&[]);
        let selection = inner.create(ops::scf::IF, &[condition], &[], &types, vec![branch, otherwise])?;
        let values: Vec<Value> = selection.results().map(Value::from).collect();
        inner.create(ops::scf::YIELD, &values, &[], &[], Vec::new())?;
        otherwise = outer;
    }
    Err("has no branch".into())
}

fn types<'c: 'a, 'a>(source: &SourceOp<'c, 'a>) -> Vec<Type<'c>> {
    source.op.results().map(|r| r.r#type()).collect()
}
