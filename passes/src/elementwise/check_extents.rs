// SPDX-License-Identifier: Apache-2.0
//! `skript-check-extents`: asserts that dynamic extents of elementwise operands agree.
//!
//! A mismatch is undefined behaviour, so there is no check without this pass. It applies to every operation with the
//! elementwise trait and runs before the lowerings. It inserts a `cf.assert` before an operation for each
//! dimension in which tensors may differ, unless types, definitions and earlier assertions prove that they are equal.

use crate::facts::{Facts, computes_elements};
use crate::ir;
use crate::ir::builder::arith::Integers;
use crate::ir::ops;
use crate::ir::{Builder, ValueKey, attributes, types};
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_symbolic::Polynomial;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-check-extents",
    summary: "assert that dynamic extents of elementwise operands agree",
    dependent_dialects: &[Dialect::Arith, Dialect::ControlFlow, Dialect::Tensor],
    run: |root, _, rewriter| check_below(root, &mut Facts::default(), rewriter.context()),
    ..Pass::NONE
};

/// Inserts assertions for the operations nested in an operation. A condition is known after its assertion in the block, and in the
/// regions there.
fn check_below<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    facts: &mut Facts,
    context: &'c Context,
) -> Result<(), PassError> {
    for block in ir::blocks(root) {
        let mark = facts.mark();
        for op in ir::operations(block) {
            check_below(op, facts, context)?;
            if op::is(&op, ops::cf::ASSERT) {
                facts.learn(ir::operand(op)?);
            } else if computes_elements(op) {
                check(op, facts, &Builder::before(context, op)?)?;
            }
            // Analyze an index at its definition, because the facts there are valid at all uses.
            for index in op.results().map(Value::from).filter(|result| result.r#type().is_index()) {
                facts.number(index);
            }
        }
        facts.rollback(mark);
    }
    Ok(())
}

/// Inserts assertions before an operation, for extents that are not known to be equal.
fn check<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    facts: &mut Facts,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let mut tensors: Vec<(Value, Vec<i64>)> = Vec::new();
    for operand in op.operands() {
        let is_new = |(known, _): &(Value, Vec<i64>)| ValueKey::of(*known) != ValueKey::of(operand);
        if let Some(extents) = types::extents(operand.r#type())
            && tensors.iter().all(is_new)
        {
            tensors.push((operand, extents));
        }
    }
    let rank = tensors.first().map_or(0, |(_, extents)| extents.len());
    for dimension in 0..rank {
        let extent = |extents: &[i64]| extents.get(dimension).copied();
        let fixed = op.results().filter_map(|result| extent(&types::extents(result.r#type())?));
        let mut fixed = fixed.chain(tensors.iter().filter_map(|(_, extents)| extent(extents)));
        let fixed = fixed.find(|extent| *extent != types::DYNAMIC);
        let dynamic = tensors.iter().filter(|(_, extents)| extent(extents) == Some(types::DYNAMIC));
        let mut dynamic = dynamic.map(|(tensor, _)| *tensor);
        let first = if fixed.is_some() { None } else { dynamic.next() };
        let number = i64::try_from(dimension).map_err(|_| "too many dimensions")?;
        let known = match (fixed, first) {
            (Some(extent), _) => Polynomial::constant(extent),
            (None, Some(first)) => facts.extent(first, dimension),
            (None, None) => continue,
        };
        let others: Vec<_> = dynamic.map(|tensor| (tensor, facts.extent(tensor, dimension))).collect();
        let differ = |facts: &Facts, extent: &Polynomial| !facts.prover.is_equal(&known, extent);
        if !others.iter().any(|(_, extent)| differ(facts, extent)) {
            continue;
        }
        let value = match (fixed, first) {
            (Some(extent), _) => at.idx(extent),
            (None, first) => at.extent(first.ok_or("a dimension without a tensor")?, number)?,
        };
        for (tensor, extent) in others {
            if !differ(facts, &extent) {
                continue;
            }
            let other = at.extent(tensor, number)?;
            let agrees = at.cmpi(Integers::Equal, value, other);
            let message =
                format!("{}: operands of '{}' differ in dimension {dimension}", op.location(), ir::name(op));
            let message = [("msg", attributes::string(at.context, &message))];
            at.create(ops::cf::ASSERT, &[agrees], &message, &[], Vec::new())?;
            facts.prover.assume_equal(&known, &extent);
        }
    }
    Ok(())
}
