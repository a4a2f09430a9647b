// SPDX-License-Identifier: Apache-2.0
//! Aligns the arguments of `scf.while`: the second region receives the loop-carried values at their positions in the
//! first.
//!
//! Canonicalization drops values that one region does not need, so positions shift; bufferization compares loop-carried
//! tensors by position. Values that the second region does not need are passed to it again, at their positions.

#![allow(clippy::indexing_slicing, reason = "a loop has as many results as carried values, by its verifier")]

use crate::error::CodegenError;
use crate::ir;
use crate::ir::ops;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};

/// Returns the aligned loop: `op` itself if its tensors are at their positions.
///
/// # Errors
/// [`CodegenError::Module`] if the loop is malformed.
pub(crate) fn align<'c, 'a>(op: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let missing = || CodegenError::Module("a loop without regions".to_owned());
    let [before, after] = ir::blocks(op)[..] else {
        return Err(missing());
    };
    let condition = ir::operations(before).last().copied().ok_or_else(missing)?;
    let handed: Vec<Value> = condition.operands().collect();
    let Some((test, handed)) = handed.split_first() else {
        return Err(missing());
    };
    let carried = ir::arguments(before);
    let Some(places) = positions(handed, &carried) else {
        return Ok(op);
    };
    let placed = |n: usize| places.contains(&n) || !carried[n].r#type().is_ranked_tensor();
    let in_order = places.iter().enumerate().all(|(n, place)| n == *place);
    if in_order && (0..carried.len()).all(placed) {
        return Ok(op);
    }
    let count = carried.len().max(places.iter().map(|p| p + 1).max().unwrap_or(0));
    let mut all: Vec<Value> = carried.clone();
    all.resize(count, *test);
    for (value, place) in handed.iter().zip(&places) {
        all[*place] = *value;
    }
    let types: Vec<_> = all.iter().map(|v| v.r#type()).collect();

    let operands: Vec<Value> = std::iter::once(*test).chain(all).collect();
    ir::set_operands(condition, &operands);
    let old = ir::arguments(after);
    for r#type in &types {
        after.add_argument(*r#type, op.location());
    }
    let new = ir::arguments(after).split_off(old.len());
    for (value, place) in old.iter().zip(&places) {
        ir::replace_uses(*value, new[*place]);
    }
    for _ in &old {
        ir::mutation::erase_argument(after, 0);
    }
    let regions = vec![ir::regions::take(op, 0).map_err(wrong)?, ir::regions::take(op, 1).map_err(wrong)?];
    let inits: Vec<Value> = op.operands().collect();
    let replacement = OperationBuilder::new(ops::scf::WHILE, op.location())
        .add_operands(&inits)
        .add_results(&types)
        .add_regions_vec(regions)
        .build()
        .map_err(wrong)?;
    let block = op.block().ok_or_else(missing)?;
    let replacement = block.insert_operation_before(op, replacement);
    for (n, place) in places.iter().enumerate() {
        let (from, to) = (op.result(n), replacement.result(*place));
        ir::replace_uses(from.map_err(wrong)?.into(), to.map_err(wrong)?.into());
    }
    ir::erase(op);
    Ok(replacement)
}

/// The new position of each value that is passed: that of the argument that it is, else a free one of its type; values
/// that are not tensors may also come last. `None` if a tensor has no position.
fn positions(handed: &[Value], carried: &[Value]) -> Option<Vec<usize>> {
    let mut taken = vec![false; carried.len()];
    let mut places = vec![None; handed.len()];
    for (value, place) in handed.iter().zip(&mut places) {
        let own = carried.iter().position(|c| c == value);
        if let Some(own) = own.filter(|n| !taken[*n]) {
            taken[own] = true;
            *place = Some(own);
        }
    }
    let mut next = carried.len();
    for (n, (value, place)) in handed.iter().zip(&mut places).enumerate() {
        if place.is_some() {
            continue;
        }
        let fits = |m: &usize| carried.get(*m).is_some_and(|c| c.r#type() == value.r#type()) && !taken[*m];
        let free = std::iter::once(n).chain(0..carried.len()).find(fits);
        *place = match free {
            Some(free) => {
                taken[free] = true;
                Some(free)
            }
            None if value.r#type().is_ranked_tensor() => return None,
            None => {
                next += 1;
                Some(next - 1)
            }
        };
    }
    places.into_iter().collect()
}
